package baseapp

import (
	"testing"

	"github.com/cellscape/cellscape/entity/stored"
	"github.com/cellscape/cellscape/internal/wire"
)

// A store that says that it is busy may have checked out the row. It is asked again until it says so,
// and the row is given back, since nobody waits for it any more.
func TestLoadOfWhichTheStoreIsNotSure(t *testing.T) {
	k := newKeeper(t)
	_, v := k.kept()
	busy := wire.StoreAnswer{Code: stored.Busy, Reason: "slow"}
	if err := v.LoadBase(stored.Key{Type: "Avatar", Row: 43}, "OnLoaded", 0); err != nil {
		t.Fatal(err)
	}
	first := k.asked(wire.StoreLoad)
	k.answer(&first, busy)
	k.wantEvents("loaded false stored: the store did not do it: slow")
	k.events = nil
	again := func() (m wire.CallStore) {
		k.pass(keepAgain)
		if m = k.asked(wire.StoreLoad); m.Entity != first.Entity || m.Row != 43 {
			t.Errorf("asked %+v, then %+v", first, m)
		}
		return m
	}
	m := again()
	k.answer(&m, busy)
	m = again()
	k.answer(&m, wire.StoreAnswer{Row: 43, Version: 4})
	m = k.asked(wire.StoreFree)
	k.answer(&m, busy) // or not: it is asked what it has
	m = again()
	k.answer(&m, wire.StoreAnswer{Row: 43, Version: 4})
	m = k.asked(wire.StoreFree)
	if m.Row != 43 || m.Entity != first.Entity {
		t.Errorf("%+v is given back", m)
	}
	k.answer(&m, wire.StoreAnswer{})
	k.silent()
	k.wantEvents()
	if n := len(k.a.storing.loads); n != 0 {
		t.Errorf("%d loads are left", n)
	}
}

// The row that a busy store may have made is made for certain, or is no more when its entity ends.
func TestRowOfWhichTheStoreIsNotSure(t *testing.T) {
	for name, ends := range map[string]func(k *keeper, v *avatar){
		"lives on": func(k *keeper, v *avatar) {
			k.pass(keepAgain)
			m := k.asked(wire.StoreCreate)
			k.answer(&m, wire.StoreAnswer{Code: stored.Exists})
			m = k.asked(wire.StoreWrite)
			if k.answer(&m, wire.StoreAnswer{}); v.Row() != 42 {
				t.Error("the base does not know its row")
			}
		},
		"ends": func(k *keeper, v *avatar) {
			v.Destroy()
			k.pass(keepAgain)
			m := k.asked(wire.StoreCreate)
			k.answer(&m, wire.StoreAnswer{Code: stored.Exists})
			if m = k.asked(wire.StoreWrite); !m.Release {
				t.Errorf("%+v does not give it back", m)
			}
			k.answer(&m, wire.StoreAnswer{})
		},
		"ends with its row": func(k *keeper, v *avatar) {
			if err := v.DestroyRow(); err != nil {
				t.Fatal(err)
			}
			k.pass(keepAgain)
			m := k.asked(wire.StoreDelete)
			k.answer(&m, wire.StoreAnswer{})
		},
	} {
		t.Run(name, func(t *testing.T) {
			k := newKeeper(t)
			id, v := k.spawn()
			if err := v.Write("OnKept", 1); err != nil {
				t.Fatal(err)
			}
			m := k.asked(wire.StoreReserve)
			k.answer(&m, wire.StoreAnswer{Row: 42})
			m = k.asked(wire.StoreCreate)
			k.events = nil
			k.answer(&m, wire.StoreAnswer{Code: stored.Busy, Reason: "slow"})
			k.wantEvents("kept 1 true")
			k.t = t
			ends(k, v)
			k.silent()
			if _, there := k.view(id); there != (name == "lives on") {
				t.Errorf("the base is there: %v", there)
			}
		})
	}
}
