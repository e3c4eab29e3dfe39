package main

import (
	"slices"
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity/baseapp"
	"github.com/cellscape/cellscape/entity/client"
	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space"
	"github.com/cellscape/cellscape/space/cluster"
	"github.com/cellscape/cellscape/space/spacetest"
)

// The same world in virtual time: what Ada says is heard, also after the CellApp that she is on was
// killed. It takes the test less than a second.
func TestHeardAfterADeath(t *testing.T) {
	schema, err := property.LoadDir(files, "defs")
	if err != nil {
		t.Fatal(err)
	}
	cells, bases := space.NewScripts(schema), baseapp.NewScripts(schema)
	space.Register[Avatar](cells, "Avatar")
	baseapp.Register[Player](bases, "Avatar")
	w := spacetest.Start(t, spacetest.Config{World: cluster.Config{CellScripts: cells, BaseScripts: bases, PlayerType: "Avatar"}})

	var heard []string
	ada := w.Login("Ada")
	bob := w.Login("Bob", client.Events{Called: func(_ *client.Replica, _ *property.Method, args []property.Value) {
		heard = append(heard, args[0].Str())
	}})
	say := func(text string) {
		t.Helper()
		w.Until(20*time.Second, func() bool { return bob.Entity(ada.Player().ID) != nil })
		if err := ada.Player().Cell().Call("say", text); err != nil {
			t.Fatal(err)
		}
		w.Until(20*time.Second, func() bool { return slices.Contains(heard, "Ada says "+text) })
	}
	say("hello")
	w.Where(ada.Player().ID).Kill()
	w.Run(3 * time.Second) // until both are back
	say("still here")
	if n := len(heard); n != 2 {
		t.Errorf("Bob heard %q", heard)
	}
}
