package balance

import (
	"cmp"
	"slices"
)

// Scheme chooses the space through which a group of CellApps is connected to one outside of it.
type Scheme uint8

// The schemes.
const (
	// Hybrid prefers a space of at least two cells that has a cell alone on its app, the highest
	// average load first. Otherwise it takes the space with the fewest cells, ties by higher
	// average load.
	Hybrid Scheme = iota
	// Largest takes the space with the most cells.
	Largest
	// Smallest takes the space with the fewest.
	Smallest
)

// spaceRank orders spaces: lower comes first, from the first number on.
type spaceRank struct {
	space int32
	ranks [4]int64
}

// connectionSpaces returns the spaces of a group, in the order in which the scheme prefers them for
// a new cell.
func (m *pass) connectionSpaces(g *group) []int32 {
	order := make([]spaceRank, len(g.spaces))
	for i, space := range g.spaces {
		order[i] = spaceRank{space, m.rankSpace(space)}
	}
	slices.SortFunc(order, func(a, b spaceRank) int {
		return cmp.Or(slices.Compare(a.ranks[:], b.ranks[:]), cmp.Compare(a.space, b.space))
	})
	spaces := make([]int32, len(order))
	for i := range order {
		spaces[i] = order[i].space
	}
	return spaces
}

// rankSpace ends with the load that the space itself causes. Spaces that share one app have the
// same average, and the one that causes most of it should be divided.
func (m *pass) rankSpace(space int32) [4]int64 {
	s := &m.v.spaces[space]
	cells := int64(len(s.leaves) + len(m.spaces[space].added))
	average, own := s.average(), s.own()
	switch m.cfg.Scheme {
	case Largest:
		return [4]int64{-cells, -average, -own}
	case Smallest:
		return [4]int64{cells, -average, -own}
	}
	if len(s.leaves) >= 2 && m.hasLoneCell(s) {
		return [4]int64{0, -average, -own}
	}
	return [4]int64{1, cells, -average, -own}
}

// own is the load that the space's cells report, without other load of their apps.
func (s *spaceView) own() int64 {
	sum := int64(0)
	for i := range s.leaves {
		if c := s.leaves[i].cell; c != nil {
			sum += c.Load
		}
	}
	return sum
}

// hasLoneCell reports whether a cell of the space is the only one of its app.
func (m *pass) hasLoneCell(s *spaceView) bool {
	for i := range s.leaves {
		if app := s.leaves[i].app; app >= 0 && len(m.v.apps[app].cells)+m.v.apps[app].added == 1 {
			return true
		}
	}
	return false
}
