package sim

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/client"
	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space"
)

// clientsConverge checks promise 5 against the reals themselves: not against what a witness
// believes, and not against ghosts.
type clientsConverge struct{ c *Cluster }

// safe: a client's replica cannot hold what the client may not see, since its values have no room
// for it; what is left to check all the time is that no client was sent malformed input.
func (k *clientsConverge) safe() error {
	for _, pl := range k.c.players {
		if pl.client == nil || pl.rude { // the server counts what a rogue says without its client's knowing
			continue
		}
		if st := pl.client.Stats(); st.Malformed > 0 {
			return fmt.Errorf("promise 5: %s was sent something malformed: %v", pl.name, pl.client.Err())
		}
	}
	return nil
}

// reals returns the reals of the space that players are in, by id and in order.
func (k *clientsConverge) reals() (reals map[entity.ID]space.View, order []space.View) {
	reals = map[entity.ID]space.View{}
	for v := range k.c.reals() {
		if v.cell.Space() == theOther {
			reals[v.ID()] = v.View
		}
		if v.cell.Space() == theSpace { // all players are there; entities in rooms are not seen
			reals[v.ID()] = v.View
			order = append(order, v.View)
		}
	}
	return reals, order
}

func (k *clientsConverge) converged() error {
	var faults []error
	reals, order := k.reals()
	for _, pl := range k.c.players {
		faults = append(faults, k.player(pl, reals, order)...)
	}
	return errors.Join(faults...)
}

// player checks what a client holds, and the answer that it got when it asked what it should hold.
func (k *clientsConverge) player(pl *player, reals map[entity.ID]space.View, all []space.View) (faults []error) {
	faults = k.sight(pl, reals, all, nearRadius)
	if pl.audited != 1 {
		faults = append(faults, fmt.Errorf("promise 5: %s: asked for an audit, got %d", pl.name, pl.audited))
	}
	for _, d := range pl.diff {
		faults = append(faults, fmt.Errorf("promise 5: %s: audit: %s", pl.name, d))
	}
	return faults
}

// sight checks what a client holds; near is the distance up to which it is owed what has a detail
// level.
func (k *clientsConverge) sight(pl *player, reals map[entity.ID]space.View, all []space.View, near float32) (faults []error) {
	bad := func(format string, args ...any) {
		faults = append(faults, fmt.Errorf("promise 5: %s: "+format, append([]any{pl.name}, args...)...))
	}
	if !pl.playing() {
		bad("is not playing")
		return faults
	}
	own := pl.client.Player()
	real, ok := reals[own.ID]
	if !ok {
		bad("its entity %s has no real", own.ID)
		return faults
	}
	if own.Position != real.Position() {
		bad("is at %v, its real at %v", own.Position, real.Position())
	}
	for _, i := range own.Def.Stream(property.OwnClientCellStream) {
		k.same(bad, "own", own, real, i)
	}
	for _, v := range all {
		if v.ID() == own.ID || !v.Def().HasClient || v.Def().ManualAoI { // of those idolsShown knows
			continue
		}
		d := apart(real.Position(), v.Position())
		r := pl.client.Entity(v.ID())
		places, owed := k.c.images(v, theSpace, real.Position())
		switch direct := d <= seenFrom(v)+aoiHysteresis; {
		case r == nil && (d <= seenFrom(v) || owed):
			bad("misses %s at %.2f m", v.ID(), d)
		case r != nil && !direct && len(places) == 0:
			bad("holds %s at %.2f m", v.ID(), d)
		case r != nil && d > seenFrom(v) && slices.Contains(places, r.Position):
			k.replica(bad, r, v, r.Position, property.Distance(real.Position(), r.Position) <= near)
		case r != nil:
			k.replica(bad, r, v, v.Position(), property.Distance(real.Position(), v.Position()) <= near)
		}
	}
	if k.c.opts.Gateway {
		k.throughGates(bad, pl, real.Position())
	}
	for r := range pl.client.Entities() {
		if _, ok := reals[r.ID]; !ok {
			bad("holds %s, which does not exist", r.ID)
		}
	}
	return faults
}

// seenFrom is the distance from which an entity is seen.
func seenFrom(v space.View) float64 { return aoiRadius + float64(v.Def().AppealRadius) }

// apart is the distance that areas of interest go by: they are squares.
func apart(a, b property.Vector3) float64 {
	return max(math.Abs(float64(a.X)-float64(b.X)), math.Abs(float64(a.Z)-float64(b.Z)))
}

func (k *clientsConverge) replica(bad func(string, ...any), r *client.Replica, v space.View, at property.Vector3, near bool) {
	if r.Position != at || r.Direction != v.Direction() {
		bad("has %s at %v %v, it is at %v %v", r.ID, r.Position, r.Direction, at, v.Direction())
	}
	for _, i := range r.Def.Stream(property.OtherClientStream) {
		// Between the two edges of a level, hysteresis decides.
		if r.Def.Properties[i].Level == 0 && len(r.Def.Levels) > 0 && !near {
			continue
		}
		k.same(bad, r.ID.String(), r, v, i)
	}
}

func (k *clientsConverge) same(bad func(string, ...any), who string, r *client.Replica, v space.View, i int) {
	name := r.Def.Properties[i].Name
	want, ok := v.Get(name)
	if got := r.Props.Get(i); !ok || !property.Equal(got, want) {
		bad("has %s.%s = %v, it is %v", who, name, got, want)
	}
}
