package space

import (
	"slices"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/migrate"
)

// Probe answers a base that has not heard of its real for long, or passes the question
// on to where it was handed on to. It reports false if nothing is known of it here: no
// real, no handoff, and none that was destroyed and has not told its base yet.
func (p *Population) Probe(m *migrate.Probe) (known bool) {
	rec := p.find(m.ID)
	if rec != nil {
		p.env.Watch.Claim(&rec.cell.work.rest)
	}
	current := rec != nil && !rec.e.Order.Before(m.Order)
	if current && rec.real != nil {
		if rec.real.gone == staying {
			rec.real.announce()
		}
		return true // if it is on its way out, the next sweep tells
	}
	for i, list := 0, p.departed.of(m.ID); i < len(list); i++ {
		if d := &list[i]; d.side == entity.BasePart && d.stream == m.Order.Incarnation {
			p.env.Out.Send(d.base, &d.was)
			return true // its flow says that it was destroyed
		}
	}
	if order, ok := p.handoffs.Has(m.ID); ok && m.Order.Before(order) {
		p.passProbe(m, p.handoffs.To(m.ID))
		return true
	}
	i := slices.IndexFunc(p.handedOn, func(h handedOn) bool { return h.head.ID == m.ID && m.Order.Before(h.head.Order) })
	if i >= 0 {
		p.passProbe(m, p.handedOn[i].to)
		return true
	}
	if current && rec.ghost != nil {
		p.passProbe(m, rec.ghost.Real)
		return true // until its lease says that it has no real
	}
	return false
}

func (p *Population) passProbe(m *migrate.Probe, to mercury.Address) {
	if m.Hops >= migrate.MaxProbeHops || to == p.env.Self || p.env.Out.Dead(to) {
		return
	}
	on := *m
	on.Hops++
	p.env.Out.Send(to, &on)
}

// Tells reports whether a word about a real of an order, or a newer one, waits for the
// answer of its base.
func (p *Population) Tells(id entity.ID, order entity.Order) bool {
	return slices.ContainsFunc(p.words.list, func(w word) bool { return w.id == id && !w.order.Before(order) })
}
