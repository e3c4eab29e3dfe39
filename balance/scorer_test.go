package balance

import (
	"fmt"
	"math"
	"net/netip"
	"strings"
	"testing"

	"github.com/cellscape/cellscape/balance/load"
)

// TestAddScorer is about CellAppComparer::addScorer, which makes scorers of names.
func TestAddScorer(t *testing.T) {
	ss, err := ScorersByName("limitedSpaces=3", "cellAppLoad", "groupLoad", "cellCellTraffic", "baseCellTraffic")
	if err != nil {
		t.Fatal(err)
	}
	names := ""
	for _, s := range ss {
		names += s.Name + " "
	}
	if want := "limitedSpaces cellAppLoad groupLoad cellCellTraffic baseCellTraffic "; names != want {
		t.Errorf("scorers %q, want %q", names, want)
	}
	if _, err := made(knobs{Scorers: ss}); err != nil {
		t.Error(err)
	}
	if ss, err := ScorersByName(); err != nil || ss != nil {
		t.Errorf("no names: %v, %v; want none, which Config takes for its default", ss, err)
	}
	for name, want := range map[string]string{
		"load":                    "set limitedSpaces=N, cellAppLoad, groupLoad, cellCellTraffic or baseCellTraffic",
		"":                        "none of this name",
		"limitedSpaces":           "for example limitedSpaces=3",
		"limitedSpaces=":          "at least 1",
		"limitedSpaces=0":         "at least 1",
		"limitedSpaces=x":         "at least 1",
		"cellAppLoad=2":           `leave out "=2"`,
		"groupLoad=":              `leave out "="`,
		"cellAppLoad,cellAppLoad": "named twice",
		"a,cellAppLoad,b=1":       `scorer 3, "b=1"`,
	} {
		if _, err := ScorersByName(strings.Split(name, ",")...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want one with %q", name, err, want)
		}
	}
	_, err = ScorersByName("a", "cellAppLoad", "b")
	if err == nil || strings.Count(err.Error(), "none of this name") != 2 {
		t.Errorf("two faults: %v", err)
	}
}

func scorers(t testing.TB, names ...string) []Scorer {
	t.Helper()
	ss, err := ScorersByName(names...)
	if err != nil {
		t.Fatal(err)
	}
	return ss
}

// rankBy is a scorer of a user's own.
func rankBy(name string, ranks map[uint32]float64) Scorer {
	return Scorer{name, func(c *Candidate) (float64, bool) { r, ok := ranks[c.App.ID]; return r, ok }}
}

// TestIsABetterCellApp is about CellAppComparer::isABetterCellApp: scorers are asked in order until
// they tell apart.
func TestIsABetterCellApp(t *testing.T) {
	nan := math.NaN()
	tests := []struct {
		name    string
		scorers []Scorer
		want    uint32
		ignored int
	}{
		{"the first decides", []Scorer{rankBy("a", map[uint32]float64{1: 2, 2: 1, 3: 3}), rankBy("b", map[uint32]float64{1: 1, 2: 3, 3: 2})}, 2, 0},
		{"the second breaks a tie", []Scorer{rankBy("a", map[uint32]float64{1: 1, 2: 1, 3: 1}), rankBy("b", map[uint32]float64{1: 3, 2: 2, 3: 1})}, 3, 0},
		{"a tie goes to the lower ID", []Scorer{rankBy("a", map[uint32]float64{1: 2, 2: 1, 3: 1})}, 2, 0},
		{"a veto of the last", []Scorer{rankBy("a", map[uint32]float64{1: 1, 2: 2, 3: 3}), rankBy("b", map[uint32]float64{2: 1, 3: 1})}, 2, 0},
		{"a veto of one that would be better", []Scorer{rankBy("a", map[uint32]float64{1: 3, 2: 2, 3: 1}), rankBy("b", map[uint32]float64{1: 1, 2: 1})}, 2, 0},
		{"all vetoed", []Scorer{rankBy("a", nil)}, 0, 0},
		{"infinite ranks", []Scorer{rankBy("a", map[uint32]float64{1: math.Inf(1), 2: 0, 3: math.Inf(-1)})}, 3, 0},
		{"no number is a veto", []Scorer{rankBy("a", map[uint32]float64{1: nan, 2: 2, 3: 1})}, 3, 1},
		{"no number at the end", []Scorer{rankBy("a", map[uint32]float64{1: 2, 2: 1, 3: nan})}, 2, 1},
		{"nothing but that", []Scorer{rankBy("a", map[uint32]float64{1: nan, 2: nan, 3: nan})}, 0, 3},
		{"no scorers", []Scorer{}, 1, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			cfg := Config{Scorers: tt.scorers}.WithDefaults()
			m := newPass(&cfg, look(&Observation{Apps: apps(0, 0, 0), Spaces: []Space{space(t, 1, "9")}}))
			if got := m.bestID(0, anyApp()); got != tt.want || m.plan.Ignored != tt.ignored {
				t.Errorf("app %d, %d ignored; want %d, %d", got, m.plan.Ignored, tt.want, tt.ignored)
			}
		})
	}
}

