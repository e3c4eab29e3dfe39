package space

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/cellscape/cellscape/aoi/witness"
	"github.com/cellscape/cellscape/bsp"
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/ghost"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/migrate"
	"github.com/cellscape/cellscape/property"
)

func appOf(l *bsp.Leaf) mercury.Address { return mercury.Address{At: l.App, Salt: l.Salt} }

// tellGhosts sends what every real did since the last tick to its haunts.
func (c *Cell) tellGhosts() {
	for _, rec := range c.reals {
		if r := rec.real; len(r.changes) > 0 || r.ghostedStamp != r.e.MoveStamp {
			c.tell(r)
		}
	}
}

// tell sends what one real did to its haunts.
func (c *Cell) tell(r *Real) {
	if r.haunts.Len() > 0 && r.gone == staying {
		rest := c.sendUpdate(r, r.changes)
		for len(rest) > 0 {
			rest = c.sendUpdate(r, rest)
		}
	}
	r.changes, r.payloads = r.changes[:0], r.payloads[:0]
	r.ghostedStamp = r.e.MoveStamp
}

// maxUpdate is how many bytes of payloads one Update carries before the next one
// is begun: half of what its receivers take for certain.
const maxUpdate = ghost.MaxProps

// sendUpdate sends as many changes as one Update may carry, and returns the rest.
func (c *Cell) sendUpdate(r *Real, changes []ghost.Change) (rest []ghost.Change) {
	n, size := 0, 0
	for n < len(changes) && n < ghost.MaxChanges && (n == 0 || size+len(changes[n].Payload) <= maxUpdate) {
		size += len(changes[n].Payload)
		n++
	}
	r.ghostSequence++
	c.update = ghost.Update{
		Head:      ghost.Head{ID: r.e.ID, Order: r.e.Order, Sequence: r.ghostSequence},
		MoveStamp: r.e.MoveStamp, Position: r.e.Position, Direction: r.e.Direction, Changes: changes[:n],
	}
	for h := range r.haunts.All() {
		c.out.Send(h.App, &c.update)
	}
	return changes[n:]
}

// check is the offload and ghost check: who has left the cell, and who must be
// mirrored where. Ghosts are told first, so what is sent here follows it.
func (c *Cell) check() {
	budget := c.cfg.GhostBudget
	_, own, _ := c.tree.Leaf(c.id)
	leaving := make([]*Real, 0, c.cfg.OffloadBudget)
	for _, rec := range c.reals {
		r := rec.real
		if r.gone != staying {
			continue
		}
		if !c.frozen && len(leaving) < c.cfg.OffloadBudget && c.shouldLeave(r) {
			leaving = append(leaving, r)
			continue
		}
		budget = c.mirror(r, own, budget)
	}
	for _, r := range leaving {
		if r.gone == staying {
			c.offload(r)
		}
	}
}

// shouldLeave reports whether a real has been beyond its cell by more than the
// band, or for longer than the dwell, and the cell it is in can take it.
func (c *Cell) shouldLeave(r *Real) bool {
	p := r.e.Position
	x, z := float64(p.X), float64(p.Z)
	leaf := c.tree.At(x, z)
	if leaf.Cell == c.id {
		r.outsideSince = 0
		return false
	}
	if !leaf.Created || appOf(leaf) == c.self || c.out.Dead(appOf(leaf)) {
		return false
	}
	_, rect, own := c.tree.Leaf(c.id)
	if !own || rect.Distance(x, z) > float64(c.cfg.BorderBand) {
		return true
	}
	if r.outsideSince == 0 {
		r.outsideSince = c.now
	}
	return c.now-r.outsideSince >= c.cfg.Dwell
}

