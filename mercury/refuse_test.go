package mercury

import (
	"errors"
	"fmt"
	"net/netip"
	"testing"
	"time"
)

// choosyGuard answers one hello only.
type choosyGuard struct{ pairGuard }

func (choosyGuard) Answer(b []byte, _ time.Duration, _ netip.AddrPort, _, hello []byte) ([]byte, error) {
	if string(hello) != "the right one" {
		return b, fmt.Errorf("hello %q: %w", hello, ErrKey)
	}
	return append(b, "pass"...), nil
}

// Whoever has no common key with its peer hears so within a round trip, whichever of the two lacks
// it.
func TestNoCommonKeyIsToldAtOnce(t *testing.T) {
	for name, x := range map[string]struct {
		dialler, acceptor Guard
		want              error
	}{
		"another key":   {pairGuard{}, choosyGuard{}, errOtherKey},
		"clear dialler": {nil, choosyGuard{}, errPeerSealed},
		"clear peer":    {pairGuard{}, nil, errPeerClear},
	} {
		t.Run(name, func(t *testing.T) {
			ears := &pairEars{}
			a, err := NewEndpoint(Config{Salt: 1, Guard: x.dialler}, testPlace(1), ears)
			if err != nil {
				t.Fatal(err)
			}
			b, err := NewEndpoint(Config{Salt: 2, Guard: x.acceptor}, testPlace(2), nil)
			if err != nil {
				t.Fatal(err)
			}
			l := &pairLink{a: a, b: b, sent: map[*Endpoint]int{}, delay: 10 * time.Millisecond}
			var out, in int
			l.drop = func(e *Endpoint, p []byte) bool {
				if e == a {
					out += len(p)
				} else {
					in += len(p)
				}
				return false
			}
			a.Dial(Address{At: testPlace(2)})
			l.run(50*time.Millisecond, nil)
			if len(ears.closed) != 1 || !errors.Is(ears.closed[0], x.want) || !errors.Is(ears.closed[0], ErrKey) {
				t.Errorf("closed with %v, want %v", ears.closed, x.want)
			}
			if in >= out {
				t.Errorf("%d bytes were answered by %d", out, in)
			}
			if b.Stats().Channels != 0 {
				t.Error("the acceptor keeps something")
			}
		})
	}
}

// A refusal that was not made for the very hello ends no dial, and none ends a dial that has its
// pass or a channel that is open.
func TestForgedRefusalsOfHellos(t *testing.T) {
	ears := &pairEars{}
	a, err := NewEndpoint(Config{Salt: 1, Guard: pairGuard{}}, testPlace(1), ears)
	if err != nil {
		t.Fatal(err)
	}
	b, err := NewEndpoint(Config{Salt: 2, Guard: pairGuard{}}, testPlace(2), nil)
	if err != nil {
		t.Fatal(err)
	}
	l := &pairLink{a: a, b: b, sent: map[*Endpoint]int{}, delay: 10 * time.Millisecond}
	ch := a.Dial(b.Self())
	c := a.channels[ch]
	l.run(2*time.Millisecond, nil)
	forge := func(from netip.AddrPort, salt, tag uint32) {
		for _, why := range []refusal{refusedHello, refusedClear} {
			p := refusePacket{Dial: ch, Salt: salt, Self: 2, Why: why, Pass: tag}
			a.Receive(l.now, from, p.append(nil))
		}
	}
	good := passTag([]byte("hello"))
	forge(testPlace(2), 1, good+1) // who has not seen the hello
	forge(testPlace(2), 7, good)   // nor the salt
	forge(testPlace(3), 1, good)   // from elsewhere
	if c.state != dialling || len(ears.closed) != 0 {
		t.Fatalf("state %v, closed %v", c.state, ears.closed)
	}
	for c.pass == nil {
		l.run(time.Millisecond, nil)
	}
	forge(testPlace(2), 1, good) // late, with all that there is to know
	l.run(100*time.Millisecond, nil)
	if c.state != open || c.remote == 0 {
		t.Fatalf("a dial with a pass is in state %v: %v", c.state, ears.closed)
	}
	forge(testPlace(2), 1, good)
	l.run(100*time.Millisecond, nil)
	if c.state != open || len(ears.closed) != 0 {
		t.Errorf("an open channel is in state %v: %v", c.state, ears.closed)
	}
}

// The answer to any open is shorter than the open.
func TestRefusalOfAHelloIsShort(t *testing.T) {
	if n := len((&refusePacket{Why: refusedClear}).append(nil)); n >= openSize {
		t.Errorf("%d bytes", n)
	}
}
