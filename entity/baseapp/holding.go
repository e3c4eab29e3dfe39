package baseapp

import (
	"cmp"
	"slices"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/migrate"
)

const (
	// MaxCopies bounds the copies that one BaseApp holds for others: all bases of two others.
	MaxCopies = 2 * MaxBases

	// MaxCopyBytes bounds them in bytes. Beyond either bound a copy is refused, which its owner counts
	// and logs; it tries again in the next period.
	MaxCopyBytes = 1 << 30

	// spareCopies is how many buffers of forgotten copies are kept for the next ones.
	spareCopies = 256
)

// holding is what a BaseApp holds for others.
type holding struct {
	wards         []*ward // in the order in which they were first heard of
	copies, bytes int
	mostCopies    int
	mostBytes     int
	spare         []*heldCopy
	inheriting    []heritage // scratch
	told          migrate.BaseCopyHeld
}

// ward is another BaseApp, with the copies of its bases. Whoever sends a copy is its owner: an app can
// only spoil what is its own.
type ward struct {
	owner  mercury.Address
	rule   migrate.Rule
	covers uint64      // of the newest rule that is known to rule
	copies []*heldCopy // in order of the ids
}

type heldCopy struct {
	id            entity.ID
	number, cycle uint64
	parts         []byte
}

// ward returns what is held for an app.
func (h *holding) ward(owner mercury.Address) *ward {
	for _, w := range h.wards {
		if w.owner == owner {
			return w
		}
	}
	w := &ward{owner: owner}
	h.wards = append(h.wards, w)
	return w
}

func (w *ward) find(id entity.ID) (int, bool) {
	return slices.BinarySearchFunc(w.copies, id, func(c *heldCopy, id entity.ID) int { return cmp.Compare(c.id, id) })
}

// takeCopy takes a copy of a base.
func (a *BaseApp) takeCopy(from sender, m *migrate.BaseCopy) {
	h := &a.holding
	h.told = migrate.BaseCopyHeld{ID: m.ID, Number: m.Number}
	switch {
	case h.keep(h.ward(from.app), m):
	case h.told.Refused:
	default:
		a.refused("a copy of a base that is older than the one held", "entity", m.ID, "from", from.app)
		return
	}
	a.send(from.app, &h.told)
}

// keep takes the place of an older copy. It reports false, and sets Refused in the answer, if there is
// no room; or only false if the copy is old.
func (h *holding) keep(w *ward, m *migrate.BaseCopy) bool {
	i, found := w.find(m.ID)
	more := len(m.Parts)
	if found {
		more -= len(w.copies[i].parts)
		if m.Number <= w.copies[i].number {
			return m.Number == w.copies[i].number
		}
	}
	if h.bytes+more > h.mostBytes || !found && h.copies >= h.mostCopies {
		h.told.Refused = true
		return false
	}
	h.put(w, m.ID, m.Number, m.Cycle, m.Parts)
	return true
}

// put keeps a copy, in the place of an older one.
func (h *holding) put(w *ward, id entity.ID, number, cycle uint64, parts []byte) {
	i, found := w.find(id)
	if !found {
		w.copies = slices.Insert(w.copies, i, h.fresh())
		h.copies++
	}
	c := w.copies[i]
	h.bytes += len(parts) - len(c.parts)
	c.id, c.number, c.cycle = id, number, cycle
	c.parts = append(c.parts[:0], parts...)
}

func (h *holding) fresh() *heldCopy {
	if n := len(h.spare); n > 0 {
		c := h.spare[n-1]
		h.spare = h.spare[:n-1]
		return c
	}
	return &heldCopy{}
}

// forget drops the copies of a ward for which gone is true.
func (h *holding) forget(w *ward, gone func(*heldCopy) bool) {
	w.copies = slices.DeleteFunc(w.copies, func(c *heldCopy) bool {
		if !gone(c) {
			return false
		}
		h.release(c)
		return true
	})
}

// release takes a copy that is dropped out of the counts, and keeps its buffer.
func (h *holding) release(c *heldCopy) {
	h.copies--
	h.bytes -= len(c.parts)
	if c.parts = c.parts[:0]; len(h.spare) < spareCopies {
		h.spare = append(h.spare, c)
	}
}

// takeGone drops the copy of a base that has ended, and says so.
func (a *BaseApp) takeGone(from sender, m *migrate.BaseGone) {
	a.send(from.app, &migrate.BaseForgotten{ID: m.ID})
	w := a.holding.ward(from.app)
	if i, found := w.find(m.ID); found {
		a.holding.release(w.copies[i])
		w.copies = slices.Delete(w.copies, i, i+1)
	}
}

// takeMark drops what the owner has not renewed, and what others hold now.
func (a *BaseApp) takeMark(from sender, m *migrate.CopyMark) {
	w := a.holding.ward(from.app)
	moved := m.Version > 0 && m.Version == w.rule.Version
	a.holding.forget(w, func(c *heldCopy) bool {
		return (c.cycle < m.Cycle || moved && !a.holds(&w.rule, w.owner, c.id)) && !a.roster.Away(w.owner, c.id)
	})
	if moved && w.covers < w.rule.Covers {
		w.covers = w.rule.Covers
		a.inherit()
	}
}

