package aoi

import (
	"math"
	"math/bits"
)

// tuning chooses the size of the grid's cells by what looks along edges and queries then meet.
type tuning struct {
	counts []uint32
	due    int     // fillings until the next choice
	margin float64 // how far beside an edge a trigger looks ahead, metres

	fillings int     // since the last choice
	queries  int     // since the last choice
	reach    float64 // sum of their ranges, metres
	usual    float64 // mean range of the last queries, metres
}

const (
	// tunePeriod is how many fillings of the grid one choice serves. A crowd takes longer to gather.
	tunePeriod = 128
	// usualReach is the range, in metres, of the queries that an Index expects before there were any.
	usualReach = 32
	// leastReach and mostReach, in metres, bound what a query counts as, lest one of an odd range makes many
	// sizes of cells be thought of: cells below a metre are of no use to queries, and one that reaches
	// farther than a kilometre meets nearly all in any case.
	leastReach, mostReach = 1, 1024
)

// asked takes in that there was a query.
func (t *tuning) asked(r float64) {
	if t.usual == 0 && t.queries == 0 {
		t.due = 0 // the first one: no choice has reckoned with any
	}
	t.queries++
	t.reach += min(max(r, leastReach), mostReach)
}

// tune chooses again now and then, and when the number of nodes has changed much.
func (ix *Index) tune() {
	g := &ix.grid
	side := max(uint(bits.Len(uint(ix.live)*3/2)+1)/2, 3) // from one and a half to six cells for a node
	ix.tuning.fillings++
	if ix.tuning.due--; ix.tuning.due > 0 && side == g.bits {
		return
	}
	ix.tuning.due = tunePeriod
	g.bits = side
	least, most, looks, queries := ix.expect()
	best, at := math.Inf(1), least
	for k := least; k <= most; k++ {
		if cost := ix.costs(math.Ldexp(1, k), looks, queries); cost < best {
			best, at = cost, k
		}
	}
	g.cell = math.Ldexp(1, at)
	g.scale = math.Ldexp(1, -at)
	if margin := g.cell / 4; margin != ix.tuning.margin {
		ix.tuning.margin = margin
		for _, r := range ix.order { // nodes that leap look for those within the new one
			ix.triggers[r.trigger].calm = 0
		}
	}
}

// expect says how many looks along edges and how many queries one filling serves, and the least and the most
// size of cells to think of, as powers of two.
func (ix *Index) expect() (least, most int, looks, queries float64) {
	t := &ix.tuning
	if t.queries > 0 {
		t.usual = t.reach / float64(t.queries)
	}
	looks, queries = float64(len(ix.order)), float64(t.queries)/float64(max(t.fillings, 1))
	t.queries, t.reach, t.fillings = 0, 0, 0
	if looks == 0 && queries == 0 {
		queries = 1 // they may begin
		if t.usual == 0 {
			t.usual = usualReach
		}
	}
	// The grid repeats itself every side cells: with cells of least, the edges of a square do not
	// meet what is in its middle. Nor do they with cells that are no larger than most.
	sizes := func(r float64) (int, int) {
		exponent := math.Ilogb(max(r, 1e-3))
		low := exponent + 3 - int(ix.grid.bits)
		return low, max(exponent, low)
	}
	switch {
	case queries == 0:
		least, most = sizes(ix.ranges.mean)
	case looks == 0:
		least, most = sizes(t.usual)
	default:
		l1, m1 := sizes(ix.ranges.mean)
		l2, m2 := sizes(t.usual)
		least, most = min(l1, l2), max(m1, m2)
	}
	return least, most, looks, queries
}

// costs is what so many looks along edges and so many queries take with cells of that size, in nodes that
// they meet.
func (ix *Index) costs(cell, looks, queries float64) float64 {
	const line = 3 // what a row or column of cells costs before anything in it is met
	g := &ix.grid
	g.cell, g.scale = cell, 1/cell
	n := g.side() * g.side()
	if cap(ix.tuning.counts) < n {
		ix.tuning.counts = make([]uint32, n)
	}
	counts := ix.tuning.counts[:n]
	clear(counts)
	pairs := 0
	for i := range ix.nodes {
		nd := &ix.nodes[i]
		if !nd.live || nd.appeal > 0 {
			continue
		}
		row, _ := g.wrapped(g.cellOf(float64(nd.at[0])), g.cellOf(float64(nd.at[1])))
		pairs += int(counts[row])
		counts[row]++
	}
	density := float64(2*pairs) / float64(max(ix.live, 1)) / (cell * cell) // around a node, of others
	width, across := 2*ix.pace.last+cell, 2*ix.tuning.usual+cell
	look := float64(line*width/cell) + float64(2*ix.ranges.mean*width*density)
	query := float64(line*across/cell) + float64(across*across*density)
	return float64(look*looks) + float64(query*queries)
}
