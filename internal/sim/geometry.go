package sim

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/cellscape/cellscape/bsp"
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/space"
)

// theLand is the geometry of the space, where a run has one: a cell loads it outwards from its
// middle, a strip at a time, each as a job that takes up to Options.StripTime.
func theLand() bsp.Rect { return bsp.Rect{MinX: -half, MinZ: -half, MaxX: half, MaxZ: half} }

const (
	// strip is how much farther a cell's land reaches after each job, in metres.
	strip = 80
	// loadAhead is less than a quarter of a cell, so that lines move in several steps.
	loadAhead = 60
)

var errStrip = errors.New("a strip that could not be read")

// loadLand is the game's hook: it loads what the cell lacks, one job at a time.
func loadLand(c *space.Cell) {
	if busy, _ := c.Local().(bool); busy || c.Space() != theSpace {
		return
	}
	next := reach(c.GeometryLoaded(), c.ToLoad().Intersect(theLand()))
	if next == c.GeometryLoaded() {
		return
	}
	err := c.Do(func(context.Context) any { return next }, func(result any) {
		c.SetLocal(false)
		if r, ok := result.(bsp.Rect); ok { // otherwise it is read once more
			c.SetGeometryLoaded(r)
		}
		loadLand(c)
	})
	c.SetLocal(err == nil)
}

// reach is what is loaded after one more strip on each side where something is wanted.
func reach(loaded, want bsp.Rect) bsp.Rect {
	if want.Empty() {
		return loaded
	}
	if loaded.Empty() {
		x, z := (want.MinX+want.MaxX)/2, (want.MinZ+want.MaxZ)/2
		return bsp.Around(x, z, strip).Intersect(want)
	}
	lower := func(at, to float64) float64 { return min(at, max(at-strip, to)) }
	upper := func(at, to float64) float64 { return max(at, min(at+strip, to)) }
	return bsp.Rect{
		MinX: lower(loaded.MinX, want.MinX), MinZ: lower(loaded.MinZ, want.MinZ),
		MaxX: upper(loaded.MaxX, want.MaxX), MaxZ: upper(loaded.MaxZ, want.MaxZ),
	}
}

// landJobs performs the jobs of a CellApp: each takes its time, and one in sixteen fails.
type landJobs struct {
	p      *Process
	chance *rand.Rand
}

// Do implements cellapp.Jobs.
func (j landJobs) Do(token uint64, run func(ctx context.Context) any) {
	delay := time.Duration(1 + j.chance.Int64N(int64(j.p.c.opts.StripTime)))
	result := run(context.Background())
	if j.chance.IntN(16) == 0 {
		result = errStrip
	}
	j.p.jobs = append(j.p.jobs, jobResult{j.p.c.now + delay, token, result})
}

// onLand checks that no entity is made in, restored to or handed over to a cell that has not loaded
// the land there. Where an entity walks by itself, or leaves another one behind, is its own affair.
type onLand struct {
	c    *Cluster
	on   map[entity.ID]landing
	seen int
}

// landing is where an entity is real.
type landing struct {
	at    mercury.Address
	order entity.Order
}

// stride is how far, in metres, an entity can have gone from where it arrived before it is looked
// at.
const stride = 10

func (k *onLand) safe() error {
	if !k.c.opts.Geometry {
		return nil
	}
	for v := range k.c.reals() {
		if v.cell.Space() != theSpace {
			continue
		}
		now := landing{v.p.Address(), v.Order()}
		was, known := k.on[v.ID()]
		k.on[v.ID()] = now
		if was == now || !known && !v.Def().HasBase {
			continue
		}
		k.seen++
		x, z := float64(v.Position().X), float64(v.Position().Z)
		if theLand().Distance(x, z) == 0 && !v.cell.GeometryLoaded().Grow(stride).Contains(x, z) {
			return fmt.Errorf("land: %s has got %s at (%g, %g), where cell %s has loaded %v only, and is to load %v",
				v.p.Name, v.ID(), x, z, v.cell.ID(), v.cell.GeometryLoaded(), v.cell.ToLoad())
		}
	}
	return nil
}

// converged demands that every cell has loaded its land in the end.
func (k *onLand) converged() error {
	if !k.c.opts.Geometry {
		return nil
	}
	var faults []error
	cells := 0
	for p, a := range k.c.liveCellApps() {
		for cell := range a.Cells() {
			need := cell.Area().Intersect(theLand())
			if cell.Space() != theSpace || need.Empty() {
				continue
			}
			cells++
			if need.Intersect(cell.GeometryLoaded()) != need {
				faults = append(faults, fmt.Errorf("land: cell %s on %s has loaded %v of %v at rest", cell.ID(), p.Name, cell.GeometryLoaded(), need))
			}
		}
	}
	if k.seen == 0 || cells == 0 {
		faults = append(faults, fmt.Errorf("land: %d arrivals were looked at, on %d cells", k.seen, cells))
	}
	return errors.Join(faults...)
}
