package main

import (
	"math"
	"math/rand/v2"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/client/bots"
	"github.com/cellscape/cellscape/property"
)

// This file lays out the field. Walkers by random waypoint are not spread evenly: most ways lead through
// the middle. So the field is made as large as their spread asks for, and everyone begins in the middle of
// a way, as if all had walked for hours. Otherwise the crowd would gather while it is measured.

// within is the share of all pairs of walkers, on a field of side 1, that are no farther apart than that
// in both coordinates. It takes a walker to be at x with the density 6x(1-x), in each coordinate by itself
// (Bettstetter, Resta and Santi, 2003). The truth is a little flatter.
func within(distance float64) float64 {
	const flatter = 0.96
	u := max(0, 1-distance)
	one := 1 - u*u*u*u*(3-2.4*u+0.4*u*u)
	return flatter * one * one
}

// sees is how far away another is seen in one coordinate, in metres, taken over all. Of those in the
// hysteresis about a quarter have come from inside and not left yet, as a crowd shows.
func (f *flags) sees() float64 { return f.radius + hysteresis/4.0 }

// side of the field, in metres, on which each of n players has so many others in view: a view is a square.
// On the smallest field all see each other.
func (f *flags) side() float64 {
	if f.field > 0 {
		return f.field
	}
	want := float64(f.view) / float64(max(f.n-1, 1))
	least, most := f.sees(), 2*f.sees()*math.Sqrt(1.44/min(want, 1)) // more than a field without an edge takes
	for range 60 {
		mid := (least + most) / 2
		if within(f.sees()/mid) > want {
			least = mid
		} else {
			most = mid
		}
	}
	return least
}

// way is where the player of an entity begins, and whither it walks first. A long way is more often walked
// than a short one, as long as it takes.
func way(id entity.ID, half float32) (at, to property.Vector3) {
	chance := rand.New(rand.NewPCG(uint64(id), 1))
	place := func() property.Vector3 {
		return property.Vector3{X: (2*chance.Float32() - 1) * half, Z: (2*chance.Float32() - 1) * half}
	}
	longest := 2 * math.Sqrt2 * half
	for {
		from, to := place(), place()
		if property.Distance(from, to) < chance.Float32()*longest {
			continue
		}
		gone := chance.Float32()
		at = property.Vector3{X: from.X + gone*(to.X-from.X), Z: from.Z + gone*(to.Z-from.Z)}
		return at, to
	}
}

// walk is a Walk whose first way is the one on which the player's base has put it.
type walk struct {
	bots.Walk
	on bool
}

// Act implements bots.Behaviour.
func (w *walk) Act(b *bots.Bot) {
	if !w.on {
		w.on = true
		_, to := way(b.Player().ID, w.MaxX)
		w.Head(to)
	}
	w.Walk.Act(b)
}
