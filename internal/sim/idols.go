package sim

import (
	"errors"
	"fmt"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space"
)

// Idols are seen by nobody by distance, and by a player however far away once its script has said
// so. In the bad time the scripts of players add and remove them all the time, and say how often
// their clients are to be told of others. Once the world is calm, each says once in each life of
// its cell part whom its client is to see, and no more: what it has said has to last, whoever of
// the two is handed over or restored.

const idolDef = `<root> <IsManualAoI> true </IsManualAoI> <Volatile> <position/> <yaw/> </Volatile>
	<Properties> <steps> <Type> UINT32 </Type> <Flags> ALL_CLIENTS </Flags> </steps> </Properties>
</root>`

// idolBase is the base part of an idol.
type idolBase struct {
	*entity.Base
	w *world `cellscape:"local"`
}

// OnCreated makes the cell part.
func (b *idolBase) OnCreated() {
	b.w.idols = append(b.w.idols, b.ID())
	_ = b.CreateCell(theSpace, somewhere(uint64(b.ID())), property.Vector3{}, nil)
}

// idolCell walks about.
type idolCell struct {
	*space.Real
	Steps property.Uint32
	w     *world `cellscape:"local"`
}

// OnCreated starts the beat and the walk.
func (s *idolCell) OnCreated() {
	_, _ = s.AddTimer(beat, beat, "OnBeat", 0)
	s.OnThere(entity.Callback{})
}

// OnThere walks on.
func (s *idolCell) OnThere(entity.Callback) { wander(s.Real, 20) }

// OnBeat counts, and now and then hides it from all, or shows it again.
func (s *idolCell) OnBeat(entity.Callback) {
	s.w.veil(s.Real)
	if settles(s.Real) {
		return
	}
	s.Steps.Set(s.Steps.Get() + 1)
	s.w.journey(s.Real, 20)
}

// veil hides an entity from all, or has it told in detail, now and then in the bad time.
func (w *world) veil(r *space.Real) {
	switch c := r.Chance(); {
	case w.calm || w.hush:
		r.SetWithheld(false)
		r.SetAlwaysDetailed(false)
	case c.IntN(6) == 0:
		r.SetWithheld(c.IntN(3) == 0)
	case c.IntN(6) == 0:
		r.SetAlwaysDetailed(c.IntN(2) == 0)
	}
}

// adores says whether a player is to see an idol in the end, forbids whether it may never see it.
func adores(player, idol entity.ID) bool  { return (uint64(player)*7+uint64(idol))%3 == 1 }
func forbids(player, idol entity.ID) bool { return (uint64(player)*7+uint64(idol))%3 == 2 }

// pairing is a player and an idol.
type pairing struct{ player, idol entity.ID }

// adoration is what the script of a player has said of an idol once the world was calm.
type adoration struct {
	incarnation uint32 // of the player's real
	at          time.Duration
	added       bool
}

// adore adds and removes idols for the client of a player.
func (w *world) adore(r *space.Real) {
	switch {
	case len(w.idols) == 0 || !r.HasClient():
	case w.calm || w.hush:
		w.adoreAtLast(r)
	default:
		w.adoreWildly(r)
	}
}

func (w *world) adoreWildly(r *space.Real) {
	c := r.Chance()
	id := w.idols[c.IntN(len(w.idols))]
	switch c.IntN(5) {
	case 0, 1:
		if !forbids(r.ID(), id) {
			w.expect(r.AddToAoI(id), space.ErrNotHere)
		}
	case 2:
		w.expect(r.RemoveFromAoI(id), space.ErrNotHere)
	case 3:
		if ids := neighbours(r); len(ids) > 0 {
			least := 1 + c.Float32()*3
			scheme := property.UpdateScheme{Min: least, Max: least + c.Float32()*9}
			w.expect(r.SetUpdateScheme(ids[c.IntN(len(ids))], scheme), space.ErrNotHere)
		}
	}
}

// adoreAtLast says of each idol once in a life what is to hold from then on.
func (w *world) adoreAtLast(r *space.Real) {
	for _, id := range neighbours(r) {
		w.expect(r.SetUpdateScheme(id, property.UpdateScheme{}), nil)
	}
	for _, id := range w.idols {
		at := pairing{r.ID(), id}
		if a, said := w.adored[at]; said && a.incarnation == r.Order().Incarnation {
			continue
		}
		a := adoration{incarnation: r.Order().Incarnation, at: w.now(), added: adores(r.ID(), id)}
		if !a.added {
			w.expect(r.RemoveFromAoI(id), space.ErrNotHere)
		} else if err := r.AddToAoI(id); err != nil {
			w.expect(err, space.ErrNotHere)
			continue
		}
		w.adored[at] = a
	}
}

