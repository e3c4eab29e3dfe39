package aoi

import (
	"math"
	"math/bits"
)

// tuning chooses the size of the grid's cells by what a look along an edge then meets.
type tuning struct {
	counts []uint32
	due    int     // Updates until the next look at it
	margin float64 // how far beside an edge a trigger looks ahead, metres
}

// tunePeriod is how many fillings of the grid one choice serves. A crowd takes longer to gather.
const tunePeriod = 128

// tune chooses again now and then, and when the number of nodes has changed much.
func (ix *Index) tune() {
	g := &ix.grid
	side := max(uint(bits.Len(uint(ix.live)*3/2)+1)/2, 3) // from one and a half to six cells for a node
	if ix.tuning.due--; ix.tuning.due > 0 && side == g.bits {
		return
	}
	ix.tuning.due = tunePeriod
	g.bits = side
	// The grid repeats itself every side cells: with cells of least, the edges of a square do not
	// meet what is in its middle. Nor do they with cells that are no larger than most.
	r := max(ix.ranges.mean, 1e-3)
	least := math.Ilogb(r) + 3 - int(g.bits)
	most := max(math.Ilogb(r), least)
	best, at := math.Inf(1), least
	for k := least; k <= most; k++ {
		if cost := ix.costs(math.Ldexp(1, k)); cost < best {
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

// costs is what a look along an edge takes with cells of that size, in nodes that it meets.
func (ix *Index) costs(cell float64) float64 {
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
	width := 2*ix.pace.last + cell
	return line*width/cell + 2*ix.ranges.mean*width*density
}
