package cellapp

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/cellscape/cellscape/bsp"
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/space"
)

// askAgain is how long a CellApp waits for the answer to a GeometryLacked before it asks again:
// several round trips in a data centre, and well below the second after which the manager notices
// by itself.
const askAgain = 200 * time.Millisecond

// hostedCell is a cell with its follower of the space's geometry. The cell uses the follower's
// tree. It need not know how trees are sent, lost and asked for again; the CellApp and its manager
// deal with that.
type hostedCell struct {
	space.Hosted
	geometry bsp.Follower
	askAt    time.Duration // not before
	info     []byte        // from AddCell, for a restarted manager
	said     said
	removing bool // it is in removals.own
}

var errNoTree = errors.New("cellapp: a new cell needs a whole tree, not a delta")

func (a *CellApp) cell(id entity.SpaceID) *hostedCell {
	if i, found := a.find(id); found {
		return a.cells[i]
	}
	return nil
}

func (a *CellApp) find(id entity.SpaceID) (at int, found bool) {
	return slices.BinarySearchFunc(a.cells, id, func(c *hostedCell, id entity.SpaceID) int { return cmp.Compare(c.Space(), id) })
}

// addCell makes a cell, or confirms one that exists.
func (a *CellApp) addCell(from sender, m *wire.AddCell) error {
	if c := a.cell(m.Space); c != nil {
		c.TakeData(m.Data...) // before the geometry, see Hosted.SetTree
		if err := c.take(m.Tree); err != nil {
			return err
		}
		if !c.Become(m.Cell, c.geometry.Tree()) {
			return fmt.Errorf("cellapp: cell %s of space %d, where cell %s is", m.Cell, m.Space, c.ID())
		}
		c.SetClock(m.Clock, a.clusterTime(from.now))
		c.info = slices.Clone(m.Info)
		a.reused(m.Space)
	} else if err := a.newCell(from.now, m); err != nil {
		return err
	}
	a.manager.Send(&wire.CellCreated{Space: m.Space, Cell: m.Cell})
	return nil
}

func (a *CellApp) newCell(now time.Duration, m *wire.AddCell) error {
	c := &hostedCell{info: slices.Clone(m.Info)}
	if _, err := c.geometry.Take(m.Tree); err != nil {
		return err
	}
	tree := c.geometry.Tree()
	if tree == nil {
		return errNoTree
	}
	c.Hosted = a.population.NewCell(now, a.clusterTime(now), m.Space, m.Cell, tree, m.Data)
	c.SetClock(m.Clock, a.clusterTime(now))
	if m.First {
		c.First(m.FromStore)
	}
	i, _ := a.find(m.Space)
	a.cells = slices.Insert(a.cells, i, c)
	c.Begin()
	a.log.Info("cell added", "space", m.Space, "cell", m.Cell.String(), "version", tree.Version().String())
	return nil
}

// takeGeometry takes a whole tree or a delta, and asks for what is still missing.
func (a *CellApp) takeGeometry(from sender, m *wire.Geometry) error {
	c := a.cell(m.Space)
	if c == nil {
		return nil
	}
	err := c.take(m.Tree)
	a.askGeometry(from.now, c)
	return err
}

// take passes a message of the manager to the follower, and the resulting tree to the cell.
func (c *hostedCell) take(msg []byte) error {
	changed, err := c.geometry.Take(msg)
	if changed {
		c.SetTree(c.geometry.Tree())
	}
	return err
}

// askGeometry asks the manager for the missing part of a space's geometry. It asks again when the
// channel took the question with it.
func (a *CellApp) askGeometry(now time.Duration, c *hostedCell) {
	from, lacks := c.geometry.Lacks()
	if !lacks || now < c.askAt || !a.manager.Heeds() {
		return
	}
	c.askAt = now + askAgain
	a.manager.Send(&wire.GeometryLacked{Space: c.Space(), From: from})
}
