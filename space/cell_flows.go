package space

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/ghost"
	"github.com/cellscape/cellscape/mercury"
)

// MaxPeers bounds the other ends that one real keeps flows with. Beyond it calls
// to further entities are refused until an old one has been idle for PeerLease.
const MaxPeers = 1024

// peer is both directions of a flow between a real and another part.
type peer struct {
	id   entity.ID
	side entity.Side
	out  entity.Out
	in   entity.In
	// at is where the other end last was known to be: acks go there.
	at mercury.Address
	// home is the app of the other end's base, which always finds its cell part.
	home mercury.Address
	// used is when the flow last moved, and lostSince since when nobody here knows
	// where the other end is; both are local and begin anew on the next cell.
	used, lostSince time.Duration
}

const (
	// PeerLease is how long a settled flow between cells is kept without use. It is
	// longer than anything of it can be under way.
	PeerLease = time.Minute

	// FlowGiveUp is how long a real tries to reach another real of which nobody
	// here knows where it is: as long as a restored one may take to show itself, and more.
	FlowGiveUp = 15 * time.Second
)

// departedFlow is what a destroyed real still owes its base.
type departedFlow struct {
	id   entity.ID
	inc  uint32
	base mercury.Address
	out  entity.Out
}

func (r *Real) peer(id entity.ID, side entity.Side) (*peer, error) {
	i, found := slices.BinarySearchFunc(r.flows, peer{id: id, side: side}, comparePeers)
	if found {
		return &r.flows[i], nil
	}
	if len(r.flows) >= MaxPeers {
		return nil, fmt.Errorf("space: %s keeps flows with %d others already", r.e.ID, MaxPeers)
	}
	p := peer{id: id, side: side, used: r.cell.now}
	if side != entity.BaseSide {
		// There may have been a flow before, forgotten as idle, whose numbers the
		// target remembers: microseconds of game time are above all it can have had.
		p.out = entity.NewOut(uint64(max(r.Now(), 0) / time.Microsecond))
	}
	r.flows = slices.Insert(r.flows, i, p)
	return &r.flows[i], nil
}

// known is the flow with another part if there is one.
func (r *Real) known(id entity.ID, side entity.Side) *peer {
	if i, found := slices.BinarySearchFunc(r.flows, peer{id: id, side: side}, comparePeers); found {
		return &r.flows[i]
	}
	return nil
}

// idle reports whether nobody will miss the flow.
func (p *peer) idle(now time.Duration) bool {
	return p.side != entity.BaseSide && p.out.Kept() == 0 && now-p.used >= PeerLease
}

func comparePeers(a, b peer) int {
	return cmp.Or(cmp.Compare(a.id, b.id), cmp.Compare(a.side, b.side))
}

// base is the flow with the own base.
func (r *Real) base() *peer {
	p, err := r.peer(r.e.ID, entity.BaseSide)
	if err != nil {
		// The base's flow is made with the real and never given up.
		panic(err)
	}
	return p
}

// sendBase puts a payload into the flow to the base.
func (r *Real) sendBase(payload []byte) error {
	if r.e.Base.IsZero() {
		return entity.ErrNoPart
	}
	return r.send(r.base(), payload)
}

func (r *Real) send(p *peer, payload []byte) error {
	p.used = r.cell.now
	n, err := p.out.Add(r.cell.now, payload)
	if err != nil {
		r.cell.count.Errors++
		r.Log().Error("flow message not sent", "to", p.id.String(), "side", p.side.String(), "err", err)
		return err
	}
	r.cell.count.FlowSent++
	r.transmit(p, n, payload)
	return nil
}

func (r *Real) transmit(p *peer, number uint64, payload []byte) {
	m := &r.cell.message
	*m = entity.Message{
		From: r.e.ID, FromSide: entity.CellSide, To: p.id, ToSide: p.side,
		Stream: r.e.Order.Incarnation, Low: p.out.Low(), Number: number, Reply: r.cell.self, Payload: payload,
	}
	if p.side == entity.BaseSide {
		r.cell.out.Send(r.e.Base, m)
		return
	}
	r.cell.route(m, p)
}

