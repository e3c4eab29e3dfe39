package entity

import "github.com/cellscape/cellscape/property"

// ArgumentBuffer is memory in which the calls of an app's scripts encode their arguments, so that they
// allocate nothing. A call within a call takes what is behind the outer one's. An app has one, which
// its Callers lend; see BufferedCaller. The zero value is ready.
type ArgumentBuffer struct {
	// Large, if not nil, hears of each call of a method of type d whose arguments are larger than its
	// WarnBytes. The call goes on.
	Large func(d *property.Definition, m *property.Method, bytes int)

	taken []byte
}

// maxIdleBuffer bounds what an ArgumentBuffer keeps while there is no call: enough for most, and little
// for an app that once made a large one.
const maxIdleBuffer = 16 << 10

// BufferedCaller is a Caller that lends memory for the arguments of its calls. That it does not keep
// them is part of Caller.
type BufferedCaller interface {
	Caller
	ArgumentBuffer() *ArgumentBuffer
}

// encode is AppendArgs of a call to a type into the buffer, which is new memory for nil.
func (a *ArgumentBuffer) encode(d *property.Definition, m *property.Method, args []any) ([]byte, error) {
	if a == nil {
		return AppendArgs(nil, m, args)
	}
	start := len(a.taken)
	b, err := AppendArgs(a.taken, m, args)
	if err != nil {
		return nil, err
	}
	a.taken = b
	if n := len(b) - start; m.WarnBytes > 0 && n > m.WarnBytes && a.Large != nil {
		a.Large(d, m, n)
	}
	return b[start:], nil
}

// release gives back what encode returned, the newest first.
func (a *ArgumentBuffer) release(args []byte) {
	if a == nil {
		return
	}
	a.taken = a.taken[:len(a.taken)-len(args)]
	if len(a.taken) == 0 && cap(a.taken) > maxIdleBuffer {
		a.taken = nil
	}
}
