package witness

import (
	"testing"

	"github.com/cellscape/cellscape/property"
)

// TestAllowance: the budget follows what the path carries, between the floor and the whole, and the
// shares of a path and of a cell that saves multiply.
func TestAllowance(t *testing.T) {
	w := New(Config{BytesPerTick: 1000, LeastBytesPerTick: 200})
	for _, c := range []struct {
		line          int
		saved         uint16
		budget, share int
	}{{0, 1000, 1000, 1000}, {5000, 1000, 1000, 1000}, {640, 1000, 640, 640}, {640, 500, 320, 640}, {10, 1000, 200, 200}, {10, 500, 125, 200}, {640, 250, 160, 640}, {-1, 1000, 1000, 1000}} {
		w.SetDegradation(c.saved, 1000)
		w.SetAllowance(c.line)
		if w.Budget() != c.budget || w.Share() != c.share {
			t.Errorf("a line of %d, a cell at %d: budget %d, share %d, want %+v", c.line, c.saved, w.Budget(), w.Share(), c)
		}
	}
	if (Config{LeastBytesPerTick: 6000}).Validate() == nil || (Config{BytesPerTick: 100, LeastBytesPerTick: 101}).Validate() == nil || (Config{LeastBytesPerTick: -1}).Validate() == nil {
		t.Error("a floor above the budget, or below zero, is taken")
	}
	if b := New(Config{BytesPerTick: 100}).cfg.LeastBytesPerTick; b != 100 {
		t.Errorf("the floor of a budget of 100 is %d", b)
	}
}

// everyoneRises is a tick in which all move. It returns the bytes that the client is sent.
func (wd *world) everyoneRises() (bytes int) {
	for _, e := range wd.all {
		p := e.Position
		p.Y++
		e.MoveTo(wd.tick, p, property.Vector3{})
	}
	b, p := wd.w.Update(wd.watcher, wd.tick, nil, false)
	wd.tick++
	return len(b) + total(p)
}

// TestAllowanceKeepsTheNearFresh: with the tenth of what everyone's moves need, the nearest are told
// several times as often as the farthest, and nobody waits beyond what turns by distance make of it.
func TestAllowanceKeepsTheNearFresh(t *testing.T) {
	wd := newWorld(t, Config{BytesPerTick: 2000, LeastBytesPerTick: 10, MaxRadius: aoiRadius}, 5, 200)
	wd.interest()
	wd.update(true)
	wd.w.SetAllowance(60)
	bytes, ticks := 0, 400
	for range ticks {
		bytes += wd.everyoneRises()
	}
	if mean := bytes / ticks; mean < 50 || mean > 70 {
		t.Errorf("%d bytes a tick where 60 are allowed", mean)
	}
	near, far := 0, 0
	for i := range wd.w.entries {
		en := &wd.w.entries[i]
		if en.s == nil {
			continue
		}
		d := wd.watcher.Position
		dx, dz := float64(en.s.x-d.X), float64(en.s.z-d.Z)
		waited := wd.w.waited(en)
		if dx*dx+dz*dz < aoiRadius*aoiRadius/16 {
			near = max(near, waited)
		} else {
			far = max(far, waited)
		}
	}
	t.Logf("the longest wait is %d ticks near by, %d far away", near, far)
	if near*2 > far || far > DefaultMaxWait {
		t.Errorf("the longest wait is %d ticks near by, %d far away", near, far)
	}
}
