package main

import (
	"time"

	"github.com/cellscape/cellscape/bsp"
)

// measure computes what everyone costs, once a second: what an entity sees does not change much
// faster. It is the true load of this second; meters smooth it for the reports.
func (l *lab) measure() {
	for i := range l.apps {
		a := &l.apps[i]
		a.ghosts, a.raw, a.smoothed = 0, 0, 0
	}
	crowd := l.present()
	l.density.count(crowd)
	for i := range crowd {
		e := &crowd[i]
		e.alone = l.cost(e)
		haunts := l.mirror(e)
		e.raw = e.alone + int64(haunts)*hauntCost*ticksPerSecond
		e.meter.Add(time.Duration(e.raw))
		e.meter.Tick(time.Second, smoothing)
		a := &l.apps[e.app]
		a.raw += e.raw
		a.smoothed += e.meter.Load()
	}
	for i := range l.apps {
		a := &l.apps[i]
		ghosts := int64(a.ghosts) * ghostCost * ticksPerSecond
		a.raw += ghosts
		a.remainder.Add(time.Duration(ghosts))
		a.remainder.Tick(time.Second, smoothing)
	}
}

// cost is the load of an entity in a world that is not cut.
func (l *lab) cost(e *entity) int64 {
	seen := min(max(l.density.around(e.at, aoiRadius)-1, 0), mostWitnessed)
	return int64((baseCost + neighbourCost*seen) * e.factor * ticksPerSecond)
}

// mirror counts the ghosts of an entity: one on each created cell whose area is within the ghost
// distance.
func (l *lab) mirror(e *entity) (haunts int) {
	if r := &l.apps[e.app].rect; inside(r, e.at, ghostDistance) {
		return 0 // far from every line
	}
	for _, leaf := range l.tree.Overlapping(bsp.Around(e.at.x, e.at.z, ghostDistance)) {
		if a := &l.apps[appOf(leaf)]; leaf.Created && a.cell == leaf.Cell && appOf(leaf) != e.app {
			a.ghosts++
			haunts++
		}
	}
	return haunts
}

// inside reports whether the square about a point lies within a rectangle.
func inside(r *bsp.Rect, p point, half float64) bool {
	return r.MinX <= p.x-half && p.x+half <= r.MaxX && r.MinZ <= p.z-half && p.z+half <= r.MaxZ
}

// shaken is a factor by which a real clock would falsify a load. The fewer reals a load comes from,
// the more it fluctuates: times as much for one of a cell's reals as for all of them.
func (l *lab) shaken(times float64) float64 {
	return max(0, 1+float64(l.noise.NormFloat64()*l.cfg.noise*times))
}

// report is what all CellApps tell the manager: the smoothed load of their cells, as noisy as a
// real clock makes it.
func (l *lab) report() {
	for i := range l.apps {
		a := &l.apps[i]
		a.reported = 0
		if a.ready {
			a.reported = int64(float64(a.smoothed+a.remainder.Load()) * l.shaken(1))
		}
		l.manager.apps[i].Report(a.reported, l.cfg.balance.Smoothing)
	}
	if l.now%l.cfg.balance.Period == 0 {
		l.sample()
	}
}
