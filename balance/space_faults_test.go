package balance

import (
	"math"
	"strings"
	"testing"

	"github.com/cellscape/cellscape/bsp"
)

func TestNonsenseOfASpaceIsCounted(t *testing.T) {
	nan := math.NaN()
	for _, tt := range []struct {
		what string
		edit func(*Space)
	}{
		{"artificial load", func(s *Space) { s.MinLoad = -1 }},
		{"artificial load", func(s *Space) { s.MinLoad = math.MaxInt64 }},
		{"bounds", func(s *Space) { s.Bounds.MaxZ = nan }},
		{"geometry", func(s *Space) { s.Geometry = bsp.Rect{MaxX: 1, MaxZ: nan} }},
		{"number of cells", func(s *Space) { s.MinCells = -1 }},
		{"number of cells", func(s *Space) { s.MaxCells = -1 }},
		{"no tree", func(s *Space) { s.Tree = nil }},
	} {
		eachPolicy(t, knobs{}, func(t *testing.T, p, _ Policy, _ func(*Observation, int) float64) {
			o := pair(t, 0.2, 0.1)
			tt.edit(&o.Spaces[0])
			before := o.Spaces[0]
			for _, plan := range []Plan{p.Balance(o), p.Meta(o)} {
				if plan.Ignored != 1 || len(plan.Faults) != 1 || !strings.Contains(plan.Faults[0].String(), tt.what) || plan.Faults[0].Space != 1 {
					t.Errorf("%s: %d ignored, %v", tt.what, plan.Ignored, plan.Faults)
				}
			}
			if o.Spaces[0].MinLoad != before.MinLoad || o.Spaces[0].MinCells != before.MinCells {
				t.Errorf("%s: the observation is changed", tt.what)
			}
		})
	}
}

// A space with an artificial load holds its share of each of its apps, whatever they report:
// groups, the choice of apps and the smoothed average go by that as much as lines do.
func TestArtificialLoadCountsForApps(t *testing.T) {
	reserved := func(s Space, cores float64) Space { s.MinLoad = int64(nanos(cores)); return s }
	runMeta(t, classicName, []metaCase{
		{name: "its group is overloaded", o: Observation{Apps: apps(0, 0), Spaces: []Space{reserved(space(t, 1, "1"), 0.4)}}, want: "add 1/1.1 on 2"},
		{name: "its apps are kept", o: Observation{Apps: apps(0, 0), Spaces: []Space{reserved(space(t, 1, "x 0\n1\n2"), 0.4)}}},
		{name: "another space keeps clear of it", cfg: knobs{MinCells: 2}, o: Observation{Apps: apps(0, 0, 100), Spaces: []Space{
			space(t, 1, "1"), func() Space { s := reserved(space(t, 2, "2"), 0.4); s.MinCells = 1; return s }()}}, want: "add 1/1.1 on 3, add 2/1.2 on 1"},
		{name: "what is there already counts towards it", o: Observation{Apps: apps(400, 400), Spaces: []Space{reserved(space(t, 1, "1", 400), 0.4), space(t, 2, "2", 400)}}},
	})
}
