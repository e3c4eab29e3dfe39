package main

import (
	"math"
	"testing"
)

// The grid's counts of neighbours are compared with counts one by one, in the crowd of a star.
func TestDensity(t *testing.T) {
	c := small("star")
	c.entities, c.size, c.join = 20_000, 20_000, 0
	l := start(t, c, 0)
	d := newDensity(c.size)
	d.count(l.present())
	off, sum := 0.0, 0.0
	for i := 0; i < c.entities; i += 97 {
		p, n := l.entities[i].at, 0.0
		for k := range l.entities {
			if q := l.entities[k].at; math.Abs(q.x-p.x) < aoiRadius && math.Abs(q.z-p.z) < aoiRadius {
				n++
			}
		}
		off += math.Abs(d.around(p, aoiRadius) - n)
		sum += n
	}
	if off/sum > 0.02 {
		t.Errorf("the grid is wrong by %.1f %% on average", 100*off/sum)
	}
	if got := d.around(point{}, c.size); math.Abs(got-float64(c.entities)) > 1e-6 {
		t.Errorf("the whole world has %v entities, not %d", got, c.entities)
	}
}
