package cellapp

import (
	"testing"
	"time"

	"github.com/cellscape/cellscape/balance/load"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
)

// run calls the app when it asks for it, for a time, and returns how often that was.
func (r *rig) run(d time.Duration) (ticks int) {
	for end := r.now + d; r.app.NextTick() <= end; ticks++ {
		r.now = r.app.NextTick()
		r.app.Tick(r.now)
	}
	return ticks
}

// A CellApp without entities runs only to report, also if its cell has a neighbour. With one it has
// its ticks, and the turns in between.
func TestEmptyCellAppRests(t *testing.T) {
	r := newRig(t)
	r.join()
	r.addCell(1)
	r.run(time.Second)
	r.net.to(mercury.Address{At: manager})
	const reports = int(time.Minute/time.Second) + int(time.Minute/(300*time.Millisecond)) // every 250 ms, by the tick
	n := r.run(time.Minute)
	if sent := r.net.to(mercury.Address{At: manager}); n > reports || len(sent) < reports-2 || len(sent) > reports+2 {
		t.Errorf("called %d times in a minute, and said %d messages; %d reports are due", n, len(sent), reports)
	}
	if others := len(r.net.sent); others > 0 {
		t.Errorf("%d messages to others", others)
	}
	r.create(7, -5)
	if n := r.run(10 * time.Second); n < 100*Turns-5 || n > 100*Turns {
		t.Errorf("with an entity it is called %d times in ten seconds, want %d", n, 100*Turns)
	}
}

// Whatever comes in a rest finds the clocks as the last tick would have left them, and the next tick
// where it would have been.
func TestRestEndsInStep(t *testing.T) {
	r := newRig(t)
	r.join()
	r.addCell(1)
	r.run(time.Second)
	for r.app.NextTick()-r.now < 3*DefaultTick {
		r.run(r.app.NextTick() - r.now)
	}
	last := r.now + 2*DefaultTick
	r.now = last + DefaultTick/2
	r.create(7, -5)
	if game := r.app.cells[0].Game(); game != r.app.clusterTime(last) {
		t.Errorf("the cell's time is %v, want %v", game, r.app.clusterTime(last))
	}
	if got := r.app.ticks.Next(); got != last+DefaultTick {
		t.Errorf("the next tick is at %v, want %v", got, last+DefaultTick)
	}
	if turn := DefaultTick / Turns; r.app.NextTick()-r.now > turn {
		t.Errorf("the next turn is at %v, at %v", r.app.NextTick(), r.now)
	}
}

// There is no rest while anything waits for an answer, for the manager or for its time.
func TestNoRest(t *testing.T) {
	for name, f := range map[string]func(r *rig){
		"no manager":     func(r *rig) { r.app.Closed(r.now, r.mgr, mercury.ErrTimeout) },
		"world stopping": func(r *rig) { r.manage(&wire.Stop{Number: 1, Step: wire.StopClosing}) },
		"frozen":         func(r *rig) { r.manage(&wire.Freeze{On: true}) },
		"a space to end": func(r *rig) { (*outbox)(r.app).DestroySpace(1) },
		"going":          func(r *rig) { r.app.Retire("test") },
		"late ticks":     func(r *rig) { r.app.strain = maxStrain * load.Core },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.join()
			r.addCell(1)
			r.run(time.Second)
			f(r)
			r.run(5 * DefaultTick)
			if r.app.ticks.Resting() {
				t.Error("it rests")
			}
		})
	}
}