// route sends a flow message for another cell part to where its real is known to
// be. If nobody here knows, its base passes it on; for an entity without a base it
// goes to where the real last was. The sender's timer tries again.
func (c *Cell) route(m *entity.Message, p *peer) {
	rec := c.registry.find(m.To)
	switch {
	case rec == nil && !p.home.IsZero():
		c.out.Send(p.home, m)
	case rec == nil:
		if p.at != c.self {
			c.out.Send(p.at, m)
		}
	case rec.real != nil:
		p.at, p.home = c.self, rec.e.Base
		x := *m
		x.Payload = slices.Clone(m.Payload)
		rec.cell.loopback = append(rec.cell.loopback, x)
	default:
		p.at, p.home = rec.ghost.Real, rec.e.Base
		if p.at != c.self {
			c.out.Send(p.at, m)
		}
	}
}

// runLoopback delivers flow messages between reals of this cell.
func (c *Cell) runLoopback() {
	queue := c.loopback
	c.loopback = nil
	c.watch.Enter(&c.work.rest)
	defer c.watch.Leave()
	for i := range queue {
		c.watch.Switch(c.scope(queue[i].To))
		c.HandleFlow(&queue[i], c.self)
	}
}

// goesOn is where a message goes that came from an app for a real which is a ghost
// here; zero if nowhere. It never goes back to where it came from: ghosts that
// point at each other, after a handoff that failed, would pass it to and fro as
// fast as the network can. Its sender's timer tries again.
func (c *Cell) goesOn(g *ghost.Ghost, from mercury.Address) mercury.Address {
	if g.Real == c.self || g.Real == from || c.out.Dead(g.Real) {
		return mercury.Address{}
	}
	return g.Real
}

// HandleFlow takes a flow message for a cell part, which came from an app: it is
// for a real here, or goes on to where the real went.
func (c *Cell) HandleFlow(m *entity.Message, from mercury.Address) {
	rec := c.registry.find(m.To)
	if rec == nil || m.ToSide != entity.CellSide {
		return
	}
	if rec.real == nil {
		c.watch.Claim(&c.work.rest)
		if on := c.goesOn(rec.ghost, from); !on.IsZero() {
			c.out.Send(on, m)
		}
		return
	}
	r := rec.real
	c.watch.Claim(&r.meter)
	if r.gone != staying {
		return
	}
	// Only these speak to a real; a flow with another base would never be idle.
	if own := m.From == r.e.ID; own != (m.FromSide == entity.BaseSide) || !own && m.FromSide != entity.CellSide {
		c.count.Refused++
		return
	}
	p, err := r.peer(m.From, m.FromSide)
	if err != nil {
		c.count.Refused++
		return
	}
	if m.Stream < p.in.Stream() {
		c.count.Refused++ // an older incarnation: acks must not follow it to where it was
		return
	}
	p.at, p.used, p.lostSince = m.Reply, c.now, 0
	// Accept may call back into the script, which may add peers: p is not used after.
	moved := p.in
	moved.Accept(m.Stream, m.Low, m.Number, m.Payload, func(payload []byte) {
		c.count.FlowHandled++
		if r.gone != staying {
			return
		}
		if err := r.handle(m, payload); err != nil {
			// Not above Debug: clients must not be able to fill the log.
			c.count.Refused++
			c.log.Debug("flow message refused", "entity", r.e.ID, "from", m.From, "err", err)
		}
	})
	if p, err := r.peer(m.From, m.FromSide); err == nil {
		p.in = moved
	}
}

// Owes reports whether reals that were destroyed here still have something to tell
// their bases.
func (c *Cell) Owes() bool { return len(c.departed) > 0 }

// HandleAck takes an acknowledgement of a flow that a real here sends, or sent
// before it was destroyed; for one that went on, so does the ack, which came from
// an app.
func (c *Cell) HandleAck(a *entity.Ack, from mercury.Address) {
	if a.ToSide != entity.CellSide {
		return
	}
	for i := range c.departed {
		d := &c.departed[i]
		if d.id == a.To && d.inc == a.Stream && a.From == d.id && a.FromSide == entity.BaseSide {
			c.watch.Claim(&c.work.rest)
			d.out.Settle(c.now, a.Number)
			return
		}
	}
	rec := c.registry.find(a.To)
	switch {
	case rec == nil || rec.cell != c:
	case rec.real == nil:
		c.watch.Claim(&c.work.rest)
		if on := c.goesOn(rec.ghost, from); !on.IsZero() {
			c.out.Send(on, a)
		}
	case a.Stream == rec.e.Order.Incarnation:
		c.watch.Claim(&rec.real.meter)
		if p := rec.real.known(a.From, a.FromSide); p != nil {
			p.out.Settle(c.now, a.Number)
			p.used, p.lostSince = c.now, 0
		}
	}
}