// mirror makes and ends the ghosts of one real; own is the cell's rectangle, empty
// if it has none, and budget how many may be made.
func (c *Cell) mirror(r *Real, own bsp.Rect, budget int) int {
	p := r.e.Position
	x, z := float64(p.X), float64(p.Z)
	reach := float64(c.cfg.GhostDistance + r.e.Def.AppealRadius)
	if around := bsp.Around(x, z, reach); r.haunts.Len() == 0 && within(around, own) {
		return budget // as most are: deep inside
	}
	var state *ghost.State
	for _, leaf := range c.tree.Overlapping(bsp.Around(x, z, reach)) {
		app := appOf(leaf)
		if app == c.self || !leaf.Created || r.haunts.Has(app) || c.out.Dead(app) || budget == 0 {
			continue
		}
		if !r.haunts.Add(app, c.now) {
			continue
		}
		budget--
		if state == nil {
			state = r.state()
		}
		c.out.Send(app, state)
	}
	r.haunts.Sweep(func(h ghost.Haunt) bool {
		if c.now-h.Since < c.cfg.GhostLife || c.touches(h.App, bsp.Around(x, z, reach+float64(c.cfg.GhostSlack))) {
			return false
		}
		r.ghostSequence++
		c.out.Send(h.App, &ghost.Delete{Head: ghost.Head{ID: r.e.ID, Order: r.e.Order, Sequence: r.ghostSequence}})
		return true
	})
	return budget
}

// within reports whether a has no point on the edge of b or outside it.
func within(a, b bsp.Rect) bool {
	return a.MinX > b.MinX && a.MaxX < b.MaxX && a.MinZ > b.MinZ && a.MaxZ < b.MaxZ
}

func (c *Cell) touches(app mercury.Address, r bsp.Rect) bool {
	for _, leaf := range c.tree.Overlapping(r) {
		if appOf(leaf) == app {
			return true
		}
	}
	return false
}

// state is everything a ghost holds.
func (r *Real) state() *ghost.State {
	r.ghostSequence++
	return &ghost.State{
		Head: ghost.Head{ID: r.e.ID, Order: r.e.Order, Sequence: r.ghostSequence},
		Type: r.e.Def.ID, Space: r.e.Space, Base: r.e.Base,
		MoveStamp: r.e.MoveStamp, Position: r.e.Position, Direction: r.e.Direction,
		Props:   r.e.Props.AppendStream(nil, property.GhostStream),
		History: r.e.History.Append(nil),
	}
}

// offload hands a real to the cell it is in. See package migrate for the steps.
func (c *Cell) offload(r *Real) {
	callback(r, "OnLeavingCell", func(s Leaver) { s.OnLeavingCell() })
	if r.gone != staying {
		return
	}
	p := r.e.Position
	leaf := c.tree.At(float64(p.X), float64(p.Z))
	to := appOf(leaf)
	if leaf.Cell == c.id || !leaf.Created || to == c.self || c.out.Dead(to) {
		return
	}
	order := r.e.Order.NextHop()
	had := r.haunts.Remove(to)
	r.haunts.Add(c.self, c.now)
	parts := r.appendParts(nil, false)
	if len(parts) > migrate.MaxParts {
		// It stays, out of place: on its way nobody could take it.
		r.haunts.Remove(c.self)
		if had {
			r.haunts.Add(to, c.now)
		}
		c.count.Errors++
		r.Log().Error("not offloaded: its state is too large", "bytes", len(parts), "limit", migrate.MaxParts)
		return
	}
	// What the callback changed travels in the parts; the haunts get it with the
	// State of the new hop.
	r.changes = r.changes[:0]
	v := c.tree.Version()
	m := migrate.Onload{
		ID: r.e.ID, Type: r.e.Def.ID, Space: c.space, Order: order, Base: r.e.Base,
		Decided: migrate.Geometry{Term: v.Term, N: v.N}, Parts: parts,
	}
	var haunts []mercury.Address
	for h := range r.haunts.All() {
		if h.App != c.self {
			haunts = append(haunts, h.App)
		}
	}
	c.handoffs.Begin(migrate.Handoff{To: to, Base: r.e.Base, Haunts: haunts, Onload: m, SentAt: c.now, Offer: migrate.Offer{
		ID: r.e.ID, Order: order, Saves: r.saves, Handled: r.handled(), Space: c.space, Position: p, Parts: parts,
	}})
	c.out.Send(to, &m)
	c.becomeGhost(r, order, to)
}

// handled is the last message of the base's flow that the real has handled.
func (r *Real) handled() uint64 {
	if r.e.Base.IsZero() {
		return 0
	}
	return r.base().in.Last()
}

