package balance

import (
	"github.com/cellscape/cellscape/balance/load"
)

// side is what lies on one side of a line.
type side struct {
	sum     float64 // of levels
	highest float64 // level
	weight  int     // leaves that do not retire
	known   bool    // all created and reported
	edge    []int32 // the leaves that touch the line, in order; only those that are known
}

// counts are, for each leaf, how many leaves before it do not retire, and how many are known.
// Neither changes while lines move.
type counts struct{ staying, known []int32 }

func count(s *spaceView) counts {
	n := len(s.leaves)
	c := counts{make([]int32, n+1), make([]int32, n+1)}
	for i := range s.leaves {
		x := &s.leaves[i]
		c.staying[i+1], c.known[i+1] = c.staying[i], c.known[i]
		if !x.leaf.Retiring {
			c.staying[i+1]++
		}
		if x.known() {
			c.known[i+1]++
		}
	}
	return c
}

// sides looks at both sides of a line. Its results are valid until the next call.
func (m *mover) sides(l *lineView) (left, right side) {
	left, right = m.side(l.first, l.mid), m.side(l.mid, l.last)
	m.edges[0] = m.touching(m.edges[0][:0], l.left, l, true)
	m.edges[1] = m.touching(m.edges[1][:0], l.right, l, false)
	left.edge, right.edge = m.edges[0], m.edges[1]
	return left, right
}

func (m *mover) side(first, last int32) side {
	s := side{weight: int(m.counts.staying[last] - m.counts.staying[first])}
	s.sum, s.highest = m.levels.over(first, last)
	s.known = m.counts.known[last]-m.counts.known[first] == last-first
	return s
}

// touching appends the leaves below a line or leaf that touch l, from below it or from above.
func (m *mover) touching(edge []int32, ref int32, l *lineView, fromBelow bool) []int32 {
	if ref < 0 {
		if m.s.leaves[^ref].known() {
			edge = append(edge, ^ref)
		}
		return edge
	}
	// A parallel line hides what is behind it, unless it lies on l, with only a swept leaf between
	// them.
	n := &m.s.lines[ref]
	hides := n.axis == l.axis && n.at != l.at
	if !(hides && fromBelow) {
		edge = m.touching(edge, n.left, l, fromBelow)
	}
	if !(hides && !fromBelow) {
		edge = m.touching(edge, n.right, l, fromBelow)
	}
	return edge
}

// beyond returns the least and the largest share of a cell's load that lies beyond a line.
func beyond(q *load.Quantiles, at float64, isBelow bool) (least, most float64) {
	least, most = q.Below(at)
	if isBelow {
		least, most = load.Slices-most, load.Slices-least
	}
	return least / load.Slices, most / load.Slices
}

// middle is the best guess.
func middle(least, most float64) float64 { return (least + most) / 2 }
