package sim

import (
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity/stored"
	"github.com/cellscape/cellscape/internal/wire"
)

// answers are what only the DBApp says to a BaseApp, if there is one.
func (x *impostor) answers() []wire.Message {
	if x.r.world.books == nil {
		return nil
	}
	n := uint64(x.n % 64)
	return []wire.Message{
		&wire.StoreAnswer{Request: n, Code: stored.Held, Reason: "ha"}, &wire.StoreAnswer{Request: n, Start: 99, Row: 1},
		&wire.StoreAnswer{Request: n, Code: stored.Superseded, Reason: "ha"}, &wire.StoreAnswer{Request: n, Row: 1, Version: 1 << 40, Data: []byte("rubbish")},
	}
}

// toDBApp are calls of the store about rows and entities of others.
func (x *impostor) toDBApp() []wire.Message {
	v := x.victim()
	row := uint64(1 + x.n%9)
	call := wire.CallStore{Request: uint64(x.n), Number: 1<<32 | uint64(x.n), Start: 1, Type: "Ledger", Row: row, Entity: v.ID, Version: 1 << 40, Data: []byte("rubbish")}
	lies := append(x.orders(), x.answers()...)
	for _, op := range []wire.StoreOp{wire.StoreCreate, wire.StoreWrite, wire.StoreLoad, wire.StoreFree, wire.StoreTakeOver, wire.StoreDelete, wire.StoreQuery} {
		m := call
		m.Op = op
		lies = append(lies, &m)
	}
	for _, from := range []uint32{uint32(v.ID >> 32), 1 << 20, 0} { // an app that lives, one that never was, nobody
		m := call
		m.Op, m.FromApp = wire.StoreTakeOver, from
		lies = append(lies, &m)
	}
	later, unknown, nobody := call, call, call
	later.Op, later.Start = wire.StoreWrite, 99
	unknown.Op, unknown.Type = wire.StoreLoad, "Nothing"
	nobody.Op, nobody.Entity = wire.StoreDelete, 0
	return append(lies, &later, &unknown, &nobody, &wire.CallStore{Op: wire.StoreBegin, Start: 99})
}

// TestImpostorAtTheStore: a stranger, or an app that has joined, asks the store for rows of others,
// and answers in its name. No base loses its row, and all that was confirmed is there.
func TestImpostorAtTheStore(t *testing.T) {
	for i, role := range []wire.Role{0, wire.CellApp, wire.BaseApp} {
		t.Run(role.String(), func(t *testing.T) {
			play(t, Options{Seed: 4350 + uint64(i), CellApps: 2, Players: 3, Rovers: 3, Balance: still(2), Sealed: role != 0, Wild: Wild{Ledgers: 6}}, func(r *rig) {
				r.parted = true
				r.wait(5 * time.Second)
				before, confirmed := r.ledgerCounts(), r.world.books.confirmed
				liar := r.impostorWith(nil)
				if role != 0 {
					liar.p.crash()
					liar = r.impostorWith(r.cellApps[0].roleKeys())
					liar.joined = role
					r.until("it has joined", 5*time.Second, func() bool { return r.observer.last.AppCount(role.String()) > r.honest(role) })
				}
				r.wait(15 * time.Second)
				liar.joined, liar.gone = 0, true
				if role != 0 { // it owes answers that it will never give: it has to die of it
					r.until("it is declared dead", 10*time.Second, func() bool { return r.observer.last.AppCount(role.String()) == r.honest(role) })
				}
				after := r.ledgerCounts()
				for id, n := range before {
					if after[id] <= n {
						t.Errorf("ledger %v counted %d before, and %d after", id, n, after[id])
					}
				}
				if r.world.books.confirmed < confirmed+20 {
					t.Errorf("%d writes were confirmed before, %d after", confirmed, r.world.books.confirmed)
				}
				if liar.said[wire.CallStoreID] == 0 || liar.said[wire.StoreAnswerID] == 0 {
					t.Error("it has said nothing")
				}
				for b, s := range basesOf[*ledger](r.Cluster) {
					if s.Row() == 0 {
						t.Errorf("ledger %v has no row", b.ID)
					}
				}
			})
		})
	}
}
