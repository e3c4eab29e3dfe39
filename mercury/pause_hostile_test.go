package mercury

import (
	"errors"
	"math"
	"testing"
	"time"
)

// A peer that says of its pause what cannot be: that it has got what was never sent ends its channel,
// and the last number that there is, and nothing got, harm nobody but itself.
func TestImpossiblePauses(t *testing.T) {
	for name, x := range map[string]struct {
		spoil func(in *receiver)
		want  error
	}{
		"of the future":   {func(in *receiver) { in.streams[0].next += 1 << 40 }, ErrFutureAck},
		"the last number": {func(in *receiver) { in.hold.number = math.MaxUint64 - 1 }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			ears := &pairEars{}
			a, err := NewEndpoint(Config{Salt: 1, MaxQueued: 100_000, MaxMessage: 1000}, testPlace(1), ears)
			if err != nil {
				t.Fatal(err)
			}
			b, err := NewEndpoint(Config{Salt: 2}, testPlace(2), nil)
			if err != nil {
				t.Fatal(err)
			}
			l := &pairLink{a: a, b: b, sent: map[*Endpoint]int{}, delay: 10 * time.Millisecond}
			ch := a.Dial(b.Self())
			if err := a.Send(ch, []byte("here I am")); err != nil {
				t.Fatal(err)
			}
			l.run(200*time.Millisecond, nil)
			for id, c := range b.channels {
				b.Pause(id)
				x.spoil(&c.in)
			}
			bad := a.Stats().BadFrame
			l.run(time.Second, func(time.Duration) { _ = a.Send(ch, make([]byte, 100)) })
			switch waiting, _ := a.Queued(ch); {
			case x.want == nil && len(ears.closed) > 0:
				t.Errorf("closed with %v", ears.closed)
			case x.want != nil && (len(ears.closed) != 1 || !errors.Is(ears.closed[0], x.want) || a.Stats().BadFrame != bad+1):
				t.Errorf("closed with %v, want %v; %d bad frames", ears.closed, x.want, a.Stats().BadFrame-bad)
			case waiting > 100_000:
				t.Errorf("%d bytes wait", waiting)
			}
		})
	}
}
