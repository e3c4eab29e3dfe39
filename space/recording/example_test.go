package recording_test

import (
	"bytes"
	"fmt"
	"time"

	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space/recording"
)

// printer is told of places; of the rest it hears nothing.
type printer struct{ recording.Reader }

func (printer) State(alias uint32, s *recording.ReadState) error {
	fmt.Println("entity", s.ID, "at", s.Spot.Position())
	return nil
}

func (printer) Place(alias uint32, by *recording.Spot) error {
	fmt.Println("it goes", by.Position())
	return nil
}

// A cell makes a log of chunks; whoever reads it is told record by record.
func Example() {
	schema, err := property.NewSchema(&property.Definition{Name: "Rock", HasCell: true, HasClient: true})
	if err != nil {
		panic(err)
	}
	log := recording.AppendLog(nil, &recording.Header{Digest: schema.Digest, Space: 1, Label: "final"})
	var e recording.Encoder
	rock, _ := e.State(nil, &recording.State{ID: 7, Position: property.Vector3{X: 1}, Cell: property.NewValues(schema.Types[0], property.CellSide, nil)})
	e.Place(rock, property.Vector3{X: 3.5}, property.Vector3{})
	log = recording.AppendFrame(log, e.Chunk(recording.Head{Game: time.Second}))

	read, err := recording.ReadLog(bytes.NewReader(log), int64(len(log)))
	if err != nil {
		panic(err)
	}
	fmt.Println(read.Label, read.Head(0).Game)
	if err := read.Read(0, printer{}); err != nil {
		panic(err)
	}
	// Output:
	// final 1s
	// entity 0.7 at {1 0 0}
	// it goes {2.5 0 0}
}
