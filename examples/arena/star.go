package main

import (
	"math"
	"math/rand/v2"
	"time"

	"github.com/cellscape/cellscape/property"
)

// The dance is the balance demonstration of the BigWorld whitepaper: the crowd
// spreads over a square, gathers at the eight points of a star and its centre, then
// walks along the rays, and again. Each step puts the load elsewhere, and the cells
// have to follow.
const (
	// spread is half the side of the square, in metres; points is how far from the
	// centre the points of the star are.
	spread = 700
	points = 600
	rays   = 8

	// runSpeed is how fast a bot goes, in metres per second. topSpeed is what the
	// server allows for.
	runSpeed = 28
	topSpeed = 40

	spreadFor = 14 * time.Second
	gatherFor = 22 * time.Second
	raysFor   = 22 * time.Second
)

// dancer knows the steps of one bot.
type dancer struct {
	number int
	chance *rand.Rand

	phase int
	spot  property.Vector3 // of the spread
}

func newDancer(number int, seed uint64) *dancer {
	d := &dancer{number: number, chance: rand.New(rand.NewPCG(seed, uint64(number))), phase: -1}
	d.spot = somewhere(d.chance, spread)
	return d
}

// target is where the bot wants to be at a time since the dance began.
func (d *dancer) target(now time.Duration) property.Vector3 {
	cycle, t := int(now/(spreadFor+gatherFor+raysFor)), now%(spreadFor+gatherFor+raysFor)
	switch {
	case t < spreadFor:
		if d.phase != cycle {
			d.phase = cycle
			d.spot = somewhere(d.chance, spread)
		}
		return d.spot
	case t < spreadFor+gatherFor:
		return near(d.station(d.number%(rays+1)), d.number)
	default:
		// Along the ray: those at a point go to the centre and back, those in the
		// centre go out, one ray after the other.
		half := (t - spreadFor - gatherFor) / (raysFor / 2)
		at := d.number % (rays + 1)
		if at == rays {
			if half == 0 {
				return near(d.station(d.number%rays), d.number)
			}
			return near(d.station(rays), d.number)
		}
		if half == 0 {
			return near(d.station(rays), d.number)
		}
		return near(d.station((at+1)%rays), d.number)
	}
}

// station i is a point of the star; the last one is the centre.
func (d *dancer) station(i int) property.Vector3 {
	if i >= rays {
		return property.Vector3{}
	}
	a := float64(i) * 2 * math.Pi / rays
	return property.Vector3{X: float32(points * math.Cos(a)), Z: float32(points * math.Sin(a))}
}

// near spreads a crowd around a place: a spiral of one bot in every 30 m².
func near(at property.Vector3, number int) property.Vector3 {
	k := float64(number / (rays + 1))
	r, a := 5.5*math.Sqrt(k), k*2.399963
	at.X += float32(r * math.Cos(a))
	at.Z += float32(r * math.Sin(a))
	return at
}

// step is one step of length s metres from a place towards another.
func step(from, to property.Vector3, s float64) (next property.Vector3, yaw float32) {
	dx, dz := float64(to.X-from.X), float64(to.Z-from.Z)
	left := math.Hypot(dx, dz)
	yaw = float32(math.Atan2(dx, dz))
	if left <= s {
		return to, yaw
	}
	return property.Vector3{X: from.X + float32(dx/left*s), Z: from.Z + float32(dz/left*s)}, yaw
}

// somewhere is a place in a square around the origin.
func somewhere(chance *rand.Rand, half float32) property.Vector3 {
	return property.Vector3{X: (chance.Float32()*2 - 1) * half, Z: (chance.Float32()*2 - 1) * half}
}
