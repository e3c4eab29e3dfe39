package mercury_test

import (
	"testing"
	"time"

	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/mercurytest"
)

// chaosDeaf is a dialler whose first message has been heard, but which has not heard so: all
// answers but the first were lost.
type chaosDeaf struct {
	w        *mercurytest.World
	a, b     *mercury.Endpoint
	atA, atB mercurytest.Recorder
	ch       mercury.ChannelID
}

const (
	deafA = 1 // places
	deafB = 2
)

func newChaosDeaf(t *testing.T, salt uint32, guard func(n *chaosNode) mercury.Guard) *chaosDeaf {
	t.Helper()
	d := &chaosDeaf{w: mercurytest.NewWorld(1)}
	link := mercurytest.Link{Delay: 25 * time.Millisecond}
	d.w.Net.SetLink(link)
	d.a = deafEndpoint(t, deafA, 1, guard, &d.atA)
	d.b = deafEndpoint(t, deafB, 1, guard, &d.atB)
	d.w.Add(d.a)
	d.w.Add(d.b)
	d.ch = d.a.Dial(mercury.Address{At: d.b.Self().At, Salt: salt})
	if err := d.a.Send(d.ch, []byte("once")); err != nil {
		t.Fatal(err)
	}
	back := func(l mercurytest.Link) { d.w.Net.SetLinkOneWay(mercurytest.Place(deafB), mercurytest.Place(deafA), l) }
	d.w.RunUntil(time.Second, func() bool { return d.atA.Of(d.ch).Opened > 0 })
	back(mercurytest.Link{Loss: 1})
	d.w.RunUntil(time.Second, func() bool { return len(d.atB.Order) > 0 && len(d.atB.Of(d.atB.Order[0]).Reliable) > 0 })
	if len(d.atB.Order) != 1 || len(d.atB.Of(d.atB.Order[0]).Reliable) != 1 {
		t.Fatal("the first message did not come")
	}
	back(link)
	return d
}

func deafEndpoint(t *testing.T, place int, salt uint32, guard func(n *chaosNode) mercury.Guard, h mercury.Handler) *mercury.Endpoint {
	t.Helper()
	cfg := mercury.Config{Salt: salt}
	if guard != nil {
		cfg.Guard = guard(&chaosNode{n: place, salts: salt})
	}
	e, err := mercury.NewEndpoint(cfg, mercurytest.Place(place), h)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// heard counts messages over all channels.
func heard(r *mercurytest.Recorder) (n int) {
	for _, ch := range r.Order {
		n += len(r.Of(ch).Reliable)
	}
	return n
}

// What one start of an app has heard is not told to the next, also when the dial was for whatever
// start is there.
func TestChaosDialMeetsRestart(t *testing.T) {
	for _, salt := range []uint32{0, 1} {
		for name, guard := range chaosGuards(t) {
			d := newChaosDeaf(t, salt, guard)
			var fresh mercurytest.Recorder
			d.w.Add(deafEndpoint(t, deafB, 2, guard, &fresh))
			d.w.Run(30 * time.Second)
			if n := heard(&fresh); n > 0 {
				t.Errorf("%s, dialled salt %d: the new start heard %d messages that the old one had", name, salt, n)
			}
			if closed := d.atA.Of(d.ch).Closed; len(closed) != 1 {
				t.Errorf("%s, dialled salt %d: the dialler was told %v", name, salt, closed)
			}
		}
	}
}

// The same when the message went out with a ticket, before the dialler knew whom it would meet.
func TestChaosEarlyDialMeetsRestart(t *testing.T) {
	guard := chaosGuard(t)
	for _, salt := range []uint32{0, 1} {
		w := mercurytest.NewWorld(1)
		link := mercurytest.Link{Delay: 25 * time.Millisecond}
		w.Net.SetLink(link)
		var atA, atB, fresh mercurytest.Recorder
		a, b := deafEndpoint(t, deafA, 1, guard, &atA), deafEndpoint(t, deafB, 1, guard, &atB)
		w.Add(a)
		w.Add(b)
		to := mercury.Address{At: b.Self().At, Salt: salt}
		a.Close(a.Dial(to))
		ch := a.Dial(to)
		w.Run(time.Second)
		a.Close(ch)
		w.Run(time.Second)
		w.Net.SetLinkOneWay(mercurytest.Place(deafB), mercurytest.Place(deafA), mercurytest.Link{Loss: 1})
		ch = a.Dial(to)
		if err := a.Send(ch, []byte("once")); err != nil {
			t.Fatal(err)
		}
		if !w.RunUntil(100*time.Millisecond, func() bool { return heard(&atB) > 0 }) {
			t.Fatal("the message did not go out with the dial")
		}
		w.Add(deafEndpoint(t, deafB, 2, guard, &fresh))
		w.Net.SetLinkOneWay(mercurytest.Place(deafB), mercurytest.Place(deafA), link)
		w.Run(30 * time.Second)
		if n := heard(&fresh); n > 0 {
			t.Errorf("dialled salt %d: the new start heard %d messages that the old one had; the dialler was told %v", salt, n, atA.Of(ch).Closed)
		}
	}
}

// What was heard on a channel that has ended does not come again on another, however long the
// acceptor slept meanwhile.
func TestChaosDialMeetsSleep(t *testing.T) {
	for name, guard := range chaosGuards(t) {
		for _, sleep := range []time.Duration{0, 15 * time.Second, time.Minute, time.Hour} {
			for _, abort := range []bool{false, true} {
				d := newChaosDeaf(t, 1, guard)
				if abort {
					d.w.Net.Cut(mercurytest.Place(deafA), mercurytest.Place(deafB), true)
					d.b.Abort(d.atB.Order[0])
					d.w.Run(10 * time.Millisecond)
					d.w.Net.Cut(mercurytest.Place(deafA), mercurytest.Place(deafB), false)
				}
				d.w.Jump(mercurytest.Place(deafB), sleep)
				d.w.Run(30 * time.Second)
				if n := heard(&d.atB); n != 1 {
					t.Errorf("%s, slept %v, aborted %v: one message was heard %d times on %d channels", name, sleep, abort, n, len(d.atB.Order))
				}
				if closed := d.atA.Of(d.ch).Closed; abort && len(closed) != 1 || !abort && len(closed) > 0 {
					t.Errorf("%s, slept %v, aborted %v: the dialler was told %v", name, sleep, abort, closed)
				}
			}
		}
	}
}

// chaosGuards are the two ways to join endpoints. Their order does not matter.
func chaosGuards(t *testing.T) map[string]func(*chaosNode) mercury.Guard {
	t.Helper()
	return map[string]func(*chaosNode) mercury.Guard{"plain": nil, "guarded": chaosGuard(t)}
}