func (m *pass) bestID(space int32, among search) uint32 {
	if i := m.bestApp(space, among); i >= 0 {
		return m.v.apps[i].ID
	}
	return 0
}

// TestFindBestCellApp is about CellApps::findBestCellApp, with each of the built-in scorers.
func TestFindBestCellApp(t *testing.T) {
	// Apps 4 to 7 are on one machine, 8 on the next. Group 1, 2 of space 1; 4, 5 of space 2; 6 of
	// space 3; 7 and 8 idle.
	base := Observation{Apps: apps(500, 300, 900, 200, 400, 250, 100, 150)}
	base.Spaces = []Space{space(t, 1, "x 0\n1\n2"), space(t, 2, "x 0\n4\n5"), space(t, 3, "6"), space(t, 4, "x 0\n3'\n6/8")}
	const first = 0 // group
	tests := []struct {
		name    string
		scorers []string
		edit    func(o *Observation)
		among   search
		space   int32
		want    uint32
	}{
		{"load", []string{"cellAppLoad"}, nil, outside(first), 0, 7},
		{"load, of those not being shut down", []string{"cellAppLoad"}, func(o *Observation) { o.Apps[6].Retiring = true }, outside(first), 0, 8},
		{"load pencilled in", []string{"cellAppLoad"}, func(o *Observation) { o.Apps[6].Given(0.1) }, outside(first), 0, 8},
		{"differences under a hundredth do not count", []string{"cellAppLoad", "cellCellTraffic"}, func(o *Observation) { o.Apps[7].Estimated = o.Apps[6].Estimated - load.Core/200 + load.Core/100 }, outside(first), 1, 7},
		{"one that cannot be true is not chosen", []string{"cellAppLoad"}, func(o *Observation) { o.Apps[6].Estimated = -1 }, outside(first), 0, 8},
		{"busy", []string{"cellAppLoad"}, nil, search{group: first, busy: load.Core / 10}, 0, 0},
		{"not in the group", []string{"cellAppLoad"}, func(o *Observation) { o.Apps[0].Report(0, 1) }, outside(first), 0, 7},
		{"not one with a cell of the space, even if retiring", []string{"cellAppLoad"}, func(o *Observation) { o.Apps = o.Apps[:3]; o.Apps[2].Report(0, 1) }, anyApp(), 3, 2},
		{"inside the group", []string{"cellAppLoad"}, func(o *Observation) { o.Spaces[3] = space(t, 4, "x 0\n2\n3") }, search{group: first, inside: true, busy: math.MaxInt64}, 0, 3},
		{"group load", []string{"groupLoad"}, nil, outside(first), 0, 7},
		{"group load is that of all its apps", []string{"groupLoad"}, func(o *Observation) { o.Apps[3].Report(0, 1); o.Apps[6].Report(300e6, 1); o.Apps[7].Report(300e6, 1) }, outside(first), 0, 4},
		{"cells", []string{"limitedSpaces=1"}, nil, outside(first), 0, 7},
		{"more cells", []string{"limitedSpaces=2"}, nil, outside(first), 0, 3},
		{"machine", []string{"cellCellTraffic"}, nil, anyApp(), 1, 6},
		{"base", []string{"baseCellTraffic"}, func(o *Observation) { o.Spaces[0].Preferred = appAt(8).Addr() }, outside(first), 0, 8},
		{"base, the same address in the longer form", []string{"baseCellTraffic"}, func(o *Observation) {
			o.Spaces[0].Preferred = netip.AddrFrom16(appAt(8).Addr().As16())
		}, outside(first), 0, 8},
		{"base not known", []string{"baseCellTraffic"}, nil, outside(first), 0, 3},
		{"machine first, then load", []string{"cellCellTraffic", "cellAppLoad"}, nil, anyApp(), 1, 7},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o := base
			o.Apps = append([]App(nil), base.Apps...)
			o.Spaces = append([]Space(nil), base.Spaces...)
			if tt.edit != nil {
				tt.edit(&o)
			}
			cfg := Config{Scorers: scorers(t, tt.scorers...)}.WithDefaults()
			m := newPass(&cfg, look(&o))
			if got := m.bestID(tt.space, tt.among); got != tt.want {
				t.Errorf("app %d, want %d", got, tt.want)
			}
		})
	}
}

