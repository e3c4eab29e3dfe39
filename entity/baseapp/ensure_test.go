package baseapp

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/store"
	"github.com/cellscape/cellscape/entity/stored"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/property"
)

// ensure ensures an Avatar; heard is what was told of it.
func (r *rig) ensure(name string, heard *[]string) {
	r.t.Helper()
	err := r.start.Ensure("Avatar", name, func(v *property.Values) {
		_ = v.Set(v.Definition().Property("gold").Index, property.Int(9))
	}, func(n entity.NameReply) {
		*heard = append(*heard, fmt.Sprintf("%s is %d's %s", n.Name, n.Holder.Entity, textOf(n.Err)))
	})
	if err != nil {
		r.t.Fatal(err)
	}
}

// asksName is the only question about a name since the last.
func (r *rig) asksName() wire.RegisterName {
	r.t.Helper()
	return one(r.t, told[wire.RegisterName](r, baseAppMgr))
}

// asksNameWithin is the newest question about a name that is asked in that time.
func (r *rig) asksNameWithin(d time.Duration) wire.RegisterName {
	r.t.Helper()
	r.pass(d)
	asks := told[wire.RegisterName](r, baseAppMgr)
	if len(asks) == 0 {
		r.t.Fatal("no question about a name")
	}
	return asks[len(asks)-1]
}

func (r *rig) holds(ask *wire.RegisterName, id entity.ID) {
	r.say(r.bases, &wire.NameHeld{Request: ask.Request, ID: id, Type: ask.Type, App: self})
}

func ensuringRig(t *testing.T) *rig {
	return joinedRig(t, func(c *Config) { c.PlayerType = "" })
}

// Nothing is made before the app has the name, and then one base, which is the name's.
func TestEnsureMakesOne(t *testing.T) {
	r := ensuringRig(t)
	var heard []string
	r.ensure("auction", &heard)
	ask := r.asksName()
	if !ask.Claim || ask.Name != "auction" || len(r.a.list) > 0 {
		t.Fatalf("asks %+v with %d bases", ask, len(r.a.list))
	}
	r.holds(&ask, ask.ID)
	v := r.script(ask.ID)
	if v.Gold.Get() != 9 || !slices.Equal(r.events, []string{"created"}) {
		t.Errorf("gold %d, events %q", v.Gold.Get(), r.events)
	}
	if want := []string{fmt.Sprintf("auction is %d's ", ask.ID)}; !slices.Equal(heard, want) {
		t.Errorf("heard %q, want %q", heard, want)
	}
	if again := r.asksName(); again.Claim || again.ID != ask.ID { // nothing protects it
		t.Errorf("then asks %+v", again)
	}
	r.a.announceNames()
	if m := one(t, told[wire.Names](r, baseAppMgr)); len(m.Entries) != 1 || m.Entries[0].ID != ask.ID || m.Entries[0].Claim {
		t.Errorf("announces %+v", m)
	}
	r.pass(3 * ensureAgain)
	if len(r.a.list) != 1 || len(heard) != 1 {
		t.Errorf("%d bases, heard %q", len(r.a.list), heard)
	}
}

// The app of the base is the one that has the name; others look again, and one of them makes another
// when it has gone.
func TestEnsureFindsAnothers(t *testing.T) {
	r := ensuringRig(t)
	var heard []string
	r.ensure("auction", &heard)
	ask := r.asksName()
	r.say(r.bases, &wire.NameHeld{Request: ask.Request, ID: 77, Type: ask.Type, App: appW})
	if want := []string{"auction is 77's "}; !slices.Equal(heard, want) || len(r.a.list) > 0 {
		t.Errorf("heard %q, %d bases", heard, len(r.a.list))
	}
	for range 2 {
		ask = r.asksNameWithin(ensureAgain + DefaultTick)
		r.say(r.bases, &wire.NameHeld{Request: ask.Request, ID: 77, Type: ask.Type, App: appW})
	}
	ask = r.asksNameWithin(ensureAgain + DefaultTick)
	r.holds(&ask, ask.ID)
	if len(r.a.list) != 1 || len(heard) != 1 {
		t.Errorf("%d bases, heard %q", len(r.a.list), heard)
	}
	// Its own is made again, too, once it has ended.
	again := r.asksName()
	r.holds(&again, again.ID)
	r.script(ask.ID).Destroy()
	next := r.asksNameWithin(2 * ensureAgain)
	if next.ID == ask.ID || !next.Claim {
		t.Errorf("asks %+v after %+v", next, ask)
	}
}

