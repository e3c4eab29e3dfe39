package space

import (
	"errors"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/placement"
	"github.com/cellscape/cellscape/ghost"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/migrate"
	"github.com/cellscape/cellscape/property"
)

// party is several reals of one cell that are teleported together. The leader's teleport is the only
// one that the Population goes on with; it stands for all, until they leave or have failed. None of
// them crosses a border meanwhile.
//
//	asked: OnTeleport of each -----> locating (the leader's) ----> OnloadParty: each has a frozen copy
//	   | one vetoes, or is gone         | no cell, too large           | all refused: each comes back,
//	   v                                v                              v and its teleport has failed
//	   all have failed  <---------------+                          all taken over
//
// A refusal ends it, also a passing one: when they come back, a party is no more.
type party struct {
	leader  *Real
	members []*Real
}

// together reports whether all are still here, and on their way.
func (p *party) together() bool {
	for _, x := range p.members {
		if x.gone != staying || x.teleport == nil || x.teleport.party != p {
			return false
		}
	}
	return true
}

// fail ends the teleports of all who are still here.
func (p *party) fail(code placement.Code, reason string) {
	for _, x := range p.members {
		if x.gone == staying && x.teleport != nil && x.teleport.party == p {
			x.failTeleport(code, reason)
		}
	}
}

// ask asks the scripts of all, and reports whether the teleport goes on.
func (p *party) ask() bool {
	for _, x := range p.members {
		t := x.teleport
		if t == nil || t.party != p || x.gone != staying {
			break // together says so
		}
		to := t.to
		if !x.askTeleport(t) {
			break
		}
		if x != p.leader {
			t.to = to
		}
	}
	if !p.together() {
		p.fail(placement.Vetoed, "a companion stays")
		return false
	}
	for _, x := range p.members {
		x.teleport.to = p.leader.teleport.to
	}
	return true
}

// step goes on with the teleport of all, which is the leader's.
func (p *party) step(t *teleport) {
	switch {
	case !p.together():
		p.fail(placement.Vetoed, "a companion is gone")
		return
	case !t.hooked && !p.ask():
		return
	case p.leader.cell.now >= t.until:
		p.fail(placement.NoCell, "no cell took them in time")
		return
	}
	switch w := p.leader.findWay(t); {
	case w.code != 0:
		p.fail(w.code, "")
	case w.here != nil:
		p.here(w.here, w.position)
	case !w.app.IsZero():
		p.away(w)
	}
}

// here takes all to a cell of their own CellApp.
func (p *party) here(c *Cell, to entity.Destination) {
	here, with := c == p.leader.cell, p.ids()
	places := p.places(&to)
	for i, x := range p.members {
		if no := c.refuses(x.e, &places[i], newcomers(i, here)); no != nil {
			p.fail(no.Code, no.Reason)
			return
		}
	}
	for i, x := range p.members {
		if x.gone != staying || x.teleport == nil { // a callback of another one did it
			continue
		}
		x.teleport.party = nil
		x.settleHere(c, places[i], with)
	}
}

// away hands all over to another app in one message.
func (p *party) away(w way) {
	for _, x := range p.members {
		callback(x, "OnLeavingCell", func(s Leaver) { s.OnLeavingCell() })
	}
	if !p.together() {
		p.fail(placement.Vetoed, "a companion stays")
		return
	}
	c := p.leader.cell
	size := 0
	for _, x := range p.members {
		size += len(x.packed(false))
	}
	err := errTooLarge
	if size <= migrate.MaxParts {
		err = p.send(c, w)
	}
	switch err {
	case errTooLarge:
		p.leader.staysWhole(size)
		p.fail(placement.TooLarge, "together they fit in no message")
		return
	case errNotNow:
		p.leader.teleport.waitForRoom(c.now)
		return
	}
	for _, x := range p.members {
		c.becomeGhost(x, x.e.Order.NextHop(), w.app)
	}
}

