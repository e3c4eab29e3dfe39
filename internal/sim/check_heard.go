package sim

import (
	"errors"
	"fmt"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/client"
	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space"
)

// heardInOrder checks the calls that reals make of clients. An entity that is greeted tells all
// clients that see it the number of the greeting, and the life in which it was. A client hears of
// one life of an entity in order, and nothing twice. The entity's own client misses nothing: what
// it is told goes by the flow to its proxy, and a restored cell part may repeat what an older life
// had said. Other clients do miss the greetings that happened while they were far off.
type heardInOrder struct{ c *Cluster }

// retold is what heardOf reads.
type retold struct {
	life uint32
	n    uint64
}

// retell is what clients are told of a greeting.
func retell(r *space.Real, n uint32) string {
	return fmt.Sprintf("%d:%d", r.Order().Incarnation, n)
}

// hearRetold notes a call of the player's client.
func (pl *player) hearRetold(r *client.Replica, m *property.Method, args []property.Value) {
	var g retold
	if m.Name != "heardOf" || len(args) != 1 || pl.c.deaf {
		return
	}
	if _, err := fmt.Sscanf(args[0].Str(), "%d:%d", &g.life, &g.n); err != nil {
		return
	}
	own := r == pl.client.Player()
	was, before := pl.heard[r]
	switch {
	case !before || own && (g.life > was.life || pl.ear.retells && g.n <= was.n+1):
	case g.life < was.life || g.n <= was.n:
		pl.misheard(r.ID, "%v after %v", g, was)
	case g.life > was.life:
		pl.misheard(r.ID, "%v after %v, and did not see it leave", g, was)
	case own && g.n != was.n+1:
		pl.misheard(r.ID, "%v after %v, which is its own", g, was)
	}
	pl.heard[r] = g
	pl.ear.retells = pl.ear.retells && !own
}

func (pl *player) misheard(id entity.ID, format string, args ...any) {
	if pl.heardWrong == nil {
		pl.heardWrong = fmt.Errorf("promise 5: %s heard of %s greeting "+format, append([]any{pl.name, id}, args...)...)
	}
}

func (k *heardInOrder) safe() error {
	for _, pl := range k.c.players {
		if pl.heardWrong != nil {
			return pl.heardWrong
		}
	}
	return nil
}

func (k *heardInOrder) converged() error {
	var faults []error
	for v := range k.c.reals() {
		pl := k.c.owner(v.ID())
		if pl == nil {
			continue
		}
		if g, ok := pl.heard[pl.client.Player()]; ok && g.life == v.Order().Incarnation && g.n != get(v, "greeted") {
			faults = append(faults, fmt.Errorf("promise 5: %s heard of %d greetings of its own entity %s, which had %d on %s", pl.name, g.n, v.ID(), get(v, "greeted"), v.p.Name))
		}
	}
	return errors.Join(faults...)
}