// Others may hear of the base when an heir would go on with it.
func TestEnsuredIsNamedOnceCopied(t *testing.T) {
	c := newCopier(t, func(c *Config) { c.PlayerType = "" })
	c.pass(2 * time.Second)
	var heard []string
	c.mute[appW] = true
	c.ensure("auction", &heard)
	ask := c.asksName()
	c.holds(&ask, ask.ID)
	var names []wire.RegisterName
	pass := func(d time.Duration) {
		for end := c.now + d; c.now < end; {
			c.tick()
			for _, s := range c.net.sent {
				if id, body, err := wire.Split(s.msg); err == nil && id == wire.RegisterNameID {
					names = append(names, parsed[wire.RegisterName](t, body))
				}
			}
			c.answer()
		}
	}
	pass(2 * time.Second)
	if len(names) > 0 {
		t.Errorf("asks %+v before there is a copy", names)
	}
	c.mute[appW] = false
	pass(5 * time.Second)
	if len(names) == 0 || names[0].Claim || names[0].ID != ask.ID {
		t.Errorf("asks %+v once there is", names)
	}
	// The heir of the copy has the name, and that there is to be one.
	sent := c.take()
	later := heir(t)
	if err := later.a.restore(&heritage{id: ask.ID, lives: 1, parts: sent[len(sent)-1].Parts}); err != nil {
		t.Fatal(err)
	}
	if b := later.a.byID[ask.ID]; b.soleName() != "auction" {
		t.Errorf("restored with %+v", b.names)
	}
}

