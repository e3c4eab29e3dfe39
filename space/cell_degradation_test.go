package space

import (
	"testing"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/space/overload"
)

// A cell passes its degradation on to its witnesses, but not while the world is frozen.
func TestDegradationOfACell(t *testing.T) {
	r := newRig(t, 1, func(c *Config) { c.Witness.BytesPerTick, c.Witness.MaxDeficit = 400, 1 })
	r.create(7, 0, 3)
	for id := entity.ID(20); id < 60; id++ {
		r.create(id, 10, 0)
	}
	r.tick(5)
	c := r.apps[0].cell
	said := func() int { // bytes to the client in a tick in which everyone changes
		for id := entity.ID(20); id < 60; id++ {
			r.avatar(id).Hp.Set(r.avatar(id).Hp.Get() + 1)
			if err := r.avatar(id).SetPosition(vec(r.avatar(id).Position().X + 0.5)); err != nil {
				t.Fatal(err)
			}
		}
		before, places := 0, len(r.places[7])
		for _, p := range r.bases[7].got {
			before += len(p)
		}
		r.tick(1)
		n := -before
		for _, p := range r.bases[7].got {
			n += len(p)
		}
		for _, p := range r.places[7][places:] {
			n += len(p)
		}
		return n
	}
	all := said()
	c.population.SetDegradation(overload.Degradation{Budget: 250, Detail: 1000, Rate: 1000})
	if few := said(); few >= all/2 {
		t.Errorf("%d bytes at a quarter of the budget, %d at all of it", few, all)
	}
	c.population.Freeze(true)
	if c.Degradation() != overload.None() {
		t.Errorf("frozen it saves %+v", c.Degradation())
	}
	if frozen := said(); frozen <= all {
		t.Errorf("%d bytes while frozen, %d at all of the budget", frozen, all)
	}
}

// A report does not look at all that a client sees who has no room for all, unless the world is frozen.
func TestReportedPending(t *testing.T) {
	r := newRig(t, 1, func(c *Config) { c.Witness.BytesPerTick, c.Witness.MaxDeficit = 40, 1 })
	r.create(7, 0, 3)
	for id := entity.ID(20); id < 60; id++ {
		r.create(id, 10, 0)
	}
	r.tick(5)
	p, w := r.apps[0].population, r.real(7).witness
	if all, rough := p.Pending(), p.ReportedPending(); !w.Crowded() || all == 0 || rough-uint64(w.Len()) != all-uint64(w.Pending(r.real(7).e)) {
		t.Errorf("%d of %d in view are pending, %d in all, %d are reported", w.Pending(r.real(7).e), w.Len(), all, rough)
	}
	p.Freeze(true)
	if all, rough := p.Pending(), p.ReportedPending(); rough != all {
		t.Errorf("frozen, %d are pending and %d are reported", all, rough)
	}
}
