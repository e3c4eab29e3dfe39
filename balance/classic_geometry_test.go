package balance

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/cellscape/cellscape/balance/load"
	"github.com/cellscape/cellscape/bsp"
)

func passOf(t *testing.T, o *Observation, cfg knobs) (*classicPass, *lineView) {
	t.Helper()
	v := look(o)
	return newClassicPass(newClassic(t, cfg), v, &v.spaces[0], &Plan{}), &v.spaces[0].lines[0]
}

func span(lo, hi float64) bsp.Rect { return bsp.Rect{MinX: lo, MaxX: hi, MinZ: -5000, MaxZ: 5000} }

// TestClosestLimit is InternalNode's closestLimit.
func TestClosestLimit(t *testing.T) {
	inf := math.Inf(1)
	tests := []struct {
		at, a, b  float64
		direction int
		want      float64
	}{
		{0, -10, -20, -1, -10}, {0, -20, -10, -1, -10}, {0, 10, -20, -1, 0}, {0, -10, 5, -1, 0}, {0, -inf, -inf, -1, -inf},
		{0, 10, 20, 1, 10}, {0, 20, 10, 1, 10}, {0, -10, 20, 1, 0}, {0, 20, inf, 1, 20}, {7, 7, 9, 1, 7},
	}
	for _, tt := range tests {
		if got := closestLimit(tt.at, tt.a, tt.b, tt.direction); got != tt.want {
			t.Errorf("%+v: got %v", tt, got)
		}
	}
}

