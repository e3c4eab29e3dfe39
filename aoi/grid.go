package aoi

import "math"

// entry is a node as the grid holds it: where it is, and where it was at the last Update. They
// stand here so that a look along an edge reads adjacent memory alone.
type entry struct {
	at, was place
	slot    uint32
}

// former marks the slot of an entry that lies where the node was. Nodes that leap have two entries.
const former = 1 << 31

// grid holds the nodes by the cell that they are in, in two orders: by rows of cells along X, and by
// columns along Z. What lies along an edge of a square is then one run of entries, or a few.
//
// The grid has side × side cells and is laid over the plane again and again, as on a torus: the cell
// at column i and row k takes whatever is at i modulo side and k modulo side. So it takes nodes
// anywhere, and a few that are far away do not make the cells coarse for the others. What is met in
// a cell by chance is refused by the exact test, as is all that lies beside an edge.
type grid struct {
	bits  uint    // side is 1 << bits
	cell  float64 // metres, a power of two
	scale float64 // 1 / cell

	low, high [2]int      // cells beyond these are empty
	starts    [2][]uint32 // of each cell's entries: in rows, in columns
	lines     [2][]entry  // rows, columns
	cells     []uint32    // of each entry, while the grid is filled
	filled    int
	runs      [][]entry // answer of the last cover
}

// cellOf is the number of the cell at v along an axis, not wrapped. It never falls as v grows, even
// where far values share the first or the last cell, and that is all its callers rely on.
func (g *grid) cellOf(v float64) int {
	const middle = 1 << 30
	f := float64(v*g.scale) + middle
	if f <= 0 {
		return 0
	}
	if f >= 2*middle {
		return 2 * middle
	}
	return int(f)
}

func (g *grid) side() int { return 1 << g.bits }

// wrapped returns the places of a cell in rows and in columns.
func (g *grid) wrapped(x, z int) (row, column int) {
	mask := g.side() - 1
	x, z = x&mask, z&mask
	return z<<g.bits | x, x<<g.bits | z
}

// begin readies the grid to be filled.
func (g *grid) begin() {
	for a := range g.starts {
		n := g.side()*g.side() + 2
		if cap(g.starts[a]) < n {
			g.starts[a] = make([]uint32, n)
		}
		g.starts[a] = g.starts[a][:n]
		clear(g.starts[a])
	}
	g.cells, g.filled = g.cells[:0], 0
	g.low, g.high = [2]int{math.MaxInt, math.MaxInt}, [2]int{math.MinInt, math.MinInt}
}

// count makes room for an entry at p.
func (g *grid) count(p spot) {
	x, z := g.cellOf(float64(p[0])), g.cellOf(float64(p[1]))
	g.low[0], g.high[0] = min(g.low[0], x), max(g.high[0], x)
	g.low[1], g.high[1] = min(g.low[1], z), max(g.high[1], z)
	row, column := g.wrapped(x, z)
	g.cells = append(g.cells, uint32(row))
	g.starts[0][row+2]++
	g.starts[1][column+2]++
}

// allot gives each cell its part of the lines, once all is counted.
func (g *grid) allot() {
	n := len(g.cells)
	for a, starts := range g.starts {
		sum := uint32(0)
		for i, k := range starts {
			sum += k
			starts[i] = sum
		}
		if cap(g.lines[a]) < n {
			g.lines[a] = make([]entry, n, n+n/4)
		}
		g.lines[a] = g.lines[a][:n]
	}
}

// put fills in the next entry, in the order in which they were counted.
func (g *grid) put(e entry) {
	row := g.cells[g.filled]
	g.filled++
	column := row<<g.bits&(1<<(2*g.bits)-1) | row>>g.bits
	next := &g.starts[0][row+1]
	g.lines[0][*next] = e
	*next++
	next = &g.starts[1][column+1]
	g.lines[1][*next] = e
	*next++
}

// cover finds runs of entries that hold all that is in outer and not in inner, and more.
//
//	+-----------------+   rows
//	|   :         :   |
//	| c :  inner  : c |   columns
//	|   :         :   |
//	+-----------------+   rows
func (g *grid) cover(outer, inner *area) [][]entry {
	g.runs = g.runs[:0]
	if len(g.cells) == 0 {
		return nil
	}
	x0, x1 := max(g.cellOf(outer.lo[0]), g.low[0]), min(g.cellOf(outer.hi[0]), g.high[0])
	z0, z1 := max(g.cellOf(outer.lo[1]), g.low[1]), min(g.cellOf(outer.hi[1]), g.high[1])
	if x0 > x1 || z0 > z1 {
		return nil
	}
	// Cells between those of the inner edges hold nothing that is not in inner.
	in0, in1 := g.cellOf(inner.lo[0])+1, g.cellOf(inner.hi[0])-1
	between0, between1 := g.cellOf(inner.lo[1])+1, g.cellOf(inner.hi[1])-1
	if in0 > in1 || between0 > between1 {
		g.take(0, z0, z1, x0, x1)
		return g.runs
	}
	g.take(0, z0, min(z1, between0-1), x0, x1)
	g.take(0, max(z0, between1+1), z1, x0, x1)
	z0, z1 = max(z0, between0), min(z1, between1)
	g.take(1, x0, min(x1, in0-1), z0, z1)
	g.take(1, max(x0, in1+1), x1, z0, z1)
	return g.runs
}

// take adds the runs of some rows (a = 0) or columns (a = 1), each from one cell to another.
func (g *grid) take(a, line, lastLine, from, to int) {
	if from > to {
		return
	}
	side := g.side()
	mask := side - 1
	lastLine = min(lastLine, line+mask) // those behind are the first ones again
	for ; line <= lastLine; line++ {
		base := line & mask << g.bits
		first, last := from&mask, to&mask
		switch {
		case to-from >= mask:
			g.run(a, base, base+side)
		case first <= last:
			g.run(a, base+first, base+last+1)
		default:
			g.run(a, base, base+last+1)
			g.run(a, base+first, base+side)
		}
	}
}

func (g *grid) run(a, cell, end int) {
	if i, j := g.starts[a][cell], g.starts[a][end]; i < j {
		g.runs = append(g.runs, g.lines[a][i:j])
	}
}
