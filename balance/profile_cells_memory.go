package balance

import (
	"cmp"
	"slices"
	"time"
)

// spaceCells is what Profile remembers of the cells of a space.
type spaceCells struct {
	space  uint32
	leaves int
	// pending means that a cell has yet to be created; waiting means that, or that a retiring one
	// has yet to go.
	pending, waiting bool
	// completed is when the space last gained or lost a cell, or had one created; changed also
	// counts cells that retire.
	completed, changed time.Duration
	// room means that it never had more than one cell.
	room    bool
	loading bool
}

// settle follows the coming and going of cells.
func (p *Profile) settle(now time.Duration, v *view) {
	next := make([]spaceCells, len(v.spaces))
	for i := range v.spaces {
		s := &v.spaces[i]
		c := spaceCells{
			space: s.ID, leaves: len(s.leaves), pending: !s.complete(), completed: now, changed: now,
			room: len(s.leaves) == 1, loading: s.loading(),
		}
		c.waiting = c.pending || s.retiring > 0
		j, ok := slices.BinarySearchFunc(p.cells, s.ID, func(c spaceCells, id uint32) int { return cmp.Compare(c.space, id) })
		if ok {
			c.follow(&p.cells[j])
		}
		next[i] = c
	}
	p.cells = next
}

// follow takes over from what was remembered last.
func (c *spaceCells) follow(old *spaceCells) {
	c.room = c.room && old.room
	if old.leaves != c.leaves {
		return
	}
	if !old.pending && !c.pending {
		c.completed = old.completed
	}
	if !old.waiting && !c.waiting {
		c.changed = old.changed
	}
}
