package space

import (
	"errors"
	"fmt"
	"time"

	"github.com/cellscape/cellscape/bsp"
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/entity/placement"
	"github.com/cellscape/cellscape/entity/presence"
	"github.com/cellscape/cellscape/ghost"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/migrate"
	"github.com/cellscape/cellscape/property"
)

func appOf(l *bsp.Leaf) mercury.Address { return mercury.Address{At: l.App, Salt: l.Salt} }

// check is the offload and ghost check: it finds who has left the cell, and who needs a ghost
// where. Ghosts have been told their changes before, so what is sent here follows that. It visits
// only those for whom something may be due; see border.
func (c *Cell) check() {
	c.listUnseen()
	if len(c.reals) == 0 {
		return
	}
	_, area, _ := c.tree.Leaf(c.id)
	c.listNear(area)
	leaving := c.visitBorder()
	c.adders.sweep(c)
	for _, r := range leaving {
		if r.gone == staying {
			c.offload(r)
		}
	}
	clear(leaving)
}

// shouldLeave reports whether a real is beyond its cell by more than the band, or has been beyond
// it for the dwell, and the cell that it is in can take it. A real that came by a newer geometry
// than this cell has stays until the cell has that, too: by the old one it may belong where it came
// from. After the end of the space only teleports lead away: another cell would tell the script of the
// end again.
func (c *Cell) shouldLeave(r *Real) bool {
	if c.ended {
		return false
	}
	p := r.e.Position
	x, z := float64(p.X), float64(p.Z)
	leaf := c.tree.At(x, z)
	if leaf.Cell == c.id {
		r.outsideSince = 0
		return false
	}
	if c.tree.Version().Less(r.decided) {
		return false // the sender knew better where it belongs
	}
	if r.teleport != nil && r.teleport.party != nil {
		return false // the others would lose it
	}
	if c.now < r.heavyUntil {
		return false
	}
	if !c.takes(leaf) {
		return false
	}
	if !c.has(roomLater, appOf(leaf)) {
		return false // that app is behind with its work; the real is better off here
	}
	_, rect, _ := c.tree.Leaf(c.id)
	if c.retiring() || !rect.Keeps(x, z, c.cfg.Border.Band) {
		return true
	}
	if r.outsideSince == 0 {
		r.outsideSince = c.now
	}
	return c.cfg.Dwell > 0 && c.now-r.outsideSince >= c.cfg.Dwell
}

// takes reports whether a cell can take a real: it has been made, on another app that is alive, and
// has loaded its land.
func (c *Cell) takes(leaf *bsp.Leaf) bool {
	return leaf.Created && !leaf.Loading && appOf(leaf) != c.self && !c.out.Dead(appOf(leaf))
}

// offload hands a real over to the cell it is in. Package migrate has the steps.
func (c *Cell) offload(r *Real) {
	callback(r, "OnLeavingCell", func(s Leaver) { s.OnLeavingCell() })
	if r.gone != staying {
		return
	}
	p := r.e.Position
	leaf := c.tree.At(float64(p.X), float64(p.Z))
	if leaf.Cell == c.id || !c.takes(leaf) {
		return
	}
	if err := c.handOver(r, appOf(leaf), c.space, migrate.Arrival{}, c.tree.Version()); err == errTooLarge {
		r.heavyUntil = c.now + largePause
	} // else the next check tries again
}

// largePause is how long a real that is too large to be handed over is not tried again. Each try asks its
// script, packs its whole state and is an error in the log; it may have less with it some seconds later.
const largePause = 5 * time.Second

// handOver hands a real over to an app, for its cell of a space. With an error it stays as it was:
// errTooLarge if it is too large to travel, errNotNow if that is not known before there is room.
func (c *Cell) handOver(r *Real, to mercury.Address, in entity.SpaceID, arrival migrate.Arrival, v bsp.Version) error {
	f, err := c.freeze(r, to, in, arrival, v, nil)
	if err == nil {
		if err = whole(c.out.SendWhole(to, &f.m)); err != nil {
			f.thaw()
		}
	}
	switch {
	case err == nil:
		c.becomeGhost(r, f.m.Order, to)
	case err == errTooLarge:
		r.staysWhole(f.size)
	}
	return err
}

var (
	errTooLarge = errors.New("space: what would travel is too large")
	errNotNow   = errors.New("space: no room to travel now")
)

// whole is the error of an Outbox.SendWhole as that of a handoff.
func whole(err error) error {
	switch {
	case errors.Is(err, mercury.ErrMessageTooLong):
		return errTooLarge
	case err != nil:
		return errNotNow
	}
	return nil
}

// frozen is a real of which a frozen copy is kept, before it becomes a ghost.
type frozen struct {
	r     *Real
	m     migrate.Onload
	size  int         // of its state
	haunt ghost.Haunt // the ghost at the destination; zero if it had none
}

