package space

import (
	"time"

	"github.com/cellscape/cellscape/aoi"
	"github.com/cellscape/cellscape/bsp"
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/space/ending"
)

// Hosted is a cell with the methods for the CellApp that hosts it: what the manager orders and asks
// for. A Population makes it, and handles what concerns all its cells at once. Game code has only
// the Cell.
type Hosted struct{ *Cell }

// NewCell makes a cell of a space on this CellApp. tree is the first geometry, and must have the
// cell as a leaf. now is the app's clock, cluster the time of the cluster, which is the cell's game
// time until its first tick or SetClock.
func (p *Population) NewCell(now, cluster time.Duration, space entity.SpaceID, id bsp.CellID, tree *bsp.Tree, data []DataEntry) Hosted {
	c := p.makeCell(now, cluster, space, id, tree)
	c.data.load(data)
	c.data.begin(tree.Version().Term)
	p.now, p.ahead = max(p.now, now), cluster-now
	p.addCell(c)
	c.adopt()
	return Hosted{c}
}

func (p *Population) makeCell(now, cluster time.Duration, space entity.SpaceID, id bsp.CellID, tree *bsp.Tree) *Cell {
	env := &p.env
	c := &Cell{
		cfg: &p.cfg, self: env.Self, scripts: p.scripts, population: p,
		out: env.Out, count: env.Counters, chance: env.Chance, log: env.Log, watch: env.Watch, stats: env.Stats,
		compressor: env.Compressor, now: now, game: cluster,
		space: space, id: id, tree: tree, triggers: make(map[aoi.Trigger]*Real),
	}
	c.rolls.at = now + rollPeriod
	c.work.types = make([]TypeLoad, len(p.scripts.Schema().Types))
	return c
}

// Drop removes the cell from its CellApp, and tells the game. The cell must be Idle.
func (c Hosted) Drop() {
	why := ending.Removed
	if c.ended {
		why = ending.SpaceEnded
	}
	c.Seal(why)
	for i := range c.gates.ends {
		c.shut(&c.gates.ends[i])
	}
	c.endTape()
	c.population.dropCell(c.Cell)
}

// SetTree gives the cell a new version of its space's geometry; it ignores an older one. The next
// tick then runs the offload and ghost check, unless only loads are new: those come every balance
// period, and a check visits all who are near a line. Of a new manager it comes when that has said
// what the cell lacked of the space's data.
func (c Hosted) SetTree(t *bsp.Tree) {
	if !c.tree.Version().Less(t.Version()) {
		return
	}
	if !c.tree.SameCells(t) {
		c.checkAt = 0
	}
	c.tree = t
	c.data.begin(t.Version().Term)
}

// Tree is the cell's version of the space's geometry. Do not change it.
func (c Hosted) Tree() *bsp.Tree { return c.tree }

// Ghosts is the number of ghosts.
func (c Hosted) Ghosts() int { return len(c.ghosts) }

// Handoffs is the number of handoffs in flight from here.
func (c Hosted) Handoffs() int { return c.population.handoffs.From(c.space) }

// Become gives the cell another leaf: the manager took the old one away and gave this CellApp a new
// one of the same space while reals of the old one were still here. It reports false and changes
// nothing if t is older than the cell's geometry or does not show that.
func (c Hosted) Become(id bsp.CellID, t *bsp.Tree) bool {
	if id == c.id {
		c.SetTree(t)
		return true
	}
	_, _, old := t.Leaf(c.id)
	if _, _, ok := t.Leaf(id); !ok || old || t.Version().Less(c.tree.Version()) {
		return false
	}
	c.id, c.tree, c.checkAt = id, t, 0
	c.data.begin(t.Version().Term)
	return true
}

// TakeData takes entries of the space's data; it ignores known ones.
func (c Hosted) TakeData(entries ...DataEntry) { c.data.load(entries) }
