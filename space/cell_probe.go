package space

import (
	"slices"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/migrate"
)

// Probe answers a base that has not heard of its real for long, or passes the question
// on to where it was handed on to. It reports false if the cell knows nothing of it: no
// real, no handoff, and none that was destroyed and has not told its base yet.
func (c *Cell) Probe(m *migrate.Probe) (known bool) {
	c.watch.Claim(&c.work.rest)
	rec := c.population.find(m.ID)
	if rec != nil && rec.cell == c && rec.real != nil && !rec.e.Order.Before(m.Order) {
		if rec.real.gone == staying {
			rec.real.announce()
		}
		return true // if it is on its way out, the next sweep tells
	}
	if i := slices.IndexFunc(c.departed, func(d departedFlow) bool { return d.was.ID == m.ID && d.stream == m.Order.Incarnation }); i >= 0 {
		c.out.Send(c.departed[i].base, &c.departed[i].was)
		return true // its flow says that it was destroyed
	}
	if order, ok := c.handoffs.Has(m.ID); ok && m.Order.Before(order) {
		c.passProbe(m, c.handoffs.To(m.ID))
		return true
	}
	i := slices.IndexFunc(c.handedOn, func(h handedOn) bool { return h.head.ID == m.ID && m.Order.Before(h.head.Order) })
	if i >= 0 {
		c.passProbe(m, c.handedOn[i].to)
		return true
	}
	if rec != nil && rec.cell == c && rec.ghost != nil && !rec.e.Order.Before(m.Order) {
		c.passProbe(m, rec.ghost.Real)
		return true // until its lease says that it has no real
	}
	return false
}

func (c *Cell) passProbe(m *migrate.Probe, to mercury.Address) {
	if m.Hops >= migrate.MaxProbeHops || to == c.self || c.out.Dead(to) {
		return
	}
	on := *m
	on.Hops++
	c.out.Send(to, &on)
}

// Tells reports whether a word about a real of an order, or a newer one, waits for the
// answer of its base.
func (p *Population) Tells(id entity.ID, order entity.Order) bool {
	return slices.ContainsFunc(p.words.list, func(w word) bool { return w.id == id && !w.order.Before(order) })
}
