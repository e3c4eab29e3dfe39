package main

import (
	"slices"
	"time"

	"github.com/cellscape/cellscape/bsp"
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/shared"
	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space"
)

// Boss is what a party fells in its dungeon. It has no base.
type Boss struct {
	*space.Real
	Health   property.Uint32
	strikers []entity.ID   `cellscape:"local"`
	met      time.Duration `cellscape:"local"` // when it was first struck
	*game    `cellscape:"local"`
}

// Strike is called by the client of anyone who sees the boss.
func (b *Boss) Strike(by entity.ID) {
	b.CellLocal().(*tally).strikes++
	if len(b.strikers) == 0 {
		b.met = b.Now()
	}
	if !slices.Contains(b.strikers, by) {
		b.strikers = append(b.strikers, by)
	}
	if b.Health.Set(b.Health.Get() - 1); b.Health.Get() > 0 {
		return
	}
	for _, hero := range b.strikers {
		b.check(b.Lookup(hero, "Hero", entity.CellMailbox).Call("reward"))
	}
	b.claimRecord(b.Now() - b.met)
	b.Destroy()
}

// recordKey is what all processes know of: in how many milliseconds a boss was felled at best. Of two that
// claim it at once the last one has it, whoever was faster: for more, ask a base.
const recordKey = "dungeon/record"

// claimRecord tells everyone in the world if nobody was as fast.
func (b *Boss) claimRecord(took time.Duration) {
	if best, ok := b.Shared().Get(recordKey); !ok || took.Milliseconds() < best.(int64) {
		b.check(b.Shared().Set(recordKey, took.Milliseconds()))
	}
}

// OnSharedData is called on each hero, wherever it is.
func (h *Hero) OnSharedData(c shared.Change) {
	if c.Key == recordKey {
		h.records.Add(1)
	}
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