// OnClient forgets what was said for the client before.
func (s *walkerCell) OnClient(bool) {
	for _, id := range s.w.idols {
		delete(s.w.adored, pairing{s.ID(), id})
	}
}

// expect notes an error that a script should not have got.
func (w *world) expect(err, allowed error) {
	if err != nil && (allowed == nil || !errors.Is(err, allowed)) && w.fault == nil {
		w.fault = err
	}
}

// idolsShown checks that a client sees those idols that its script has added, and no others.
type idolsShown struct {
	c *Cluster
	// here is when an idol was last seen on the cell of a player's real. Where that was too long
	// ago, lost has what was said of it, which may be forgotten.
	here map[pairing]time.Duration
	lost map[pairing]adoration
}

// pairGrace is how long an idol may be away from a player's cell without being forgotten: less than
// what space promises, since sweeps and checks have periods.
const pairGrace = 4 * time.Second

func (k *idolsShown) safe() error {
	w := k.c.world
	if w.fault != nil {
		return fmt.Errorf("a script got an error: %w", w.fault)
	}
	if len(w.idols) == 0 {
		return nil
	}
	for _, pl := range k.c.players {
		if !pl.playing() {
			continue
		}
		for r := range pl.client.Entities() {
			if r.Def.ManualAoI && forbids(pl.id(), r.ID) {
				return fmt.Errorf("promise 5: %s is shown the idol %s, which its script has never added", pl.name, r.ID)
			}
		}
	}
	k.look()
	return nil
}

// look notes which idols are on the cells of which players.
func (k *idolsShown) look() {
	for _, pl := range k.c.players {
		for _, id := range k.c.world.idols {
			at := pairing{pl.id(), id}
			if a, said := k.c.world.adored[at]; said && k.c.now > max(a.at, k.here[at])+pairGrace {
				k.lost[at] = a
			}
		}
	}
	k.eachPair(func(at pairing) { k.here[at] = k.c.now })
}

// eachPair calls f with every player's real and every idol that is on its cell.
func (k *idolsShown) eachPair(f func(at pairing)) {
	for p := range k.c.liveCellApps() {
		var players, idols []entity.ID
		for v := range k.c.viewsOf(p) {
			switch {
			case v.cell.Space() != theSpace:
			case v.IsReal() && k.c.owner(v.ID()) != nil:
				players = append(players, v.ID())
			case v.Def().ManualAoI:
				idols = append(idols, v.ID())
			}
		}
		for _, p := range players {
			for _, i := range idols {
				f(pairing{p, i})
			}
		}
	}
}

func (k *idolsShown) converged() error {
	if len(k.c.world.idols) == 0 {
		return nil
	}
	var faults []error
	here, reals := map[pairing]bool{}, map[entity.ID]space.View{}
	k.eachPair(func(at pairing) { here[at] = true })
	for v := range k.c.reals() {
		reals[v.ID()] = v.View
	}
	judge := &clientsConverge{k.c}
	for _, pl := range k.c.players {
		for _, id := range k.c.world.idols {
			if reals[id] == (space.View{}) || reals[pl.id()] == (space.View{}) {
				continue // others miss them
			}
			bad := func(format string, args ...any) {
				faults = append(faults, fmt.Errorf("promise 5: %s: "+format, append([]any{pl.name}, args...)...))
			}
			at := pairing{pl.id(), id}
			a, said := k.c.world.adored[at]
			said = said && a.incarnation == reals[pl.id()].Order().Incarnation
			r := pl.client.Entity(id)
			switch {
			case r == nil && said && a.added && here[at] && k.lost[at] != a:
				bad("misses the idol %s, which its script added at %v", id, a.at)
			case r != nil && !here[at]:
				bad("holds the idol %s, which is not on its cell", id)
			case r != nil && !adores(pl.id(), id):
				bad("holds the idol %s, which its script has removed", id)
			case r != nil:
				k.c.world.shown++
				judge.replica(bad, r, reals[id], reals[id].Position(), true)
			}
		}
	}
	return errors.Join(faults...)
}
