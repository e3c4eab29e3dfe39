package cluster

import (
	"strings"
	"testing"
	"time"

	"github.com/cellscape/cellscape/aoi/witness"
	"github.com/cellscape/cellscape/balance"
	"github.com/cellscape/cellscape/bsp"
	"github.com/cellscape/cellscape/mercury/secure"
	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space"
	"github.com/cellscape/cellscape/space/cellappmgr"
)

// A Config with faults of every kind names all of them at once, each once: also those that only the
// managers, which are started later, would meet.
func TestAllFaultsAtOnce(t *testing.T) {
	err := Config{
		CellApps: -1, Term: 1 << 31, AppTimeout: time.Millisecond, HangTimeout: time.Microsecond,
		BackupPeriod: time.Millisecond, BackupReplicas: 9,
		Policy: balance.ProfileConfig{TargetLoad: 2}, Space: space.Config{AoIRadius: 900, Border: balance.Border{GhostDistance: 550}}, Logins: cellappmgr.LoginConfig{MaxLoad: -1},
		Spaces: []cellappmgr.SpaceConfig{
			{ID: 7, Bounds: bsp.Rect{MaxX: 1, MaxZ: 1}, MinCells: 5, MaxCells: 2},
			{ID: 7, Bounds: bsp.Rect{MaxX: 1, MaxZ: 1}},
		},
	}.Validate()
	for _, want := range []string{
		"Schema and CellScripts", "CellApps is -1", "Term is", "AppTimeout is 1ms", "HangTimeout is 1µs", "BackupPeriod is 1ms", "BackupReplicas is 9", "TargetLoad 2", "GhostDistance 550 m is too short",
		"MaxLoad -1", "Spaces[0]: MinCells is 5 and MaxCells 2", "Spaces[1].ID is 7 again",
	} {
		if n := strings.Count(err.Error(), want); n != 1 && want != "TargetLoad 2" || n == 0 {
			t.Errorf("%d times %q in: %v", n, want, err)
		}
	}
}

// A time whose unit was forgotten is nanoseconds. No process can keep it, and some would try.
func TestTimesWithoutUnit(t *testing.T) {
	err := Config{
		Schema: new(property.Schema), Tick: 100, StartTimeout: 15, StatusPeriod: 1, ArchivePeriod: 300, ResumeTime: 30,
		Space: space.Config{BackupPeriod: 10},
	}.Validate()
	if err == nil {
		t.Fatal("accepted")
	}
	for _, want := range []string{
		"Config.Tick is 100ns", "Config.StartTimeout is 15ns", "Config.StatusPeriod is 1ns", "Config.ArchivePeriod is 300ns",
		"Config.ResumeTime is 30ns", "Config.Space.BackupPeriod is 10ns",
	} {
		if n := strings.Count(err.Error(), want); n != 1 {
			t.Errorf("%d times %q in: %v", n, want, err)
		}
	}
}

// What the package doc names for common situations is accepted: no other setting has to follow it.
func TestSituations(t *testing.T) {
	for name, c := range map[string]Config{
		"many rooms":          {Balance: balance.Config{MaxCells: 1}, Space: space.Config{AoIRadius: 60}},
		"several machines":    {Listen: "127.0.0.1", Key: secure.PrivateKey{1}},
		"the same rack":       {Inner: TCP},
		"players on phones":   {Space: space.Config{AoIRadius: 150, Witness: witness.Config{BytesPerTick: 500}}, Key: secure.PrivateKey{1}},
		"hundreds of bots":    {CellApps: 1, BaseApps: 1},
		"players in browsers": {Doors: []Door{{Network: UDP, Listen: "127.0.0.1"}, {Network: WebSocket, Listen: "127.0.0.1"}}},
	} {
		c.Schema = new(property.Schema)
		if err := c.Validate(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
