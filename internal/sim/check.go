package sim

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/cellscape/cellscape/bsp"
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/baseapp"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/property"
)

// checker observes one promise. safe is asked all the time, converged once, in a world at rest.
type checker interface {
	safe() error
	converged() error
}

func newCheckers(c *Cluster) []checker {
	return []checker{
		&oneReal{c, map[baseOn]entity.Order{}, map[baseLife]time.Duration{}}, &tiling{c: c, seen: map[versionOf]string{}}, &exactlyOnce{c},
		&ghostsFollow{c: c, last: map[ghostAt]ghostMark{}}, &clientsConverge{c},
		&callsOnce{c}, &callsNumbered{c, map[entity.ID]bool{}}, &oneData{c: c, last: map[keyAt]uint64{}},
		&gameTime{c: c, entities: map[entity.ID]entityTime{}, cells: map[cellPlace]time.Duration{}},
		&oneShared{c},
		&oneOracle{c},
		&roomsKnown{c},
		&namesUnique{c},
		&oneBeacon{c},
		&idolsShown{c, map[pairing]time.Duration{}, map[pairing]adoration{}},
		&sentriesKnow{c},
		&ridersSit{c},
		&kicksTold{c},
		&wallsHold{c},
		&callsAnswered{c},
		&oneSession{c},
		&heardInOrder{c},
		&movesInOrder{c, map[entity.ID]footprint{}},
		&lastWord{c: c, on: map[entity.ID]walked{}, made: map[entity.ID]restored{}},
		&timersRun{c, map[entity.ID]tickSeen{}},
		&onLand{c: c, on: map[entity.ID]landing{}},
		c.fresh,
		&sendsTold{c},
		&teleportsEnd{c},
		&settlersTold{c},
		&copiesHeld{c},
		&basesKept{c},
		&savedKept{c},
		&storeKeeps{c},
		&loginsBounded{c},
		&gatesFresh{c: c, seen: map[entity.ID]time.Duration{}, way: map[entity.ID][]property.Vector3{}, budget: map[entity.ID]int{}, met: map[[2]entity.ID]meeting{}, app: map[entity.ID]string{}},
	}
}

// oneReal checks promise 1: there is never more than one real of one incarnation, and no real of an
// incarnation that its base did not start.
type oneReal struct {
	c *Cluster
	// last is the newest order that each base knew in its present life.
	last map[baseOn]entity.Order
	// since is when each life of a restored base was first seen to have a cell part.
	since map[baseLife]time.Duration
}

type baseLife struct {
	id   entity.ID
	life uint32
}

// adopting is how long a restored base may go by an incarnation that is not the last that its former
// life began (baseapp's adoptGrace). The first that it hears of may have ended long ago: its CellApp
// answers for it until a copy of the base knows of that.
const adopting = 3 * time.Second

// baseOn is one life of a base.
type baseOn struct {
	app mercury.Address
	id  entity.ID
}

// incarnations are those that bases have started. Of a restored base that has yet to hear of its
// cell part, or that knows nothing of one that it made after its copy, it is not known, nor of one that has
// just heard. on is whose word that is.
func (k *oneReal) incarnations() (current map[entity.ID]uint32, on map[entity.ID]*Process) {
	current, on = map[entity.ID]uint32{}, map[entity.ID]*Process{}
	for b := range k.c.bases() {
		inc := b.Order.Incarnation
		if b.Life > 0 && (!b.Live || k.c.now < k.adopted(b.BaseView)+adopting) {
			inc = math.MaxUint32
		}
		if on[b.ID] == nil || inc > current[b.ID] {
			current[b.ID], on[b.ID] = inc, b.p
		}
	}
	return current, on
}

// adopted is when a life of a restored base was first seen to have a cell part.
func (k *oneReal) adopted(b baseapp.BaseView) time.Duration {
	l := baseLife{b.ID, b.Life}
	if _, seen := k.since[l]; !seen {
		k.since[l] = k.c.now
	}
	return k.since[l]
}

