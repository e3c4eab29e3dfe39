package balance

import (
	"cmp"
	"slices"

	"github.com/cellscape/cellscape/bsp"
)

// memory keeps a record of type T for each line of each space, as long as the line is there.
type memory[T any] struct {
	spaces []spaceMemory[T] // by id
}

type spaceMemory[T any] struct {
	id    uint32
	lines []lineMemory[T] // by node
}

type lineMemory[T any] struct {
	node bsp.NodeID
	axis bsp.Axis
	T    T
}

// recall drops the records of spaces and lines that have gone, and starts new ones with fresh.
func (m *memory[T]) recall(v *view, fresh T) {
	next := make([]spaceMemory[T], len(v.spaces))
	for i := range v.spaces {
		s := &v.spaces[i]
		lines := make([]lineMemory[T], len(s.lines))
		for j := range s.lines {
			l := &s.lines[j]
			lines[j] = lineMemory[T]{l.id, l.axis, fresh}
			if old := m.find(s.ID, l.id); old != nil && old.axis == l.axis {
				lines[j].T = old.T
			}
		}
		slices.SortFunc(lines, func(a, b lineMemory[T]) int { return cmp.Compare(a.node, b.node) })
		next[i] = spaceMemory[T]{s.ID, lines}
	}
	m.spaces = next
}

// of returns what is remembered of a line, nil if it was not in the last view.
func (m *memory[T]) of(space uint32, node bsp.NodeID) *T {
	if l := m.find(space, node); l != nil {
		return &l.T
	}
	return nil
}

func (m *memory[T]) find(space uint32, node bsp.NodeID) *lineMemory[T] {
	i, ok := slices.BinarySearchFunc(m.spaces, space, func(s spaceMemory[T], id uint32) int { return cmp.Compare(s.id, id) })
	if !ok {
		return nil
	}
	lines := m.spaces[i].lines
	j, ok := slices.BinarySearchFunc(lines, node, func(l lineMemory[T], id bsp.NodeID) int { return cmp.Compare(l.node, id) })
	if !ok {
		return nil
	}
	return &lines[j]
}
