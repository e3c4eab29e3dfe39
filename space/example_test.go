package space_test

import (
	"fmt"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space"
)

// Guard is the cell script of a type with a property and an exposed method.
type Guard struct {
	*space.Real
	Alarm  property.Bool
	target entity.ID `cellscape:"local"` // forgotten on a move
}

// OnCreated starts a patrol.
func (g *Guard) OnCreated() {
	if _, err := g.AddTimer(0, 5e9, "OnPatrol", 0); err != nil {
		g.Log().Error("no patrol", "err", err)
	}
}

// OnPatrol is called by the timer, wherever the entity is by then.
func (g *Guard) OnPatrol(space.Callback) {
	for e := range g.EntitiesInRange(20) {
		g.target = e.ID()
	}
}

// Shout answers a client's call.
func (g *Guard) Shout(by entity.ID) { g.Alarm.Set(true) }

// A script is bound to its type, and every fault is told at start-up.
func ExampleRegister() {
	schema, err := property.NewSchema(&property.Definition{
		Name: "Guard", HasCell: true, HasClient: true,
		Properties:  []*property.Property{{Name: "alarm", Type: property.Scalar(property.KindBool), Flags: property.AllClients}},
		CellMethods: []*property.Method{{Name: "shout", Exposed: property.ExposedAll}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	scripts := space.NewScripts(schema)
	space.Register[Guard](scripts, "Guard")
	fmt.Println(scripts.Err())
	space.Register[Guard](scripts, "Guarde")
	fmt.Println(scripts.Err())
	// Output:
	// <nil>
	// space: script for Guarde: the definitions have no entity type "Guarde"; add it to entities.xml
}
