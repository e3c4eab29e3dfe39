package cellappmgr

import (
	"time"

	"github.com/cellscape/cellscape/balance/load"
	"github.com/cellscape/cellscape/bsp"
	"github.com/cellscape/cellscape/internal/wire"
)

// keptVersions is how many versions of each space's geometry are kept to make deltas from. At about
// two a second they cover a lost message, the report that shows the loss, and one lost repair;
// whoever is farther behind is sent the whole tree.
const keptVersions = 16

// version is the version of the geometry as last published, zero before the first.
func (s *space) version() bsp.Version {
	if t := s.publisher.Tree(); t != nil {
		return t.Version()
	}
	return bsp.Version{}
}

// told reports whether the geometry as last published has a cell.
func (s *space) told(id bsp.CellID) bool {
	t := s.publisher.Tree()
	if t == nil {
		return false
	}
	_, _, ok := t.Leaf(id)
	return ok
}

// renew publishes the tree of a space if it says something new. Nothing else makes a version, and
// nothing unpublished is told: two trees of one version never exist.
func (m *CellAppMgr) renew(s *space) {
	if !s.dirty {
		return
	}
	s.dirty = false
	bound := m.safetyBound(s)
	for _, c := range s.cells {
		leaf, rect, _ := s.tree.Leaf(c.id)
		leaf.Created, leaf.Loading, leaf.Load = c.created, m.loading(s, c, rect), c.load()
		leaf.Overloaded = c.app.load.Smoothed > bound
	}
	if _, _, err := s.publisher.Publish(s.tree); err != nil {
		m.own.Errors++
		m.log.Error("the geometry of a space is not valid; the last one stays told", "space", s.cfg.ID, "error", err)
	}
}

// safetyBound is the load of a CellApp above which its cells are not to grow.
func (m *CellAppMgr) safetyBound(s *space) int64 {
	sum := int64(0)
	for _, c := range s.cells {
		sum += c.app.load.Smoothed
	}
	average := float64(sum) / float64(max(1, len(s.cells)))
	return int64(max(m.cfg.Balance.SafetyBound*float64(load.Core), average*m.cfg.Balance.SafetyRatio))
}

// loadsDue lets the loads be told along with what the balance did. If they were told with each
// report, they would make a version for every CellApp several times a second. In a frozen world
// nothing new is told, so that it comes to rest. The only cell of a space knows its load itself.
func (m *CellAppMgr) loadsDue() {
	for _, s := range m.spaces {
		if len(s.cells) > 1 && !m.frozen {
			m.touch(s)
		}
	}
}

// order tells a CellApp to make a cell, with the whole geometry: the app may have none that a delta
// could follow.
func (m *CellAppMgr) order(now time.Duration, s *space, c *cell) {
	m.renew(s)
	m.expect(s)
	c.orderedAt = now
	if !s.told(c.id) {
		return // the tree with the cell could not be published
	}
	m.send(c.app, &wire.AddCell{
		Space: s.cfg.ID, Cell: c.id, First: c.first, FromStore: c.first && s.fromStore, Tree: s.publisher.Message(bsp.Version{}), Data: s.data.entries, Info: s.info, Clock: s.rates.clock,
	})
	s.mark(c.app, now)
}

// publish tells the geometry of every space to the CellApps that have a cell of it and have not
// been sent this version. It ends the handling of every input.
func (m *CellAppMgr) publish(now time.Duration) {
	for _, s := range m.unpublished {
		s.unpublished = false
		if s.tree == nil {
			continue
		}
		m.renew(s)
		current := s.version()
		for _, c := range s.cells {
			if c.told != current {
				m.tellGeometry(now, s, c.app, c.told)
			}
		}
		m.bequeath(s)
	}
	clear(m.unpublished)
	m.unpublished = m.unpublished[:0]
}

// tellGeometry sends an app what brings it from a version up to date, and reports whether there was
// anything to send. A zero version asks for the whole tree.
func (m *CellAppMgr) tellGeometry(now time.Duration, s *space, app *member, from bsp.Version) bool {
	tree := s.publisher.Message(from)
	if tree == nil {
		return false
	}
	m.send(app, &wire.Geometry{Space: s.cfg.ID, Tree: tree})
	s.mark(app, now)
	return true
}

// mark notes that an app was sent the geometry.
func (s *space) mark(app *member, now time.Duration) {
	for _, c := range s.cells {
		if c.app == app {
			c.told, c.toldAt = s.version(), now
		}
	}
}

// catchUp sends the geometry again to an app that was sent it a while ago and still does not have
// it: the last message was lost, and nothing came after it that could show the app that it lacks
// something.
func (m *CellAppMgr) catchUp(now time.Duration, s *space, c *cell) {
	if now-c.toldAt > resend {
		m.repair(now, s, c.app, c.report.Version)
	}
}

// geometryLacked answers a CellApp that found out by itself, at once.
func (m *CellAppMgr) geometryLacked(now time.Duration, a *member, msg *wire.GeometryLacked) {
	s := m.space(msg.Space)
	if s == nil || !s.runsOn(a) && !s.removes(a) {
		m.counts.UnknownCells++
		return
	}
	m.repair(now, s, a, msg.From)
}

func (m *CellAppMgr) repair(now time.Duration, s *space, app *member, has bsp.Version) {
	if m.tellGeometry(now, s, app, has) {
		m.log.Warn("a CellApp has an old geometry; it is sent again", "space", s.cfg.ID, "to", app.String(),
			"has", has.String(), "current", s.version().String())
	}
}