// becomeGhost turns a real that was handed over into the ghost of the new one.
func (c *Cell) becomeGhost(r *Real, order entity.Order, real mercury.Address) {
	rec := c.registry.find(r.e.ID)
	r.dropWitness()
	r.gone = handedOver
	g, err := ghost.FromReal(r.e, order, real)
	if err != nil {
		// The stream was made by the real's own values a moment ago.
		panic(fmt.Sprintf("space: %v", err))
	}
	rec.real, rec.ghost, rec.heard = nil, g, c.now
	c.reals.remove(r.e.ID)
	c.ghosts.insert(rec)
}

// Onload takes a real over. The ack goes out even for one that is refused, since
// whoever holds the newer order answers for the entity.
func (c *Cell) Onload(m *migrate.Onload, from mercury.Address) {
	c.out.Send(from, &migrate.OnloadAck{ID: m.ID, Order: m.Order})
	rec := c.registry.find(m.ID)
	if rec != nil && (m.Order.Before(rec.e.Order) || rec.real != nil && m.Order == rec.e.Order) {
		return
	}
	if c.tombstones.Forbids(ghost.Head{ID: m.ID, Order: m.Order, Sequence: 1}) {
		return
	}
	if err := c.onload(m, rec); err != nil {
		c.count.Errors++
		c.log.Error("onload failed; the base restores the entity", "entity", m.ID.String(), "err", err)
		if !m.Base.IsZero() {
			c.out.Send(m.Base, &migrate.Lost{ID: m.ID, Order: m.Order, Reason: shortReason(err)})
		}
	}
}

func (c *Cell) onload(m *migrate.Onload, rec *record) error {
	core, err := readCore(m.Parts)
	if err != nil {
		return err
	}
	d, err := c.definition(m.Type)
	if err != nil {
		return err
	}
	e := &entity.Entity{ID: m.ID, Def: d}
	if rec = c.makeWay(rec, m.Order); rec != nil {
		if rec.e.Def != d {
			return fmt.Errorf("space: %s is a %s here, not a %s", m.ID, rec.e.Def.Name, d.Name)
		}
		e = rec.e // which watchers hold
	}
	e.Space, e.Base, e.Order = c.space, m.Base, m.Order
	e.Position, e.Direction, e.MoveStamp, e.MovedTick = core.Position, core.Direction, core.MoveStamp, c.tick
	e.Props = property.NewValues(e.Def, property.CellSide, nil)
	if e.History == nil {
		e.History = property.NewHistory(e.Def)
	}
	r := c.makeReal(e, func(r *Real) error {
		if err := r.readParts(m.Parts, false); err != nil {
			return err
		}
		if (r.session != 0) != (r.witness != nil) {
			return errors.New("a client without a witness")
		}
		return nil
	})
	if r.gone != staying {
		return fmt.Errorf("space: %s", r.reason)
	}
	c.count.Migrations++
	if c.out.Dead(m.Base) {
		// The verdict came while it was under way: nobody can command it any more.
		c.drop(r)
		return nil
	}
	r.announce()
	r.haunts.Sweep(func(h ghost.Haunt) bool { return h.App == c.self || c.out.Dead(h.App) })
	if r.haunts.Len() > 0 {
		state := r.state()
		for h := range r.haunts.All() {
			c.out.Send(h.App, state)
		}
	}
	r.ghostedStamp = e.MoveStamp
	callback(r, "OnEnteredCell", func(s Enterer) { s.OnEnteredCell() })
	return nil
}

// HandedOnLease is how long an origin remembers a real that was taken over: longer
// than the new app takes to tell its base and its haunts, even if it has to
// give up a channel (after 10 s of silence) and tells the base again with a backup.
const HandedOnLease = 30 * time.Second

