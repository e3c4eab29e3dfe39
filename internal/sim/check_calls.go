package sim

import (
	"errors"
	"fmt"

	"github.com/cellscape/cellscape/entity"
)

// callsOnce checks promises 3 and 6 for what clients call. A player numbers its calls of its own
// entity. They are handled in order, once each, however often the entity's CellApp died: the proxy
// keeps them until a backup contains them.
type callsOnce struct{ c *Cluster }

// owner is the honest player whose entity has an id, or nil.
func (c *Cluster) owner(id entity.ID) *player {
	for _, pl := range c.players {
		if !pl.rude && pl.id() == id {
			return pl
		}
	}
	return nil
}

func (k *callsOnce) safe() error {
	for v := range k.c.reals() {
		pl := k.c.owner(v.ID())
		switch {
		case pl == nil:
		case get(v, "odd") > 0:
			return fmt.Errorf("promise 3: %s on %s, of %s, met %d calls of its client out of order", v.ID(), v.p.Name, pl.name, get(v, "odd"))
		case get(v, "worn") > uint64(pl.worn):
			return fmt.Errorf("promise 3: %s on %s handled %d calls, its client %s sent %d", v.ID(), v.p.Name, get(v, "worn"), pl.name, pl.worn)
		}
	}
	return nil
}

func (k *callsOnce) converged() error {
	var faults []error
	for v := range k.c.reals() {
		if pl := k.c.owner(v.ID()); pl != nil && uint64(pl.worn) != get(v, "worn") {
			faults = append(faults, fmt.Errorf("promise 6: %s: its client %s sent %d calls, %s handled %d", v.ID(), pl.name, pl.worn, v.p.Name, get(v, "worn")))
		}
	}
	return errors.Join(faults...)
}
