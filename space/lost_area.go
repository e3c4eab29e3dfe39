package space

import (
	"fmt"

	"github.com/cellscape/cellscape/bsp"
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/internal/spacekey"
)

// LostArea is the value of an entry of a space's data with spacekey.LostArea: it gives a cell the area,
// or a part of it, whose cell has died with its CellApp. The CellAppMgr adds the entry, and the heir
// removes it when the game has been told (Scripts.OnLostArea). If the heir goes first, the manager gives
// the area to others. So an area is not forgotten, whoever dies.
type LostArea struct {
	Heir bsp.CellID
	Area bsp.Rect
}

func (l *LostArea) code(c *codec.Coder) {
	c.U32(&l.Heir.Term)
	c.U32(&l.Heir.N)
	c.F64(&l.Area.MinX)
	c.F64(&l.Area.MinZ)
	c.F64(&l.Area.MaxX)
	c.F64(&l.Area.MaxZ)
}

// Append encodes l, Parse decodes a whole value.
func (l *LostArea) Append(b []byte) []byte { return codec.Append(b, l.code) }

// Parse refuses what is no area: nobody need visit it.
func (l *LostArea) Parse(b []byte) error {
	if err := codec.Parse(b, l.code); err != nil {
		return fmt.Errorf("space: a lost area: %w", err)
	}
	if l.Area.Empty() || l.Area != l.Area { // no number differs from itself
		return fmt.Errorf("space: %v is no area", l.Area)
	}
	return nil
}

// OnLostArea sets the function that is called when a cell has taken over land whose cell died with its
// CellApp: in a tick of the heir, with the land, which may have no bounds on some sides. Entities
// with a base come back by themselves, before or after that. What had no base, or was spawned by
// OnFirstCell, is gone: it is the place to spawn that again. Where several cells take over, each is told
// its part; the parts do not overlap.
//
// Land is not quite who was lost. Beside a line an entity may be on either cell, up to Border.Band beyond
// its own: it need not move for that, since lines do. So some who stood that near to area, on the outside,
// are lost, too, and some who stand in it live on another cell. Who spawns by places and wants each once
// spawns those of area.Grow(Band), and has them look for another one at their place after some seconds,
// when ghosts are there along the new lines; the example shows how. An entity that keeps its state, such as
// a spawner with its list, is better off with a base, which brings it back once.
//
// If the heir dies, too, others are told. If the CellAppMgr dies at the same moment, an area may be told
// twice, or not at all.
//
// f runs on the goroutine of the CellApp. A panic is contained and logged.
func (s *Scripts) OnLostArea(f func(c *Cell, area bsp.Rect)) {
	if s.lostArea != nil {
		s.registry.Fault("space: OnLostArea was given a function twice; let one call the other")
	}
	s.lostArea = f
}

// inherit tells the game of lost areas that this cell has been given since it last looked.
func (c *Cell) inherit() {
	heard := c.lostHeard
	c.lostHeard = c.data.last
	if heard == c.data.last || c.ended {
		return
	}
	for _, e := range c.data.entries {
		var lost LostArea
		if e.Number <= heard || e.Key != spacekey.LostArea || e.Removed || lost.Parse(e.Value) != nil || lost.Heir != c.id {
			continue
		}
		if c.scripts.lostArea != nil {
			c.hook("OnLostArea", func() { c.scripts.lostArea(c, lost.Area) })
		}
		c.out.SetSpaceData(c.space, entity.SpaceDatum{Key: e.Key, ID: e.ID, Removed: true})
	}
}
