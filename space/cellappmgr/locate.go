package cellappmgr

import (
	"math"
	"time"

	"github.com/cellscape/cellscape/bsp"
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
)

// locate answers which CellApp an entity should be created on: that of the cell
// at its position if it is created, else that of the nearest created cell, which
// offloads the entity later. Whoever asks is about to come, so that the space does
// not end meanwhile.
func (m *CellAppMgr) locate(now time.Duration, msg *wire.Locate) *wire.Located {
	answer := &wire.Located{ID: msg.ID, Space: msg.Space, Gone: m.hasEnded(msg.Space)}
	s := m.space(msg.Space)
	if s == nil || s.tree == nil {
		return answer
	}
	s.stay(now + emptyGrace)
	x, z := float64(msg.Position.X), float64(msg.Position.Z)
	var best *bsp.Leaf
	nearest := math.Inf(1)
	if at := s.tree.At(x, z); at.Created {
		best = at
	} else {
		for rect, leaf := range s.tree.Leaves() {
			if d := rect.Distance(x, z); leaf.Created && d < nearest {
				best, nearest = leaf, d
			}
		}
	}
	if best != nil {
		answer.App = mercury.Address{At: best.App, Salt: best.Salt}
	}
	return answer
}

// hasEnded reports whether a space is not there, and never will be.
func (m *CellAppMgr) hasEnded(id entity.SpaceID) bool {
	s := m.space(id)
	return m.started && (s == nil || s.ending)
}
