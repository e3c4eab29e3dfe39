package baseapp

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/entity/store"
	"github.com/cellscape/cellscape/entity/stored"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
)

// Code of the app that is no entity loads a base, too, and is told its id or why there is none, once.
func TestStarterLoadsABase(t *testing.T) {
	k := newKeeper(t)
	_, v := k.spawn()
	v.Gold.Set(7)
	_ = v.Write("OnKept", 1)
	m := k.asked(wire.StoreReserve)
	k.answer(&m, wire.StoreAnswer{Row: 42})
	m = k.asked(wire.StoreCreate)
	data := m.Data
	k.answer(&m, wire.StoreAnswer{})

	var heard []string
	load := func(a wire.StoreAnswer) (id entity.ID) {
		if err := k.start.LoadBase(stored.Key{Type: "Avatar", Row: 43}, func(got entity.ID, err error) {
			id, heard = got, append(heard, textOf(err))
		}); err != nil {
			t.Fatal(err)
		}
		m := k.asked(wire.StoreLoad)
		k.answer(&m, a)
		return id
	}
	id := load(wire.StoreAnswer{Row: 43, Version: 4, Data: data})
	if l, ok := k.a.Script(id).(*avatar); !ok || l == v || l.Row() != 43 || l.Gold.Get() != 7 {
		t.Errorf("%d was loaded, which is %+v", id, l)
	}
	if id := load(wire.StoreAnswer{Code: stored.Missing, Reason: "no such row"}); id != 0 {
		t.Errorf("%d was loaded of nothing", id)
	}
	if want := []string{"", "stored: the store did not do it: no such row"}; !slices.Equal(heard, want) {
		t.Errorf("heard %q, want %q", heard, want)
	}
	if err := k.start.LoadBase(stored.Key{Type: "Rock", Row: 1}, nil); !errors.Is(err, stored.ErrNotKept) {
		t.Errorf("a type that is not kept: %v", err)
	}
}

// While the store fails, players who try to log in again and again do not fill the log.
func TestLoginsDoNotFillTheLog(t *testing.T) {
	k := newKeeper(t)
	k.pass(2 * time.Second)
	const line = "cannot load what a player plays"
	try := func(row uint64) {
		k.say(k.bases, &wire.MakeProxy{Request: row, Account: fmt.Sprint("player ", row), Plays: wire.Plays{Type: "Avatar", Row: row}})
		m := k.asked(wire.StoreLoad)
		k.answer(&m, wire.StoreAnswer{Code: stored.Busy, Reason: "full"})
	}
	for row := range uint64(8) {
		try(row + 1)
	}
	if n := strings.Count(k.logs.String(), line); n != 1 {
		t.Errorf("%d lines of 8 logins in a moment, want one", n)
	}
	k.pass(2 * time.Second)
	for _, m := range k.calls() { // the store is asked what it did
		k.answer(&m, wire.StoreAnswer{Code: stored.Missing})
	}
	if try(9); strings.Count(k.logs.String(), line) != 2 || !strings.Contains(k.logs.String(), "unlogged=7") {
		t.Errorf("the second line does not say how many there were:\n%s", k.logs.String())
	}
}

// An account that cannot be the Identifier is told so. The store was asked for it all the same, and who
// wanted to play was told that the server is busy, at each try.
func TestAccountsThatAreNoIdentifier(t *testing.T) {
	k := newKeeper(t, func(c *Config) {
		c.Schema.Type("Avatar").Property("title").Identifier = true
		types, err := store.NewSchema(c.Schema)
		if err != nil {
			t.Fatal(err)
		}
		c.Stored = types
	})
	made := k.login(strings.Repeat("x", 256))
	if protocol.Code(made.Code) != protocol.BadCredentials || !strings.Contains(k.logs.String(), "256 bytes are more than 255") {
		t.Errorf("code %d\n%s", made.Code, k.logs.String())
	}
	k.say(k.bases, &wire.MakeProxy{Request: 10, Account: "ann"})
	if m := k.asked(wire.StoreLoad); m.Identifier != "ann" {
		t.Errorf("asked for %+v", m)
	}
}

// A player who is loaded while the channel to the BaseAppMgr breaks is told to it as soon as it has
// loaded: neither the answer nor what the app said when it joined again tells of it.
func TestLoadedAfterAJoin(t *testing.T) {
	k := newKeeper(t)
	_, v := k.spawn()
	_ = v.Write("OnKept", 1)
	m := k.asked(wire.StoreReserve)
	k.answer(&m, wire.StoreAnswer{Row: 42})
	m = k.asked(wire.StoreCreate)
	data := m.Data
	k.answer(&m, wire.StoreAnswer{})

	k.say(k.bases, &wire.MakeProxy{Request: 9, Account: "ann", Plays: wire.Plays{Type: "Avatar", Row: 43}})
	m = k.asked(wire.StoreLoad)
	k.net.ended[k.bases] = true
	k.a.Closed(k.now, k.bases, mercury.ErrTimeout)
	k.pass(2 * time.Second)
	k.bases = k.open(baseAppMgr)
	for _, again := range k.calls() {
		m = again
	}
	k.answer(&m, wire.StoreAnswer{Row: 43, Version: 4, Data: data})
	if !slices.ContainsFunc(told[wire.Proxies](k.rig, baseAppMgr), func(p wire.Proxies) bool {
		return len(p.Entries) == 1 && p.Entries[0].Account == "ann" && p.Entries[0].ID == m.Entity
	}) {
		t.Error("the BaseAppMgr does not hear of it")
	}
}