// TestChunkLimitInDirection is InternalNode::chunkLimitInDirection with
// CellData::balanceChunkBounds. The geometry is x -5000 to 5000; the right side grows.
func TestChunkLimitInDirection(t *testing.T) {
	tests := []struct {
		name   string
		loaded bsp.Rect // of the cell on the right, whose own rect is from 0
		edit   func(*Observation)
		want   float64
	}{
		{"loaded beyond the halo", span(-700, 5000), nil, -200},
		{"the halo alone, but for the tolerance", span(-499, 5000), nil, 1},
		{"halo not loaded: its rectangle counts", span(-498, 5000), nil, 500},
		{"hole at its far side: its rectangle counts", span(-700, 4000), nil, 500},
		{"loaded up to the end of the geometry", span(-5000, 5000), nil, math.Inf(-1)},
		{"nothing to load", bsp.Rect{}, func(o *Observation) { o.Spaces[0].Geometry = bsp.Rect{} }, math.Inf(-1)},
		{"geometry lies ahead", bsp.Rect{}, func(o *Observation) { o.Spaces[0].Geometry = span(-5000, -1000) }, -500},
		{"geometry lies behind", bsp.Rect{}, func(o *Observation) {
			o.Spaces[0].Geometry, o.Spaces[0].Tree = span(3000, 5000), mustParse(t, "version 1.1 \n x 0 \n cell 1.2 - 0 \n x 1000 \n cell 1.1 - 0 \n cell 1.3 - 0")
		}, math.Inf(-1)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o := pair(t, 0.2, 0.1)
			o.Spaces[0].Geometry = span(-5000, 5000)
			if tt.edit != nil {
				tt.edit(o)
			}
			o.Spaces[0].Cells[1].Loaded = tt.loaded
			p, l := passOf(t, o, knobs{})
			if got := p.geometryLimit(l, -1); got != tt.want {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}

func mustParse(t *testing.T, text string) *bsp.Tree {
	t.Helper()
	tree, err := bsp.ParseText(text)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

func TestChunkLimitIsThatOfTheCellWithLeast(t *testing.T) {
	const tree = "version 1.1 \n x 0 \n cell 1.1 - 0 created \n z 0 \n cell 1.2 - 0 created \n x 1000 \n cell 1.3 - 0 created \n cell 1.4 - 0 created"
	o := observed(t, tree, cellOf(1, nil), cellOf(2, nil), cellOf(3, nil), cellOf(4, nil))
	o.Spaces[0].Geometry = span(-5000, 5000)
	o.Spaces[0].Cells[1].Loaded = span(-900, 5000)
	o.Spaces[0].Cells[2].Loaded = span(-700, 2000)
	o.Spaces[0].Cells[3].Loaded = span(500, 5000) // not beside the line
	p, l := passOf(t, o, knobs{})
	if got := p.geometryLimit(l, -1); got != -200 {
		t.Errorf("got %v, want -200", got)
	}
	// The same, mirrored: the left side grows.
	const mirrored = "version 1.1 \n x 0 \n z 0 \n cell 1.2 - 0 created \n x -1000 \n cell 1.4 - 0 created \n cell 1.3 - 0 created \n cell 1.1 - 0 created"
	o.Spaces[0].Tree = mustParse(t, mirrored)
	o.Spaces[0].Cells[1].Loaded = span(-5000, 900)
	o.Spaces[0].Cells[2].Loaded = span(-2000, 700)
	o.Spaces[0].Cells[3].Loaded = span(-5000, -500)
	p, l = passOf(t, o, knobs{})
	if got := p.geometryLimit(l, 1); got != 200 {
		t.Errorf("mirrored: got %v, want 200", got)
	}
}

// TestWhatRetiresNeedsNoGeometry: a retiring leaf that has loaded nothing does not switch the limit
// off for the line above its own.
func TestWhatRetiresNeedsNoGeometry(t *testing.T) {
	const tree = "version 1.1 \n x 0 \n x -900 \n cell 1.3 - 0 created %s \n cell 1.1 - 0 created \n cell 1.2 - 0 created"
	for _, retiring := range []string{"retiring", ""} {
		o := observed(t, fmt.Sprintf(tree, retiring), cellOf(1, row(-895, 0, 10, 90, 0.3)), cellOf(2, row(5, 0, 10, 100, 0.1)), cellOf(3, nil))
		s := &o.Spaces[0]
		s.Geometry = span(-5000, 5000)
		s.Cells[0].Loaded, s.Cells[1].Loaded = span(-5000, 800), span(-550, 5000)
		p := newClassic(t, knobs{MaxLoadingCells: -1}).Balance(o)
		root := slices.IndexFunc(p.Moves, func(m Move) bool { return m.Node == lineIDs(s.Tree)[0] })
		if root < 0 || (p.Moves[root].To == -50) != (retiring != "") {
			t.Errorf("%q: moves %v", retiring, p.Moves)
		}
	}
}

// TestGeometryIsAskedForTheCellsAsMovedSoFar: the root's line takes the cells below it where they
// have loaded nothing, so that the line between those goes by the area to load, which is the same
// on both sides.
func TestGeometryIsAskedForTheCellsAsMovedSoFar(t *testing.T) {
	const tree = "version 1.1 \n z 0 \n x 0 \n cell 1.1 - 0 created \n cell 1.2 - 0 created \n cell 1.3 - 0 created"
	column := row(0, 0, 0, 100, 0.8)
	for i := range column {
		column[i].Z = float32(5 + 10*i)
	}
	for _, upper := range [][]load.Sample{column, nil} {
		o := observed(t, tree, cellOf(1, row(-995, -5, 10, 100, 0.3)), cellOf(2, row(5, -5, 10, 100, 0.1)), cellOf(3, upper))
		s := &o.Spaces[0]
		s.Geometry = span(-5000, 5000)
		for i := range s.Cells {
			s.Cells[i].Loaded = bsp.Rect{MinX: -5000, MinZ: -5000, MaxX: 5000, MaxZ: 500}
		}
		s.Cells[2].Loaded = s.Geometry
		p := newClassic(t, knobs{IgnoreGeometry: true}).Balance(o)
		inner := slices.ContainsFunc(p.Moves, func(m Move) bool { return m.Node != lineIDs(s.Tree)[0] })
		if inner != (upper == nil) {
			t.Errorf("%d reals above: moves %v", len(upper), p.Moves)
		}
	}
}

func TestNearerOfEntityAndGeometryLimit(t *testing.T) {
	tests := []struct {
		name   string
		loaded float64 // where the growing cell's loaded bounds begin
		cfg    knobs
		edit   func(*Observation)
		to     float64 // 0: stays
	}{
		{name: "entity limit is nearer", loaded: -700, to: -110},
		{name: "geometry limit is nearer", loaded: -570, to: -70},
		{name: "no geometry ahead", loaded: -500},
		{name: "told to ignore it", loaded: -500, cfg: knobs{IgnoreGeometry: true}, to: -110},
		{name: "off for what retires", loaded: -500, edit: func(o *Observation) { leafOf(o, 1).Retiring = true }, to: -110},
		{name: "off while geometry is missing, if that is not balanced", loaded: -400, cfg: knobs{MaxLoadingCells: -1}, to: -110},
		{name: "off while geometry is missing, if a cell is over its bound", loaded: -400, edit: func(o *Observation) {
			o.Spaces[0].Cells[0].Load, o.Apps[0].Smoothed = 2e9, 1
		}, to: -110},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o := loadedPair(t, tt.loaded, tt.edit)
			p := newClassic(t, tt.cfg).Balance(o)
			if tt.to == 0 && len(p.Moves) > 0 || tt.to != 0 && (len(p.Moves) != 1 || math.Abs(p.Moves[0].To-tt.to) > 0.01) {
				t.Errorf("moves %v, want to %v", p.Moves, tt.to)
			}
		})
	}
}

// TestBalanceOnUnloadedChunks is InternalNode::balanceOnUnloadedChunks. The geometry is 10 km wide;
// the ghost distance of 501 m makes the halo 500.
func TestBalanceOnUnloadedChunks(t *testing.T) {
	tests := []struct {
		name        string
		at          float64
		left, right bsp.Rect // loaded
		loads       [2]float64
		edit        func(*Observation)
		to          float64
		stays       bool
	}{
		{name: "outside of the geometry: into it", at: 7000, to: 5000},
		{name: "outside on the other side", at: -9000, to: -5000},
		{name: "left has more to load", at: 1000, to: 900},
		{name: "right has more to load", at: -1000, to: -900},
		{name: "as much on both sides", at: 0, stays: true},
		// 5000 and 4900 m to load on a side: a step of 100 turns that round.
		{name: "a step does not help", at: 50, stays: true},
		{name: "the left has loaded most of it", at: 0, left: span(-5000, 400), to: 100},
		{name: "the right alone has something to load", at: -2000, left: span(-5000, -1000), right: span(-2000, 5000), to: -1900},
		{name: "growing side near its bound", at: 1000, loads: [2]float64{0.1, 0.84}, stays: true},
		{name: "growing side just below that", at: 1000, loads: [2]float64{0.1, 0.82}, to: 900},
		{name: "giving side near its bound", at: 1000, loads: [2]float64{0.84, 0.1}, to: 900},
		{name: "left growing near its bound", at: -1000, loads: [2]float64{0.84, 0.1}, stays: true},
		{name: "left growing, right near its bound", at: -1000, loads: [2]float64{0.1, 0.84}, to: -900},
		{name: "not created", at: 1000, edit: func(o *Observation) { leafOf(o, 2).Created = false }, stays: true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o := observed(t, pairTree, cellOf(1, nil), cellOf(2, nil))
			s := &o.Spaces[0]
			id := lineIDs(s.Tree)[0]
			if err := s.Tree.MoveLine(id, tt.at); err != nil {
				t.Fatal(err)
			}
			s.Geometry = span(-5000, 5000)
			for i, loaded := range []bsp.Rect{tt.left, tt.right} {
				s.Cells[i].Loaded, s.Cells[i].Load = loaded, int64(nanos(tt.loads[i]))
			}
			if tt.edit != nil {
				tt.edit(o)
			}
			c := newClassic(t, knobs{GhostDistance: 501})
			p := c.Balance(o)
			if tt.stays && len(p.Moves) > 0 || !tt.stays && (len(p.Moves) != 1 || p.Moves[0].To != tt.to) {
				t.Errorf("moves %v, want to %v (stays %v)", p.Moves, tt.to, tt.stays)
			}
			if l, _ := c.Line(1, id); l.Direction != 0 || l.Aggression != 1 {
				t.Errorf("the line's memory is touched: %+v", l)
			}
		})
	}
}

func TestUnloadedAreaIsComparedByCell(t *testing.T) {
	const tree = "version 1.1 \n x 0 \n cell 1.1 - 0 created \n z 0 \n cell 1.2 - 0 created \n cell 1.3 - 0 created"
	o := observed(t, tree, cellOf(1, nil), cellOf(2, nil), cellOf(3, nil))
	o.Spaces[0].Geometry = span(-5000, 5000)
	p := newClassic(t, knobs{}).Balance(o)
	if len(p.Moves) != 1 || p.Moves[0].To != -100 {
		t.Errorf("moves %v, want one to -100: the left side's only cell has more to load than each of the right's", p.Moves)
	}
}

func TestGeometryOfAnyShapeGivesNoNaN(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	rects := []bsp.Rect{{}, bsp.Everything(), span(nan, 5), span(5, nan), span(5, -5), span(inf, inf), span(-inf, 300), span(-5000, 5000), {MinX: nan, MinZ: nan, MaxX: nan, MaxZ: nan}}
	for _, g := range rects {
		for _, left := range rects {
			for _, right := range rects {
				o := pair(t, 0.2, 0.1)
				o.Spaces[0].Geometry, o.Spaces[0].Cells[0].Loaded, o.Spaces[0].Cells[1].Loaded = g, left, right
				p := newClassic(t, knobs{}).Balance(o)
				for _, m := range p.Moves {
					if !(math.Abs(m.To) <= bsp.MaxCoord) {
						t.Fatalf("geometry %v, loaded %v and %v: line to %v", g, left, right, m.To)
					}
				}
				if (hasNaN(g) || hasNaN(left) || hasNaN(right)) != (p.Ignored > 0) {
					t.Errorf("geometry %v, loaded %v and %v: %d ignored", g, left, right, p.Ignored)
				}
				if err := apply(o, &p); err != nil {
					t.Error(err)
				}
			}
		}
	}
}
