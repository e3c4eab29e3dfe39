package space

import (
	"time"

	"github.com/cellscape/cellscape/space/cluster/status"
)

// Told sums up what the cells have told their clients, and how the clients' budgets stand. period is
// the tick's. The longest wait begins anew with each call.
func (p *Population) Told(period time.Duration) status.Told {
	t := &p.told
	out := status.Told{
		Places: t.Places, Properties: t.Changes, Calls: t.Calls, Enters: t.Enters, Own: p.toldOwn, Direct: t.Direct - min(t.Direct, p.toldOwn),
		PlacesSent: t.PlacesSent, PlacesSkipped: t.PlacesSkipped, Updates: t.Updates, Crowded: t.Crowded, Waited: uint64((time.Duration(t.Waited) * period).Milliseconds()),
	}
	t.Waited = 0
	for _, c := range p.cells {
		for _, rec := range c.reals {
			if w := rec.real.witness; w != nil {
				out.Clients[shareOf(w.Share())]++
			}
		}
	}
	return out
}

// shareOf is where a share in thousandths stands in status.Told.Clients.
func shareOf(thousandths int) int {
	switch {
	case thousandths >= 1000:
		return 0
	case thousandths >= 500:
		return 1
	case thousandths >= 250:
		return 2
	}
	return 3
}
