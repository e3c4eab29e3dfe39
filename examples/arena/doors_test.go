package main

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/cellscape/cellscape/space/cluster"
)

func TestOpenDoors(t *testing.T) {
	f, err := parseFlags(strings.Fields("-public eth7 -advertise 203.0.113.5 -ports 20100-20199 -inner tcp"))
	if err != nil {
		t.Fatal(err)
	}
	var cfg cluster.Config
	if err := openDoors(&cfg, f); err != nil {
		t.Fatal(err)
	}
	if d := cfg.Doors[0]; cfg.Inner != cluster.TCP || d.Listen != "eth7" || d.Advertise != netip.MustParseAddr("203.0.113.5") || d.Ports != (cluster.Ports{First: 20100, Last: 20199}) || d.Clear {
		t.Errorf("%+v", d)
	}
	for _, bad := range []string{"-advertise here", "-ports many"} {
		f, err := parseFlags(strings.Fields(bad))
		if err != nil {
			t.Fatal(err)
		}
		if err := openDoors(&cfg, f); err == nil || !strings.Contains(err.Error(), bad[:6]) {
			t.Errorf("%s: %v", bad, err)
		}
	}
}
