package app_test

import (
	"errors"
	"testing"
	"time"

	"github.com/cellscape/cellscape/internal/app"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/call"
)

// asks is a line with an app on it, that asks a manager.
type asks struct {
	line
	t     *testing.T
	links app.Links
	m     app.Member
	taken int
}

func newAsks(t *testing.T) *asks {
	a := &asks{t: t}
	a.links = app.Links{Transport: &a.line}
	a.m = app.NewMember(&a.links, addr6.At, wire.Join{Role: wire.CellApp})
	return a
}

func (a *asks) take() int {
	n := a.sends - a.taken
	a.taken = a.sends
	return n
}

// last is the number of the question that was asked last.
func (a *asks) request() uint64 {
	var m wire.DestroySpace
	if id, body, err := wire.Split(a.last); err != nil || id != wire.DestroySpaceID || m.Parse(body) != nil {
		a.t.Fatalf("%v was sent last: %v", id, err)
	}
	return m.Request
}

// What is asked of the manager is asked again every second, until it is answered.
func TestErrands(t *testing.T) {
	a := newAsks(t)
	e := app.NewErrands(&a.m, 2)
	var answers []string
	insist := func() bool {
		return app.Insist(&e, &wire.DestroySpace{Space: 5}, func(m *wire.SpaceDestroyed) { answers = append(answers, m.Reason) })
	}
	tick := func(at time.Duration) {
		a.links.Tick(at)
		e.Tick()
	}
	if !insist() || a.take() != 0 {
		t.Error("asked before there is a manager")
	}
	a.m.Tick(0)
	a.m.Opened(1)
	a.take()
	tick(0)
	if n := a.take(); n != 1 {
		t.Errorf("asked %d times when the manager is there", n)
	}
	first := a.request()
	if !insist() || insist() {
		t.Error("the limit is not kept")
	}
	a.take()
	for range 10 {
		tick(time.Second / 2)
	}
	if n := a.take(); n != 0 {
		t.Errorf("asked %d times within a second", n)
	}
	tick(time.Second)
	if n := a.take(); n != 2 {
		t.Errorf("asked again %d times, want 2", n)
	}
	second := a.request()
	answer := func(ch mercury.ChannelID, request uint64, reason string) bool {
		return a.links.Answered(0, ch, &wire.SpaceDestroyed{Request: request, Reason: reason})
	}
	if answer(1, first, "of the first try") || answer(2, second, "of another channel") || !answer(1, second, "good") || answer(1, second, "twice") {
		t.Error("what is an answer?")
	}
	// The manager is away for a while.
	a.links.Closed(time.Second, 1, mercury.ErrTimeout)
	a.m.Closed(time.Second, 1, mercury.ErrTimeout)
	tick(5 * time.Second)
	a.m.Tick(5 * time.Second)
	if n := a.take(); n != 0 {
		t.Errorf("asked %d times while nobody is there", n)
	}
	a.m.Opened(2)
	a.take()
	tick(6 * time.Second)
	if n := a.take(); n != 1 {
		t.Errorf("asked the next manager %d times, want once", n)
	}
	if !insist() {
		t.Error("what was answered counts as open")
	}
	e.Drop()
	tick(8 * time.Second)
	if answer(2, a.request(), "late"); len(answers) != 1 || answers[0] != "good" {
		t.Errorf("answers %q", answers)
	}
}

// A question ends once, however it ends.
func TestAsk(t *testing.T) {
	var links app.Links
	links.Transport = &line{}
	var ended []error
	ask := func(ch mercury.ChannelID) uint64 {
		id, err := app.Ask(&links, ch, time.Second, &wire.DestroySpace{}, func(_ time.Duration, _ *wire.SpaceDestroyed, err error) { ended = append(ended, err) })
		if err != nil {
			t.Fatal(err)
		}
		return uint64(id)
	}
	for name, end := range map[string]struct {
		do   func(id uint64)
		want error
	}{
		"answer":       {func(id uint64) { links.Answered(0, 1, &wire.SpaceDestroyed{Request: id}) }, nil},
		"another type": {func(id uint64) { links.Answered(0, 1, &wire.SpaceCreated{Request: id}) }, wire.ErrMalformed},
		"timeout":      {func(uint64) { links.Tick(time.Second) }, call.ErrTimeout},
		"closed":       {func(uint64) { links.Closed(0, 1, mercury.ErrPeerClosed) }, mercury.ErrPeerClosed},
		"aborted":      {func(uint64) { links.Abort(1) }, mercury.ErrNoChannel},
	} {
		links.Tick(0)
		ended = nil
		id := ask(1)
		end.do(id)
		links.Tick(2 * time.Second)
		links.Closed(0, 1, mercury.ErrTimeout)
		links.Answered(0, 1, &wire.SpaceDestroyed{Request: id})
		if len(ended) != 1 || !errors.Is(ended[0], end.want) || links.Asked() != 0 {
			t.Errorf("%s: ended with %v", name, ended)
		}
	}
	ended = nil
	links.Forget(call.ID(ask(1)))
	links.Tick(time.Minute)
	if len(ended) != 0 {
		t.Errorf("forgotten, and ended with %v", ended)
	}
}
