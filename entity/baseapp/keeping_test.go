package baseapp

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/entity/limits"
	"github.com/cellscape/cellscape/entity/store"
	"github.com/cellscape/cellscape/entity/stored"
	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
)

func (v *avatar) OnKept(r stored.Reply) { v.note("kept %d %v", r.User, r.Err != nil) }

func (v *avatar) OnLoaded(r entity.BaseReply) {
	v.note("loaded %v %s", !r.Base.IsZero(), textOf(r.Err))
}

// keeper is a rig whose app has a store; the test plays the DBApp.
type keeper struct {
	*rig
	ch mercury.ChannelID
}

func newKeeper(t testing.TB, change ...func(*Config)) *keeper {
	t.Helper()
	db := mercury.Address{At: netip.MustParseAddrPort("10.0.0.99:2000"), Salt: 99}
	change = append([]func(*Config){func(c *Config) {
		c.Schema.Type("Avatar").Persistent = true // and so is its gold
		types, err := store.NewSchema(c.Schema)
		if err != nil {
			t.Fatal(err)
		}
		c.Stored, c.ArchivePeriod = types, -1
	}}, change...)
	k := &keeper{rig: joinedRig(t, change...)}
	k.say(k.managers, &wire.Welcome{Number: 7, Allocator: 5, BaseAppMgr: baseAppMgr, DBApp: db, Stores: true})
	k.tick()
	k.ch = k.open(db)
	k.say(k.ch, &wire.Welcome{Number: 1, DBApp: db})
	m := k.asked(wire.StoreBegin)
	k.answer(&m, wire.StoreAnswer{Start: 3})
	k.net.sent = nil
	return k
}

// asked is the only call of the store since the last, which must be of this kind.
func (k *keeper) asked(op wire.StoreOp) wire.CallStore {
	k.t.Helper()
	k.tick()
	calls := k.calls()
	if len(calls) != 1 || calls[0].Op != op {
		k.t.Fatalf("calls %+v, want one of op %d", calls, op)
	}
	return calls[0]
}

func (k *keeper) calls() (calls []wire.CallStore) {
	for _, s := range k.net.sent {
		if id, body, err := wire.Split(s.msg); err == nil && id == wire.CallStoreID {
			var m wire.CallStore
			parse(k.t, m.Parse(body))
			m.Data = slices.Clone(m.Data)
			calls = append(calls, m)
		}
	}
	k.net.sent = nil
	return calls
}

func (k *keeper) answer(m *wire.CallStore, a wire.StoreAnswer) {
	a.Request = m.Request
	k.say(k.ch, &a)
}

func (k *keeper) silent() {
	k.t.Helper()
	k.pass(keepAgain + 2*DefaultTick)
	if calls := k.calls(); len(calls) > 0 {
		k.t.Fatalf("calls %+v, want none", calls)
	}
}

// kept makes a base with a row.
func (k *keeper) kept() (entity.ID, *avatar) {
	k.t.Helper()
	id, v := k.spawn()
	if err := v.Write("OnKept", 1); err != nil {
		k.t.Fatal(err)
	}
	m := k.asked(wire.StoreReserve)
	k.answer(&m, wire.StoreAnswer{Row: 42})
	m = k.asked(wire.StoreCreate)
	if m.Row != 42 || m.Version != 1 || m.Entity != id || m.Start != 3 || m.Release {
		k.t.Fatalf("%+v", m)
	}
	k.answer(&m, wire.StoreAnswer{})
	if v.Row() != 42 || !slices.Contains(k.events, "kept 1 false") {
		k.t.Fatalf("row %d, events %q", v.Row(), k.events)
	}
	k.events = nil
	return id, v
}

