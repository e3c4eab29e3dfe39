package loginapp

import (
	"testing"
	"time"

	"github.com/cellscape/cellscape/mercury"
)

// A LoginApp to which nobody comes ticks once a second, to report, and says nothing else.
func TestIdleLoginAppRests(t *testing.T) {
	r := newRig(t)
	r.join()
	r.tick(time.Second)
	r.net.Take(r.manager)
	ticks := 0
	for end := r.now + time.Minute; r.now < end; ticks++ {
		r.tick(r.l.NextTick() - r.now)
	}
	if sent := len(r.net.Take(r.manager)); ticks != 60 || sent != 60 {
		t.Errorf("%d ticks and %d messages in a minute, want 60 and 60", ticks, sent)
	}
	if sent := r.net.Take(r.base); len(sent) > 0 {
		t.Errorf("%d messages to the BaseAppMgr", len(sent))
	}
}

// A login that comes in a rest ends it, and each of its timeouts comes in the tick in which it would
// come without one.
func TestLoginEndsRest(t *testing.T) {
	r := newRig(t)
	r.join()
	r.tick(DefaultTick)
	r.now += 150 * time.Millisecond
	ch := r.connect()
	if next := r.l.NextTick(); next != 300*time.Millisecond {
		t.Errorf("the next tick is at %v", next)
	}
	for !r.net.Ended[ch] && r.now < time.Minute {
		r.tick(r.l.NextTick() - r.now)
	}
	if want := LoginTimeout + 300*time.Millisecond; r.now != want {
		t.Errorf("one who says nothing was sent away at %v, want %v", r.now, want)
	}
	r.tick(r.l.NextTick() - r.now)
	if next := r.l.NextTick(); next-r.now <= DefaultTick {
		t.Errorf("no rest after it: at %v the next tick is at %v", r.now, next)
	}
}

// While a manager is away there is no rest: it is dialled as soon as it is time to.
func TestNoRestWithoutManager(t *testing.T) {
	r := newRig(t)
	r.join()
	r.tick(DefaultTick)
	r.now += 50 * time.Millisecond
	r.net.Ended[r.base] = true
	r.l.Closed(r.now, r.base, mercury.ErrTimeout)
	dials := len(r.net.Dials)
	for len(r.net.Dials) == dials && r.now < time.Minute {
		r.tick(r.l.NextTick() - r.now)
	}
	if want := 1200 * time.Millisecond; r.now != want {
		t.Errorf("dialled again at %v, want %v", r.now, want)
	}
}
