package main

import (
	"math"
	"time"
)

// economy is a crowd that grows from a few to all within the first half of the run, at an even rate
// of growth, and goes in the same way. Cells have to come and go with it, while the average load
// stays where it is meant to be. Half of the people live in towns, the others anywhere. The first
// to come are the first to go.
type economy struct {
	crowd
	towns []point
}

const (
	economyFirst = 1000 // entities at the start
	economyTowns = 12
	economyTown  = 600.0 // metres, the sigma of a town
)

func newEconomy(c crowd, _ *config) scenario {
	e := &economy{crowd: c}
	for range economyTowns {
		e.towns = append(e.towns, e.near(point{}, e.size*0.4))
	}
	return e
}

func (e *economy) start(i int) point {
	if i%2 == 0 {
		return e.anywhere()
	}
	return e.within(e.about(e.towns[e.chance.IntN(len(e.towns))], economyTown))
}

func (e *economy) goal(_ int, at point) (point, float64) { return at, 0 }

// present is a range that grows at its end and later shrinks at its beginning.
func (e *economy) present() (first, last int) {
	half := e.length / 2
	if e.now <= half {
		return 0, e.after(e.now, half)
	}
	return e.entities - e.after(max(0, e.length-e.now), half), e.entities
}

// after is how many there are a time after the growth began.
func (e *economy) after(t, half time.Duration) int {
	few := min(economyFirst, e.entities)
	growth := math.Pow(float64(e.entities)/float64(few), float64(t)/float64(half))
	return min(e.entities, int(math.Round(float64(few)*growth)))
}

// economyMargins tell how far the average load stayed from its bounds. An average below the lower
// bound spends more cells than needed; above the upper bound there are too few.
type economyMargins struct {
	Lower economyMargin `json:"average_less_lower_bound"`
	Upper economyMargin `json:"upper_bound_less_average"`
}

// economyMargin is the range of a margin, and for how many seconds it was negative.
type economyMargin struct {
	Lowest  float64 `json:"lowest"`
	Highest float64 `json:"highest"`
	Outside int     `json:"seconds_outside"`
}

func (m *economyMargin) take(v float64, first bool) {
	if first {
		m.Lowest, m.Highest = v, v
	}
	m.Lowest, m.Highest = min(m.Lowest, v), max(m.Highest, v)
	if v < 0 {
		m.Outside++
	}
}

const (
	// A space of n cells whose average is under target × n/(n+1) could do with one cell fewer;
	// economySlack is by how much loads fluctuate. economyOver is how far above the target an
	// average may be, as a share of the target.
	economySlack = 0.01
	economyOver  = 1.1
)

// economyOf judges the seconds in which there is a choice: with one cell there cannot be fewer, and
// with all apps in use there cannot be more.
func economyOf(seen []second, apps int, target float64) *economyMargins {
	m := &economyMargins{}
	lower, upper := true, true
	for i := range seen {
		s := &seen[i]
		n := float64(s.leaves)
		average := s.total / n
		if s.leaves > 1 {
			m.Lower.take(average-(target*n/(n+1)-economySlack), lower)
			lower = false
		}
		if s.leaves < apps {
			m.Upper.take(target*economyOver-average, upper)
			upper = false
		}
	}
	return m
}