func (k *oneReal) safe() error {
	type life struct {
		id          entity.ID
		incarnation uint32
	}
	reals := map[life]*Process{}
	current, on := k.incarnations()
	if err := k.ordersGrow(); err != nil {
		return err
	}
	for v := range k.c.reals() {
		l := life{v.ID(), v.Order().Incarnation}
		if q := reals[l]; q != nil {
			return fmt.Errorf("promise 1: entity %s has two reals of incarnation %d, on %s and %s", l.id, l.incarnation, q.Name, v.p.Name)
		}
		reals[l] = v.p
		if inc, ok := current[l.id]; ok && l.incarnation > inc && k.c.isMember(on[l.id].Address()) {
			return fmt.Errorf("promise 1: %s has a real of %s at incarnation %d, but its base is at %d", v.p.Name, l.id, l.incarnation, inc)
		}
	}
	return nil
}

// ordersGrow checks that no base believes again in an order that was overtaken.
func (k *oneReal) ordersGrow() error {
	for b := range k.c.bases() {
		at := baseOn{b.p.Address(), b.ID}
		if last := k.last[at]; b.Order.Before(last) {
			return fmt.Errorf("promise 1: the base of %s believes in %v, after it knew of %v", b.ID, b.Order, last)
		}
		k.last[at] = b.Order
	}
	return nil
}

// passing reports whether entities of a type without a base come and go: a seedling that was asked
// for long ago may have been made just before the world froze.
func passing(typ string) bool { return typ == "Grain" || typ == "Waif" || typ == "Seedling" }

func (k *oneReal) converged() error {
	var faults []error
	reals := map[entity.ID]int{}
	critters := 0
	bases := map[entity.ID]baseapp.BaseView{}
	for b := range k.c.bases() {
		bases[b.ID] = b.BaseView
	}
	for v := range k.c.reals() {
		reals[v.ID()]++
		if !v.Def().HasBase {
			if v.cell.Space() == theSpace && !passing(v.Def().Name) {
				critters++
			}
			continue
		}
		b, ok := bases[v.ID()]
		switch {
		case !ok:
			faults = append(faults, fmt.Errorf("promise 1: %s has a real of %s, which has no base", v.p.Name, v.ID()))
		case b.App != v.p.Address() || b.Order != v.Order():
			faults = append(faults, fmt.Errorf("promise 1: the real of %s is %v on %s, its base believes in %v on %v", v.ID(), v.Order(), v.p.Name, b.Order, b.App))
		}
	}
	if want := baseless*max(k.c.opts.Rovers, 0) + k.c.opts.Wild.Stones; critters > want || critters < want && k.c.losses == 0 && k.c.opts.Wild.Brittle == 0 && k.c.observer.last.Deaths == 0 {
		faults = append(faults, fmt.Errorf("promise 1: there are %d entities without a base; %d were made", critters, want))
	}
	for _, id := range slices.Sorted(maps.Keys(bases)) {
		// A proxy whose client has gone or never came does not stay. A restored one waits for its client
		// first, though its former life may have let that go, and ended the cell part.
		if b := bases[id]; !b.HasCell && (b.Session == 0 || k.c.world.bases.again[id]) {
			continue
		}
		if reals[id] != 1 {
			faults = append(faults, fmt.Errorf("promise 1: %s has %d reals (base says live %t, %v)", id, reals[id], bases[id].Live, bases[id].Order))
		}
	}
	return errors.Join(faults...)
}

// tiling checks promise 2: every version of a geometry is one cut of the whole plane, the same
// wherever it is known.
type tiling struct {
	c    *Cluster
	seen map[versionOf]string
}

type versionOf struct {
	space   entity.SpaceID
	version bsp.Version
}

func (k *tiling) safe() error {
	for p, a := range k.c.liveCellApps() {
		for cell := range a.Cells() {
			at := versionOf{cell.Space(), cell.Tree().Version()}
			text := string(cell.Tree().Append(nil))
			if was, ok := k.seen[at]; !ok {
				k.seen[at] = text
				if err := k.tiles(cell.Tree()); err != nil {
					return err
				}
			} else if was != text {
				return fmt.Errorf("promise 2: %s knows another version %v of space %d than someone else", p.Name, at.version, at.space)
			}
		}
	}
	return nil
}

