package baseapp

import (
	"bytes"
	"strconv"
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/internal/wire"
)

// movingGold is a keeper with a cell part whose calls change what the base has.
type movingGold struct {
	*keeper
	id    entity.ID
	v     *avatar
	heard uint64 // messages of the cell part
	saves uint64
}

func newMovingGold(t *testing.T, change ...func(*Config)) *movingGold {
	k := newKeeper(t, change...)
	id, v := k.kept()
	k.create(id, v)
	k.current(appX, id, 1, 0, 0)
	k.take(appX)
	k.events = nil
	k.do["hidden"] = func(v *avatar) { v.Gold.Set(v.Gold.Get() + 1) }
	return &movingGold{keeper: k, id: id, v: v}
}

// pays has the cell part call the base, which has a coin more then.
func (g *movingGold) pays() {
	g.heard++
	call := flow.MethodCall{Method: 0}
	g.up(appX, g.id, 1, g.heard, call.Append(nil, flow.CallBasePayload))
}

// says has the cell part say its state, with all that it was told up to a message.
func (g *movingGold) says(handled uint64) {
	g.heard++
	g.saves++
	g.up(appX, g.id, 1, g.heard, backup(1, 0, g.saves, handled, ""))
}

// wanted is the last message by which the cell part was asked to say its state since the last call.
func (g *movingGold) wanted() (number uint64) {
	g.t.Helper()
	for _, m := range told[flow.Message](g.rig, appX) {
		if flow.Payload(m.Payload[0]) == flow.BackupNowPayload {
			number = m.Number
		}
	}
	if number == 0 {
		g.t.Fatal("the cell part is not asked for its state")
	}
	return number
}

// coins reads the gold of a record.
func (g *movingGold) coins(m *wire.CallStore) int {
	g.t.Helper()
	at := bytes.Index(m.Data, []byte("gold"))
	if at < 0 {
		g.t.Fatalf("no gold in %q", m.Data)
	}
	return int(m.Data[at+len("gold")])
}

// A record has what the base has heard from its cell part up to the copy of it that is written, and
// nothing that came later. (A coin that had gone from one part to the other was in both, or in
// neither.)
func TestRecordIsOfOneMoment(t *testing.T) {
	g := newMovingGold(t)
	_ = g.v.Write("OnKept", 2)
	asked := g.wanted()
	g.pays()
	g.says(asked)
	g.pays() // in the same tick, after the copy was taken
	if m := g.asked(wire.StoreWrite); g.coins(&m) != 1 {
		t.Errorf("the record has %d coins, want 1, as when the cell part said its state", g.coins(&m))
	}
}

// A write that cannot be made when the copy comes asks for another one, if the base has heard from
// its cell part since. So does the archive.
func TestRecordWaitsForTheNextMoment(t *testing.T) {
	const period = 10 * time.Second
	for name, late := range map[string]func(g *movingGold){
		"busy": func(g *movingGold) {
			_ = g.v.Write("OnKept", 2)
			first := g.wanted()
			g.says(first)
			m := g.asked(wire.StoreWrite)
			_ = g.v.Write("OnKept", 3)
			g.says(g.wanted())
			g.pays()
			g.answer(&m, wire.StoreAnswer{})
		},
		"archive": func(g *movingGold) {
			g.says(0)
			g.pays()
			g.a.cfg.ArchivePeriod = period
			g.pass(period)
			g.a.cfg.ArchivePeriod = -1
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := newMovingGold(t)
			late(g)
			g.tick()
			asked := g.wanted()
			if calls := g.calls(); len(calls) > 0 {
				t.Fatalf("written with %d coins and an older copy of the cell part", g.coins(&calls[0]))
			}
			g.says(asked)
			g.pays()
			if m := g.asked(wire.StoreWrite); g.coins(&m) != 1 {
				t.Errorf("the record has %d coins, want 1", g.coins(&m))
			}
		})
	}
}

// A script that says Write more often than its cell part can answer is written, and each Write is
// answered once the record has what was called at the cell part before it. (Each put the ones
// before off: nothing was written, and no Write answered.)
func TestWritesInARow(t *testing.T) {
	g := newMovingGold(t)
	answered, late := 0, uint64(0)
	for i := range 40 {
		_ = g.v.Write("OnKept", int64(i))
		asked := g.wanted()
		if late > 0 {
			g.says(late) // a tick later
		}
		late = asked
		g.tick()
		for _, m := range g.calls() {
			g.answer(&m, wire.StoreAnswer{})
		}
		for _, e := range g.events {
			if want := "kept " + strconv.Itoa(answered) + " false"; e != want {
				t.Fatalf("%s, want %s", e, want)
			}
			answered++
		}
		g.events = nil
	}
	if answered < 35 {
		t.Errorf("%d of 40 writes are answered", answered)
	}
}
