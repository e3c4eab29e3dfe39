package main

import (
	"math"
	"time"
)

// commute is two towns between which crowds go to and fro: in the morning most of the people of one
// town go to the other, and in the evening they come back. The others stay where they live.
type commute struct {
	crowd
	people []commuter
}

type commuter struct {
	home, work point
	leaves     float64 // how late in a rush, 0 to 1
	speed      float64
	travels    bool
}

const (
	commuteApart   = 0.2   // distance of the towns, of the world's side
	commuteTown    = 500.0 // metres, the sigma of a town
	commuteShare   = 0.7   // of the people live in the western town
	commuteTravels = 0.6   // of those who live there go to work in the other
	// The rush out begins at commuteOut of the run, the rush back at commuteBack. The last person
	// leaves commuteRush later, and then has some 2 km to go in a world of 10 km.
	commuteOut, commuteBack = 0.2, 0.55
	commuteRush             = 0.05
	commuteFast             = 40.0 // metres per second, by carriage; the slowest go at three quarters of it
	commuteMill             = 20.0
)

func newCommute(c crowd, _ *config) scenario {
	return &commute{crowd: c, people: make([]commuter, c.entities)}
}

func (c *commute) start(i int) point {
	west, east := point{-commuteApart / 2 * c.size, 0}, point{commuteApart / 2 * c.size, 0}
	p := &c.people[i]
	inWest := c.chance.Float64() < commuteShare
	if !inWest {
		west, east = east, west
	}
	p.home, p.work = c.within(c.about(west, commuteTown)), c.within(c.about(east, commuteTown))
	p.travels = inWest && c.chance.Float64() < commuteTravels
	p.leaves, p.speed = c.chance.Float64(), c.speed(commuteFast*3/4, commuteFast)
	return p.home
}

func (c *commute) goal(i int, at point) (point, float64) {
	p := &c.people[i]
	place := p.home
	if p.travels && c.now >= c.rush(p, c.share(commuteOut)) && c.now < c.rush(p, c.share(commuteBack)) {
		place = p.work
	}
	if at.distance(place) <= commuteMill*math.Sqrt2 {
		return c.near(place, commuteMill), walking
	}
	return place, p.speed
}

// rush is when someone leaves, if everyone leaves from a given time on.
func (c *commute) rush(p *commuter, from time.Duration) time.Duration {
	return from + time.Duration(p.leaves*float64(c.share(commuteRush)))
}

// disturbances are the rushes, until the last has arrived.
func (c *commute) disturbances() []disturbance {
	longest := time.Duration(0)
	for i := range c.people {
		if p := &c.people[i]; p.travels {
			longest = max(longest, c.rush(p, 0)+time.Duration(p.home.distance(p.work)/p.speed*float64(time.Second)))
		}
	}
	out, back := c.share(commuteOut), c.share(commuteBack)
	return []disturbance{{out, out + longest.Round(time.Second)}, {back, back + longest.Round(time.Second)}}
}
