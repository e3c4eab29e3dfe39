package witness

import (
	"math/rand/v2"
	"testing"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/presence"
	"github.com/cellscape/cellscape/property"
)

// A client that was not told of a reliable call that the history has dropped meets the entity anew;
// about an unreliable call it is told nothing.
func TestLostCallsRefresh(t *testing.T) {
	wd, e := scene(t)
	set(t, e, hp, 3)
	for i := range property.MaxHistory + 5 {
		call(e, wave, uint32(i))
	}
	wd.tell("change 7", "set hp")
	if calls := wd.client.heard; len(calls) != property.MaxHistory || calls[0] != "call 7 5" {
		t.Fatalf("%d calls, first %s", len(calls), calls[0])
	}
	wd.settle(0)

	set(t, e, hp, 4)
	for i := range property.MaxHistory {
		call(e, jump, uint32(i))
	}
	e.History.Trim(1)
	wd.update(false)
	if got := len(wd.client.has[7].calls); got != property.MaxHistory {
		t.Fatalf("%d calls: nothing was dropped yet", got)
	}
	call(e, jump, 1)
	call(e, jump, 2)
	e.History.Trim(e.History.Last() - 1)
	if wd.w.Pending(wd.watcher) != 1 {
		t.Error("an entity whose call was missed is not pending")
	}
	wd.tell("keep 7", "return 7")
	wd.tell()
	wd.settle(0)
}

// Of many reliable calls at once, the oldest are certainly lost.
func TestFloodOfCallsRefreshes(t *testing.T) {
	wd, e := scene(t)
	for i := range property.MaxHistory + 5 {
		call(e, jump, uint32(i))
	}
	wd.tell("keep 7", "return 7")
	wd.settle(0)
}

func TestHoldHistory(t *testing.T) {
	wd, e := scene(t)
	floor := func() property.EventNumber {
		e.Floor = e.History.Last()
		wd.w.HoldHistory()
		return e.Floor
	}
	call(e, jump, 1)
	set(t, e, badge, 1) // 2: not seen at 50 m, so nothing is held for it
	if got := floor(); got != 0 {
		t.Errorf("floor %d before the client was told", got)
	}
	wd.tell("call 7 1")
	if got := floor(); got != 2 {
		t.Errorf("floor %d after everything was told", got)
	}
	set(t, e, weapon, 1) // 3
	wd.watcher.Position.X = 40
	wd.tell("change 7", "set badge", "set weapon")
	set(t, e, hp, 2) // 4
	if got := floor(); got != 3 {
		t.Errorf("floor %d, with one change untold", got)
	}
	other := newEntity(wd.def, 8, 1, 60, 0)
	call(other, jump, 1)
	wd.w.Enter(wd.subject(other))
	other.Floor = 1
	wd.w.HoldHistory()
	if other.Floor != 1 {
		t.Error("held for a client that has not met the entity")
	}
	// A watcher that comes from elsewhere holds at once.
	g := ghostOf(t, e)
	g.Floor = 4
	wd.handTo(g)
	if g.Floor != 3 {
		t.Errorf("floor %d after a handover", g.Floor)
	}
}

// Detail and calls reach half the distance; then all of it again.
func TestDetailFactor(t *testing.T) {
	wd, e := scene(t) // at 50 m; weapon is seen within 100 m, say is heard within 50 m
	wd.w.SetDetailFactor(0.4)
	for _, bad := range []float32{0, -1, 1.5} {
		wd.w.SetDetailFactor(bad)
	}
	wd.tell() // this counts as 125 m: beyond the hysteresis
	set(t, e, weapon, 2)
	call(e, say, 1)
	set(t, e, hp, 2)
	wd.tell("change 7", "set hp")
	wd.settle(0)
	wd.handTo(e)
	set(t, e, weapon, 3)
	wd.tell()
	wd.settle(0)
	wd.w.SetDetailFactor(1)
	if wd.w.Pending(wd.watcher) != 1 {
		t.Error("what may be seen again is not pending")
	}
	wd.tell("change 7", "set weapon")
	call(e, say, 2)
	wd.tell("call 7 2")
	wd.settle(0)
}

// One op is what a cell with 2000 players of 200 entities each spends in a tick to find what is
// needed of the histories: it asks a fiftieth of the players.
func BenchmarkHoldHistory(b *testing.B) {
	const players, each, share = 2000, 200, 2000 / 50
	d, rng := testDefinition(b), rand.New(rand.NewPCG(1, 1))
	all := make([]*presence.Entity, players)
	for k := range all {
		all[k] = newEntity(d, entity.ID(k+1), 1, rng.Float32()*50, rng.Float32()*50)
	}
	watcher := newEntity(d, 1<<40, 1, 0, 0)
	witnesses := make([]*Witness, players)
	for k := range witnesses {
		w := New(Config{})
		from := rng.IntN(players - each)
		for _, e := range all[from : from+each] {
			w.Enter(&Subject{Entity: e})
		}
		w.Update(watcher, 1000, nil, true)
		witnesses[k] = w
	}
	b.ReportAllocs()
	next := 0
	for b.Loop() {
		for range share {
			witnesses[next].HoldHistory()
			next = (next + 1) % players
		}
	}
}

// A ghost may be behind what the client was told on another cell. While the client has the entity, or
// keeps it, no call comes twice; once the client has forgotten it, it meets it as the ghost is.
func TestCallsOfACopyBehind(t *testing.T) {
	wd, e := scene(t)
	call(e, jump, 1)
	behind := ghostOf(t, e)
	call(e, jump, 2)
	wd.tell("call 7 1", "call 7 2")

	wd.w.Enter(wd.subject(behind)) // the watcher's real is on another cell
	wd.all[0] = behind
	call(behind, jump, 2)
	call(behind, jump, 3)
	wd.tell("call 7 3")

	again := ghostOf(t, e) // on a third cell, which is still where the second was
	wd.w.Leave(7)
	wd.tell("keep 7")
	wd.w.Enter(wd.subject(again))
	wd.all[0] = again
	wd.tell("return 7")
	call(again, jump, 3)
	wd.tell()
	call(again, jump, 4)
	wd.tell("call 7 4")
	wd.settle(0)

	anew := ghostOf(t, e)
	wd.w.Leave(7)
	wd.tell("keep 7")
	wd.w.kept = kept{}
	wd.w.Enter(wd.subject(anew))
	wd.all[0] = anew
	wd.tell("enter 7", "set name", "set weapon", "set hp")
	call(anew, jump, 3)
	wd.tell("call 7 3")
	wd.settle(0)
}
