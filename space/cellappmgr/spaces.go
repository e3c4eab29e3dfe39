package cellappmgr

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"github.com/cellscape/cellscape/balance"
	"github.com/cellscape/cellscape/balance/load"
	"github.com/cellscape/cellscape/bsp"
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/internal/spacekey"
	"github.com/cellscape/cellscape/internal/wire"
)

// space is a space as the manager keeps it.
//
// The tree here is the working copy. It has no version and is told to nobody: touch notes that it
// has changed, and CellApps get what the publisher makes of it. Lines keep their NodeIDs on the
// way, so that the balance remembers them.
type space struct {
	cfg       SpaceConfig
	origin    origin // of one that game code created
	publisher *bsp.Publisher
	tree      *bsp.Tree       // nil while the space has no cell
	made      bool            // a cell of it has been created
	fromStore bool            // it has begun in an earlier start of the cluster
	refusedBy *balance.Placer // the last one that found no CellApp for it
	unplaced  bool            // it is counted in Counts.UnplacedSpaces
	dirty     bool            // the tree may say more than is published
	cells     []*cell         // one for each leaf, in the order of making
	data      spaceData
	keepers   []*member // see keepSpaces
	keptRound uint64    // the round in which they were chosen
	stored    stored    // see storeSpaces
	copied    bool      // keepers have told of it
	rates     rates
	info      []byte      // goes with AddCell
	moved     []movedLine // by the last balance
	heard     *bsp.Tree   // the newest tree of an earlier term, while recovering
	over      bool        // in an earlier term, an app has heard that the space has ended
	removals  []*removal
	lost      []bsp.Rect // land of dead cells, until it is told whose it is now
	dropped   bool       // a cell has gone since bequeath last looked for heirs that have

	// These say which lists of the manager the space is in: expecting, unpublished, emptying,
	// paced.
	expected, unpublished, watched, paced bool

	held     bool          // it has had an entity
	orphaned bool          // its asker is dead
	vacant   bool          // its grace runs, since it was found empty
	endAt    time.Duration // it does not end before, if it is empty
	ending   bool
}

// cell is one cell: where it is, and what its CellApp has said of it.
type cell struct {
	id      bsp.CellID
	app     *member
	first   bool
	created bool
	// orderedAt is when AddCell was last sent; toldAt is when the geometry was.
	orderedAt, toldAt time.Duration
	// told is the version of the geometry that the app was last sent; it need not have arrived.
	told bsp.Version
	// rateToldAt is when the app was last reminded of the rate.
	rateToldAt time.Duration
	// heard is when the cell was made or last told of, counted while the manager was awake; silent
	// says that this is too long ago.
	heard    time.Duration
	silent   bool
	reported bool
	report   wire.CellReport
}

// load is what the cell reported, 0 if that cannot be true.
func (c *cell) load() int64 {
	if c.report.Load < 0 || c.report.Load > load.Max {
		return 0
	}
	return c.report.Load
}

func newSpace(cfg SpaceConfig, term uint32) *space {
	return &space{cfg: cfg, publisher: bsp.NewPublisher(term, keptVersions), data: spaceData{last: spacekey.Base(term)}}
}

func (s *space) find(id bsp.CellID) *cell {
	for _, c := range s.cells {
		if c.id == id {
			return c
		}
	}
	return nil
}

// space finds a space, even one that is ending.
func (m *CellAppMgr) space(id entity.SpaceID) *space { return m.byID[id] }

// touch notes that the tree of a space says something new. It is published at the end of the input.
func (m *CellAppMgr) touch(s *space) {
	s.dirty = true
	if !s.unpublished {
		s.unpublished = true
		m.unpublished = append(m.unpublished, s)
	}
}

// expect notes that orders for a space are out.
func (m *CellAppMgr) expect(s *space) {
	if !s.expected {
		s.expected = true
		m.expecting = append(m.expecting, s)
	}
}

// adopt takes a cell into the space; drop takes it out again.
func (s *space) adopt(c *cell) {
	s.cells = append(s.cells, c)
	c.app.cells++
}