// send freezes all and sends them. With an error, that of handOver, all are as before.
func (p *party) send(c *Cell, w way) error {
	m, places := new(migrate.OnloadParty), p.places(&p.leader.teleport.to)
	was := make([]teleport, len(p.members))
	all := make([]frozen, 0, len(p.members))
	var err error
	for i, x := range p.members {
		t := x.teleport
		was[i] = *t
		t.to = places[i]
		t.party, t.tries = nil, teleportTries // when it comes back it is alone, and has failed
		if err == nil {
			var f frozen
			if f, err = c.freeze(x, w.app, w.space, t.arrival(c), w.decided, m); err == nil {
				all, m.List = append(all, f), append(m.List, f.m)
			}
		}
	}
	if err == nil {
		err = whole(c.out.SendWhole(w.app, m))
	}
	if err == nil {
		return nil
	}
	for i := range all {
		all[i].thaw()
	}
	for i, x := range p.members {
		*x.teleport = was[i]
	}
	return err
}

// ids are the members.
func (p *party) ids() []entity.ID {
	ids := make([]entity.ID, len(p.members))
	for i, x := range p.members {
		ids[i] = x.e.ID
	}
	return ids
}

// places are where the members come to stand: at one place or, through a transition, as they stand now.
func (p *party) places(to *entity.Destination) []entity.Destination {
	list, from := make([]entity.Destination, len(p.members)), p.leader.e.Position
	for i, x := range p.members {
		list[i] = *to
		if at := x.e.Position; to.Transition {
			list[i].Position = sum(to.Position, property.Vector3{X: at.X - from.X, Y: at.Y - from.Y, Z: at.Z - from.Z})
		}
	}
	return list
}

// newcomers is how many come to a cell before the i-th of a party, or -1 if all are there.
func newcomers(i int, there bool) int {
	if there {
		return -1
	}
	return i
}

// OnloadParty takes several reals over, all or none. A repeat is answered as the first one was.
func (p *Population) OnloadParty(m *migrate.OnloadParty, from mercury.Address) error {
	p.env.Watch.Claim(nil) // migration work
	for i := range m.List {
		if x := &m.List[i]; !x.Arrival.Teleports() || p.answered(x, from) {
			return p.answerParty(m, from)
		}
	}
	cells, places := make([]*Cell, len(m.List)), make([]entity.Destination, len(m.List))
	for i := range m.List {
		var no *placement.TeleportError
		if cells[i], places[i], no = p.receive(&m.List[i], i); no != nil {
			for k := range m.List {
				p.turnAway(&m.List[k], no, from)
			}
			return nil
		}
	}
	with := make([]entity.ID, len(m.List))
	for i := range m.List {
		with[i] = m.List[i].ID
	}
	for i := range m.List {
		p.take(&m.List[i], cells[i], arrival{to: places[i], at: m.List[i].Arrival.From, with: with}, from)
	}
	return nil
}

// answered reports whether a teleport was taken or refused before, or cannot be taken.
func (p *Population) answered(m *migrate.Onload, from mercury.Address) bool {
	_, turned := p.turned.answer(m.ID, m.Order)
	rec := p.find(m.ID)
	return turned || p.accepted.has(from, m.Serial) || p.refusals.forbids(m) || p.tombstones.Forbids(ghost.Head{ID: m.ID, Order: m.Order, Sequence: 1}) ||
		rec != nil && (rec.real != nil || m.Order.Before(rec.e.Order))
}

// answerParty answers each of a party that was decided on before. Of whom nothing is known any more is
// not taken alone.
func (p *Population) answerParty(m *migrate.OnloadParty, from mercury.Address) error {
	var errs []error
	for i := range m.List {
		x := &m.List[i]
		if !p.answered(x, from) {
			p.turnAway(x, &placement.TeleportError{Code: placement.NoCell, Reason: "the others were answered before"}, from)
			continue
		}
		errs = append(errs, p.Onload(x, from))
	}
	return errors.Join(errs...)
}
