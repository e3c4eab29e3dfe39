package space

import (
	"slices"

	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/migrate"
)

// Probe answers a base that has not heard of its real for long, or passes the question on to where
// the real went. The base also needs to hear if there is nothing of it on any cell here.
func (p *Population) Probe(m *migrate.Probe) {
	if !p.answerProbe(m) && m.Hops == 0 && !p.words.has(m.ID, m.Order) {
		p.env.Log.Warn("a base believes in a real that is not here", "entity", m.ID.String(), "order", m.Order.String())
		p.tellLost(m.Base, m.ID, m.Order, 0, "it is unknown where its base believes it")
	}
}

// answerProbe answers, and reports false if nothing is known of the real here: no real, no handoff,
// and no destroyed real whose base has not been told.
func (p *Population) answerProbe(m *migrate.Probe) (known bool) {
	rec := p.find(m.ID)
	if rec != nil {
		p.env.Watch.Claim(&rec.cell.work.rest)
	}
	current := rec != nil && !rec.e.Order.Before(m.Order)
	if current && rec.real != nil {
		if rec.real.gone == staying {
			rec.real.announce()
		}
		return true // if it is on its way out, the next sweep says so
	}
	for i, list := 0, p.departed.of(m.ID); i < len(list); i++ {
		if d := &list[i]; d.toOwn() && d.stream == m.Order.Incarnation {
			p.env.Out.Send(d.base, &d.was)
			return true // its flow tells that it was destroyed
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
		return true // its lease ends if it has no real
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
