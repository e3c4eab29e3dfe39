package space

import (
	"cmp"
	"slices"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/migrate"
)

// departedFlow is what a destroyed real still owes its base, or another entity that it called. It
// is kept until it is settled or this CellApp ends.
type departedFlow struct {
	id     entity.ID
	space  entity.SpaceID // where it was
	stream uint32
	base   mercury.Address
	peer
	// was says where the real was. The base takes the flow only from there.
	was migrate.Current
}

// toOwn reports whether the flow is that to the own base.
func (d *departedFlow) toOwn() bool { return d.side == entity.BasePart && d.peer.id == d.id }

// departed are the flows of all destroyed reals.
type departed struct {
	list []departedFlow         // by entity id
	from map[entity.SpaceID]int // how many of each space; none at zero
}

// of returns the flows of one destroyed real.
func (d *departed) of(id entity.ID) []departedFlow {
	from, _ := slices.BinarySearchFunc(d.list, id, func(x departedFlow, id entity.ID) int { return cmp.Compare(x.id, id) })
	to := from
	for to < len(d.list) && d.list[to].id == id {
		to++
	}
	return d.list[from:to]
}

func (d *departed) add(x departedFlow) {
	if d.from == nil {
		d.from = make(map[entity.SpaceID]int)
	}
	d.from[x.space]++
	i, _ := slices.BinarySearchFunc(d.list, x.id+1, func(x departedFlow, id entity.ID) int { return cmp.Compare(x.id, id) })
	d.list = slices.Insert(d.list, i, x)
}

// forget takes out the flows that are over.
func (d *departed) forget(over func(x *departedFlow) bool) {
	d.list = slices.DeleteFunc(d.list, func(x departedFlow) bool {
		if !over(&x) {
			return false
		}
		if d.from[x.space]--; d.from[x.space] == 0 {
			delete(d.from, x.space)
		}
		return true
	})
}

// owe keeps what a real that is being destroyed has sent and nobody has settled.
func (p *Population) owe(r *Real) {
	for i := range r.flows {
		end := &r.flows[i]
		if r.own(end) && r.e.Base.IsZero() || end.out.Kept() == 0 || end.unseen {
			continue
		}
		d := departedFlow{id: r.e.ID, space: r.e.Space, stream: r.e.Order.Incarnation, base: r.e.Base, peer: *end}
		if r.own(end) {
			d.was = r.current()
		}
		p.departed.add(d)
	}
}

// owesBase returns the unsettled flow of a real that was destroyed here to its base; nil if there
// is none.
func (p *Population) owesBase(id entity.ID) *departedFlow {
	list := p.departed.of(id)
	if i := slices.IndexFunc(list, func(d departedFlow) bool { return d.toOwn() }); i >= 0 {
		return &list[i]
	}
	return nil
}

// ackDeparted takes an ack for a real that was destroyed here.
func (p *Population) ackDeparted(a *flow.Ack, from mercury.Address) bool {
	list := p.departed.of(a.To)
	for i := range list {
		d := &list[i]
		if d.peer.id == a.From && d.side == a.FromPart && a.Incarnation > d.stream && (d.side == entity.CellPart || from == d.home) {
			p.abandon(nil, &d.peer, errOutlived) // the ack itself may be for another one that is here
		}
		if d.peer.id == a.From && d.side == a.FromPart && a.Incarnation <= d.stream {
			if d.toOwn() && from != d.base || !d.toOwn() && d.side == entity.BasePart && from != d.home {
				p.env.Counters.Unproved++
				return true
			}
			p.takeAck(nil, &d.peer, a, d.stream, from)
			return true
		}
	}
	return false
}

// settleDeparted sends what destroyed reals still owe.
func (p *Population) settleDeparted() {
	if len(p.departed.list) == 0 {
		return
	}
	p.departed.forget(func(d *departedFlow) bool {
		return d.out.Kept() == 0 || d.toOwn() && p.env.Out.Dead(d.base)
	})
	for i := range p.departed.list {
		d := &p.departed.list[i]
		if !p.giveUp(nil, &d.peer, d.id, d.stream) {
			p.resend(&d.peer, func(n uint64, payload []byte) bool { return p.transmitDeparted(d, n, payload) })
		}
	}
}

func (p *Population) transmitDeparted(d *departedFlow, number uint64, payload []byte) bool {
	m := &flow.Message{
		From: d.id, FromPart: entity.CellPart, To: d.peer.id, ToPart: d.side,
		Incarnation: d.stream, Low: d.out.Low(), Number: number, Reply: p.env.Self, Payload: payload,
		Born: d.out.Born(number, d.stream),
	}
	if d.toOwn() {
		return p.send(d.base, m, roomLater)
	}
	return p.route(m, &d.peer, roomLater)
}

// refuseDeparted forgets what a destroyed real would tell a base that does not know it. Only the
// app of that base may ask for this. It does not concern flows to other entities.
func (p *Population) refuseDeparted(id entity.ID, incarnation uint32, by mercury.Address) {
	if p.owesBase(id) != nil {
		p.departed.forget(func(d *departedFlow) bool {
			return d.id == id && d.stream <= incarnation && d.toOwn() && d.base == by
		})
	}
}
