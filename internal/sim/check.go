package sim

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/cellscape/cellscape/bsp"
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/baseapp"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space"
	"github.com/cellscape/cellscape/space/cellapp"
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

// eachCellApp calls f with every live CellApp.
func (c *Cluster) eachCellApp(f func(p *Process, a *cellapp.CellApp)) {
	for _, p := range c.cellApps {
		if p.alive {
			f(p, p.app.(*cellapp.CellApp))
		}
	}
}

// eachView calls f with every real and ghost of every live CellApp.
func (c *Cluster) eachView(f func(p *Process, cell space.Hosted, v space.View)) {
	c.eachCellApp(func(p *Process, a *cellapp.CellApp) {
		for cell := range a.Cells() {
			for v := range cell.Views() {
				f(p, cell, v)
			}
		}
	})
}

// eachViewOf calls f with every real and ghost of one CellApp.
func (c *Cluster) eachViewOf(p *Process, f func(cell space.Hosted, v space.View)) {
	for cell := range p.app.(*cellapp.CellApp).Cells() {
		for v := range cell.Views() {
			f(cell, v)
		}
	}
}

func (c *Cluster) eachBase(f func(p *Process, a *baseapp.BaseApp, b baseapp.BaseView)) {
	c.eachBaseApp(func(p *Process, a *baseapp.BaseApp) {
		for b := range a.Bases() {
			f(p, a, b)
		}
	})
}

