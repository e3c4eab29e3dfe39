package balance

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/cellscape/cellscape/bsp"
)

func refsTo(cells ...uint32) (refs []Ref) {
	for _, n := range cells {
		refs = append(refs, Ref{1, bsp.CellID{Term: 1, N: n}})
	}
	return refs
}

// TestLinesKeepToLoadedLand: under both policies a line goes no farther than the growing side has
// loaded, less the ghost distance of 500 m, and rests beside a cell that has not loaded what lies
// in its rectangle.
func TestLinesKeepToLoadedLand(t *testing.T) {
	free := map[string]float64{profileName: -255, classicName: -110} // where the line goes that nothing holds back
	both := func(to float64) map[string]float64 { return map[string]float64{profileName: to, classicName: to} }
	tests := []struct {
		name     string
		loaded   float64            // where the loaded bounds of the growing cell begin
		to       map[string]float64 // 0: stays
		cfg      knobs
		edit     func(*Observation)
		unloaded []Ref
	}{
		{name: "nothing to load", loaded: 0, edit: func(o *Observation) { o.Spaces[0].Geometry = bsp.Rect{} }, to: free},
		{name: "loaded far ahead", loaded: -900, to: free},
		{name: "loaded a little ahead", loaded: -570, to: both(-70)},
		{name: "loaded around the cell alone", loaded: -500, to: both(0), unloaded: refsTo(2)},
		{name: "told to ignore it", loaded: -500, cfg: knobs{IgnoreGeometry: true}, to: free},
		{name: "the growing cell lacks its own land", loaded: 50, to: both(0), unloaded: refsTo(2)},
		{name: "so it does, and the other is over its bound", loaded: 50, to: both(0), unloaded: refsTo(2), edit: func(o *Observation) {
			o.Spaces[0].Cells[0].Load, o.Apps[0].Smoothed = 2e9, 1
		}},
		{name: "the giving cell lacks its own land", loaded: -900, to: both(0), unloaded: refsTo(1), edit: func(o *Observation) {
			o.Spaces[0].Cells[0].Loaded = span(-300, 800)
		}},
		{name: "a cell that has said nothing", loaded: -900, to: both(0), unloaded: refsTo(2), edit: func(o *Observation) {
			o.Spaces[0].Cells[1].Loaded = bsp.Rect{}
		}},
	}
	for _, tt := range tests {
		for _, policy := range []string{profileName, classicName} {
			t.Run(tt.name+"/"+policy, func(t *testing.T) {
				o := loadedPair(t, tt.loaded, tt.edit)
				tt.cfg.Band, tt.cfg.MaxLoadingCells = math.SmallestNonzeroFloat64, -1
				tt.cfg.Policy = policy
				p, err := made(tt.cfg)
				if err != nil {
					t.Fatal(err)
				}
				plan := p.Balance(o)
				to := tt.to[policy]
				if to == 0 && len(plan.Moves) > 0 || to != 0 && (len(plan.Moves) != 1 || math.Abs(plan.Moves[0].To-to) > 6) {
					t.Errorf("moves %v, want to %v", plan.Moves, to)
				}
				if !slices.Equal(plan.Unloaded, tt.unloaded) {
					t.Errorf("named as not loaded: %v, want %v", plan.Unloaded, tt.unloaded)
				}
			})
		}
	}
}

// TestLimitIsOffForWhatRetires: the line sweeps a retiring cell whatever its heir has loaded. Its
// entities wait in the retiring cell for that.
func TestLimitIsOffForWhatRetires(t *testing.T) {
	for _, policy := range []string{profileName, classicName} {
		o := loadedPair(t, 50, func(o *Observation) { leafOf(o, 1).Retiring = true })
		p, err := made(knobs{Policy: policy})
		if err != nil {
			t.Fatal(err)
		}
		if plan := p.Balance(o); len(plan.Moves) != 1 || !(plan.Moves[0].To < -50) {
			t.Errorf("%s: moves %v", policy, plan.Moves)
		}
	}
}

// TestNoCutBesideACellThatLoads: the entities of a cell that loads are still where they were, so
// that the load of that one does not tell where to cut it. It is cut as soon as all is loaded.
func TestNoCutBesideACellThatLoads(t *testing.T) {
	p := newProfile(t, knobs{MaxLoadingCells: -1, TargetLoad: 0.1})
	for i, loaded := range []bool{false, false, true} {
		o := pair(t, 0.5, 0.001)
		o.Now = time.Hour + time.Duration(i)*3*time.Second
		for n := range uint32(6) {
			o.Apps = append(o.Apps, App{ID: 10 + n, Addr: appAddr(10 + n)})
		}
		s := &o.Spaces[0]
		s.Geometry = span(-5000, 5000)
		s.Cells[0].Loaded = span(-5000, 800)
		if loaded {
			s.Cells[1].Loaded = span(-800, 5000)
		}
		if plan := p.Meta(o); (len(plan.Adds) > 0) != loaded {
			t.Errorf("pass %d: loaded %v, adds %v", i, loaded, plan.Adds)
		}
	}
}

// TestPlacer: a space without a cell goes to the app that the scorers prefer, then to that with
// fewer cells.
func TestPlacer(t *testing.T) {
	room := func(n uint32) *Space { return &Space{ID: n, Bounds: bsp.Around(0, 0, 10)} }
	place := func(p *Placer, n int) (order []uint32) {
		for i := range n {
			id, ok, _ := p.Place(room(uint32(100 + i)))
			if !ok {
				id = 0
			}
			order = append(order, id)
		}
		return order
	}
	retire := func(apps []App, which ...int) []App {
		for _, i := range which {
			apps[i].Retiring = true
		}
		return apps
	}
	for _, tt := range []struct {
		name string
		cfg  knobs
		o    Observation
		want []uint32
	}{
		{"the least loaded, one after the other", knobs{}, Observation{Apps: apps(300, 100, 0)}, []uint32{3, 3, 2, 3, 2, 3}},
		{"noise does not count", knobs{InitialCellLoad: 1e-9}, Observation{Apps: apps(3, 0), Spaces: []Space{space(t, 1, "2", 0)}}, []uint32{1, 1, 2}},
		{"none that is shut down", knobs{}, Observation{Apps: retire(apps(900, 0, 500), 1)}, []uint32{3, 3, 3}},
		{"all are shut down", knobs{}, Observation{Apps: retire(apps(900, 0), 0, 1)}, []uint32{2, 2}},
		{"a limit of cells", knobs{Scorers: []Scorer{LimitedSpacesScorer(2), AppLoadScorer()}}, Observation{Apps: apps(100, 0), Spaces: []Space{space(t, 1, "1", 0)}}, []uint32{2, 1, 2, 0}},
		{"full ones do not drive it to one that is shut down", knobs{Scorers: []Scorer{LimitedSpacesScorer(1)}}, Observation{Apps: retire(apps(0, 0), 1)}, []uint32{1, 0}},
		{"none", knobs{}, Observation{}, []uint32{0}},
	} {
		if got := place(NewPlacer(tt.cfg.shared(), &tt.o), len(tt.want)); !slices.Equal(got, tt.want) {
			t.Errorf("%s: on %v, want %v", tt.name, got, tt.want)
		}
	}
	o := Observation{Apps: apps(100, 200)}
	p := NewPlacer(Config{}, &o)
	p.Heard(1, AppLoad{Load: 5e8, Smoothed: 5e8, Estimated: 5e8})
	p.Heard(7, AppLoad{}) // nobody
	if got := place(p, 1); got[0] != 2 {
		t.Errorf("on %v, though app 1 has more to do by now", got)
	}
}
