package argument

import "github.com/cellscape/cellscape/property"

// Buffer is memory in which the calls of an app's scripts encode their arguments, so that they
// allocate nothing. A call within a call takes what is behind the outer one's. An app has one. The zero
// value is ready.
type Buffer struct {
	// Large, if not nil, hears of each call of a method of type d whose arguments are larger than its
	// WarnBytes. The call goes on.
	Large func(d *property.Definition, m *property.Method, bytes int)

	taken []byte
}

// maxIdleBuffer bounds what an Buffer keeps while there is no call: enough for most, and little
// for an app that once made a large one.
const maxIdleBuffer = 16 << 10

// Encode is Append of a call to a type into the buffer, which is new memory for nil.
func (a *Buffer) Encode(d *property.Definition, m *property.Method, args []any) ([]byte, error) {
	if a == nil {
		return Append(nil, m, args)
	}
	start := len(a.taken)
	b, err := Append(a.taken, m, args)
	if err != nil {
		return nil, err
	}
	a.taken = b
	if n := len(b) - start; m.WarnBytes > 0 && n > m.WarnBytes && a.Large != nil {
		a.Large(d, m, n)
	}
	return b[start:], nil
}

// Release gives back what Encode returned, the newest first.
func (a *Buffer) Release(args []byte) {
	if a == nil {
		return
	}
	a.taken = a.taken[:len(a.taken)-len(args)]
	if len(a.taken) == 0 && cap(a.taken) > maxIdleBuffer {
		a.taken = nil
	}
}
