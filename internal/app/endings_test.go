package app_test

import (
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/internal/app"
	"github.com/cellscape/cellscape/internal/wire"
)

// What is asked of the manager is asked again every second, until it is answered.
func TestEndings(t *testing.T) {
	l := &line{}
	taken := 0
	take := func() int { n := l.sends - taken; taken = l.sends; return n }
	m := app.NewMember(&app.Links{Transport: l}, addr6.At, wire.Join{Role: wire.CellApp})
	var e app.Endings
	if !e.Ask(&m, 5) || take() != 0 {
		t.Error("asked before there is a manager")
	}
	m.Tick(0)
	m.Opened(1)
	take()
	e.Tick(0, &m)
	if n := take(); n != 1 {
		t.Errorf("asked %d times when the manager is there", n)
	}
	e.Ask(&m, 5)
	e.Ask(&m, 6)
	take()
	for range 10 {
		e.Tick(time.Second/2, &m)
	}
	if n := take(); n != 0 {
		t.Errorf("asked %d times within a second", n)
	}
	e.Tick(time.Second, &m)
	if n := take(); n != 2 {
		t.Errorf("asked again for %d spaces, want 2", n)
	}
	e.Answered(5)
	e.Answered(7)
	e.Tick(2*time.Second, &m)
	if n := take(); n != 1 {
		t.Errorf("asked again for %d spaces after an answer, want 1", n)
	}
	for id := range entity.SpaceID(app.MaxEndings) {
		e.Ask(&m, 100+id)
	}
	if e.Ask(&m, 99) || !e.Ask(&m, 6) {
		t.Error("the limit is not kept")
	}
}
