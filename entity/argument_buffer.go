package entity

import "github.com/cellscape/cellscape/property"

// ArgumentBuffer is memory in which the calls of an app's scripts encode their arguments, so that they
// allocate nothing. A call within a call takes what is behind the outer one's. An app has one, which
// its Callers lend; see BufferedCaller. The zero value is ready.
type ArgumentBuffer struct{ taken []byte }

// maxIdleBuffer bounds what an ArgumentBuffer keeps while there is no call: enough for most, and little
// for an app that once made a large one.
const maxIdleBuffer = 16 << 10

// BufferedCaller is a Caller that lends memory for the arguments of its calls. That it does not keep
// them is part of Caller.
type BufferedCaller interface {
	Caller
	ArgumentBuffer() *ArgumentBuffer
}

// encode is AppendArgs into the buffer, which is new memory for nil.
func (a *ArgumentBuffer) encode(m *property.Method, args []any) ([]byte, error) {
	if a == nil {
		return AppendArgs(nil, m, args)
	}
	start := len(a.taken)
	b, err := AppendArgs(a.taken, m, args)
	if err != nil {
		return nil, err
	}
	a.taken = b
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
