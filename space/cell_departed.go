package space

import (
	"slices"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/migrate"
)

// departedFlow is what a destroyed real still owes its base, or another entity that
// it called: kept until it is settled, for as long as this CellApp lives.
type departedFlow struct {
	id     entity.ID
	stream uint32
	base   mercury.Address
	peer
	// was is where the real was, for the flow to its base, which takes it from there alone.
	was migrate.Current
}

// owe keeps what a real that is being destroyed has sent and nobody settled yet.
func (c *Cell) owe(r *Real) {
	for i := range r.flows {
		p := &r.flows[i]
		if p.side == entity.BasePart && r.e.Base.IsZero() || p.out.Kept() == 0 || p.unseen {
			continue
		}
		if len(c.departed) == 0 {
			c.population.owing = append(c.population.owing, c)
		}
		d := departedFlow{id: r.e.ID, stream: r.e.Order.Incarnation, base: r.e.Base, peer: *p}
		if p.side == entity.BasePart {
			d.was = r.current()
		}
		c.departed = append(c.departed, d)
	}
}

// Owes reports whether reals that were destroyed here still have something to tell
// their bases, or entities that they called.
func (c *Cell) Owes() bool { return len(c.departed) > 0 }

// owesBase reports whether a real that was destroyed here has not told its base yet.
func (c *Cell) owesBase(id entity.ID) bool {
	return slices.ContainsFunc(c.departed, func(d departedFlow) bool { return d.id == id && d.side == entity.BasePart })
}

// ackDeparted takes an ack that is for a real which was destroyed here.
func (c *Cell) ackDeparted(a *flow.Ack, from mercury.Address) bool {
	for i := range c.departed {
		d := &c.departed[i]
		if d.id == a.To && d.peer.id == a.From && d.side == a.FromPart && a.Incarnation <= d.stream {
			c.watch.Claim(&c.work.rest)
			c.takeAck(nil, &d.peer, a, d.stream, from)
			return true
		}
	}
	return false
}

// settleDeparted sends what destroyed reals still owe.
func (c *Cell) settleDeparted() {
	if len(c.departed) == 0 {
		return
	}
	c.departed = slices.DeleteFunc(c.departed, func(d departedFlow) bool {
		return d.out.Kept() == 0 || d.side == entity.BasePart && c.out.Dead(d.base)
	})
	for i := range c.departed {
		d := &c.departed[i]
		if !c.giveUp(nil, &d.peer) {
			c.resend(&d.peer, func(n uint64, payload []byte) bool { return c.transmitDeparted(d, n, payload) })
		}
	}
	c.forgetOwing()
}

func (c *Cell) transmitDeparted(d *departedFlow, number uint64, payload []byte) bool {
	m := &flow.Message{
		From: d.id, FromPart: entity.CellPart, To: d.peer.id, ToPart: d.side,
		Incarnation: d.stream, Low: d.out.Low(), Number: number, Reply: c.self, Payload: payload,
	}
	if d.side == entity.BasePart {
		return c.send(d.base, m, roomLater)
	}
	return c.route(m, &d.peer, roomLater)
}

// refuseDeparted forgets what a destroyed real would tell a base that does not know
// it, by the app of that base. Whom it called is not the base's affair.
func (c *Cell) refuseDeparted(id entity.ID, incarnation uint32, by mercury.Address) {
	c.departed = slices.DeleteFunc(c.departed, func(d departedFlow) bool {
		return d.id == id && d.stream <= incarnation && d.side == entity.BasePart && d.base == by
	})
	c.forgetOwing()
}

func (c *Cell) forgetOwing() {
	if len(c.departed) == 0 {
		c.population.owing = slices.DeleteFunc(c.population.owing, func(x *Cell) bool { return x == c })
	}
}
