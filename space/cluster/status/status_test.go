package status_test

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"testing"
	"time"

	"github.com/cellscape/cellscape/bsp"
	"github.com/cellscape/cellscape/space/cluster/status"
)

// world has a value in every field.
func world() status.World {
	unsent := []status.Unsent{{Reason: "full", Message: "Freeze", Count: 1 << 40, Fault: true}, {Reason: "peer gone", Message: "Join", Count: 2}}
	w := status.World{
		GameTime: 1.5, SpaceCount: 9, Cells: 2, Retiring: 1, CellsAdded: 3, CellsRemoved: 2, Removing: 1, LinesMoved: 4,
		Reals: 5, Ghosts: 6, Clients: 7, Deaths: 8, LoginsRefused: true, Ticks: 9, Late: 10,
		CPU: 11.5, Pending: 12, ReportsSinceFreeze: 13, Unsent: unsent, Received: map[string]uint64{"Freeze": 3, "ghost.Update": 1 << 40},
		Spaces: []status.Space{
			{
				ID: 1, GameTime: 1.25, Rate: .75, Version: bsp.Version{Term: 1, N: 2},
				Cells: []status.Cell{{
					Cell: "1.1", App: 1, Rect: [4]float64{1, 2, 3, 4}, Load: .5, Reals: 1, Ghosts: 2, Created: true,
					Loading: true, Retiring: true, Overloaded: true, Crowd: &[4]float64{1, 2, 3, 4}, Loaded: &[4]float64{5, 6, 7, 8},
				}},
				Lines: []status.Line{{Vertical: true, At: 1, From: 2, To: 3, Moved: 4, Average: .5, Aggression: .25, Direction: -1, Depth: 2}},
			},
			{ID: 2, Rate: 1, Cells: []status.Cell{{Cell: "1.2"}}},
		},
		Apps: []status.App{
			{
				Role: status.RoleCellApp, Number: 1, Address: "127.0.0.1:7#1", Load: .5, CPU: 2, PID: 77, ProcessCPU: 10.5, SavingStep: 3, Saving: &status.Saving{Budget: .5, Detail: 1, Rate: 1},
				Types: []status.TypeLoad{{Type: "Avatar", Reals: 3, Load: .25}}, Traffic: []status.PropertyTraffic{{Type: "Avatar", Property: "hp", Way: "to ghosts", Changes: 3, Bytes: 17}}, Backlog: "127.0.0.1:8#2", Full: .75, Unsent: unsent, Store: "ok", Counts: status.Counts{"call.TimedOut": 3},
				Carriers: []status.Carrier{{Network: "udp", Address: "127.0.0.1:7#1", Counts: status.Counts{"udp.Overflow": 1 << 40}}}, Told: &status.Told{Places: 1, Properties: 2, Calls: 3, Enters: 4, Own: 5, Direct: 6, PlacesSent: 7, PlacesSkipped: 15, Updates: 8, Crowded: 9, Waited: 10, Clients: [status.Shares]uint64{11, 12, 13, 14}},
			},
			{Role: status.RoleLoginApp, Number: 2},
		},
		Counters: status.Counters{
			ClientCallsSent: 1, ClientCallsHandled: 2, FlowSent: 3, FlowHandled: 4, BundlesSent: 5, BytesDown: 6, BytesUp: 7,
			Migrations: 8, Refused: 9, GhostsDiffer: 10, Errors: 11, PacketsUnsent: 12, FlowLost: 13, Repeats: 14,
		},
	}
	w.TickTimes[3] = 7
	return w
}

//go:embed testdata/feed.json
var feed []byte

// Pages read the feed: its names, and what is left out, stay.
func TestFeed(t *testing.T) {
	w := world()
	got, err := json.MarshalIndent(&w, "", "\t")
	if err != nil {
		t.Fatal(err)
	}
	if got = append(got, '\n'); !bytes.Equal(got, feed) {
		t.Errorf("not the feed of testdata/feed.json:\n%s", got)
	}
}

func TestWorld(t *testing.T) {
	w := world()
	if n := w.UnsentFaults(); n != 1<<40 {
		t.Errorf("%d faults", n)
	}
	if a, ok := w.App(status.RoleLoginApp); !ok || a.Number != 2 || w.AppCount(status.RoleCellApp) != 1 {
		t.Errorf("the LoginApp is %+v", a)
	}
	if a, ok := w.App(status.RoleBaseApp); ok || w.AppCount(status.RoleBaseApp) != 0 {
		t.Errorf("a BaseApp: %+v", a)
	}
	if at := w.Apps[0].AddrPort(); at.String() != "127.0.0.1:7" {
		t.Errorf("the CellApp is at %v", at)
	}
	if !w.Spaces[0].Ready() || w.Spaces[1].Ready() {
		t.Error("which space is ready?")
	}
}

func TestTickTimes(t *testing.T) {
	var s status.TickTimes
	if s.Quantile(.5) != 0 {
		t.Error("a quantile of nothing")
	}
	for range 49 {
		s.Count(time.Millisecond)
	}
	s.Count(time.Second)
	twice := s
	twice.Add(&s)
	for _, c := range []struct{ q, from, to float64 }{{.5, 1, 1.25}, {.98, 1, 1.25}, {.99, 1000, 1250}, {1, 1000, 1250}} {
		if ms := float64(twice.Quantile(c.q)) / 1e6; ms < c.from || ms > c.to {
			t.Errorf("quantile %v is %v ms", c.q, ms)
		}
	}
}

// Every bound is above the one before, by a fifth or a little less, and belongs to the element
// after it.
func TestTickBounds(t *testing.T) {
	last := 50 * time.Microsecond
	var first, long status.TickTimes
	if first.Count(0); first[0] != 1 {
		t.Error("no time is not in the first element")
	}
	if long.Count(time.Hour); long[len(long)-1] != 1 {
		t.Error("an hour is not in the last element")
	}
	for i := range len(first) - 2 {
		var below, at status.TickTimes
		below.Count(last - 1)
		at.Count(last)
		bound := at.Quantile(1)
		if below[i] != 1 || at[i+1] != 1 || bound <= last || bound > last*6/5 {
			t.Errorf("around %v: %v and %v, the next bound is %v", last, below, at, bound)
		}
		last = bound
	}
	if last < 2*time.Second {
		t.Errorf("the last bound is %v", last)
	}
}

// No counter is left out, and no two are mixed up.
func TestCounters(t *testing.T) {
	var sum, d status.Counters
	n := uint64(0)
	for _, c := range d.All() {
		n++
		*c = n
	}
	if n != 36 || d.Unanswered != n || d.ClientCallsSent != 1 {
		t.Errorf("%d counters: %+v", n, d)
	}
	sum.Add(&d)
	sum.Add(&d)
	n = 0
	for name, c := range sum.All() {
		if n++; *c != 2*n {
			t.Errorf("%s is %d, want %d", name, *c, 2*n)
		}
	}
}

// A World comes from another process: whatever it says, nothing panics.
func FuzzWorld(f *testing.F) {
	f.Add(feed)
	f.Add([]byte("{}"))
	f.Fuzz(func(t *testing.T, b []byte) {
		var w status.World
		if json.Unmarshal(b, &w) != nil {
			return
		}
		if _, err := json.Marshal(&w); err != nil {
			t.Error(err)
		}
		w.TickTimes.Quantile(.99)
		w.UnsentFaults()
		for i := range w.Apps {
			w.Apps[i].AddrPort()
		}
	})
}