// TestTwoAppsAtOneAddress is about a manager that has an app twice: the tree would refuse the
// second one's cell.
func TestTwoAppsAtOneAddress(t *testing.T) {
	o := Observation{Apps: apps(900, 0), Spaces: []Space{space(t, 1, "1", 900)}}
	o.Apps[1].Addr = o.Apps[0].Addr
	for _, policy := range []string{classicName, profileName} {
		if got, want := outline(settled(t, policy, knobs{}, &o)), "wanting 1, app 2: address of another app"; got != want {
			t.Errorf("%s: got %q, want %q", policy, got, want)
		}
	}
}

// TestChooseConnectionSpace is about CellAppGroup::chooseConnectionSpace and its three choosers.
func TestChooseConnectionSpace(t *testing.T) {
	o := Observation{Apps: apps(600, 300, 500, 100), Spaces: []Space{
		space(t, 1, "x 0\n1\nz 0\n2\n3", 100, 100, 100),
		space(t, 2, "x 0\n2/1\nz 0\n3/2\n4/3", 100, 100, 100),
		space(t, 3, "1", 150),
		space(t, 4, "1", 250),
		space(t, 5, "3", 0, 0, 300),
		space(t, 6, "x 0\n1/3\n4", 0, 0, 100, 100),
		space(t, 7, "4", 0, 0, 0, 0),
	}}
	tests := []struct {
		scheme Scheme
		edit   func(o *Observation)
		want   string
	}{
		{Largest, nil, "[1 2 6 4 3 5 7]"},
		{Smallest, nil, "[4 3 5 7 6 1 2]"},
		{Hybrid, nil, "[4 3 5 7 6 1 2]"},                                                      // none is alone on its app
		{Hybrid, func(o *Observation) { o.Spaces = o.Spaces[:6] }, "[6 4 3 5 1 2]"},           // 6 is alone on app 4
		{Hybrid, func(o *Observation) { o.Spaces = o.Spaces[:2]; o.Apps[0].ID = 9 }, "[1 2]"}, // app 1 is not known
	}
	for _, tt := range tests {
		e := o
		e.Apps, e.Spaces = append([]App(nil), o.Apps...), append([]Space(nil), o.Spaces...)
		if tt.edit != nil {
			tt.edit(&e)
		}
		cfg := Config{Scheme: tt.scheme}.WithDefaults()
		m := newPass(&cfg, look(&e))
		g := m.v.groupOf(0)
		var ids []uint32
		for _, i := range m.connectionSpaces(&m.groups[g]) {
			ids = append(ids, m.v.spaces[i].ID)
		}
		if got := fmt.Sprint(ids); got != tt.want {
			t.Errorf("scheme %d: %s, want %s", tt.scheme, got, tt.want)
		}
	}
}