func TestWrites(t *testing.T) {
	k := newKeeper(t)
	id, v := k.kept()
	_ = v.Write("OnKept", 2)
	busy := k.asked(wire.StoreWrite)
	_ = v.Write("OnKept", 3) // waits for its turn
	k.answer(&busy, wire.StoreAnswer{Code: stored.Busy, Reason: "full"})
	k.wantEvents("kept 2 true")
	m := k.asked(wire.StoreWrite)
	if m.Version <= busy.Version {
		t.Errorf("version %d after %d", m.Version, busy.Version)
	}
	k.answer(&m, wire.StoreAnswer{})
	k.wantEvents("kept 3 false")

	v.Destroy()
	last := k.asked(wire.StoreWrite)
	if !last.Release {
		t.Errorf("%+v", last)
	}
	k.answer(&last, wire.StoreAnswer{Code: stored.Busy})
	k.pass(keepAgain)
	again := k.asked(wire.StoreWrite)
	if again.Version != last.Version || !again.Release || string(again.Data) != string(last.Data) {
		t.Errorf("the last write was %+v, and then %+v", last, again)
	}
	if _, there := k.view(id); !there {
		t.Error("the base is gone before its last write")
	}
	k.answer(&again, wire.StoreAnswer{Code: stored.Free}) // it had arrived
	k.tick()
	if _, there := k.view(id); there || k.a.report.Errors != 0 {
		t.Errorf("there: %v, errors: %d", there, k.a.report.Errors)
	}
	k.silent()
}

// A write holds what was called at the cell part before, though that is yet to be made: a script that creates
// an entity sets it up, and has it written.
func TestWriteAwaitsACellPartThatIsMade(t *testing.T) {
	for _, comes := range []bool{true, false} {
		k := newKeeper(t)
		id, v := k.kept()
		k.create(id, v)
		if err := v.Cell().Call("hurt", int32(1)); err != nil {
			t.Fatal(err)
		}
		_ = v.Write("OnKept", 2)
		k.pass(cellPatience - 2*DefaultTick)
		if calls := k.calls(); len(calls) > 0 {
			t.Fatalf("written before the cell part was heard of: %+v", calls)
		}
		if comes {
			k.current(appX, id, 1, 0, 0)
			k.tick()
			asked := uint64(0)
			for _, m := range told[flow.Message](k.rig, appX) {
				if flow.Payload(m.Payload[0]) == flow.BackupNowPayload {
					asked = m.Number
				}
			}
			if asked == 0 {
				t.Fatal("the cell part is not asked for its state")
			}
			k.up(appX, id, 1, 1, backup(1, 0, 1, asked, ""))
		} else {
			k.pass(4 * DefaultTick)
		}
		k.asked(wire.StoreWrite)
	}
}

// The archive writes a base once a period, and passes over one that wants none until it wants to be written
// again. Such a one is still written when it asks, and when it ends.
func TestWithoutAutoArchive(t *testing.T) {
	const period = 10 * time.Second
	k := newKeeper(t, func(c *Config) { c.ArchivePeriod = period })
	_, v := k.kept()
	writes := func() (n int) {
		for until := k.now + 3*period; k.now < until; {
			k.tick()
			for _, m := range k.calls() {
				n++
				k.answer(&m, wire.StoreAnswer{})
			}
		}
		return n
	}
	if n := writes(); n != 3 {
		t.Errorf("written %d times in three periods", n)
	}
	v.SetAutoArchive(false)
	if n := writes(); n != 0 {
		t.Errorf("written %d times, though it wants none", n)
	}
	_ = v.Write("OnKept", 2)
	m := k.asked(wire.StoreWrite)
	k.answer(&m, wire.StoreAnswer{})
	k.wantEvents("kept 2 false")
	v.SetAutoArchive(true)
	if n := writes(); n != 3 {
		t.Errorf("written %d times, since it wants that again", n)
	}
	v.SetAutoArchive(false)
	v.Destroy()
	if last := k.asked(wire.StoreWrite); !last.Release {
		t.Errorf("%+v", last)
	}
}

