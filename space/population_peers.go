package space

import (
	"slices"

	"github.com/cellscape/cellscape/mercury"
)

// Peers returns the apps on which parts of the entities here live, each once. cells are CellApps
// with a ghost of a real here, with the real of a ghost here, or to which an entity is being or has
// just been handed over; bases are the apps of the entities' bases.
func (p *Population) Peers() (cells, bases []mercury.Address) {
	for c := range p.homes() {
		for _, rec := range c.reals {
			for h := range rec.real.haunts.All() {
				cells = addPeer(cells, h.App)
			}
			bases = addPeer(bases, rec.e.Base)
		}
		for _, rec := range c.ghosts {
			cells = addPeer(cells, rec.ghost.Real)
		}
	}
	for to, base := range p.handoffs.Apps() {
		cells, bases = addPeer(cells, to), addPeer(bases, base)
	}
	for i := range p.handedOn {
		cells = addPeer(cells, p.handedOn[i].to)
	}
	return cells, bases
}

func addPeer(apps []mercury.Address, app mercury.Address) []mercury.Address {
	if app.IsZero() || slices.Contains(apps, app) {
		return apps
	}
	return append(apps, app)
}