// freeze keeps a frozen copy of a real that is to be handed over, alone or in a party, and makes the
// message for it. If that is not sent, the real thaws.
func (c *Cell) freeze(r *Real, to mercury.Address, in entity.SpaceID, arrival migrate.Arrival, v bsp.Version, with *migrate.OnloadParty) (f frozen, err error) {
	if len(r.changes) > 0 {
		// The callback's changes are in the State of the new hop, too. Ghosts that hear them now
		// will have the same history, and need not give up their own.
		c.tell(r)
	}
	f = frozen{r: r, haunt: r.haunt(to)}
	r.leavesFor = in
	order := r.e.Order.NextHop()
	had := r.haunts.Remove(to)
	r.haunts.Add(c.self, c.now)
	rec := c.population.find(r.e.ID)
	rec.told = rec.watched()
	rec.telling = rec.told
	r.haunts.SetWatched(c.self, rec.told)
	if r.audits {
		r.audit() // the next cell would not know of the request
	}
	parts := r.packed(false)
	if f.size = len(parts); f.size > migrate.MaxParts {
		f.stay()
		return f, errTooLarge
	}
	m := migrate.Onload{
		ID: r.e.ID, Type: r.e.Def.ID, Space: in, Order: order, Base: r.e.Base, Title: r.title,
		Decided: migrate.Geometry{Term: v.Term, N: v.N}, Arrival: arrival, Parts: parts,
	}
	if c.population.traces(r.e) {
		c.population.step(r.e, goneStep(&arrival, false), "to", to, "next", order.String())
	}
	haunts := make([]mercury.Address, 0, r.haunts.Len()-1) // without the ghost here
	for h := range r.haunts.All() {
		if h.App != c.self {
			haunts = append(haunts, h.App)
		}
	}
	f.m = c.population.handoffs.Begin(migrate.Handoff{To: to, Base: r.e.Base, Haunts: haunts, Mirrored: had, Onload: m, Party: with, SentAt: c.now, Offer: migrate.Offer{
		ID: r.e.ID, Order: order, Title: r.title, Saves: r.saves, Handled: r.handled(), Space: c.space, Position: r.e.Position, Parts: parts,
	}, ToldEnd: r.toldEnd})
	return f, nil
}

// thaw takes a handoff back that was not sent. Nobody has heard of the next hop.
func (f *frozen) thaw() {
	f.r.cell.population.handoffs.Take(f.m.ID, f.m.Order)
	f.stay()
}

// stay leaves a real that nobody could take where it is, although it may be out of place. Its ghosts
// are those that it had.
func (f *frozen) stay() {
	r, c := f.r, f.r.cell
	if c.population.traces(r.e) {
		c.population.step(r.e, "stays")
	}
	r.haunts.Remove(c.self)
	if h := f.haunt; !h.App.IsZero() && r.haunts.Add(h.App, h.Since) {
		r.haunts.SetWatched(h.App, h.Watched)
		r.haunts.SetBehind(h.App, h.Behind)
	}
}

// staysWhole notes that a real cannot travel, alone or with others.
func (r *Real) staysWhole(bytes int) {
	r.cell.count.Errors++
	r.Log().Error("not handed over: what would travel fits in no message", "bytes", bytes, "limit", migrate.MaxParts)
}

// haunt is the ghost on an app; zero if there is none.
func (r *Real) haunt(app mercury.Address) ghost.Haunt {
	for h := range r.haunts.All() {
		if h.App == app {
			return h
		}
	}
	return ghost.Haunt{}
}

// handled is the number of the last message of the base's flow that the real has handled.
func (r *Real) handled() flow.Mark {
	if r.e.Base.IsZero() {
		return 0
	}
	return r.base().in.Handled()
}

// becomeGhost turns a real that was handed over into a ghost of the new one.
func (c *Cell) becomeGhost(r *Real, order entity.Order, real mercury.Address) {
	rec := c.population.find(r.e.ID)
	r.dropWitness()
	r.liftTraps()
	c.work.rest.Add(r.meter.Drain()) // this tick's work stays here, the load goes
	r.gone = handedOver
	c.tapeLeft(r) // as the real that it still is
	was := r.e.Order
	g, err := ghost.FromReal(r.e, order, real)
	if err != nil {
		// The real's own values made this stream a moment ago.
		panic(fmt.Sprintf("space: %v", err))
	}
	c.partWith(rec)
	c.population.tombstones.Bury(ghost.Head{ID: r.e.ID, Order: was, Sequence: ghost.Last}, c.population.now)
	rec.real, rec.ghost, rec.heard = nil, g, c.now
	rec.e.Floor = 0 // it may be in both lists of one sweep
	c.ghosts.insert(rec)
	c.watchGhost(rec)
	callback(r, "OnLeftCell", func(s Quitter) { s.OnLeftCell() })
}