// A base that is destroyed with its row has that deleted, and not written, until the store has done so.
func TestDestroyRow(t *testing.T) {
	k := newKeeper(t)
	id, v := k.kept()
	if err := v.DestroyRow(); err != nil {
		t.Fatal(err)
	}
	for _, code := range []stored.Code{stored.Busy, stored.Done} {
		m := k.asked(wire.StoreDelete)
		if m.Row != 42 || m.Entity != id {
			t.Errorf("%+v", m)
		}
		if _, there := k.view(id); !there {
			t.Error("the base is gone before its row")
		}
		k.answer(&m, wire.StoreAnswer{Code: code})
		if code == stored.Busy {
			k.pass(keepAgain)
		}
	}
	k.tick()
	if _, there := k.view(id); there {
		t.Error("the base is there without its row")
	}
	k.silent()
}

// Who has no row yet has nothing deleted; who is not kept, or is destroyed, is told so.
func TestNoRowToDestroy(t *testing.T) {
	k := newKeeper(t)
	_, v := k.spawn()
	if err := v.DestroyRow(); err != nil {
		t.Fatal(err)
	}
	k.silent()

	_, v = k.kept()
	v.Destroy()
	if err := v.DestroyRow(); !errors.Is(err, entity.ErrGone) {
		t.Errorf("destroyed already: %v", err)
	}
	if last := k.asked(wire.StoreWrite); !last.Release {
		t.Errorf("%+v", last)
	}

	r := joinedRig(t)
	id, v := r.spawn()
	if err := v.DestroyRow(); !errors.Is(err, stored.ErrNotKept) {
		t.Errorf("not kept: %v", err)
	}
	if r.a.byID[id].destroying {
		t.Error("it is destroyed without its row")
	}
}

// TestRowIsThere: the answer to a Create was lost, and the next one finds the row.
func TestRowIsThere(t *testing.T) {
	k := newKeeper(t)
	_, v := k.spawn()
	k.events = nil
	_ = v.Write("OnKept", 1)
	m := k.asked(wire.StoreReserve)
	k.answer(&m, wire.StoreAnswer{Row: 42})
	m = k.asked(wire.StoreCreate)
	k.answer(&m, wire.StoreAnswer{Code: stored.Exists})
	m = k.asked(wire.StoreWrite)
	k.answer(&m, wire.StoreAnswer{})
	k.wantEvents("kept 1 false")
	_ = v.Write("OnKept", 2)
	m = k.asked(wire.StoreWrite)
	k.answer(&m, wire.StoreAnswer{Code: stored.Held, Reason: "another's"})
	k.tick()
	if _, there := k.view(m.Entity); there {
		t.Error("a base lives whose row is another's")
	}
	k.silent()
}

// TestHeirOfARow restores a base on another app, and answers its wish to take the row over in every way.
func TestHeirOfARow(t *testing.T) {
	for name, x := range map[string]struct {
		made, ends bool
		answer     wire.StoreAnswer
		then       wire.StoreOp // 0: nothing
		lives      bool
	}{
		"has it":                   {true, false, wire.StoreAnswer{Row: 42, Version: 7}, wire.StoreWrite, true},
		"too early":                {true, false, wire.StoreAnswer{Code: stored.Busy}, wire.StoreTakeOver, true},
		"another's":                {true, false, wire.StoreAnswer{Code: stored.Held}, 0, false},
		"deleted":                  {true, false, wire.StoreAnswer{Code: stored.Missing}, 0, false},
		"made after the copy":      {false, false, wire.StoreAnswer{Row: 42, Version: 1}, wire.StoreWrite, true},
		"not made":                 {false, false, wire.StoreAnswer{Code: stored.Missing}, wire.StoreCreate, true},
		"last write to be made":    {true, true, wire.StoreAnswer{Row: 42, Version: 1}, wire.StoreWrite, true},
		"last write was made":      {true, true, wire.StoreAnswer{Row: 42, Version: 9}, wire.StoreFree, true},
		"ended, and another's now": {true, true, wire.StoreAnswer{Code: stored.Held}, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			k := newKeeper(t)
			id, v := k.kept()
			b := k.a.byID[id]
			b.keep.made = x.made
			if x.ends {
				v.Destroy()
			}
			parts := b.appendParts(nil)
			h := newKeeper(t)
			if err := h.a.restore(&heritage{id: id, lives: 1, parts: parts}); err != nil {
				t.Fatal(err)
			}
			m := h.asked(wire.StoreTakeOver)
			if m.FromApp != 5 || m.Row != 42 || m.Entity != id {
				t.Errorf("%+v", m)
			}
			h.answer(&m, x.answer)
			h.pass(keepAgain + DefaultTick)
			calls := slices.CompactFunc(h.calls(), func(a, b wire.CallStore) bool { return a.Number == b.Number }) // without an answer it is asked again
			switch {
			case x.then == 0 && len(calls) > 0, x.then != 0 && (len(calls) != 1 || calls[0].Op != x.then):
				t.Errorf("calls %+v, want op %d", calls, x.then)
			case x.then == wire.StoreWrite && (calls[0].Version <= x.answer.Version || calls[0].Release != x.ends):
				t.Errorf("a write of version %d over %d, release %v", calls[0].Version, x.answer.Version, calls[0].Release)
			}
			if _, there := h.view(id); there != x.lives {
				t.Errorf("there: %v", there)
			}
		})
	}
}