// tiles checks points all over the plane against the leaves' rectangles.
func (k *tiling) tiles(t *bsp.Tree) error {
	for i := -20; i <= 20; i++ {
		for j := -20; j <= 20; j++ {
			x, z := float64(i)*half/15, float64(j)*half/15
			n := 0
			for rect, leaf := range t.Leaves() {
				if rect.Contains(x, z) {
					n++
					if t.At(x, z) != leaf {
						return fmt.Errorf("promise 2: %v: point (%g, %g) is in leaf %v but found elsewhere", t.Version(), x, z, leaf.Cell)
					}
				}
			}
			if n != 1 {
				return fmt.Errorf("promise 2: %v: point (%g, %g) is in %d leaves", t.Version(), x, z, n)
			}
		}
	}
	return nil
}

func (k *tiling) converged() error {
	var faults []error
	versions := map[entity.SpaceID]bsp.Version{}
	for p, a := range k.c.liveCellApps() {
		for cell := range a.Cells() {
			if a.Removing(cell.Space()) && cell.Reals()+cell.Ghosts() == 0 {
				continue // the cell is out of the geometry, and is told no new one
			}
			if v, ok := versions[cell.Space()]; ok && v != cell.Tree().Version() {
				faults = append(faults, fmt.Errorf("promise 2: %s is at version %v, another CellApp at %v", p.Name, cell.Tree().Version(), v))
			}
			versions[cell.Space()] = cell.Tree().Version()
			leaf, _, ok := cell.Tree().Leaf(cell.ID())
			if !ok || (mercury.Address{At: leaf.App, Salt: leaf.Salt}) != p.Address() {
				faults = append(faults, fmt.Errorf("promise 2: %s runs cell %v, which the geometry gives to someone else", p.Name, cell.ID()))
			}
		}
	}
	return errors.Join(faults...)
}

// exactlyOnce checks promise 3 by the numbers that base and cell parts send each other all the
// time. It also checks promise 6, in that nothing sent to an entity with a base is lost, whichever
// CellApps died.
type exactlyOnce struct{ c *Cluster }

func get(v interface {
	Get(name string) (property.Value, bool)
}, name string) uint64 {
	if x, ok := v.Get(name); ok {
		return x.Uint()
	}
	return 0
}

func (k *exactlyOnce) safe() error {
	for v := range k.c.reals() {
		if get(v, "faults") > 0 {
			return fmt.Errorf("promise 3: the cell part of %s on %s met %d gaps in its base's numbers", v.ID(), v.p.Name, get(v, "faults"))
		}
	}
	for b := range k.c.bases() {
		if n := counts(b.script()).Wrong; n > 0 {
			return fmt.Errorf("promise 3: the base of %s on %s met %d gaps in its cell's numbers", b.ID, b.p.Name, n)
		}
	}
	return nil
}

// tally is what a base script has counted.
type tally struct{ Sent, Heard, Life, Wrong uint32 }

func counts(script any) tally {
	switch s := script.(type) {
	case *walkerBase:
		return tally{s.Sent.Get(), s.Heard.Get(), s.Life.Get(), s.Wrong.Get()}
	case *stoneBase:
		return tally{Sent: s.Sent.Get()}
	case *brittleBase:
		return tally{s.Sent.Get(), s.Heard.Get(), s.Life.Get(), s.Wrong.Get()}
	case *roverBase:
		return tally{s.Sent.Get(), s.Heard.Get(), s.Life.Get(), s.Wrong.Get()}
	}
	return tally{}
}

func (k *exactlyOnce) converged() error {
	var faults []error
	tallies := map[entity.ID]tally{}
	for b := range k.c.bases() {
		tallies[b.ID] = counts(b.script())
	}
	for v := range k.c.reals() {
		t := tallies[v.ID()]
		if !v.Def().HasBase {
			continue
		}
		if !k.c.agree(v.ID(), t.Sent, uint32(get(v, "noted"))) {
			faults = append(faults, fmt.Errorf("promise 3: %s on %s: its base sent %d, the cell part handled %d", v.ID(), v.p.Name, t.Sent, get(v, "noted")))
		}
		if t.Life == v.Order().Incarnation && uint64(t.Heard) != get(v, "said") {
			faults = append(faults, fmt.Errorf("promise 3: %s on %s: its cell part sent %d, the base handled %d", v.ID(), v.p.Name, get(v, "said"), t.Heard))
		}
	}
	return errors.Join(faults...)
}

