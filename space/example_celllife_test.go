package space_test

import (
	"fmt"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/baseapp"
	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space"
	"github.com/cellscape/cellscape/space/cluster"
	"github.com/cellscape/cellscape/space/ending"
	"github.com/cellscape/cellscape/space/spacetest"
)

// Ledger is what a cell has of its own beside entities.
type Ledger struct{ barks int }

// Owner logs in.
type Owner struct{ *entity.Base }

// Dog barks seven times, and the ledger of the cell that it is on has it.
type Dog struct{ *space.Real }

// OnCreated begins.
func (d *Dog) OnCreated() {
	for n := range 7 {
		_, _ = d.AddTimer(time.Duration(n)*time.Second, 0, "OnBark", 0)
	}
}

// OnBark is one of them.
func (d *Dog) OnBark(entity.Callback) { d.CellLocal().(*Ledger).barks++ }

// Each cell has a ledger, which is made with it and closed with it.
func ExampleScripts_OnCellEnd() {
	var t printing
	schema, err := property.NewSchema(
		&property.Definition{Name: "Dog", HasCell: true, HasClient: true},
		&property.Definition{Name: "Owner", HasBase: true, HasClient: true},
	)
	if err != nil {
		t.Fatalf("%v", err)
	}
	cells, bases := space.NewScripts(schema), baseapp.NewScripts(schema)
	baseapp.Register[Owner](bases, "Owner")
	space.Register[Dog](cells, "Dog")
	cells.OnNewCell(func(c *space.Cell) { c.SetLocal(&Ledger{}) })
	cells.OnCellEnd(func(c *space.Cell, why ending.Why) {
		fmt.Printf("a cell has ended (%v): %d barks\n", why, c.Local().(*Ledger).barks)
	})
	cells.OnFirstCell(func(c *space.Cell, _ bool) {
		if _, err := c.Spawn("Dog", property.Vector3{}, property.Vector3{}, nil); err != nil {
			t.Fatalf("%v", err)
		}
	})
	w := spacetest.Start(t, spacetest.Config{World: cluster.Config{CellScripts: cells, BaseScripts: bases, PlayerType: "Owner"}})
	w.Run(10 * time.Second)
	w.Shutdown("the night")
	// Output: a cell has ended (stopped): 7 barks
}
