package mercury

import (
	"bytes"
	"testing"
	"time"
)

// A channel that has had a long message keeps no memory for the next: the Endpoint does, for all of them.
func TestAssembliesAreShared(t *testing.T) {
	a, b, ch := openPair(t)
	ears := new(longEars)
	b.SetHandler(ears)
	long := bytes.Repeat([]byte("long "), 1000)
	for i := range 3 {
		if err := a.Send(ch, long); err != nil {
			t.Fatal(err)
		}
		exchange(time.Duration(i+1)*time.Second, a, b)
		if !bytes.Equal(ears.last, long) {
			t.Fatalf("%d bytes came", len(ears.last))
		}
		for _, c := range b.channels {
			for lane := range c.in.streams {
				if s := c.in.streams[lane].backlog; s != nil && (s.assembly != nil || s.want != 0) {
					t.Errorf("a channel keeps %d bytes", cap(s.assembly))
				}
			}
		}
		if len(b.assemblies) != 1 || cap(b.assemblies[0]) < len(long) {
			t.Errorf("the endpoint keeps %d buffers", len(b.assemblies))
		}
	}
}

// An Endpoint keeps a few buffers for long messages, and none that is very long.
func TestAssembliesAreBounded(t *testing.T) {
	e := testEndpoint(t, 1, nil)
	e.assembled(make([]byte, keepAssembly+1))
	if len(e.assemblies) != 0 {
		t.Error("a very long buffer is kept")
	}
	for range keepAssemblies + 5 {
		e.assembled(make([]byte, 10))
	}
	if len(e.assemblies) != keepAssemblies {
		t.Errorf("%d buffers are kept", len(e.assemblies))
	}
	if p := e.assembly(); len(p) != 0 || cap(p) < 10 || len(e.assemblies) != keepAssemblies-1 {
		t.Errorf("a buffer of %d bytes, %d are left", len(p), len(e.assemblies))
	}
}

type longEars struct {
	nobody
	last []byte
}

func (l *longEars) Message(_ time.Duration, _ ChannelID, _ bool, msg []byte) {
	l.last = append(l.last[:0], msg...)
}
