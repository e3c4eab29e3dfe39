package cellappmgr

import (
	"testing"
	"time"

	"github.com/cellscape/cellscape/internal/wire"
)

// A world whose BaseApps are started long after the rest begins with what the store has of its
// spaces: a DBApp says that only when a BaseApp has come. It used to begin without.
func TestSpacesWaitForBaseApps(t *testing.T) {
	r := newRig(t, func(c *Config) { c.Stores = true })
	a, db := r.join(wire.CellApp, 10), r.join(wire.DBApp, 11)
	r.pass(4 * bringMost)
	if n := len(take[wire.AddCell](a)); n > 0 {
		t.Errorf("a cell was asked for %d times before a BaseApp had come", n)
	}
	r.join(wire.BaseApp, 12)
	r.pass(bringMost - time.Second)
	kept := wire.KeptSpace{Space: 1, Data: []wire.SpaceDataEntry{entry(5, 1, "dawn")}}
	db.send(&wire.BringSpace{Request: 1, KeptSpace: kept})
	db.send(&wire.BringSpace{Request: 2, All: true})
	for _, m := range take[wire.SpaceBrought](db) {
		if m.Reason != "" {
			t.Errorf("brought: %s", m.Reason)
		}
	}
	one[wire.AddCell](a)
	if d := r.m.space(1).data.entries; len(d) != 1 || string(d[0].Value) != "dawn" {
		t.Errorf("the space has %v", d)
	}
}

// If no DBApp says anything although a BaseApp is there, the world begins without.
func TestSpacesDoNotWaitForEver(t *testing.T) {
	r := newRig(t, func(c *Config) { c.Stores = true })
	a := r.join(wire.CellApp, 10)
	r.join(wire.BaseApp, 12)
	r.pass(bringMost + time.Second)
	if len(take[wire.AddCell](a)) == 0 {
		t.Error("there is no cell")
	}
	r.logged("no DBApp has said")
}
