package app

import (
	"fmt"
	"slices"
	"testing"
	"testing/fstest"

	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space/cluster/status"
)

func TestTrafficNamesTheLargest(t *testing.T) {
	fields := ""
	for i := range wire.MaxTraffic {
		fields += fmt.Sprintf("<P%02d> <Type> INT32 </Type> <Flags> ALL_CLIENTS </Flags> </P%02d>", i, i)
	}
	schema, err := property.Load(fstest.MapFS{
		"entities.xml":           {Data: []byte("<root> <Avatar/> </root>")},
		"entity_defs/Avatar.def": {Data: []byte("<root> <Properties> " + fields + " </Properties> </root>")},
	})
	if err != nil {
		t.Fatal(err)
	}
	avatar := schema.Types[0]
	s := property.NewStats(schema)
	if got := AppendTraffic(nil, s); len(got) != 0 {
		t.Errorf("before anything travels: %+v", got)
	}
	s.AddMoves(avatar, 1000, 2600)
	for i := range avatar.Properties {
		s.Add(avatar, i, property.ToOtherClients, 10+i)
	}
	s.Add(avatar, 3, property.ToGhosts, 500)
	s.Add(avatar, 3, property.ToGhosts, 500)
	got := AppendTraffic(nil, s)
	want := []status.PropertyTraffic{
		{Type: "Avatar", Way: "moves", Changes: 1000, Bytes: 2600},
		{Type: "Avatar", Property: "P03", Way: "to ghosts", Changes: 2, Bytes: 1000},
		{Type: "Avatar", Property: "P15", Way: "to other clients", Changes: 1, Bytes: 25},
	}
	if len(got) != wire.MaxTraffic || !slices.Equal(got[:len(want)], want) {
		t.Errorf("got %d rows %+v\nwant %d that begin with %+v", len(got), got, wire.MaxTraffic, want)
	}
}
