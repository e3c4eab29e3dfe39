package cluster

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cellscape/cellscape/bsp"
	"github.com/cellscape/cellscape/internal/wire"
)

// Status is the public face of wire.Status: nothing is lost or renamed on the way.
func TestStatusIsWhole(t *testing.T) {
	in := wire.Status{
		GameTime: 1.5, SpaceCount: 9, Cells: 2, Retiring: 1, CellsAdded: 3, CellsRemoved: 2, Removing: 1, LinesMoved: 4, Reals: 5, Ghosts: 6, Clients: 7, Deaths: 8, LoginsRefused: true, Ticks: 9, Late: 10,
		CPU: 11.5, Pending: 12, ReportsSinceFreeze: 13,
		Spaces: []wire.SpaceStatus{{
			ID: 1, GameTime: 1.25, Rate: .75, Version: bsp.Version{Term: 1, N: 2},
			Cells: []wire.CellStatus{{Cell: "1.1", App: 1, Rect: [4]float64{1, 2, 3, 4}, Load: .5, Reals: 1, Ghosts: 2, Created: true,
				Loading: true, Retiring: true, Overloaded: true, Crowd: &[4]float64{1, 2, 3, 4}, Loaded: &[4]float64{5, 6, 7, 8}}},
			Lines: []wire.LineStatus{{Vertical: true, At: 1, From: 2, To: 3, Moved: 4, Average: .5, Aggression: .25, Direction: -1, Depth: 2}},
		}},
		Apps:     []wire.AppStatus{{Role: "CellApp", Number: 1, Address: "127.0.0.1:7#1", Load: .5, CPU: 2, PID: 77, ProcessCPU: 10.5, Thrift: 3}},
		Counters: wire.Counters{ClientCallsSent: 1, ClientCallsHandled: 2, FlowSent: 3, FlowHandled: 4, BundlesSent: 5, BytesDown: 6, BytesUp: 7, Migrations: 8, Refused: 9, GhostsDiffer: 10, Errors: 11, PacketsUnsent: 12, FlowLost: 13, Repeats: 14},
	}
	in.TickTimes[3] = 7
	body := in.Append(nil)
	s, err := parseStatus(body)
	if err != nil {
		t.Fatal(err)
	}
	again, err := json.Marshal(&s)
	if err != nil {
		t.Fatal(err)
	}
	var want, got any
	if json.Unmarshal(body, &want) != nil || json.Unmarshal(again, &got) != nil {
		t.Fatal("no JSON")
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("the manager says -, Status +:\n%s", d)
	}
	if s.Apps[0].AddrPort().Port() != 7 || !s.Spaces[0].Ready() {
		t.Errorf("%+v", s)
	}
}

func TestTickQuantile(t *testing.T) {
	var s Status
	if s.TickQuantile(.5) != 0 {
		t.Error("a quantile of nothing")
	}
	s.TickTimes = make([]uint64, wire.TickBuckets)
	s.TickTimes[wire.TickBucket(time.Millisecond)] = 98
	s.TickTimes[wire.TickBucket(time.Second)] = 2
	for _, c := range []struct{ q, from, to float64 }{{.5, 1, 1.25}, {.98, 1, 1.25}, {.99, 1000, 1250}, {1, 1000, 1250}} {
		if ms := float64(s.TickQuantile(c.q)) / 1e6; ms < c.from || ms > c.to {
			t.Errorf("quantile %v is %v ms", c.q, ms)
		}
	}
}

func TestRoleNames(t *testing.T) {
	for name, role := range map[string]wire.Role{
		RoleCellAppMgr: wire.CellAppMgr, RoleCellApp: wire.CellApp, RoleBaseAppMgr: wire.BaseAppMgr, RoleBaseApp: wire.BaseApp, RoleLoginApp: wire.LoginApp,
	} {
		if name != role.String() {
			t.Errorf("%v is called %q", role, name)
		}
	}
}

// Any bytes are a Status or an error.
func FuzzParseStatus(f *testing.F) {
	s := wire.Status{Cells: 1, Spaces: []wire.SpaceStatus{{ID: 1}}}
	f.Add(s.Append(nil))
	f.Add([]byte("{}"))
	f.Add([]byte(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		if s, err := parseStatus(b); err == nil {
			s.TickQuantile(.99)
			for i := range s.Apps {
				s.Apps[i].AddrPort()
			}
		}
	})
}
