package cellappmgr

import (
	"time"

	"github.com/cellscape/cellscape/balance"
	"github.com/cellscape/cellscape/balance/load"
	"github.com/cellscape/cellscape/bsp"
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/internal/wire"
)

// space is a space as the manager keeps it.
//
// A change of its tree sets changed. Nothing carries the tree to anyone before
// raise has given it a new version: two trees of one version never exist.
type space struct {
	cfg      SpaceConfig
	balancer *balance.Balancer
	tree     *bsp.Tree // nil while the space has no cell
	made     bool      // it has had a cell
	version  uint32    // of the tree, as last told
	changed  bool      // since then
	cells    []*cell   // one for each leaf, in the order of making
	data     spaceData
	moved    []movedLine // by the last balance
	crowded  []bsp.CellID
}

// cell is one cell: where it is and what its CellApp said of it.
type cell struct {
	id      bsp.CellID
	app     *member
	first   bool
	created bool
	// orderedAt is when AddCell was sent last; toldAt is when the geometry was.
	orderedAt, toldAt time.Duration
	// told is the version of the geometry that the app was sent last.
	told     uint32
	reported bool
	report   wire.CellReport
}

// load is what the cell reported, if that can be true.
func (c *cell) load() int64 { return min(max(0, c.report.Load), load.Max) }

func newSpace(cfg SpaceConfig, b balance.Config) (*space, error) {
	balancer, err := balance.New(b)
	if err != nil {
		return nil, err
	}
	return &space{cfg: cfg, balancer: balancer}, nil
}

func (s *space) find(id bsp.CellID) *cell {
	for _, c := range s.cells {
		if c.id == id {
			return c
		}
	}
	return nil
}

func (m *CellAppMgr) space(id entity.SpaceID) *space {
	for _, s := range m.spaces {
		if s.cfg.ID == id {
			return s
		}
	}
	return nil
}

// newCell makes the record and the leaf of a new cell. The caller puts the leaf
// into the tree, then calls order.
func (m *CellAppMgr) newCell(app *member) (*cell, bsp.Leaf) {
	m.lastCell++
	c := &cell{id: bsp.CellID{Term: m.cfg.Term, N: m.lastCell}, app: app}
	return c, bsp.Leaf{Cell: c.id, App: app.address.At, Salt: app.address.Salt}
}

// makeSpaces gives every space without a cell its first one, or after the loss
// of all its cells, a new one.
func (m *CellAppMgr) makeSpaces(now time.Duration) {
	if m.started = m.started || m.cellApps() >= m.cfg.MinCellApps; !m.started {
		return
	}
	for _, s := range m.spaces {
		if s.tree != nil {
			continue
		}
		app := m.leastLoaded()
		if app == nil {
			return
		}
		c, leaf := m.newCell(app)
		c.first = !s.made
		s.tree = bsp.New(bsp.Version{}, leaf)
		s.cells = append(s.cells, c)
		s.changed = true
		s.moved = nil
		if s.made {
			m.log.Info("space has a cell again", "space", s.cfg.ID, "cell", c.id.String(), "on", app.String())
		} else {
			m.log.Info("space made", "space", s.cfg.ID, "cell", c.id.String(), "on", app.String())
		}
		s.made = true
		m.order(now, s, c)
	}
}

// raise gives the changed tree of a space its new version.
func (m *CellAppMgr) raise(s *space) {
	s.version++
	s.tree.SetVersion(bsp.Version{Term: m.cfg.Term, N: s.version})
	s.changed = false
	for _, c := range s.cells {
		leaf, _, _ := s.tree.Leaf(c.id)
		leaf.Created, leaf.Load = c.created, c.load()
	}
}

// encodeTree returns the tree under its version, in a buffer that the next call
// overwrites.
func (m *CellAppMgr) encodeTree(s *space) []byte {
	if s.changed {
		m.raise(s)
	}
	m.tree = s.tree.Append(m.tree[:0])
	return m.tree
}

// order tells a CellApp to make a cell. Only the first time it also counts as
// telling the geometry: a CellApp that has the cell already may ignore the rest.
func (m *CellAppMgr) order(now time.Duration, s *space, c *cell) {
	msg := wire.AddCell{Space: s.cfg.ID, Cell: c.id, First: c.first, Tree: m.encodeTree(s), Data: s.data.entries}
	m.send(c.app, &msg)
	c.orderedAt = now
	if c.told == 0 {
		s.mark(c.app, now)
	}
}

// publish tells the geometry of every space to the CellApps that have a cell of
// it and were not sent this version yet. It ends the handling of every input.
func (m *CellAppMgr) publish(now time.Duration) {
	for _, s := range m.spaces {
		if s.tree == nil {
			continue
		}
		if s.changed {
			m.raise(s)
		}
		var encoded []byte
		for _, c := range s.cells {
			if c.told == s.version {
				continue
			}
			if encoded == nil {
				encoded = m.encode(&wire.Geometry{Space: s.cfg.ID, Tree: m.encodeTree(s)})
			}
			m.sendOn(c.app.channel, encoded)
			s.mark(c.app, now)
		}
	}
}

// mark notes that an app was sent the geometry.
func (s *space) mark(app *member, now time.Duration) {
	for _, c := range s.cells {
		if c.app == app {
			c.told, c.toldAt = s.version, now
		}
	}
}

// repeatOrders gives again what was not confirmed.
func (m *CellAppMgr) repeatOrders(now time.Duration) {
	for _, s := range m.spaces {
		for _, c := range s.cells {
			if !c.created && now-c.orderedAt >= resend {
				m.order(now, s, c)
			}
		}
	}
}

// cellCreated takes the confirmation of an AddCell.
func (m *CellAppMgr) cellCreated(a *member, msg *wire.CellCreated) {
	s := m.space(msg.Space)
	if s == nil {
		m.counts.UnknownCells++
		return
	}
	c := s.find(msg.Cell)
	if c == nil || c.app != a {
		m.counts.UnknownCells++
		return
	}
	if c.created {
		return
	}
	c.created, s.changed = true, true
	m.log.Info("cell created", "space", s.cfg.ID, "cell", c.id.String(), "on", a.String(), "cells", len(s.cells))
}

// tellAgain tells a CellApp that has a new channel all that it may have missed.
func (m *CellAppMgr) tellAgain(now time.Duration, a *member) {
	for _, s := range m.spaces {
		told := false
		for _, c := range s.cells {
			if c.app != a {
				continue
			}
			if !c.created {
				m.order(now, s, c)
				continue
			}
			if told {
				continue
			}
			told = true
			m.send(a, &wire.Geometry{Space: s.cfg.ID, Tree: m.encodeTree(s)})
			s.mark(a, now)
			for _, e := range s.data.entries {
				m.send(a, &wire.SpaceData{Space: s.cfg.ID, Entry: e})
			}
		}
	}
}
