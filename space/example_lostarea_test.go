package space_test

import (
	"fmt"
	"time"

	"github.com/cellscape/cellscape/balance"
	"github.com/cellscape/cellscape/bsp"
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space"
	"github.com/cellscape/cellscape/space/cellappmgr"
	"github.com/cellscape/cellscape/space/cluster"
	"github.com/cellscape/cellscape/space/spacetest"
)

// Oak stands at a place of the plan of the wood. One that was planted again is not yet sure that it
// should.
type Oak struct {
	*space.Real
	Again property.Bool
}

// OnCreated has an oak that was planted again look around, when the cells are mirrored along the new lines.
func (o *Oak) OnCreated() {
	if o.Again.Get() {
		_, _ = o.AddTimer(10*time.Second, 0, "OnRooted", 0)
	}
}

// OnRooted gives way to the oak that stands at this place already, if there is one.
func (o *Oak) OnRooted(entity.Callback) {
	for v := range o.EntitiesInRange(1) {
		again, ok := v.Get("again")
		if ok && v.Def() == o.Def() && (!again.Bool() || v.ID() < o.ID()) {
			o.Destroy()
			return
		}
	}
	o.Again.Set(false)
}

// plant plants the oaks of an area.
func plant(c *space.Cell, area bsp.Rect, again bool) {
	for x := -190; x < 200; x += 10 {
		for z := -190; z < 200; z += 10 {
			if !area.Contains(float64(x), float64(z)) {
				continue
			}
			if _, err := c.Spawn("Oak", property.Vector3{X: float32(x), Z: float32(z)}, property.Vector3{}, func(v *property.Values) {
				_ = v.Set(v.Definition().Property("again").Index, property.BoolValue(again))
			}); err != nil {
				fmt.Println(err)
			}
		}
	}
}

// A wood of oaks without bases has each of them once, whichever CellApp dies. An oak beside a line may be on
// either side of it; so those around the lost area are planted again, too, and who is one too many goes.
func ExampleScripts_OnLostArea() {
	var t printing
	schema, err := property.NewSchema(&property.Definition{Name: "Oak", HasCell: true, Properties: []*property.Property{
		{Name: "again", Type: property.Scalar(property.KindBool), Flags: property.CellPublic},
	}})
	if err != nil {
		t.Fatalf("%v", err)
	}
	cells := space.NewScripts(schema)
	space.Register[Oak](cells, "Oak")
	cells.OnFirstCell(func(c *space.Cell, _ bool) { plant(c, bsp.Everything(), false) })
	cells.OnLostArea(func(c *space.Cell, area bsp.Rect) { plant(c, area.Grow(balance.DefaultBand), true) })
	w := spacetest.Start(t, spacetest.Config{World: cluster.Config{
		CellScripts: cells, CellApps: 3, MinCellApps: 3,
		Space:  space.Config{AoIRadius: 30, Border: balance.Border{GhostDistance: 60}, ArtificialLoad: 100_000},
		Spaces: []cellappmgr.SpaceConfig{{ID: 1, Bounds: bsp.Around(0, 0, 200), MinCells: 3}},
	}})
	w.Run(40 * time.Second)
	for _, app := range w.CellApps()[:2] {
		w.AddCellApp()
		w.Run(20 * time.Second)
		app.Kill()
		w.Run(40 * time.Second)
		oaks, places := 0, map[property.Vector3]bool{}
		for _, v := range w.Reals() {
			oaks++
			places[v.Position()] = true
		}
		fmt.Println(oaks, "oaks at", len(places), "places")
	}
	// Output:
	// 1521 oaks at 1521 places
	// 1521 oaks at 1521 places
}
