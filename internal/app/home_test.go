package app_test

import (
	"slices"
	"testing"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/internal/app"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/migrate"
)

// An id says which app has issued it, also after that has died; and the oldest issuers are forgotten.
func TestHome(t *testing.T) {
	var r app.Roster
	var m wire.Members
	m.Add(wire.AppRef{Role: wire.BaseApp, App: addr4}, 9)
	m.Add(wire.AppRef{Role: wire.CellApp, App: addr6}, 7)
	r.Name(&m)
	of := func(allocator uint64) wire.AppRef { return r.Home(entity.ID(allocator<<32 | 5)) }
	if of(9) != m.Apps[0] || of(7) != m.Apps[1] || of(8) != (wire.AppRef{}) {
		t.Errorf("homes %v, %v, %v", of(9), of(7), of(8))
	}
	r.Remove(addr4)
	if of(9) != m.Apps[0] {
		t.Error("who has died is forgotten")
	}
	for i := range app.MaxHomes {
		var more wire.Members
		ref := wire.AppRef{Role: wire.BaseApp, App: appAt(i)}
		more.Add(ref, uint32(100+i))
		r.Name(&more)
	}
	if of(7) != (wire.AppRef{}) || of(100+app.MaxHomes-1).App != appAt(app.MaxHomes-1) {
		t.Error("not the oldest was forgotten")
	}
}

// The bases of an app that has departed are where its copies were, as long as anybody had them.
func TestHomeAfterDeparture(t *testing.T) {
	var r app.Roster
	var m wire.Members
	m.Add(wire.AppRef{Role: wire.BaseApp, App: addr4}, 9)
	m.Add(wire.AppRef{Role: wire.BaseApp, App: addr6}, 10)
	r.Name(&m)
	before := r.Changes()
	const id, other = entity.ID(9<<32 | 5), entity.ID(10<<32 | 5)
	r.Remove(addr4)
	r.Departed(migrate.Departure{App: addr4, Number: 1, Rule: migrate.Rule{Version: 1, Replicas: 1, List: []mercury.Address{addr6}}})
	if got := r.Home(id); got != m.Apps[1] || r.Home(other) != m.Apps[1] {
		t.Errorf("the base is on %v", got)
	}
	if !r.Issued(addr6, id) || !r.Issued(addr6, other) || r.Changes() == before {
		t.Error("the heir may not speak for what it has taken over")
	}
	if at, ok := r.Issuer(wire.BaseApp, id); !ok || at != addr6 {
		t.Errorf("found at %v, %v", at, ok)
	}
	if got := slices.Collect(r.Of(wire.BaseApp)); len(got) != 1 || got[0] != addr6 {
		t.Errorf("BaseApps %v", got)
	}
	const late = entity.ID(11<<32 | 1) // of an app that was dead before anybody named it
	r.Departed(migrate.Departure{App: appAt(3), Number: 2, Allocator: 11, Rule: migrate.Rule{Version: 1, Replicas: 1, List: []mercury.Address{addr6}}})
	if got := r.Home(late); got != m.Apps[1] {
		t.Errorf("the base of an unnamed app is on %v", got)
	}
	r.Remove(addr6)
	r.Departed(migrate.Departure{App: addr6, Number: 3})
	if got := r.Home(id); got != m.Apps[0] {
		t.Errorf("the base is on %v, and was on one that is dead without a copy", got)
	}
	var told []wire.RejoinRule
	r.RejoinRules(func(x *wire.RejoinRule) { told = append(told, *x) })
	if len(told) != 3 || told[0].App != addr4 || told[0].Departed != 1 || told[0].Rule.Version != 1 || told[1].Allocator != 11 || told[2].Departed != 3 {
		t.Errorf("a new manager hears %+v", told)
	}
}
