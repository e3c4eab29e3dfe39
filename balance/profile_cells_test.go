package balance

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/cellscape/cellscape/balance/load"
	"github.com/cellscape/cellscape/bsp"
)

// TestProfileMeta has a target of 0.25: a cell is added above 0.2675, and given back if the others
// stay under 0.26375.
func TestProfileMeta(t *testing.T) {
	four := "x 0\nz 0\n1\n2\nz 0\n3\n4"
	rooms := func(loads ...int64) (s []Space) {
		for i, l := range loads {
			s = append(s, space(t, uint32(i+1), "1", l))
		}
		return s
	}
	spot := func(s Space) Space {
		s.Cells[0].Profile = load.Build([]load.Sample{{X: 5, Z: 5, Load: 1}})
		return s
	}
	least := func(s Space, n int) Space { s.MinCells = n; return s }
	runMeta(t, profileName, []metaCase{
		{name: "one space, enough", o: Observation{Apps: apps(265, 0), Spaces: []Space{space(t, 1, "1", 265)}}},
		{name: "one space, one more", o: Observation{Apps: apps(275, 0, 0), Spaces: []Space{space(t, 1, "1", 275)}}, want: "add 1/1.1 on 2"},
		{name: "one space, each leaf cut once", o: Observation{Apps: apps(900, 800, 0, 0, 0, 0), Spaces: []Space{space(t, 1, "x 0\n1\n2", 900, 800)}}, want: "add 1/1.1 on 3, add 1/1.2 on 4"},
		{name: "one as busy would not help", o: Observation{Apps: apps(400, 400), Spaces: rooms(400)}, want: "wanting 1"},
		{name: "a less busy one does", o: Observation{Apps: apps(400, 390), Spaces: rooms(400)}, want: "add 1/1.1 on 2"},
		{name: "a crowd on one spot", o: Observation{Apps: apps(400, 0), Spaces: []Space{spot(space(t, 1, "1", 400))}}, want: "crowded 1/1.1"},
		{name: "on an app that is shut down", cfg: knobs{TargetLoad: 0.5}, o: Observation{Apps: []App{{ID: 1, Addr: appAt(1), Retiring: true}, apps(0, 0)[1]}, Spaces: []Space{spot(space(t, 1, "1", 400))}}, want: "add 1/1.1 on 2"},
		{name: "cancel before add", o: Observation{Apps: apps(250, 250, 100, 0), Spaces: []Space{space(t, 1, "x 0\nz 0\n1\n2\n3'", 250, 250, 100)}}, want: "cancel 1/1.3"},
		{name: "add if that is swept too narrow", o: Observation{Apps: apps(300, 250, 50, 0), Spaces: []Space{space(t, 1, "x 0\n1\nx 10\n3'\n2", 300, 250, 50)}}, want: "add 1/1.1 on 4"},
		{name: "cancel, and add what is missing then", o: Observation{Apps: apps(550, 250, 100, 0), Spaces: []Space{space(t, 1, "x 0\nz 0\n1\n2\n3'", 550, 250, 100)}}, want: "cancel 1/1.3, add 1/1.1 on 4"},
		{name: "give back", o: Observation{Apps: apps(200, 180, 200, 200), Spaces: []Space{space(t, 1, four, 200, 180, 200, 200)}}, want: "retire 1/1.2"},
		{name: "least cells", o: Observation{Apps: apps(200, 180, 200, 200), Spaces: []Space{least(space(t, 1, four, 200, 180, 200, 200), 4)}}},
		{name: "fewer than the least", o: Observation{Apps: apps(10, 0, 0), Spaces: []Space{least(space(t, 1, "1", 10), 3)}}, want: "add 1/1.1 on 2"},
		{name: "fewer than the least, each app once", cfg: knobs{Scorers: []Scorer{rankBy("by ID", map[uint32]float64{3: 3, 4: 4})}}, o: Observation{Apps: apps(10, 10, 0, 0), Spaces: []Space{least(space(t, 1, "x 0\n1\n2", 10, 10), 4)}}, want: "add 1/1.1 on 3, add 1/1.2 on 4"},
		{name: "the least within the group", o: Observation{Apps: apps(20, 10), Spaces: []Space{least(space(t, 1, "x 0\n1\n2", 10, 10), 2), least(space(t, 2, "1", 10), 2)}}, want: "add 2/1.1 on 2"},
		{name: "the least after cancelling", o: Observation{Apps: apps(10, 10), Spaces: []Space{least(space(t, 1, "x 0\n1\n2'", 10, 10), 2)}}, want: "cancel 1/1.2"},

		// Rooms of 100 and 300 on one app: the load asks for two apps, the larger room is divided.
		{name: "rooms", o: Observation{Apps: apps(400, 0, 0), Spaces: rooms(100, 300)}, want: "add 2/1.1 on 2"},
		{name: "rooms, enough", o: Observation{Apps: apps(260, 0, 0), Spaces: rooms(100, 160)}},
		{name: "rooms, one space for each app that is needed", o: Observation{Apps: apps(900, 0, 0, 0, 0), Spaces: rooms(100, 300, 500)}, want: "add 3/1.1 on 2, add 2/1.1 on 3, add 1/1.1 on 4"},
		{name: "rooms, an empty one is not divided", o: Observation{Apps: apps(400, 0), Spaces: rooms(0, 400, 1)}, want: "add 2/1.1 on 2"},
		// What app 1 does for its room shows in the level of the divided space's cells, app 2 is
		// not the one to relieve.
		{name: "the busy app's cell is cut", o: Observation{Apps: apps(700, 100, 0), Spaces: []Space{space(t, 1, "x 0\n1\n2", 200, 100), space(t, 2, "1", 500)}}, want: "add 2/1.1 on 3"},
		{name: "the scheme's space", o: Observation{Apps: apps(450, 100, 0), Spaces: []Space{space(t, 1, "x 0\n1\n2", 200, 100), space(t, 2, "1", 250)}}, want: "add 1/1.1 on 3"},
		{name: "another scheme", cfg: knobs{Scheme: Smallest}, o: Observation{Apps: apps(450, 100, 0), Spaces: []Space{space(t, 1, "x 0\n1\n2", 200, 100), space(t, 2, "1", 250)}}, want: "add 2/1.1 on 3"},
		// Four apps at 265 on average: enough of them, but the room alone fills three.
		{name: "a heavy room among idle apps", o: Observation{Apps: apps(800, 80, 90, 90), Spaces: []Space{space(t, 1, four, 0, 80, 90, 90), space(t, 2, "1", 800)}}, want: "add 2/1.1 on 2"},
		{name: "a divided space among idle apps", o: Observation{Apps: apps(400, 400, 20, 30), Spaces: []Space{space(t, 1, four, 0, 0, 20, 30), space(t, 2, "x 0\n1\n2", 400, 400)}}, want: "add 2/1.1 on 3"},
		{name: "many rooms among idle apps", o: Observation{Apps: apps(440, 80, 90, 90, 0), Spaces: []Space{space(t, 1, four, 0, 80, 90, 90),
			space(t, 2, "1", 90), space(t, 3, "1", 150), space(t, 4, "1", 100), space(t, 5, "1", 100)}}, want: "add 3/1.1 on 2, add 4/1.1 on 3"},
		{name: "group cancels", o: Observation{Apps: apps(400, 100, 0), Spaces: []Space{space(t, 1, "x 0\n1\n2'", 100, 100), space(t, 2, "1", 250)}}, want: "cancel 1/1.2"},
		{name: "no cancelling on an app that is shut down", o: Observation{Apps: shutDown(apps(250, 250, 100, 0), 3), Spaces: []Space{space(t, 1, "x 0\nz 0\n1\n2\n3'", 250, 250, 100)}}, want: "add 1/1.1 on 4"},
		{name: "each app once", cfg: knobs{Scorers: []Scorer{rankBy("by ID", map[uint32]float64{3: 3, 4: 4})}}, o: Observation{Apps: apps(900, 800, 0, 0), Spaces: []Space{space(t, 1, "x 0\n1\n2", 900, 800)}}, want: "add 1/1.1 on 3, add 1/1.2 on 4"},
		{name: "each space once", o: Observation{Apps: apps(1300, 0, 0, 0, 0), Spaces: rooms(100, 1200)}, want: "add 2/1.1 on 2, add 1/1.1 on 3"},
		{name: "no cell that carries nothing, none on an app that needs no help", o: Observation{Apps: apps(450, 100, 0), Spaces: []Space{space(t, 1, "x 0\n1\n2", 1, 100), space(t, 2, "1", 250)}}, want: "add 2/1.1 on 3"},
		{name: "what no one beside has room for stays", o: Observation{Apps: apps(260, 100, 60), Spaces: []Space{space(t, 1, "x 0\n1\n2", 170, 100), space(t, 2, "1", 90), space(t, 3, "x 0\n1\n3", 0, 0, 60)}}},
		{name: "the next one can", o: Observation{Apps: apps(260, 100, 60, 110), Spaces: []Space{space(t, 1, "x 0\n2\n4", 0, 100, 0, 110), space(t, 2, "1", 250), space(t, 3, "x 0\nz 0\n1\n3\n4", 0, 0, 160)}}, want: "retire 1/1.2"},
		{name: "group gives back", o: Observation{Apps: apps(150, 100, 120), Spaces: []Space{space(t, 1, "x 0\nz 0\n1\n2\n3", 50, 100, 120), space(t, 2, "1", 100)}}, want: "retire 1/1.2"},
		{name: "group gives back who can", o: Observation{Apps: apps(50, 100, 120), Spaces: []Space{least(space(t, 1, "x 0\n1\n2", 50, 100), 2), space(t, 2, "x 0\n2\n3", 0, 0, 120)}}, want: "retire 2/1.2"},
		{name: "group of a space that loads", cfg: knobs{MaxLoadingCells: -1}, o: Observation{Apps: apps(150, 100, 120), Spaces: []Space{
			func() Space {
				s := space(t, 1, "x 0\nz 0\n1\n2\n3", 50, 100, 120)
				s.Geometry = bsp.Around(0, 0, 9)
				return s
			}(), space(t, 2, "1", 100)}}},
		{name: "group keeps what it needs", o: Observation{Apps: apps(150, 200, 200), Spaces: []Space{space(t, 1, "x 0\nz 0\n1\n2\n3", 50, 200, 200), space(t, 2, "1", 100)}}},
		{name: "a room on an app that is shut down does not move it", o: Observation{Apps: apps(100, 100, 100), Spaces: rooms(50, 50)}},
	})
}