// OnloadAck lets a frozen copy go. Who mirrored the real, and who has its base, is
// remembered for as long as the destination may need to tell them: if it dies
// before, the ghosts still point here, the base believes that the real is still
// here, and nobody else knows better.
func (c *Cell) OnloadAck(m *migrate.OnloadAck) {
	h, ok := c.handoffs.Take(m.ID, m.Order)
	if !ok {
		return
	}
	c.handedOn = append(c.handedOn, handedOn{to: h.To, base: h.Base, orphan: orphan{
		at: c.now + HandedOnLease, haunts: h.Haunts,
		head: ghost.Head{ID: m.ID, Order: h.Offer.Order, Sequence: ghost.Last},
	}})
}

// appendParts encodes everything that belongs to a real, or, for a backup, what
// does not belong to a place.
func (r *Real) appendParts(b []byte, backup bool) []byte {
	core := migrate.Core{MoveStamp: r.e.MoveStamp, Position: r.e.Position, Direction: r.e.Direction}
	b = migrate.AppendPart(b, migrate.CorePart, core.Append)
	b = migrate.AppendPart(b, migrate.PropsPart, func(b []byte) []byte {
		return r.e.Props.AppendStream(b, property.CellStream)
	})
	if !backup {
		b = migrate.AppendPart(b, migrate.HistoryPart, r.e.History.Append)
	}
	b = migrate.AppendPart(b, migrate.FlowsPart, func(b []byte) []byte { return r.appendFlows(b, !backup) })
	b = migrate.AppendPart(b, migrate.TimersPart, r.appendTimers)
	b = migrate.AppendPart(b, migrate.ControllersPart, r.appendControllers)
	if backup {
		return b
	}
	b = migrate.AppendPart(b, migrate.ClientPart, r.appendClient)
	if r.witness != nil {
		b = migrate.AppendPart(b, migrate.WitnessPart, r.witness.Append)
	}
	return migrate.AppendPart(b, migrate.HauntsPart, r.haunts.Append)
}

// readParts fills a real. restoring leaves out what an offer has beyond a backup:
// a new incarnation begins its history, its sending and its witness anew.
func (r *Real) readParts(parts []byte, restoring bool) error {
	return migrate.EachPart(parts, func(tag migrate.Tag, body []byte) error {
		rd := mercury.NewReader(body)
		switch tag {
		case migrate.CorePart:
			return nil
		case migrate.PropsPart:
			return wholly(r.e.Props.ReadStream(body, property.CellStream))
		case migrate.TimersPart:
			r.readTimers(&rd)
		case migrate.ControllersPart:
			r.readControllers(&rd)
		case migrate.FlowsPart:
			r.readFlows(&rd)
			if restoring {
				for i := range r.flows {
					r.flows[i].out = entity.Out{}
				}
			}
		default:
			if restoring {
				return nil
			}
			return r.readPlaced(tag, body)
		}
		return rd.Close()
	})
}

// readPlaced reads the parts that only an offload carries.
func (r *Real) readPlaced(tag migrate.Tag, body []byte) error {
	rd := mercury.NewReader(body)
	switch tag {
	case migrate.HistoryPart:
		return wholly(r.e.History.Read(body))
	case migrate.ClientPart:
		r.readClient(&rd)
	case migrate.WitnessPart:
		if r.session == 0 {
			return fmt.Errorf("a witness without a client")
		}
		w := witness.New(r.cell.cfg.Witness)
		w.Read(&rd)
		if err := rd.Close(); err != nil {
			return err
		}
		r.makeWitness(w)
		return nil
	case migrate.HauntsPart:
		r.haunts.Read(&rd, r.cell.now)
	}
	return rd.Close()
}

func wholly(rest []byte, err error) error {
	if err == nil && len(rest) > 0 {
		err = mercury.ErrTrailing
	}
	return err
}

func (r *Real) appendClient(b []byte) []byte {
	b = binary.LittleEndian.AppendUint32(b, r.session)
	b = binary.LittleEndian.AppendUint32(b, r.clientSeq)
	b = binary.AppendUvarint(b, r.dataTold)
	b = binary.AppendUvarint(b, r.saves)
	return mercury.AppendBytes(b, r.direct)
}

func (r *Real) readClient(rd *mercury.Reader) {
	r.session, r.clientSeq = rd.U32(), rd.U32()
	r.dataTold, r.saves = rd.Uvarint(), rd.Uvarint()
	r.direct = append([]byte(nil), rd.Bytes(migrate.MaxParts)...)
}

