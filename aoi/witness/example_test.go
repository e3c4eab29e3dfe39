package witness_test

import (
	"fmt"

	"github.com/cellscape/cellscape/aoi/witness"
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/entity/presence"
	"github.com/cellscape/cellscape/property"
)

func Example() {
	schema, err := property.NewSchema(&property.Definition{
		Name: "Guard", HasCell: true, HasClient: true,
		Levels: []property.DetailLevel{{Label: "NEAR", Radius: 20}},
		Properties: []*property.Property{
			{Name: "health", Type: property.Scalar(property.KindUint8), Flags: property.AllClients},
			{Name: "badge", Type: property.Scalar(property.KindUint8), Flags: property.OtherClients, Detail: "NEAR"},
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	guard := schema.Type("Guard")
	made := func(id entity.ID, x float32) *presence.Entity {
		return &presence.Entity{
			ID: id, Def: guard, Position: property.Vector3{X: x},
			Props: property.NewValues(guard, property.CellSide, nil), History: property.NewHistory(guard),
		}
	}
	player, other := made(1, 0), made(2, 50)

	w := witness.New(witness.Config{})
	update := func(tick uint64) {
		bundle, _ := w.Update(player, tick, nil, false)
		fmt.Printf("tick %d:", tick)
		_ = protocol.Messages(bundle, func(id protocol.ID, body []byte) error {
			switch id {
			case protocol.EnterID:
				fmt.Print(" enter")
			case protocol.ChangesID:
				fmt.Print(" changes")
			case protocol.KeepID:
				fmt.Print(" leave, but kept")
			case protocol.ReturnID:
				fmt.Print(" return")
			}
			return nil
		})
		fmt.Println(", pending", w.Pending(player))
	}
	w.Enter(&witness.Subject{Entity: other})
	update(11)
	player.Position.X = 40 // the badge is within sight now
	update(12)
	update(13)
	w.Leave(other.ID)
	update(14)
	w.Enter(&witness.Subject{Entity: other})
	update(15)
	// Output:
	// tick 11: enter, pending 0
	// tick 12: changes, pending 0
	// tick 13:, pending 0
	// tick 14: leave, but kept, pending 0
	// tick 15: return, pending 0
}
