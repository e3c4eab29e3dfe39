package sim

import (
	"errors"
	"fmt"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/space"
	"github.com/cellscape/cellscape/space/cellapp"
)

// callsOnce checks promises 3 and 6 for what clients call. A player numbers its
// calls of its own entity; they are handled in order, each once, however often its
// CellApp died: the proxy keeps them until a backup contains them.
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
	var err error
	k.c.eachView(func(p *Process, _ *space.Cell, v space.View) {
		if !v.IsReal() || err != nil {
			return
		}
		pl := k.c.owner(v.ID())
		switch {
		case pl == nil:
		case get(v, "odd") > 0:
			err = fmt.Errorf("promise 3: %s on %s, of %s, met %d calls of its client out of order", v.ID(), p.Name, pl.name, get(v, "odd"))
		case get(v, "worn") > uint64(pl.worn):
			err = fmt.Errorf("promise 3: %s on %s handled %d calls, its client %s sent %d", v.ID(), p.Name, get(v, "worn"), pl.name, pl.worn)
		}
	})
	return err
}

func (k *callsOnce) converged() error {
	var faults []error
	k.c.eachView(func(p *Process, _ *space.Cell, v space.View) {
		if !v.IsReal() {
			return
		}
		if pl := k.c.owner(v.ID()); pl != nil && uint64(pl.worn) != get(v, "worn") {
			faults = append(faults, fmt.Errorf("promise 6: %s: its client %s sent %d calls, %s handled %d", v.ID(), pl.name, pl.worn, p.Name, get(v, "worn")))
		}
	})
	return errors.Join(faults...)
}

// countsAgree checks the counters that an operator sees: in a world at rest in
// which nothing died, what was sent was handled. After a death they need not agree:
// a restored real handles some messages a second time, and the dead app's
// last second was never reported.
type countsAgree struct{ c *Cluster }

func (k *countsAgree) safe() error { return nil }

func (k *countsAgree) converged() error {
	st := k.c.observer.last
	n := st.Counters
	if n.Errors > k.c.panics && !k.c.parted {
		return fmt.Errorf("%d things happened that should not", n.Errors)
	}
	if k.c.losses > 0 || st.Deaths > 0 || k.c.panics > 0 {
		return nil
	}
	var faults []error
	differ := func(what string, sent, handled uint64) {
		if sent != handled {
			faults = append(faults, fmt.Errorf("promise 3: %s: %d sent, %d handled", what, sent, handled))
		}
	}
	differ("calls of clients, by proxies and cells", n.ClientCallsSent, n.ClientCallsHandled)
	var sent, greets, greeted, refused uint64
	for _, pl := range k.c.players {
		sent += pl.client.Stats().CallsSent
		greets += uint64(pl.greeted)
	}
	differ("calls of clients, by clients and cells", sent, n.ClientCallsHandled)
	// Calls of what has died meanwhile are given up, and counted.
	if n.FlowHandled > n.FlowSent || n.FlowHandled+n.Refused < n.FlowSent {
		faults = append(faults, fmt.Errorf("promise 3: messages of flows: %d sent, %d handled, %d refused", n.FlowSent, n.FlowHandled, n.Refused))
	}
	k.c.eachCellApp(func(_ *Process, a *cellapp.CellApp) { refused += a.Counters().Refused })
	k.c.eachView(func(_ *Process, _ *space.Cell, v space.View) {
		if v.IsReal() {
			greeted += get(v, "greeted")
		}
	})
	// A greeting of someone who has just gone out of sight is refused, and counted;
	// what critters heard is handed down, unless one dies before its heir is made.
	if greeted > greets || greeted+refused < greets {
		faults = append(faults, fmt.Errorf("promise 3: clients sent %d greetings, %d were handled, %d calls refused", greets, greeted, refused))
	}
	return errors.Join(faults...)
}
