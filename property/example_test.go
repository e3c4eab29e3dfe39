package property_test

import (
	"fmt"
	"testing/fstest"

	"github.com/cellscape/cellscape/property"
)

// watcher is told of every change.
type watcher struct{ values *property.Values }

func (w watcher) PropertyChanged(c *property.Change) {
	fmt.Println("changed:", w.values.Definition().Properties[c.Index].Name, "=", w.values.Get(c.Index))
}

// A definition tree, the values of a real, and what of it reaches another player's client.
func Example() {
	schema, err := property.Load(fstest.MapFS{
		"entities.xml": {Data: []byte(`<root> <Avatar/> </root>`)},
		"entity_defs/Avatar.def": {Data: []byte(`<root>
			<Properties>
				<health> <Type> INT16 </Type>  <Flags> ALL_CLIENTS </Flags>  <Default> 100 </Default> </health>
				<gold>   <Type> UINT32 </Type> <Flags> CELL_PRIVATE </Flags> </gold>
			</Properties>
		</root>`)},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	avatar := schema.Type("Avatar")

	real := property.NewValues(avatar, property.CellSide, nil)
	real.SetHolder(watcher{real})

	// The script of the cell part: handles bound to the values.
	var script struct {
		Health property.Int16
		Gold   property.Uint32
	}
	property.BindFields(&script, real)
	script.Health.Set(script.Health.Get() - 30)
	script.Gold.Set(7)

	stream := real.AppendStream(nil, property.OtherClientStream)
	client := property.NewValues(avatar, property.OtherClientSide, nil)
	if _, err := client.ReadStream(stream, property.OtherClientStream); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("bytes:", len(stream))
	fmt.Println("client sees health:", client.Get(avatar.Property("health").Index))
	fmt.Println("client holds gold:", client.Holds(avatar.Property("gold").Index))
	// Output:
	// changed: health = 70
	// changed: gold = 7
	// bytes: 2
	// client sees health: 70
	// client holds gold: false
}

// A broken tree says where, what and what to do, all at once.
func ExampleLoad_faults() {
	_, err := property.Load(fstest.MapFS{
		"entities.xml":         {Data: []byte("<root>\n<Seat/>\n<Table/>\n</root>")},
		"entity_defs/Seat.def": {Data: []byte("<root>\n<Properties>\n<owner> <Type> INT23 </Type> <Flags> OTHER_CLIENTS </Flags> </owner>\n</Properties>\n</root>")},
	})
	fmt.Println(err)
	// Output:
	// entity_defs/Seat.def:3: Properties/owner/Type: unknown type "INT23"; use a data type, or declare the name in alias.xml or types.xml
	// entities.xml:3: Table: there is no file entity_defs/Table.def; create it, or correct the name
}

// The same described in Go.
func ExampleNewSchema() {
	schema, err := property.NewSchema(&property.Definition{
		Name: "Door", HasCell: true, HasClient: true,
		Levels: []property.DetailLevel{{Label: "NEAR", Radius: 50, Hysteresis: 5}},
		Properties: []*property.Property{
			{Name: "open", Type: property.Scalar(property.KindBool), Flags: property.AllClients},
			{Name: "sign", Type: property.Scalar(property.KindString), Flags: property.OtherClients, Detail: "NEAR"},
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	door := schema.Type("Door")
	level := len(door.Levels)
	for _, distance := range []float32{80, 40, 52, 60} {
		level = property.LevelOf(door, distance, level)
		fmt.Println(distance, "m: level", level)
	}
	// Output:
	// 80 m: level 1
	// 40 m: level 0
	// 52 m: level 0
	// 60 m: level 1
}
