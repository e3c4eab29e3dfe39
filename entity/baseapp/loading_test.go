package baseapp

import (
	"slices"
	"testing"
	"time"

	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
)

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
