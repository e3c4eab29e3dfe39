package cellappmgr

import (
	"strings"
	"testing"
	"time"

	"github.com/cellscape/cellscape/internal/wire"
)

// settledWorld is a rig whose manager leads alone, with a CellApp that has its cell and a BaseApp.
func settledWorld(t *testing.T, change func(*Config)) (r *rig, cell, base *peer) {
	t.Helper()
	r = newRig(t, change)
	cell, base = r.join(wire.CellApp, 2), r.join(wire.BaseApp, 3)
	cell.confirm()
	r.pass(5 * time.Second)
	return r, cell, base
}

// run calls the manager when it asks for it, for a time, and returns how often that was. talk is
// called every 50 ms before.
func (r *rig) run(d time.Duration, talk func()) (ticks int) {
	const step = 50 * time.Millisecond
	for end := r.now + d; r.now < end; {
		next := (r.now + step) / step * step
		if at := max(r.now, r.m.NextTick()); at < next {
			r.now = at
			r.m.Tick(r.now)
			ticks++
			continue
		}
		r.now = next
		talk()
	}
	return ticks
}

// words says that two apps are there, as often as they do.
func (r *rig) words(apps ...*peer) func() {
	return func() {
		for i, p := range apps {
			if at := r.now + time.Duration(i)*100*time.Millisecond; at%(300*time.Millisecond) == 0 {
				p.send(&wire.CellsReport{})
			}
		}
	}
}

// A manager whose members only say that they are there ticks to balance and for nothing else; one that
// claims a lease in its ticks does not rest.
func TestSettledManagerRests(t *testing.T) {
	r, cell, base := settledWorld(t, nil)
	lines := int(time.Minute / r.m.cfg.Balance.Period)
	alive := func() {
		if r.now%(300*time.Millisecond) == 0 {
			base.send(&wire.Alive{})
		}
		r.words(cell)()
	}
	if n := r.run(time.Minute, alive); n < lines-1 || n > lines+lines/4 {
		t.Errorf("%d ticks in a minute, with %d balances", n, lines)
	}
	if r.m.Counts().Stalls > 0 || strings.Contains(r.log.String(), "silent") {
		t.Errorf("%d stalls; the log says:\n%s", r.m.Counts().Stalls, r.log.String())
	}
	r.m.sole = false
	if n := r.run(time.Second, alive); n < 9 {
		t.Errorf("%d ticks in a second of a manager that others may replace", n)
	}
}

// A manager whom nobody tells anything wakes often enough to know that it was awake, and judges
// silence in the tick in which it would without a rest.
func TestRestingManagerJudgesSilence(t *testing.T) {
	r, cell, base := settledWorld(t, func(c *Config) { c.AppTimeout = 3 * time.Second })
	r.run(time.Second, r.words(cell, base))
	cell.send(&wire.CellsReport{})
	silent := r.now
	for r.m.byAddress(cell.addr) != nil && r.now < time.Hour {
		r.run(50*time.Millisecond, r.words(base))
	}
	if took := r.now - silent; took < 3*time.Second || took > 3*time.Second+150*time.Millisecond {
		t.Errorf("dead after a silence of %v", took)
	}
	if r.m.Counts().Stalls > 0 {
		t.Errorf("%d stalls", r.m.Counts().Stalls)
	}
}

// What is under way keeps the manager from its rest, or ends it: the next tick sees to it.
func TestManagerDoesNotRest(t *testing.T) {
	for name, f := range map[string]func(r *rig, cell *peer){
		"a CellApp goes": func(_ *rig, cell *peer) { cell.send(&wire.RetireApp{Reason: "test"}) },
		"world stopping": func(r *rig, _ *peer) { r.m.Shutdown(r.now, "test") },
		"frozen":         func(r *rig, _ *peer) { r.m.frozen = true },
		"an inquiry":     func(r *rig, cell *peer) { r.m.byAddress(cell.addr).inquiry = &inquiry{} },
	} {
		r, cell, base := settledWorld(t, nil)
		r.run(time.Second, r.words(cell, base))
		for r.m.NextTick()-r.now < 200*time.Millisecond {
			r.run(50*time.Millisecond, r.words(cell, base))
		}
		f(r, cell)
		r.run(100*time.Millisecond, r.words(cell, base))
		if r.m.ticks.Resting() {
			t.Errorf("%s: it rests", name)
		}
		if n := r.run(time.Second, r.words(cell, base)); n < 9 {
			t.Errorf("%s: %d ticks in a second", name, n)
		}
	}
}

// A CellApp that begins to save closes the world to logins in the next tick, not after the rest.
func TestGateEndsRest(t *testing.T) {
	r, cell, base := settledWorld(t, nil)
	r.run(time.Second, r.words(cell, base))
	cell.send(&wire.CellsReport{SavingStep: 1})
	r.run(100*time.Millisecond, func() {})
	if !r.m.gate.refused {
		t.Error("logins are not refused")
	}
}