// holds reports whether this app is a holder of a base by a rule.
func (a *BaseApp) holds(r *migrate.Rule, owner mercury.Address, id entity.ID) bool {
	var buf [migrate.MaxReplicas]mercury.Address
	return slices.Contains(r.Holders(buf[:0], owner, id), a.net.Self())
}

// takeRule takes the rule of another BaseApp.
func (a *BaseApp) takeRule(from sender, m *migrate.BackupRule) {
	w := a.holding.ward(from.app)
	if m.Version > w.rule.Version {
		w.rule = m.Rule.Clone()
	}
	a.send(from.app, &migrate.BackupRuleHeld{Version: w.rule.Version, Turn: a.roster.Departures().Turn(from.app)})
	a.send(from.app, &wire.BaseDoors{Doors: a.cfg.Doors})
}

// inherit sees to the copies of the bases of apps that are gone. Those that come to this app from
// the app that had them last are restored. Those that another has taken over are kept until its own
// copies are what its death would be healed from: it may die first, and then they come to the next.
func (a *BaseApp) inherit() {
	h := &a.holding
	mine := h.inheriting[:0]
	for i := 0; i < len(h.wards); i++ { // a new one may come in this loop
		w := h.wards[i]
		if len(w.copies) == 0 || !a.roster.Departures().Any(w.owner) {
			continue
		}
		h.forget(w, func(c *heldCopy) bool {
			left := a.left(w.owner, c.id)
			switch {
			case left.Gone == nil:
				return false
			case left.Back != nil && a.links.Dead(w.owner):
				return true // it was there again, and nobody has it since
			case left.Back != nil && w.owner != a.net.Self():
				return false // it is there again, and this is its copy, or soon will be
			case left.Back != nil && left.Back.App != a.net.Self():
				return true // it came back from others
			}
			switch home := a.homeOf(c.id); {
			case home.App == a.net.Self():
				if left.Heir == home.App {
					mine = append(mine, heritage{id: c.id, from: w.owner, came: left.Gone.Number, lives: uint32(1 + left.Passed), parts: slices.Clone(c.parts)})
				}
				return true
			case a.links.Dead(home.App) || home.App.IsZero():
				return true // nobody has it
			default:
				keeps := w.owner == a.net.Self() || a.holds(&left.Gone.Rule, w.owner, c.id)
				if !keeps {
					a.sendAfter(c)
				}
				return !keeps || h.ward(home.App).covers >= left.Gone.Number
			}
		})
	}
	a.takeOver(mine)
	clear(mine)
	h.inheriting = mine[:0]
	h.wards = slices.DeleteFunc(h.wards, func(w *ward) bool { return len(w.copies) == 0 && a.links.Dead(w.owner) })
}

// left tells how a base left an app whose copies of it are here. An app that has departed without
// ever having had it may have sent copies, too: it took the base over, but had it not covered.
func (a *BaseApp) left(owner mercury.Address, id entity.ID) migrate.Step {
	if s := a.roster.Left(owner, id); s.Gone != nil {
		return s
	}
	d := a.roster.Departures()
	heir, passed, ok := d.Next(owner, id)
	if !ok {
		heir = mercury.Address{}
	}
	return migrate.Step{Gone: d.Of(owner), Heir: heir, Passed: passed}
}

// heritage is a base that has come to this app: from whom, by which departure, and how many apps after
// the one of the copy. An app that would have had it before, but is gone as well, may have begun a life
// of it. former is the life before, if that was here, and nil otherwise.
type heritage struct {
	id     entity.ID
	from   mercury.Address
	came   uint64
	lives  uint32
	former *base
	parts  []byte
}

// takeOver restores bases of apps that are gone. Of a base that two of them had, one after the
// other, the copy of the later is taken.
func (a *BaseApp) takeOver(mine []heritage) {
	if len(mine) == 0 {
		return
	}
	slices.SortStableFunc(mine, func(x, y heritage) int { return cmp.Or(cmp.Compare(x.id, y.id), cmp.Compare(y.came, x.came)) })
	mine = slices.CompactFunc(mine, func(x, y heritage) bool { return x.id == y.id })
	lost := 0
	for i := range mine {
		if a.byID[mine[i].id] != nil || a.standsAside(mine[i].id) {
			a.refused("a base that is here came a second time", "entity", mine[i].id, "from", mine[i].from)
			continue
		}
		if err := a.restore(&mine[i]); err != nil {
			lost++
			a.fault("a base cannot be restored from its copy", "entity", mine[i].id, "from", mine[i].from, "error", err)
		}
	}
	a.report.Inherited += uint64(len(mine) - lost)
	a.log.Warn("bases of BaseApps that are gone go on here", "bases", len(mine), "lost", lost)
}
