package app_test

import (
	"testing"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/internal/app"
	"github.com/cellscape/cellscape/internal/wire"
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
