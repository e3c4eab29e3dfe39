package flow_test

import (
	"bytes"
	"net/netip"
	"testing"

	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/entity/placement"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/property"
)

// asked are the messages of asks.
func asked() []interface {
	Append([]byte) []byte
	Parse([]byte) error
} {
	return []interface {
		Append([]byte) []byte
		Parse([]byte) error
	}{new(flow.Place), new(flow.Spawn), new(flow.Spawned)}
}

func FuzzAsk(f *testing.F) {
	p := flow.Place{Space: 3, Position: property.Vector3{X: 4, Z: 5}}
	s := flow.Spawn{Type: 3, Position: property.Vector3{X: 4}, Direction: property.Vector3{Y: 1}, Props: []byte("props")}
	g := flow.Spawned{ID: 99, Type: 3, App: mercury.Address{At: netip.MustParseAddrPort("10.0.0.1:9"), Salt: 9}}
	var no flow.Spawned
	no.Refuse(placement.NoSpace, "why")
	for _, b := range [][]byte{p.Append(nil), s.Append(nil), g.Append(nil), no.Append(nil)} {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, m := range asked() {
			if m.Parse(b) == nil && !bytes.Equal(m.Append(nil), b) {
				t.Errorf("a %T read from %x is written as %x", m, b, m.Append(nil))
			}
		}
	})
}

func TestAskRoundTrip(t *testing.T) {
	place := flow.Place{Space: 3, Position: property.Vector3{X: 4, Z: 5}}
	var gotPlace flow.Place
	if err := gotPlace.Parse(place.Append(nil)); err != nil || gotPlace != place {
		t.Errorf("%+v, %v", gotPlace, err)
	}
	spawn := flow.Spawn{Type: 3, Position: property.Vector3{X: 4}, Direction: property.Vector3{Y: 1}, Props: []byte("props")}
	var got flow.Spawn
	if err := got.Parse(spawn.Append(nil)); err != nil || got.Type != 3 || got.Position != spawn.Position || got.Direction != spawn.Direction || string(got.Props) != "props" {
		t.Errorf("%+v, %v", got, err)
	}
	for _, want := range []flow.Spawned{{ID: 99, Type: 3, App: mercury.Address{At: netip.MustParseAddrPort("10.0.0.1:9"), Salt: 9}}, {Code: placement.NoCell, Reason: "why"}} {
		var back flow.Spawned
		if err := back.Parse(want.Append(nil)); err != nil || back != want {
			t.Errorf("%+v, %v", back, err)
		}
	}
	for _, bad := range []flow.Spawned{{}, {ID: 9, Code: placement.Full}} {
		if bad.Parse(bad.Append(nil)) == nil {
			t.Errorf("%+v was read", bad)
		}
	}
	if flow.IsAsk(flow.AskPlace-1) || !flow.IsAsk(flow.AskSpawn) || flow.IsAsk(flow.AskSpawn+1) {
		t.Error("which methods are asks")
	}
}