// ghostsFollow checks promise 4. A base that goes on at an app which cannot reach the CellApp of
// its real begins another one, and the former does not hear of that while they are parted. It may
// then have a ghost anew where one of the newer real has ended: its own CellApp is asked, and
// vouches for it.
type ghostsFollow struct {
	c     *Cluster
	last  map[ghostAt]ghostMark
	round int
}

type ghostAt struct {
	app mercury.Address
	id  entity.ID
}

type ghostMark struct {
	order entity.Order
	event property.EventNumber
	steps uint64
	round int // when it was seen
}

func (k *ghostsFollow) safe() error {
	k.round++
	reals := map[entity.ID]uint32{} // the lowest incarnation of each
	for v := range k.c.reals() {
		if n, has := reals[v.ID()]; !has || v.Order().Incarnation < n {
			reals[v.ID()] = v.Order().Incarnation
		}
	}
	for v := range k.c.views() {
		if v.IsReal() {
			continue
		}
		at := ghostAt{v.p.Address(), v.ID()}
		now := ghostMark{v.Order(), v.LastEvent(), get(v, "steps"), k.round}
		was := k.last[at]
		switch {
		case now.order.Incarnation < was.order.Incarnation && was.round < k.round-1 && k.c.parted && reals[v.ID()] == now.order.Incarnation:
		case now.order.Before(was.order):
			return fmt.Errorf("promise 4: the ghost of %s on %s went back from %v to %v", v.ID(), v.p.Name, was.order, now.order)
		case now.order.Incarnation == was.order.Incarnation && (now.event < was.event || now.steps < was.steps):
			return fmt.Errorf("promise 4: the ghost of %s on %s went back within an incarnation: event %d to %d, steps %d to %d", v.ID(), v.p.Name, was.event, now.event, was.steps, now.steps)
		}
		k.last[at] = now
	}
	return nil
}

func (k *ghostsFollow) converged() error {
	var faults []error
	reals := map[entity.ID]sighting{}
	for v := range k.c.reals() {
		reals[v.ID()] = v
	}
	ghosts := map[ghostAt]bool{}
	for v := range k.c.views() {
		if v.IsReal() {
			continue
		}
		ghosts[ghostAt{v.p.Address(), v.ID()}] = true
		r, ok := reals[v.ID()]
		switch {
		case !ok:
			faults = append(faults, fmt.Errorf("promise 4: %s holds a ghost of %s, which has no real", v.p.Name, v.ID()))
		case v.Home() != r.p.Address():
			faults = append(faults, fmt.Errorf("promise 4: the ghost of %s (%v) on %s believes its real on %v, it is on %s (%v)", v.ID(), v.Order(), v.p.Name, v.Home(), r.p.Name, r.Order()))
		case v.Sum() != r.Sum():
			faults = append(faults, fmt.Errorf("promise 4: the ghost of %s (%v, event %d) on %s differs from its real on %s (%v, event %d)", v.ID(), v.Order(), v.LastEvent(), v.p.Name, r.p.Name, r.Order(), r.LastEvent()))
		}
	}
	for v := range k.c.reals() {
		at := v.Position()
		for _, leaf := range v.cell.Tree().Overlapping(bsp.Around(float64(at.X), float64(at.Z), seenFrom(v.View)+aoiHysteresis)) {
			app := mercury.Address{At: leaf.App, Salt: leaf.Salt}
			if app != v.p.Address() && !ghosts[ghostAt{app, v.ID()}] {
				faults = append(faults, fmt.Errorf("promise 4: %s at (%g, %g) on %s has no ghost on %v", v.ID(), at.X, at.Z, v.p.Name, app))
			}
		}
	}
	if n := k.c.observer.last.Counters.GhostsDiffer; n > 0 {
		faults = append(faults, fmt.Errorf("promise 4: the CellApps' own audit found %d ghosts that differ", n))
	}
	return errors.Join(faults...)
}