// AppDied forgets a CellApp that was declared dead, by the manager's verdict.
func (c *Cell) AppDied(app mercury.Address) {
	for _, rec := range c.reals {
		rec.real.haunts.Remove(app)
	}
	c.handoffs.Died(app, func(h *migrate.Handoff) {
		// Ghosts of the old hop point here, where the real no longer is: unless a
		// newer one shows itself within the grace, they have to go.
		c.orphans = append(c.orphans, orphan{
			at: c.now + c.cfg.OrphanGrace, haunts: h.Haunts,
			head: ghost.Head{ID: h.Offer.ID, Order: h.Offer.Order, Sequence: ghost.Last},
		})
		if h.Base.IsZero() {
			c.log.Warn("entity without a base lost in a handoff to a dead CellApp", "entity", h.Offer.ID.String())
			return
		}
		offer := h.Offer
		c.tellBase(h.Base, offer.ID, offer.Order, &offer)
	})
	c.handedOn = slices.DeleteFunc(c.handedOn, func(h handedOn) bool {
		if h.to != app {
			return false
		}
		// One that came back and was destroyed here speaks for itself.
		if !h.base.IsZero() && !slices.ContainsFunc(c.departed, func(d departedFlow) bool { return d.id == h.head.ID }) {
			c.tellBase(h.base, h.head.ID, h.head.Order, &migrate.Lost{ID: h.head.ID, Order: h.head.Order, Reason: "its CellApp died"})
		}
		h.orphan.at = c.now + c.cfg.OrphanGrace
		c.orphans = append(c.orphans, h.orphan)
		return true
	})
	for _, rec := range c.ghosts {
		if rec.ghost.Real != app {
			continue
		}
		rec.ghost.OrphanedUntil = c.now + c.cfg.OrphanGrace
		if !rec.e.Base.IsZero() {
			// The base may never have heard that the real went there: the ack let the
			// frozen copy go, and the news for the base died with the app.
			c.tellBase(rec.e.Base, rec.e.ID, rec.e.Order, &migrate.Lost{ID: rec.e.ID, Order: rec.e.Order, Reason: "its CellApp died"})
		}
	}
}

// BaseAppDied destroys the reals whose base is gone: nothing can restore or
// command them any more.
func (c *Cell) BaseAppDied(app mercury.Address) {
	for _, rec := range append(sorted(nil), c.reals...) {
		if rec.e.Base == app {
			c.drop(rec.real)
		}
	}
}

// orphan is a real that was lost in a handoff from here: its ghosts elsewhere are
// ended when their grace is over.
type orphan struct {
	at     time.Duration
	haunts []mercury.Address
	head   ghost.Head
}

// handedOn is a real that was taken over from here, by an app that may not have
// told its base and its haunts yet; at is when it surely has.
type handedOn struct {
	to, base mercury.Address
	orphan
}

// expire gives up orphaned ghosts and old tombstones.
func (c *Cell) expire() {
	c.handedOn = slices.DeleteFunc(c.handedOn, func(h handedOn) bool { return h.at <= c.now })
	c.tombstones.Expire(c.now)
	c.repeatWords()
	c.handoffs.Due(c.now, func(h *migrate.Handoff) { c.out.Send(h.To, &h.Onload) })
	c.orphans = slices.DeleteFunc(c.orphans, func(o orphan) bool {
		if o.at > c.now {
			return false
		}
		for _, app := range o.haunts {
			c.out.Send(app, &ghost.Delete{Head: o.head})
		}
		return true
	})
	for i := 0; i < len(c.ghosts); {
		rec := c.ghosts[i]
		if rec.ghost.OrphanedUntil == 0 && c.now-rec.heard >= GhostLease {
			c.ask(rec.ghost.Real, rec.ghost.Position())
			rec.heard = c.now
		}
		if u := rec.ghost.OrphanedUntil; u != 0 && u <= c.now {
			c.tombstones.Bury(rec.ghost.Position(), c.now)
			c.evict(rec)
			continue
		}
		i++
	}
}
