package replay_test

import (
	"fmt"
	"time"

	"github.com/cellscape/cellscape/entity/client"
	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space/recording"
	"github.com/cellscape/cellscape/space/recording/keep"
	"github.com/cellscape/cellscape/space/replay"
)

// A recording is played back with the events of a client. This one is made by hand; in a world the cells
// make it, while the space's data has recording.Key.
func Example() {
	schema, err := property.NewSchema(&property.Definition{Name: "Avatar", HasCell: true, HasClient: true,
		Properties: []*property.Property{{Name: "name", Type: property.Scalar(property.KindString), Flags: property.AllClients}}})
	check(err)
	var memory keep.Memory
	log, err := memory.Open(&recording.Header{Digest: schema.Digest, Space: 1, Label: "final"})
	check(err)
	values := property.NewValues(schema.Types[0], property.CellSide, nil)
	check(values.Set(0, property.StringValue("Ada")))
	var e recording.Encoder
	ada, _ := e.State(nil, &recording.State{ID: 1 << 32, Cell: values})
	e.EndKey()
	check(log.Append(e.Chunk(recording.Head{Key: true})))
	for tick := 1; tick <= 3; tick++ {
		e.Reset()
		e.Place(ada, property.Vector3{X: float32(tick)}, property.Vector3{})
		check(log.Append(e.Chunk(recording.Head{Game: time.Duration(tick) * time.Second})))
	}

	logs, err := memory.Logs()
	check(err)
	player, err := replay.New(replay.Config{Schema: schema, Events: client.Events{
		Entered: func(r *client.Replica) { fmt.Println(r.Props.Get(0), "is there") },
		Moved:   func(r *client.Replica) { fmt.Println(r.Props.Get(0), "is at", r.Position) },
		Left:    func(r *client.Replica) { fmt.Println(r.Props.Get(0), "leaves") },
	}}, logs...)
	check(err)
	check(player.Advance(2 * time.Second))
	fmt.Println("back to one second")
	check(player.Seek(time.Second))
	fmt.Println("she is at", player.Client().Entity(1<<32).Position)
	// Output:
	// "Ada" is there
	// "Ada" is at {1 0 0}
	// "Ada" is at {2 0 0}
	// back to one second
	// "Ada" leaves
	// "Ada" is there
	// she is at {1 0 0}
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