// eachBaseApp calls f with every live BaseApp.
func (c *Cluster) eachBaseApp(f func(p *Process, a *baseapp.BaseApp)) {
	for _, p := range c.baseApps {
		if p.alive {
			f(p, p.app.(*baseapp.BaseApp))
		}
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
	k.c.eachBase(func(p *Process, _ *baseapp.BaseApp, b baseapp.BaseView) {
		inc := b.Order.Incarnation
		if b.Life > 0 && (!b.Live || k.c.now < k.adopted(b)+adopting) {
			inc = math.MaxUint32
		}
		if on[b.ID] == nil || inc > current[b.ID] {
			current[b.ID], on[b.ID] = inc, p
		}
	})
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
	err := k.ordersGrow()
	k.c.eachView(func(p *Process, _ space.Hosted, v space.View) {
		if !v.IsReal() || err != nil {
			return
		}
		l := life{v.ID(), v.Order().Incarnation}
		if q := reals[l]; q != nil {
			err = fmt.Errorf("promise 1: entity %s has two reals of incarnation %d, on %s and %s", l.id, l.incarnation, q.Name, p.Name)
		}
		reals[l] = p
		if inc, ok := current[l.id]; ok && l.incarnation > inc && k.c.isMember(on[l.id].Address()) {
			err = fmt.Errorf("promise 1: %s has a real of %s at incarnation %d, but its base is at %d", p.Name, l.id, l.incarnation, inc)
		}
	})
	return err
}

// ordersGrow checks that no base believes again in an order that was overtaken.
func (k *oneReal) ordersGrow() (err error) {
	k.c.eachBase(func(p *Process, _ *baseapp.BaseApp, b baseapp.BaseView) {
		at := baseOn{p.Address(), b.ID}
		if last := k.last[at]; b.Order.Before(last) {
			err = fmt.Errorf("promise 1: the base of %s believes in %v, after it knew of %v", b.ID, b.Order, last)
		}
		k.last[at] = b.Order
	})
	return err
}

// passing reports whether entities of a type without a base come and go: a seedling that was asked
// for long ago may have been made just before the world froze.
func passing(typ string) bool { return typ == "Grain" || typ == "Waif" || typ == "Seedling" }

func (k *oneReal) converged() error {
	var faults []error
	reals := map[entity.ID]int{}
	critters := 0
	bases := map[entity.ID]baseapp.BaseView{}
	k.c.eachBase(func(_ *Process, _ *baseapp.BaseApp, b baseapp.BaseView) { bases[b.ID] = b })
	k.c.eachView(func(p *Process, cell space.Hosted, v space.View) {
		if !v.IsReal() {
			return
		}
		reals[v.ID()]++
		if !v.Def().HasBase {
			if cell.Space() == theSpace && !passing(v.Def().Name) {
				critters++
			}
			return
		}
		b, ok := bases[v.ID()]
		switch {
		case !ok:
			faults = append(faults, fmt.Errorf("promise 1: %s has a real of %s, which has no base", p.Name, v.ID()))
		case b.App != p.Address() || b.Order != v.Order():
			faults = append(faults, fmt.Errorf("promise 1: the real of %s is %v on %s, its base believes in %v on %v", v.ID(), v.Order(), p.Name, b.Order, b.App))
		}
	})
	if want := baseless*max(k.c.opts.Rovers, 0) + k.c.opts.Wild.Stones; critters > want || critters < want && k.c.losses == 0 && k.c.opts.Wild.Brittle == 0 && k.c.observer.last.Deaths == 0 {
		faults = append(faults, fmt.Errorf("promise 1: there are %d entities without a base; %d were made", critters, want))
	}
	for _, id := range slices.SortedFunc(keys(bases), cmp.Compare[entity.ID]) {
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

// keys yields the keys of a map, for sorting.
func keys[K comparable, V any](m map[K]V) func(yield func(K) bool) {
	return func(yield func(K) bool) {
		// order does not show: callers sort
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
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
	var err error
	k.c.eachCellApp(func(p *Process, a *cellapp.CellApp) {
		for cell := range a.Cells() {
			at := versionOf{cell.Space(), cell.Tree().Version()}
			text := string(cell.Tree().Append(nil))
			if was, ok := k.seen[at]; !ok {
				k.seen[at] = text
				if err == nil {
					err = k.tiles(cell.Tree())
				}
			} else if was != text && err == nil {
				err = fmt.Errorf("promise 2: %s knows another version %v of space %d than someone else", p.Name, at.version, at.space)
			}
		}
	})
	return err
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
	k.c.eachCellApp(func(p *Process, a *cellapp.CellApp) {
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
	})
	return errors.Join(faults...)
}

// exactlyOnce checks promise 3 by the numbers that base and cell parts send each other all the
// time. It also checks promise 6, in that nothing sent to an entity with a base is lost, whichever
// CellApps died.
type exactlyOnce struct{ c *Cluster }

func get(v space.View, name string) uint64 {
	if x, ok := v.Get(name); ok {
		return x.Uint()
	}
	return 0
}

func (k *exactlyOnce) safe() error {
	var err error
	k.c.eachView(func(p *Process, _ space.Hosted, v space.View) {
		if v.IsReal() && get(v, "faults") > 0 && err == nil {
			err = fmt.Errorf("promise 3: the cell part of %s on %s met %d gaps in its base's numbers", v.ID(), p.Name, get(v, "faults"))
		}
	})
	k.c.eachBase(func(p *Process, a *baseapp.BaseApp, b baseapp.BaseView) {
		if n := counts(a.Script(b.ID)).Wrong; n > 0 && err == nil {
			err = fmt.Errorf("promise 3: the base of %s on %s met %d gaps in its cell's numbers", b.ID, p.Name, n)
		}
	})
	return err
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
	k.c.eachBase(func(_ *Process, a *baseapp.BaseApp, b baseapp.BaseView) { tallies[b.ID] = counts(a.Script(b.ID)) })
	k.c.eachView(func(p *Process, _ space.Hosted, v space.View) {
		if !v.IsReal() {
			return
		}
		t := tallies[v.ID()]
		if !v.Def().HasBase {
			return
		}
		if !k.c.agree(v.ID(), t.Sent, uint32(get(v, "noted"))) {
			faults = append(faults, fmt.Errorf("promise 3: %s on %s: its base sent %d, the cell part handled %d", v.ID(), p.Name, t.Sent, get(v, "noted")))
		}
		if t.Life == v.Order().Incarnation && uint64(t.Heard) != get(v, "said") {
			faults = append(faults, fmt.Errorf("promise 3: %s on %s: its cell part sent %d, the base handled %d", v.ID(), p.Name, get(v, "said"), t.Heard))
		}
	})
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
	var err error
	k.round++
	reals := map[entity.ID]uint32{} // the lowest incarnation of each
	k.c.eachView(func(_ *Process, _ space.Hosted, v space.View) {
		if n, has := reals[v.ID()]; v.IsReal() && (!has || v.Order().Incarnation < n) {
			reals[v.ID()] = v.Order().Incarnation
		}
	})
	k.c.eachView(func(p *Process, _ space.Hosted, v space.View) {
		if v.IsReal() || err != nil {
			return
		}
		at := ghostAt{p.Address(), v.ID()}
		now := ghostMark{v.Order(), v.LastEvent(), get(v, "steps"), k.round}
		was := k.last[at]
		switch {
		case now.order.Incarnation < was.order.Incarnation && was.round < k.round-1 && k.c.parted && reals[v.ID()] == now.order.Incarnation:
		case now.order.Before(was.order):
			err = fmt.Errorf("promise 4: the ghost of %s on %s went back from %v to %v", v.ID(), p.Name, was.order, now.order)
		case now.order.Incarnation == was.order.Incarnation && (now.event < was.event || now.steps < was.steps):
			err = fmt.Errorf("promise 4: the ghost of %s on %s went back within an incarnation: event %d to %d, steps %d to %d", v.ID(), p.Name, was.event, now.event, was.steps, now.steps)
		}
		k.last[at] = now
	})
	return err
}

func (k *ghostsFollow) converged() error {
	var faults []error
	type real struct {
		p *Process
		v space.View
	}
	reals := map[entity.ID]real{}
	k.c.eachView(func(p *Process, _ space.Hosted, v space.View) {
		if v.IsReal() {
			reals[v.ID()] = real{p, v}
		}
	})
	ghosts := map[ghostAt]bool{}
	k.c.eachView(func(p *Process, _ space.Hosted, v space.View) {
		if v.IsReal() {
			return
		}
		ghosts[ghostAt{p.Address(), v.ID()}] = true
		r, ok := reals[v.ID()]
		switch {
		case !ok:
			faults = append(faults, fmt.Errorf("promise 4: %s holds a ghost of %s, which has no real", p.Name, v.ID()))
		case v.Home() != r.p.Address():
			faults = append(faults, fmt.Errorf("promise 4: the ghost of %s (%v) on %s believes its real on %v, it is on %s (%v)", v.ID(), v.Order(), p.Name, v.Home(), r.p.Name, r.v.Order()))
		case v.Sum() != r.v.Sum():
			faults = append(faults, fmt.Errorf("promise 4: the ghost of %s (%v, event %d) on %s differs from its real on %s (%v, event %d)", v.ID(), v.Order(), v.LastEvent(), p.Name, r.p.Name, r.v.Order(), r.v.LastEvent()))
		}
	})
	k.c.eachView(func(p *Process, cell space.Hosted, v space.View) {
		if !v.IsReal() {
			return
		}
		at := v.Position()
		for _, leaf := range cell.Tree().Overlapping(bsp.Around(float64(at.X), float64(at.Z), seenFrom(v)+aoiHysteresis)) {
			app := mercury.Address{At: leaf.App, Salt: leaf.Salt}
			if app != p.Address() && !ghosts[ghostAt{app, v.ID()}] {
				faults = append(faults, fmt.Errorf("promise 4: %s at (%g, %g) on %s has no ghost on %v", v.ID(), at.X, at.Z, p.Name, app))
			}
		}
	})
	if n := k.c.observer.last.Counters.GhostsDiffer; n > 0 {
		faults = append(faults, fmt.Errorf("promise 4: the CellApps' own audit found %d ghosts that differ", n))
	}
	return errors.Join(faults...)
}
