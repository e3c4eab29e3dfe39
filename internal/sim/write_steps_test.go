package sim

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/store"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
)

// storeStep is a moment in what a BaseApp and the DBApp do for an entity: a call comes to the
// DBApp, or its answer to the BaseApp.
type storeStep struct {
	name   string
	op     wire.StoreOp
	answer bool
}

var storeSteps = []storeStep{
	{"begin", wire.StoreBegin, false}, {"reserve", wire.StoreReserve, false}, {"create", wire.StoreCreate, false},
	{"write", wire.StoreWrite, false}, {"load", wire.StoreLoad, false}, {"take over", wire.StoreTakeOver, false},
	{"query", wire.StoreQuery, false}, {"answer to create", wire.StoreCreate, true}, {"answer to write", wire.StoreWrite, true},
	{"answer to load", wire.StoreLoad, true}, {"answer to take over", wire.StoreTakeOver, true},
}

// TestStoreStepDies: a process dies at each step of writing, loading and taking over: the DBApp or
// the BaseApp. What was confirmed is there in the end, no row lives twice, and everybody is written
// again.
func TestStoreStepDies(t *testing.T) {
	for i, s := range storeSteps {
		for _, who := range []string{"dbapp", "baseapp"} {
			t.Run(s.name+", "+who+" dies", func(t *testing.T) {
				play(t, Options{Seed: uint64(9500 + i), Players: 1, Rovers: 1, CellApps: 2, BaseApps: 3, Replicas: 1, Wild: Wild{Ledgers: 9, Loans: true, Surveys: true}}, func(r *rig) {
					dead := r.dieAtStore(s, who)
					for _, l := range basesOf[*ledger](r.Cluster) {
						// rows are made, too
						_ = l.CreateBase(entity.BaseInfo{Type: "Ledger"}, "OnLoaded", 0)
					}
					if s.op == wire.StoreTakeOver || s.op == wire.StoreBegin { // comes with the death of another
						r.wait(4 * time.Second)
						r.baseApps[2].crash()
						r.baseApps[2].restartAt = r.now + 3*time.Second
					}
					r.until("somebody dies", 40*time.Second, func() bool { return *dead != nil })
					r.hook = nil
					r.wait(6 * time.Second)
					before := r.world.books.confirmed
					r.wait(20 * time.Second)
					if n := r.world.books.confirmed - before; n < 20 {
						t.Errorf("%d writes were confirmed after the death of %s", n, (*dead).Name)
					}
					r.noStrayRows()
				})
			})
		}
	}
}

// noStrayRows waits until each row is of a ledger that knows it, or has been: an heir that does not
// know the row of its base makes another one.
func (r *rig) noStrayRows() {
	r.t.Helper()
	r.until("each row is somebody's", time.Minute, func() bool { // one may be in the making, in a busy store
		known := map[uint64]bool{}
		for _, l := range basesOf[*ledger](r.Cluster) {
			known[l.Row()] = true
		}
		page, err := r.world.books.kept.Query(context.Background(), store.Query{Type: "Ledger", Limit: store.MaxPage})
		if err != nil {
			r.t.Fatal(err)
		}
		return !slices.ContainsFunc(page.Rows, func(x store.Row) bool {
			_, confirmed := r.world.books.least[uint64(x.ID)]
			return !confirmed && !known[uint64(x.ID)]
		})
	})
}

// dieAtStore kills a process at the third time that a step comes, or the first of those that are rare.
func (r *rig) dieAtStore(s storeStep, who string) **Process {
	dead, seen := new(*Process), 0
	open := map[string]wire.StoreOp{} // calls, by who asked and number
	r.hook = func(p *Process, ch mercury.ChannelID, msg []byte) []byte {
		from := r.peer(p, ch)
		if *dead != nil || from == nil || len(msg) == 0 || !r.fromApp(p, ch) {
			return msg
		}
		op, hit := wire.StoreOp(0), false
		switch wire.ID(msg[0]) {
		case wire.CallStoreID:
			var m wire.CallStore
			if m.Parse(msg[1:]) == nil {
				op, hit = m.Op, !s.answer
				open[fmt.Sprint(from.Name, m.Request)] = m.Op
			}
		case wire.StoreAnswerID:
			var m wire.StoreAnswer
			if m.Parse(msg[1:]) == nil {
				op, hit = open[fmt.Sprint(p.Name, m.Request)], s.answer
			}
		}
		if !hit || op != s.op {
			return msg
		}
		if seen++; seen < 3 && s.op != wire.StoreTakeOver && s.op != wire.StoreBegin {
			return msg
		}
		*dead = p
		if !p.takes(who) {
			*dead = from
		}
		(*dead).kill()
		(*dead).restartAt = r.now + 2*time.Second
		if *dead == p {
			return nil
		}
		return msg
	}
	return dead
}
