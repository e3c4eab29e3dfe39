package host_test

import (
	"testing"
	"time"

	"github.com/cellscape/cellscape/mercury/host"
)

// sleeper wants no tick for an hour, unless something comes.
type sleeper struct {
	echo
	next   time.Duration
	ticked chan time.Duration
}

func (s *sleeper) Tick(now time.Duration) time.Duration {
	if now >= s.next {
		s.next = now + time.Hour
		s.ticked <- now
	}
	return s.next
}

func (s *sleeper) NextTick() time.Duration { return s.next }

// What comes to an app at rest may bring its next tick forward.
func TestRest(t *testing.T) {
	h := newHost(t)
	ticked := make(chan time.Duration, 10)
	p, err := h.Start("sleeper", "127.0.0.1:0", func(env host.Env) (host.App, error) {
		s := &sleeper{ticked: ticked}
		s.tell = func() { s.next = env.Clock() + 10*time.Millisecond }
		return s, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	<-ticked
	send(t, start(t, h, "other"), p.Address(), "wake up")
	select {
	case <-ticked:
	case <-time.After(patience):
		t.Error("the app was not woken for the tick that it wants")
	}
}