// Onload takes a real over. It sends the ack even if it refuses the real, since the holder of a
// newer order is then responsible for the entity. It sends none while a real stands here
// that only its base may end: the sender tries again. A teleport may be turned away; the origin then
// goes on with the real. A repeat is answered as the first one was (acceptances).
func (p *Population) Onload(m *migrate.Onload, from mercury.Address) error {
	p.env.Watch.Claim(nil) // migration work
	if p.answeredBefore(m, from) {
		return nil
	}
	rec := p.find(m.ID)
	old := p.tombstones.Forbids(ghost.Head{ID: m.ID, Order: m.Order, Sequence: 1}) || p.refusals.forbids(m)
	if rec != nil && !old {
		if p.denies(m.ID, rec, m.Order, m.Base, m.Title) {
			p.ackOnload(m, false, from)
			return nil
		}
		if !m.Base.IsZero() {
			rec = p.outdo(rec, m.Order)
		}
		old = rec != nil && (m.Order.Before(rec.e.Order) || rec.real != nil && m.Order == rec.e.Order)
	}
	if rec != nil && rec.real != nil && !old {
		return rec.cell.challenge(rec.real, m.Order, from)
	}
	if old {
		p.ackOnload(m, m.Arrival.Teleports() && (rec == nil || rec.e.Space != m.Arrival.From), from)
		return nil
	}
	c, a := p.cell(m.Space), arrival{}
	if m.Arrival.Teleports() {
		if answer, turned := p.turned.answer(m.ID, m.Order); turned {
			p.env.Out.Send(from, &answer)
			return nil
		}
		to, no := entity.Destination{}, (*placement.TeleportError)(nil)
		if c, to, no = p.receive(m, 0); no != nil {
			p.turnAway(m, no, from)
			return nil
		}
		a = arrival{to: to, at: m.Arrival.From, with: []entity.ID{m.ID}}
	}
	if c == nil {
		// Nobody has the real now, so the base must bring it back.
		p.ackOnload(m, false, from)
		p.tellLost(m.Base, m.ID, m.Order, m.Title, errNoCell.Error())
		return errNoCell
	}
	p.take(m, c, a, from)
	return nil
}

// take makes a real that was handed over.
func (p *Population) take(m *migrate.Onload, c *Cell, a arrival, from mercury.Address) {
	p.ackOnload(m, a.at != 0 && a.at != c.space, from)
	rec := p.find(m.ID)
	if err := c.onload(m, rec, from, a); err != nil {
		c.lost(m, err)
	}
}

var errNoCell = errors.New("space: handed to a CellApp without a cell of the space")

// onload makes a real from what was handed over, by an app or, if nobody took it, by this one.
func (c *Cell) onload(m *migrate.Onload, rec *record, from mercury.Address, a arrival) error {
	core, err := readCore(m.Parts)
	if err != nil {
		return err
	}
	a.place(&core)
	d, err := c.definition(m.Type)
	if err != nil {
		return err
	}
	e := &presence.Entity{ID: m.ID, Def: d}
	m.Base = c.population.heirOr(m.Base, m.ID)
	if rec = c.makeWay(rec, m.Order); rec != nil {
		if rec.e.Def != d {
			return fmt.Errorf("space: %s is a %s here, not a %s", m.ID, rec.e.Def.Name, d.Name)
		}
		e = rec.e // which watchers hold
	}
	e.Space, e.Base, e.Order = c.space, m.Base, m.Order
	aspect := e.Aspect
	e.Aspect = core.Aspect
	e.Put(core.Position, core.Direction, core.MoveStamp)
	e.MovedTick = c.tick
	e.Props = property.NewValues(e.Def, property.CellSide, nil)
	if e.History == nil {
		e.History = property.NewHistory(e.Def)
	}
	r := c.makeReal(e, func(r *Real) error {
		r.title, r.toldEnd = m.Title, a.toldEnd
		if err := r.readParts(m.Parts, false); err != nil {
			return err
		}
		if r.HasClient() != (r.witness != nil) {
			return errors.New("a client without a witness")
		}
		c.welcomeHaunts(r, &a)
		return nil
	})
	if r.gone != staying {
		return fmt.Errorf("space: %s", r.reason)
	}
	if a.at != 0 {
		r.lookAround(&a)
	}
	r.traceMade(goneStep(&m.Arrival, true))
	r.decided = bsp.Version{Term: m.Decided.Term, N: m.Decided.N}
	c.population.find(m.ID).giver = from
	c.count.Migrations++
	if c.out.Dead(m.Base) {
		// Its base was declared dead while it was under way, so nobody can command it any more.
		c.drop(r)
		return nil
	}
	r.announce()
	r.hearDeaths()
	r.haunts.Sweep(func(h ghost.Haunt) bool { return h.App == c.self || c.out.Dead(h.App) })
	r.enter(aspect)
	r.arrived(&a)
	return nil
}

// showAll brings all ghosts to a new hop.
func (r *Real) showAll() {
	if r.haunts.Len() == 0 {
		return
	}
	state := r.state()
	var behind []mercury.Address
	r.haunts.Sweep(func(h ghost.Haunt) bool {
		if state == nil {
			r.endGhost(h.App)
			return true
		}
		if r.cell.has(roomLater, h.App) {
			r.cell.out.Send(h.App, state)
		} else {
			behind = append(behind, h.App)
		}
		return false
	})
	for _, app := range behind {
		r.leaveBehind(app)
	}
}