// What cannot be is told.
func TestEnsureFails(t *testing.T) {
	r := ensuringRig(t)
	var heard []string
	r.ensure("auction", &heard)
	ask := r.asksName()
	r.say(r.bases, &wire.NameHeld{Request: ask.Request, ID: 77, Type: ask.Type + 1, App: appW})
	r.ensure("bank", &heard)
	ask = r.asksName()
	r.say(r.bases, &wire.NameHeld{Request: ask.Request, Reason: "there are too many names already"})
	r.do["created"] = func(*avatar) { panic("no") }
	r.ensure("cursed", &heard)
	ask = r.asksName()
	r.holds(&ask, ask.ID)
	r.pass(3 * ensureAgain)
	if gone := told[wire.NameGone](r, baseAppMgr); len(gone) == 0 || gone[0].Name != "cursed" {
		t.Errorf("gives up %+v", gone)
	}
	if want := []string{
		"auction is 0's baseapp: entity 0.77 has the name \"auction\", which is no Avatar",
		"bank is 0's there are too many names already",
		"cursed is 0's baseapp: the script panicked",
	}; !slices.Equal(heard, want) {
		t.Errorf("heard %q\nwant  %q", heard, want)
	}
	if len(r.a.ensures) > 0 || len(r.a.list) > 0 {
		t.Errorf("%d are still ensured, %d bases", len(r.a.ensures), len(r.a.list))
	}
	for what, err := range map[string]error{
		"type":   r.start.Ensure("Dragon", "x", nil, nil),
		"script": r.start.Ensure("Engine", "x", nil, nil),
		"name":   r.start.Ensure("Avatar", "", nil, nil),
		"long":   r.start.Ensure("Avatar", strings.Repeat("x", 1000), nil, nil),
	} {
		if !errors.Is(err, ErrNoScript) && !errors.Is(err, errEnsure) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if err := joinedRig(t).start.Ensure("Avatar", "x", nil, nil); !errors.Is(err, errEnsure) {
		t.Errorf("a player: %v", err)
	}
	if err := newKeeper(t, func(c *Config) { c.PlayerType = "" }).start.Ensure("Avatar", "x", nil, nil); !errors.Is(err, errEnsure) {
		t.Errorf("a type without an identifier: %v", err)
	}
}

// claims has an entity ensured, whose name it gets; what it asks next is the store for its row.
func (k *keeper) claims(name string, heard *[]string) (ask wire.RegisterName, load wire.CallStore) {
	k.t.Helper()
	k.ensure(name, heard)
	ask = k.asksName()
	k.holds(&ask, ask.ID)
	return ask, k.asked(wire.StoreLoad)
}

// A base that has the name already goes before one that is yet to be made, and of two that have it one
// ends.
func TestEnsureLoses(t *testing.T) {
	k := newSoleKeeper(t)
	var heard []string
	ask, m := k.claims("auction", &heard)
	k.a.announceNames()
	if n := one(t, told[wire.Names](k.rig, baseAppMgr)); len(n.Entries) != 1 || !n.Entries[0].Claim || n.Entries[0].ID != ask.ID {
		t.Errorf("announces %+v", n)
	}
	k.say(k.bases, &wire.NameLost{Name: "auction", ID: ask.ID, Holder: 77, Type: ask.Type, App: appW})
	k.answer(&m, wire.StoreAnswer{Row: 42, Version: 4})
	free := k.asked(wire.StoreFree)
	if free.Row != 42 || free.Entity != ask.ID || len(k.a.list) > 0 {
		t.Errorf("%+v, %d bases", free, len(k.a.list))
	}
	k.answer(&free, wire.StoreAnswer{})
	ask = k.asksNameWithin(2 * ensureRetry)
	k.holds(&ask, ask.ID)
	m = k.asked(wire.StoreLoad)
	k.answer(&m, wire.StoreAnswer{Code: stored.Missing})
	v := k.script(ask.ID)
	k.say(k.bases, &wire.NameLost{Name: "auction", ID: ask.ID, Holder: 77, Type: ask.Type, App: appW})
	if !k.a.byID[v.ID()].destroying {
		t.Error("two of it live on")
	}
}

// newSoleKeeper is a keeper whose Avatars can be ensured.
func newSoleKeeper(t *testing.T) *keeper {
	return newKeeper(t, func(c *Config) {
		c.PlayerType = ""
		c.Schema.Type("Avatar").Property("title").Identifier = true
		var err error
		if c.Stored, err = store.NewSchema(c.Schema); err != nil {
			t.Fatal(err)
		}
	})
}

// With a store the name is the identifier: what is there comes back, and what is not is made and written.
func TestEnsureLoads(t *testing.T) {
	k := newSoleKeeper(t)
	var heard []string
	k.ensure("auction", &heard)
	ask := k.asksName()
	k.holds(&ask, ask.ID)
	load := k.asked(wire.StoreLoad)
	if load.Identifier != "auction" || load.Row != 0 || load.Entity != ask.ID || len(k.a.list) > 0 {
		t.Fatalf("%+v, %d bases", load, len(k.a.list))
	}
	k.answer(&load, wire.StoreAnswer{Code: stored.Missing, Reason: "no such row"})
	v := k.script(ask.ID)
	if v.Gold.Get() != 9 || v.Row() != 0 {
		t.Errorf("made with %d gold, row %d", v.Gold.Get(), v.Row())
	}
	m := k.asked(wire.StoreReserve)
	k.answer(&m, wire.StoreAnswer{Row: 42})
	m = k.asked(wire.StoreCreate)
	k.answer(&m, wire.StoreAnswer{})
	columns, err := k.a.cfg.Stored.Type("Avatar").ColumnsOf(m.Data)
	if err != nil || len(columns) != 1 || columns[0].Str() != "auction" {
		t.Errorf("written as %v, %v", columns, err)
	}

	next := newSoleKeeper(t)
	next.ensure("auction", &heard)
	ask = next.asksName()
	next.holds(&ask, ask.ID)
	load = next.asked(wire.StoreLoad)
	for range 3 { // the last write of the former life, or its heirs
		next.answer(&load, wire.StoreAnswer{Code: stored.Held, Reason: "by another"})
		next.pass(loadPatience + 2*ensureRetry)
		calls := next.calls()
		load = calls[len(calls)-1]
	}
	next.answer(&load, wire.StoreAnswer{Row: 42, Version: 4, Data: m.Data})
	if v := next.script(load.Entity); v.Row() != 42 || v.Gold.Get() != 9 || next.a.byID[v.ID()].soleName() != "auction" {
		t.Errorf("row %d, %d gold", v.Row(), v.Gold.Get())
	}
	if len(heard) != 2 || heard[1] != fmt.Sprintf("auction is %d's ", load.Entity) {
		t.Errorf("heard %q", heard)
	}
}

// Who loads such an entity otherwise has to have its name first.
func TestSoleRowIsGivenBackForItsName(t *testing.T) {
	k := newSoleKeeper(t)
	var heard []string
	_, m := k.claims("auction", &heard)
	k.answer(&m, wire.StoreAnswer{Code: stored.Missing})
	m = k.asked(wire.StoreReserve)
	k.answer(&m, wire.StoreAnswer{Row: 42})
	data := k.asked(wire.StoreCreate).Data

	for _, mine := range []bool{true, false} {
		next := newSoleKeeper(t)
		next.say(next.ch, &wire.BringBack{Request: 5, Type: "Avatar", Row: 42})
		load := next.asked(wire.StoreLoad)
		next.answer(&load, wire.StoreAnswer{Row: 42, Version: 4, Data: data})
		free := next.asked(wire.StoreFree)
		if free.Row != 42 || len(next.a.list) > 0 {
			t.Fatalf("%+v, %d bases", free, len(next.a.list))
		}
		next.answer(&free, wire.StoreAnswer{})
		ask := next.asksName()
		if ask.Name != "auction" || !ask.Claim {
			t.Errorf("asks %+v", ask)
		}
		want := stored.Held
		if mine {
			want = stored.Done
			next.holds(&ask, ask.ID)
			load = next.asked(wire.StoreLoad)
			if load.Row != 42 || load.Entity != ask.ID {
				t.Errorf("%+v", load)
			}
			next.answer(&load, wire.StoreAnswer{Row: 42, Version: 4, Data: data})
			if next.script(ask.ID).Row() != 42 {
				t.Error("it is not that of the row")
			}
		} else {
			next.holds(&ask, 77)
		}
		if a := one(t, told[wire.BroughtBack](next.rig, next.net.peers[next.ch])); a.Code != want || a.Request != 5 {
			t.Errorf("answers %+v, want %v", a, want)
		}
		next.pass(2 * time.Second)
		if len(next.a.storing.loads)+len(next.a.ensures) > 0 {
			t.Errorf("%d loads, %d ensured", len(next.a.storing.loads), len(next.a.ensures))
		}
	}
}

// An app that is to leave gives up what it has claimed, and claims nothing.
func TestLeaverEnsuresNothing(t *testing.T) {
	r := ensuringRig(t)
	var heard []string
	r.ensure("auction", &heard)
	ask := r.asksName()
	r.a.Retire("test")
	r.holds(&ask, ask.ID)
	if gone := one(t, told[wire.NameGone](r, baseAppMgr)); gone.ID != ask.ID || len(r.a.list) > 0 {
		t.Errorf("gives up %+v, %d bases", gone, len(r.a.list))
	}
	r.pass(2 * ensureAgain)
	if asks := told[wire.RegisterName](r, baseAppMgr); len(asks) > 0 {
		t.Errorf("asks %+v", asks)
	}
}
