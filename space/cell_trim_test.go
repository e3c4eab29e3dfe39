package space

import (
	"testing"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/ghost"
	"github.com/cellscape/cellscape/property"
)

// shout lets an entity say something to everyone who sees it.
func (a *Avatar) shout(t testing.TB) {
	t.Helper()
	if err := a.AllClients().Call("say", uint32(1)); err != nil {
		t.Fatal(err)
	}
}

func TestHistoryOfTheUnwatchedIsTrimmed(t *testing.T) {
	r := newRig(t, 2)
	r.create(7, -50, 0)
	r.tick(3)
	for range 20 {
		r.avatar(7).shout(t)
		if err := r.avatar(7).Bag.Append(1); err != nil {
			t.Fatal(err)
		}
	}
	r.tick(1)
	of := func(app int) *property.History { return r.apps[app-1].population.find(7).e.History }
	if of(1).Len() != 20 || of(2).Len() != 20 {
		t.Fatalf("%d events at the real, %d at the ghost", of(1).Len(), of(2).Len())
	}
	r.tick(6 * trimTicks)
	for app := 1; app <= 2; app++ {
		h := of(app)
		if _, parts := h.Parts(bagProp, h.Last()-1, 99); h.Len() != 0 || parts {
			t.Errorf("cell %d keeps %d events, parts: %v", app, h.Len(), parts)
		}
	}
	r.calm()
}

// Watchers that can never keep up hold the histories, as long as these may be; the copies that
// others watch are trimmed meanwhile. Nobody is made to meet anyone anew.
func TestHistoryIsKeptForTheSlowest(t *testing.T) {
	r := newRig(t, 2, func(c *Config) { c.Witness.BytesPerTick = 12 })
	r.create(7, -50, 1) // sees the reals 8 and 9, and 10's ghost
	r.create(8, -40, 0)
	r.create(9, -30, 0)
	r.create(10, 20, 0)
	r.create(11, 90, 1) // sees 10, and the ghosts of the others: it has less to hear
	longest := 0
	for n := range 12 * trimTicks {
		if n%4 == 0 {
			r.avatar(8).shout(t)
			r.avatar(10).shout(t)
		}
		if n%15 == 0 {
			r.avatar(9).push(t, uint32(n))
		}
		r.tick(1)
		longest = max(longest, r.apps[0].population.find(8).e.History.Len())
	}
	if longest == 0 || longest >= property.MaxHistory {
		t.Errorf("histories of up to %d events: nothing was trimmed, or all", longest)
	}
	r.calm()
	for _, id := range []uint64{7, 11} {
		ids, _ := r.bundles(entity.ID(id))
		for _, m := range ids {
			if m == protocol.LeaveID || m == protocol.KeepID {
				t.Errorf("the client of %d was told to forget someone", id)
			}
		}
	}
}

// A real goes to and fro between the lists of two cells while they sweep.
func TestTrimAcrossHandovers(t *testing.T) {
	r := newRig(t, 2)
	r.create(7, -50, 1)
	r.create(8, -40, 0)
	r.create(9, 45, 1)
	for n := range 8 * trimTicks {
		r.avatar(8).shout(t)
		r.avatar(8).push(t, uint32(n))
		if r.avatar(8).Bag.Len() > 30 {
			for _, l := range []*property.Slice[uint32]{&r.avatar(8).Stock, &r.avatar(8).Purse, &r.avatar(8).Bag} {
				if err := l.Delete(3, 29); err != nil {
					t.Fatal(err)
				}
			}
		}
		if n%7 == 0 {
			r.move(8, []float32{-40, 40}[n/7%2])
		}
		if n%31 == 0 {
			r.move(7, []float32{-50, 50}[n/31%2])
		}
		r.tick(1)
	}
	r.calm()
	for _, id := range []uint64{7, 9} {
		if calls := r.callsHeard(entity.ID(id)); calls < 8*trimTicks-5 {
			t.Errorf("the client of %d heard %d of %d calls", id, calls, 8*trimTicks)
		}
	}
}

// A real that is trimmed as one, and then becomes a ghost before the sweep comes to the ghosts, is
// not trimmed again before anyone was asked.
func TestTrimOncePerSweep(t *testing.T) {
	r := newRig(t, 2)
	c := r.create(7, -50, 1).cell
	r.create(8, -40, 0)
	r.tick(3)
	r.avatar(8).shout(t)
	sweep := func(step trimStep) {
		for c.trimming.step == step {
			c.trim()
		}
	}
	c.trimming = trimming{step: trimReals}
	sweep(trimReals)
	if err := r.real(8).SetPosition(property.Vector3{X: 40}); err != nil {
		t.Fatal(err)
	}
	c.offload(r.real(8))
	sweep(trimGhosts)
	if n := r.apps[0].population.find(8).e.History.Len(); n != 1 {
		t.Errorf("%d events are kept for a client that heard none", n)
	}
	r.pump()
	r.calm()
}

// callsHeard is how many calls a client heard. It must not have been told to forget anyone.
func (r *rig) callsHeard(id entity.ID) (calls int) {
	r.t.Helper()
	ids, _ := r.bundles(id)
	for _, m := range ids {
		switch m {
		case protocol.CallID:
			calls++
		case protocol.LeaveID, protocol.KeepID:
			r.t.Errorf("the client of %d was told to forget someone", id)
		}
	}
	return calls
}

// heard demands that a client heard all calls, and was not told to forget anyone.
func (r *rig) heard(id entity.ID, calls int) {
	r.t.Helper()
	if n := r.callsHeard(id); n != calls {
		r.t.Errorf("the client of %d heard %d of %d calls", id, n, calls)
	}
}

// A cell of two entities has little to sweep, and still keeps what is new for who comes from
// another cell, where a bad link was behind.
func TestSmallCellsAreSweptAsSlowly(t *testing.T) {
	r := newRig(t, 2)
	r.create(7, -50, 1)
	r.create(8, 20, 0)
	r.tick(3)
	r.hold = func(p packet) bool { _, ok := p.m.(*ghost.Update); return ok && p.to == addr(1) }
	r.avatar(8).shout(t)
	r.tick(10)
	r.move(7, 50)
	r.tick(3)
	if r.real(7).cell.id != cellID(2) {
		t.Fatal("the watcher was not handed over")
	}
	r.hold = nil
	r.calm()
	r.heard(7, 1)
}

// A real comes to where its ghost is watched, from a cell where nobody needed its history any more.
func TestHistoryOfTheGhostStaysWithTheReal(t *testing.T) {
	r := newRig(t, 2)
	r.create(8, -40, 0)
	r.create(9, 45, 1)
	r.tick(3)
	a := r.avatar(8)
	for n := range uint32(20) {
		a.push(t, n)
	}
	r.tick(3)
	a.shout(t)
	a.push(t, 99)
	r.tick(1) // the ghost has it, and its watcher was not told yet
	real := r.real(8)
	real.e.History.Trim(real.e.History.Last())
	if err := real.SetPosition(property.Vector3{X: 40}); err != nil {
		t.Fatal(err)
	}
	real.cell.offload(real)
	r.pump()
	h := r.real(8).e.History
	if _, ok := h.Parts(bagProp, h.Last()-1, 99); !ok || r.real(8).cell.id != cellID(2) {
		t.Error("the last part is not kept")
	}
	r.calm()
	r.heard(9, 1)
}