// TestProfileWaits is about what must have settled before cells are added and given back.
func TestProfileWaits(t *testing.T) {
	type look struct {
		after time.Duration
		tree  string
		want  string
	}
	one, two, three := "1", "x 0\n1\n2", "x 0\nz 0\n1\n3\n2"
	tests := []struct {
		name  string
		milli int64 // load of each cell
		looks []look
	}{
		{"adds a period after it was first seen", 300, []look{{0, one, ""}, {400 * time.Millisecond, one, ""}, {500 * time.Millisecond, one, "add 1/1.1 on 2"}}},
		{"adds a period after the last cell was created", 300, []look{{0, two, ""}, {3 * time.Second, "x 0\n1\n2?", ""}, {6 * time.Second, two, ""}, {7 * time.Second, two, "add 1/1.1 on 3"}}},
		{"gives back two meta periods after it was first seen", 100, []look{{0, two, ""}, {5900 * time.Millisecond, two, ""}, {6 * time.Second, two, "retire 1/1.1"}}},
		{"gives back two meta periods after the last cell went", 80, []look{{0, three, ""}, {9 * time.Second, "x 0\nz 0\n1'\n3\n2", ""}, {12 * time.Second, two, ""}, {15 * time.Second, two, ""}, {18 * time.Second, two, "retire 1/1.1"}}},
		{"adds while a cell retires for which it is too late", 260, []look{{0, "x 0\n1\nx 10\n3'\n2", ""}, {time.Second, "x 0\n1\nx 10\n3'\n2", "add 1/1.1 on 4"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := newPolicy(t, profileName, knobs{})
			m := tt.milli
			for i, l := range tt.looks {
				o := Observation{Now: time.Hour + l.after, Apps: apps(m, 0, 0, 0), Spaces: []Space{space(t, 1, l.tree, m, m, m, m)}}
				plan := p.Meta(&o)
				if got := outline(plan); got != l.want {
					t.Fatalf("look %d: %q, want %q", i, got, l.want)
				}
			}
		})
	}
}

// TestNewRoomsDoNotHoldUpOthers is about a world that makes rooms all the time on the apps of a
// divided space.
func TestNewRoomsDoNotHoldUpOthers(t *testing.T) {
	p := newPolicy(t, profileName, knobs{})
	for i := range 4 {
		room := space(t, uint32(10+i), "1?", 0)
		if i%2 == 0 {
			room = space(t, uint32(10+i), "1", 0)
		}
		room.Geometry = bsp.Around(0, 0, 100)
		o := Observation{Now: time.Hour + time.Duration(i)*3*time.Second, Apps: apps(100, 80), Spaces: []Space{space(t, 1, "x 0\n1\n2", 100, 80), room}}
		plan := p.Meta(&o)
		if got, want := outline(plan), map[int]string{2: "retire 1/1.2", 3: "retire 1/1.2"}[i]; got != want {
			t.Errorf("pass %d: %q, want %q", i, got, want)
		}
	}
}

// TestDividedSpaceThatBecameARoomCounts is about a group one space of which has just given its
// second cell back.
func TestDividedSpaceThatBecameARoomCounts(t *testing.T) {
	p := newPolicy(t, profileName, knobs{})
	for i, want := range []string{"", "", "", "", "", "retire 1/1.2"} {
		tree := "1"
		if i < 3 {
			tree = "x 0\n1\n2'"
		}
		o := Observation{Now: time.Hour + time.Duration(i)*3*time.Second, Apps: apps(100, 80), Spaces: []Space{space(t, 1, "x 0\n1\n2", 100, 80), space(t, 2, tree)}}
		plan := p.Meta(&o)
		if got := outline(plan); got != want {
			t.Errorf("pass %d: %q, want %q", i, got, want)
		}
	}
}

// TestLoadingIsShared is about where a helper's cell begins: Profile halves what is to be loaded.
func TestLoadingIsShared(t *testing.T) {
	s := space(t, 1, "1")
	s.Geometry = bsp.Rect{MinX: 0, MinZ: 0, MaxX: 8000, MaxZ: 2000}
	o := Observation{Apps: apps(0, 0), Spaces: []Space{s}}
	plan := newPolicy(t, profileName, knobs{}).Meta(&o)
	if len(plan.Adds) != 1 || plan.Adds[0].Axis != bsp.AxisX || plan.Adds[0].At != 4000 {
		t.Errorf("%+v, want a cut at x = 4000", plan.Adds)
	}
}

// TestNoisyLoadsDoNotAddAndGiveBack has loads between the two ratios that shake by a hundredth from
// report to report.
func TestNoisyLoadsDoNotAddAndGiveBack(t *testing.T) {
	for _, trees := range []string{"version 1.1 \n cell 1.1 - 0 created", "version 1.1 \n x 0 \n cell 1.1 - 0 created \n cell 1.2 - 0 created"} {
		p := newProfile(t, knobs{})
		rng := rand.New(rand.NewPCG(3, 3))
		tree := mustParse(t, trees)
		changes := 0
		for period := range 2400 {
			var cells []Cell
			for i := range tree.Len() {
				load := 0.25 * 1.0625 * (1 + 0.01*rng.NormFloat64())
				cells = append(cells, cellOf(uint32(i+1), row(-995+1000*float32(i), 0, 10, 100, load)))
			}
			o := observed(t, trees, cells...)
			o.Now = time.Duration(period) * 500 * time.Millisecond
			o.Apps = append(o.Apps, App{ID: 9, Addr: appAddr(9)})
			p.Balance(o)
			if period%6 == 0 {
				plan := p.Meta(o)
				if period > 60 {
					changes += len(plan.Adds) + len(plan.Retires)
				}
			}
		}
		if changes > 4 { // by single reports it would be about a hundred
			t.Errorf("%s: %d cells added or given back", trees, changes)
		}
	}
}