// settleFlows sends the acks that are owed and what has waited too long for one.
func (c *Cell) settleFlows() {
	for _, rec := range c.reals {
		r, idle := rec.real, false
		for i := range r.flows {
			p := &r.flows[i]
			idle = idle || p.idle(c.now)
			if p.in.TakeOwed() {
				r.ack(p)
			}
			if p.out.Due(c.now) && !r.giveUp(p) {
				p.out.Each(c.now, func(n uint64, payload []byte) { r.transmit(p, n, payload) })
			}
		}
		if idle {
			r.flows = slices.DeleteFunc(r.flows, func(p peer) bool { return p.idle(c.now) })
		}
	}
	c.departed = slices.DeleteFunc(c.departed, func(d departedFlow) bool {
		return d.out.Kept() == 0 || c.out.Dead(d.base)
	})
	for i := range c.departed {
		d := &c.departed[i]
		if d.out.Due(c.now) {
			d.out.Each(c.now, func(n uint64, payload []byte) {
				c.out.Send(d.base, &entity.Message{
					From: d.id, FromSide: entity.CellSide, To: d.id, ToSide: entity.BaseSide,
					Stream: d.inc, Low: d.out.Low(), Number: n, Reply: c.self, Payload: payload,
				})
			})
		}
	}
}

// giveUp forgets what was sent to a real that is nowhere to be found: it was
// destroyed, or has gone where nobody here sees it.
func (r *Real) giveUp(p *peer) bool {
	c := r.cell
	if p.side == entity.BaseSide || c.registry.find(p.id) != nil {
		p.lostSince = 0
		return false
	}
	if p.lostSince == 0 {
		p.lostSince = c.now
	}
	if c.now-p.lostSince < FlowGiveUp {
		return false
	}
	c.count.Refused += uint64(p.out.Unreceived())
	r.Log().Warn("calls given up: the target is gone", "target", p.id.String(), "calls", p.out.Kept())
	p.out.Settle(c.now, p.out.Last())
	return true
}

func (r *Real) ack(p *peer) {
	to := p.at
	if p.side == entity.BaseSide && p.id == r.e.ID {
		to = r.e.Base
	}
	a := entity.Ack{
		To: p.id, ToSide: p.side, From: r.e.ID, FromSide: entity.CellSide,
		Stream: p.in.Stream(), Number: p.in.Last(),
	}
	if to == r.cell.self {
		if cell := r.cell.registry.Cell(p.id); cell != nil {
			cell.HandleAck(&a, to)
		}
		return
	}
	r.cell.out.Send(to, &a)
}

// appendFlows encodes all flows for an offload; without the sending ends for a
// backup, since what a restored real sends is a new stream.
func (r *Real) appendFlows(b []byte, sending bool) []byte {
	b = binary.AppendUvarint(b, uint64(len(r.flows)))
	for i := range r.flows {
		p := &r.flows[i]
		b = entity.AppendMailbox(b, p.id, p.side, p.at)
		b = mercury.AppendAddress(b, p.home)
		b = p.in.Append(b)
		b = mercury.AppendBool(b, sending)
		if sending {
			b = p.out.Append(b)
		}
	}
	return b
}

func (r *Real) readFlows(rd *mercury.Reader) {
	n := rd.Count(MaxPeers, 6)
	last := peer{}
	for range n {
		id, side, at := entity.ReadMailbox(rd)
		home := rd.Address()
		if rd.Err() != nil {
			return
		}
		next := peer{id: id, side: side}
		if comparePeers(last, next) >= 0 {
			rd.Fail(errors.New("a flow twice, or out of order"))
			return
		}
		last = next
		p, err := r.peer(id, side)
		if err != nil {
			rd.Fail(err)
			return
		}
		p.at, p.home = at, home
		p.in.Read(rd)
		if rd.Bool() {
			p.out.Read(rd)
		}
	}
}
