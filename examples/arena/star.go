package main

import (
	"math"
	"math/rand/v2"
	"time"

	"github.com/cellscape/cellscape/examples/arena/game"
	"github.com/cellscape/cellscape/property"
)

// The dance is the balance demonstration of the BigWorld whitepaper: the crowd spreads over a
// square, gathers at the eight points of a star and its centre, then walks along the rays, and
// begins again. Each step puts the load elsewhere, and the cells have to follow.
const (
	// points is how far from the centre the points of the star are, in metres.
	points = 600
	rays   = 8
	centre = rays // its station

	// The crowd needs some 20 seconds for a ray.
	spreadFor = 10 * time.Second
	gatherFor = 22 * time.Second
	raysFor   = 40 * time.Second
)

// dance knows the steps of one bot.
type dance struct {
	number int
	chance *rand.Rand

	cycle int
	spot  property.Vector3 // of the spread
}

func newDance(number int, seed uint64) *dance {
	d := &dance{number: number, chance: rand.New(rand.NewPCG(seed, uint64(number))), cycle: -1}
	d.spot = game.Somewhere(d.chance, game.Spread)
	return d
}

// target is where the bot wants to be at a time since the dance began.
func (d *dance) target(now time.Duration) property.Vector3 {
	const whole = spreadFor + gatherFor + raysFor
	cycle, t := int(now/whole), now%whole
	from, to := d.crowded(2*cycle), d.crowded(2*cycle+1)
	switch {
	case t < spreadFor:
		if d.cycle != cycle {
			d.cycle = cycle
			d.spot = game.Somewhere(d.chance, game.Spread)
		}
		return d.spot
	case t < spreadFor+gatherFor:
		return near(station(from), d.number)
	case t < spreadFor+gatherFor+raysFor/2 && from != centre:
		return near(station(centre), d.number)
	default:
		return near(station(to), d.number)
	}
}

// crowded is the station of the bot at a turn. Some stations are more popular than others, and
// different ones at each turn: with equal crowds the lines could stay where they are.
func (d *dance) crowded(turn int) int {
	const liking = "000000112222344456668871"
	s := int(liking[d.number%len(liking)] - '0')
	if s == centre {
		return s
	}
	return (s + 3*turn) % rays
}

// station i is a point of the star; the last one is the centre.
func station(i int) property.Vector3 {
	if i == centre {
		return property.Vector3{}
	}
	a := float64(i) * 2 * math.Pi / rays
	return property.Vector3{X: float32(points * math.Cos(a)), Z: float32(points * math.Sin(a))}
}

// near spreads a crowd around a place: a spiral with one bot in every 30 m².
func near(at property.Vector3, number int) property.Vector3 {
	k := float64(number / (rays + 1))
	r, a := 5.5*math.Sqrt(k), k*2.399963
	at.X += float32(r * math.Cos(a))
	at.Z += float32(r * math.Sin(a))
	return at
}