func TestLoads(t *testing.T) {
	k := newKeeper(t)
	_, v := k.spawn()
	v.Gold.Set(7)
	_ = v.Write("OnKept", 1)
	m := k.asked(wire.StoreReserve)
	k.answer(&m, wire.StoreAnswer{Row: 42})
	m = k.asked(wire.StoreCreate)
	data := m.Data
	k.answer(&m, wire.StoreAnswer{})
	for _, x := range []struct {
		answer wire.StoreAnswer
		want   string
	}{
		{wire.StoreAnswer{Row: 43, Version: 4, Data: data}, "loaded true "},
		{wire.StoreAnswer{Code: stored.Missing, Reason: "no such row"}, "loaded false stored: the store did not do it: no such row"},
		{wire.StoreAnswer{Row: 44, Data: []byte("rubbish")}, "loaded false "},
	} {
		k.events = nil
		if err := v.LoadBase(stored.Key{Type: "Avatar", Row: 43}, "OnLoaded", 0); err != nil {
			t.Fatal(err)
		}
		m := k.asked(wire.StoreLoad)
		k.answer(&m, wire.StoreAnswer{Code: stored.Held}) // its last write is under way
		k.pass(loadAgain)
		m = k.asked(wire.StoreLoad)
		k.answer(&m, x.answer)
		if !slices.ContainsFunc(k.events, func(e string) bool { return strings.HasPrefix(e, x.want) }) {
			t.Errorf("%+v: events %q", x.answer, k.events)
		}
		if string(x.answer.Data) == "rubbish" { // nobody has it
			m = k.asked(wire.StoreFree)
			k.answer(&m, wire.StoreAnswer{})
		}
		if l, ok := k.a.Script(m.Entity).(*avatar); ok && l != v && (l.Row() != 43 || l.Gold.Get() != 7) {
			t.Errorf("row %d with %d gold of %v", l.Row(), l.Gold.Get(), data)
		}
	}
	k.pass(loadPatience)
	k.events = nil
	_ = v.LoadBase(stored.Key{Type: "Avatar", Row: 43}, "OnLoaded", 0)
	for until := k.now + 2*loadPatience; k.now < until && len(k.events) == 0; {
		k.tick()
		for _, m := range k.calls() {
			k.answer(&m, wire.StoreAnswer{Code: stored.Held, Reason: "held", Holder: v.ID()})
		}
	}
	k.wantEvents("loaded true stored: the store did not do it: held") // whose mailbox it is told
	k.tick()
	if n := fmt.Sprint(len(k.a.storing.loads), k.a.storing.open); n != "0 0" {
		t.Errorf("loads and calls: %s", n)
	}
}