func (s *space) drop(which func(*cell) bool) {
	s.cells = slices.DeleteFunc(s.cells, func(c *cell) bool {
		if !which(c) {
			return false
		}
		c.app.cells--
		s.dropped = true
		return true
	})
}

// newCell makes the record and the leaf of a new cell. The caller puts the leaf into the tree, then
// calls order.
func (m *CellAppMgr) newCell(app *member) (*cell, bsp.Leaf) {
	m.lastCell++
	c := &cell{id: bsp.CellID{Term: m.cfg.Term, N: m.lastCell}, app: app}
	return c, bsp.Leaf{Cell: c.id, App: app.address.At, Salt: app.address.Salt}
}

// mayHaveHad reports whether a cell that is not there may have existed.
func (m *CellAppMgr) mayHaveHad(id bsp.CellID) bool {
	return id.Term < m.cfg.Term || id.Term == m.cfg.Term && id.N <= m.lastCell
}

// makeSpaces gives every space without a cell its first one or, after the loss of all its cells, a
// new one.
func (m *CellAppMgr) makeSpaces(now time.Duration) {
	if !m.knowsSpaces() {
		return
	}
	if m.started = m.started || m.cellApps() >= m.cfg.MinCellApps; !m.started {
		return
	}
	m.homeless = slices.DeleteFunc(m.homeless, func(s *space) bool {
		if s.tree != nil || s.ending {
			return true
		}
		app := m.choose(now, s)
		if app != nil {
			m.place(now, s, app)
		}
		return app != nil
	})
	m.tellHomeless()
}

// place makes the one cell of a space, whole. It is the first as long as none has been confirmed:
// nothing can have come of one whose CellApp died before that.
func (m *CellAppMgr) place(now time.Duration, s *space, app *member) {
	c, leaf := m.newCell(app)
	if c.first = !s.made; c.first {
		s.limitEntities()
	}
	s.tree = bsp.New(bsp.Version{}, leaf)
	s.adopt(c)
	app.load.Given(m.cfg.Balance.InitialCellLoad)
	m.touch(s)
	s.moved = nil
	if s.made {
		s.lost = append(s.lost[:0], bsp.Everything())
		m.log.Info("space has a cell again", "space", s.cfg.ID, "cell", c.id.String(), "on", app.String())
	} else {
		m.log.Log(context.Background(), s.level(), "space made", "space", s.cfg.ID, "cell", c.id.String(), "on", app.String())
	}
	m.order(now, s, c)
}

// level is the level of log lines on the ordinary life of a space: nobody reads those of thousands
// of rooms.
func (s *space) level() slog.Level {
	if isCreated(s.cfg.ID) {
		return slog.LevelDebug
	}
	return slog.LevelInfo
}

// repeatOrders repeats the orders that have not been confirmed.
func (m *CellAppMgr) repeatOrders(now time.Duration) {
	m.expecting = slices.DeleteFunc(m.expecting, func(s *space) bool {
		s.expected = len(s.removals) > 0
		for _, c := range s.cells {
			if c.created {
				continue
			}
			s.expected = true
			if now-c.orderedAt >= resend {
				m.order(now, s, c)
			}
		}
		for _, r := range s.removals {
			if now-r.at >= resend {
				m.orderRemoval(now, s, r)
			}
		}
		return !s.expected
	})
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
	c.created, s.made = true, true
	c.hear(m.awake.total)
	m.touch(s)
	s.taken(c)
	m.log.Log(context.Background(), s.level(), "cell created", "space", s.cfg.ID, "cell", c.id.String(), "on", a.String(), "cells", len(s.cells))
}

// tellAgain tells a CellApp that has a new channel everything that it may have missed.
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
			m.tellGeometry(now, s, a, bsp.Version{}) // whole: nobody knows what arrived of the last one
			for _, e := range s.data.entries {
				m.send(a, &wire.SpaceData{Space: s.cfg.ID, Entry: e})
			}
		}
	}
}
