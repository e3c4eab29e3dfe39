package main

import (
	"slices"

	"github.com/cellscape/cellscape/bsp"
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space"
)

// Boss is what a party fells in its dungeon. It has no base.
type Boss struct {
	*space.Real
	Health   property.Uint32
	strikers []entity.ID `cellscape:"local"`
	*game    `cellscape:"local"`
}

// Strike is called by the client of anyone who sees the boss.
func (b *Boss) Strike(by entity.ID) {
	if !slices.Contains(b.strikers, by) {
		b.strikers = append(b.strikers, by)
	}
	if b.Health.Set(b.Health.Get() - 1); b.Health.Get() > 0 {
		return
	}
	for _, hero := range b.strikers {
		b.check(b.Lookup(hero, "Hero", entity.CellMailbox).Call("reward"))
	}
	b.Destroy()
}

// levelKey is under which the data of a dungeon says how hard it is, in a byte. Cells and clients read it.
const levelKey = 1

// bossHealth is that of a boss for each level of its dungeon.
const bossHealth = 20

// openDungeon is called when a space has its first cell. What the space began with is there.
func (g *game) openDungeon(c *space.Cell, fromStore bool) {
	level, ok := c.SpaceData(levelKey)
	if c.Space() == town || !ok {
		return
	}
	g.try(c.Spawn("Boss", property.Vector3{X: 3, Z: 3}, property.Vector3{}, func(v *property.Values) {
		set(v, "health", property.Uint(bossHealth*uint64(level[0])))
	}))
}

// reopenDungeon is called when the cell of a space has died with its CellApp. The heroes come back by
// themselves; the boss, which has no base, is gone, and another one takes its place.
func (g *game) reopenDungeon(c *space.Cell, _ bsp.Rect) { g.openDungeon(c, false) }