// FuzzKeep reads what a copy says of a base's row.
func FuzzKeep(f *testing.F) {
	k := newKeeper(f)
	id, v := k.kept()
	_ = v.Write("OnKept", 5)
	b := k.a.byID[id]
	f.Add(codec.Append(nil, b.codeKeep))
	f.Add([]byte{0, 0, 0, 0, 0, 0, 0, 0, 1})
	f.Fuzz(func(t *testing.T, body []byte) {
		fresh := k.a.blank(id, b.props.Definition(), b.props)
		if codec.Parse(body, fresh.codeKeep) != nil {
			return
		}
		if n := len(fresh.keep.waits); n > limits.StoreWaits {
			t.Errorf("%d waits", n)
		}
	})
}

// A last write that the store does not take gives the row back all the same. (The row stayed checked out,
// and the account with it, until the world started again.)
func TestRefusedLastWrite(t *testing.T) {
	k := newKeeper(t)
	id, v := k.kept()
	v.Destroy()
	m := k.asked(wire.StoreWrite)
	k.answer(&m, wire.StoreAnswer{Code: stored.Taken, Reason: "the value is taken"})
	m = k.asked(wire.StoreFree)
	k.answer(&m, wire.StoreAnswer{})
	k.tick()
	if _, there := k.view(id); there {
		t.Error("it is still there")
	}
	k.silent()
}

// Who has a base written whose cell part does not say its newest state hears so.
func TestWriteWithoutTheCellPart(t *testing.T) {
	k := newKeeper(t)
	id, v := k.kept()
	k.create(id, v)
	k.current(appX, id, 1, 0, 0)
	k.net.sent = nil
	if err := v.Write("OnKept", 5); err != nil {
		t.Fatal(err)
	}
	k.pass(cellPatience)
	m := k.asked(wire.StoreWrite)
	k.events = nil
	k.answer(&m, wire.StoreAnswer{})
	k.wantEvents("kept 5 true")
}

// A script that asks again when a write was refused is answered once for each call of the store.
// (It was refused again at once, without an end, and the BaseApp hung.)
func TestWriteAgainWhenRefused(t *testing.T) {
	k := newKeeper(t)
	_, v := k.kept()
	for user := range int64(9) {
		v.do[fmt.Sprintf("kept %d true", user)] = func(v *avatar) { _ = v.Write("OnKept", user+1) }
	}
	_ = v.Write("OnKept", 0)
	m := k.asked(wire.StoreWrite)
	_ = v.Write("OnKept", 20) // would have followed
	k.answer(&m, wire.StoreAnswer{Code: stored.Taken, Reason: "the value is taken"})
	k.wantEvents("kept 0 true", "kept 20 true")
	m = k.asked(wire.StoreWrite)
	k.answer(&m, wire.StoreAnswer{})
	k.wantEvents("kept 1 false")
	if n := k.a.report.Errors; n != 0 {
		t.Errorf("%d errors of the app, and the script has heard", n)
	}
}

// A base that cannot be written at the moment, and whose script asks again, is written when it can
// be. (It was left out of the queue for ever, and was not written at its end either.)
func TestWriteAgainWhenItCannotBe(t *testing.T) {
	k := newKeeper(t)
	id, v := k.kept()
	b := k.a.byID[id]
	typ := b.keep.typ
	v.do["kept 1 true"] = func(v *avatar) { _ = v.Write("OnKept", 2) }
	b.keep.typ = &store.Type{} // of no definition
	_ = v.Write("OnKept", 1)
	k.tick()
	b.keep.typ = typ
	k.wantEvents("kept 1 true")
	m := k.asked(wire.StoreWrite)
	k.answer(&m, wire.StoreAnswer{})
	k.wantEvents("kept 2 false")
}

// A base that cannot be written at its end gives its row back all the same, like one whose last
// write the store does not take. (The row stayed checked out, and the account with it, until the
// world started again.)
func TestLastWriteThatCannotBe(t *testing.T) {
	k := newKeeper(t)
	id, v := k.kept()
	k.a.byID[id].keep.typ = &store.Type{Name: "Avatar"} // of no definition
	v.Destroy()
	k.tick() // it is tried
	m := k.asked(wire.StoreFree)
	k.answer(&m, wire.StoreAnswer{})
	k.tick()
	if _, there := k.view(id); there {
		t.Error("it is still there")
	}
	k.silent()
}
