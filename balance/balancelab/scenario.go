package main

import (
	"math"
	"math/rand/v2"
	"slices"
	"time"
)

// point is a place in metres.
type point struct{ x, z float64 }

func (p point) plus(x, z float64) point { return point{p.x + x, p.z + z} }

func (p point) distance(q point) float64 { return math.Hypot(q.x-p.x, q.z-p.z) }

// scenario is what a crowd does. It says where entities want to be; the lab walks them there.
type scenario interface {
	// start is where an entity is at time 0, or when it comes into the world. It is called once for
	// each, in order.
	start(i int) point
	// tick sets the time for the calls of goal that follow.
	tick(now time.Duration)
	// goal is where an entity that is at a place wants to be now, and its speed in metres per
	// second.
	goal(i int, at point) (point, float64)
	// present is the range of entities in the world, at the time of the last tick.
	present() (first, last int)
	// disturbances are when the crowd shifts the load, the earliest first. What goes on all the
	// time does not count.
	disturbances() []disturbance
}

// disturbance is a time in which the crowd shifts the load; after its end the crowd does not, until
// the next one.
type disturbance struct{ begin, end time.Duration }

// crowd is the part that scenarios share.
type crowd struct {
	entities     int
	size         float64
	length, join time.Duration
	now          time.Duration
	chance       *rand.Rand
}

func (c *crowd) tick(now time.Duration)      { c.now = now }
func (c *crowd) disturbances() []disturbance { return nil }

// present lets the crowd come in evenly: a world does not open with all its people in its only
// cell.
func (c *crowd) present() (first, last int) {
	if c.now >= c.join {
		return 0, c.entities
	}
	return 0, int(float64(c.entities) * float64(c.now) / float64(c.join))
}

// share is a time as a share of the run.
func (c *crowd) share(f float64) time.Duration {
	return time.Duration(float64(c.length) * f).Truncate(time.Second)
}

// within keeps a point in the world, whose middle is the origin.
func (c *crowd) within(p point) point {
	h := c.size / 2
	return point{min(max(p.x, -h), h), min(max(p.z, -h), h)}
}

// anywhere is a random point of the world.
func (c *crowd) anywhere() point { return c.near(point{}, c.size/2) }

// near is a random point of the square around a point.
func (c *crowd) near(p point, half float64) point {
	return p.plus((2*c.chance.Float64()-1)*half, (2*c.chance.Float64()-1)*half)
}

// about is a random point around another, by a normal distribution that is cut off at three sigma.
func (c *crowd) about(p point, sigma float64) point {
	cut := func(v float64) float64 { return min(max(v, -3), 3) * sigma }
	return p.plus(cut(c.chance.NormFloat64()), cut(c.chance.NormFloat64()))
}

// speed is a random speed, evenly distributed between two.
func (c *crowd) speed(lo, hi float64) float64 { return lo + (hi-lo)*c.chance.Float64() }

// People walk at 3 m/s and ride at 10.
const (
	walking = 3.0
	riding  = 10.0
)

// kind is a scenario by its name.
type kind struct {
	name string
	size float64 // metres, unless a flag says otherwise
	make func(crowd, *config) scenario
}

func kinds() []kind {
	return []kind{
		{"star", 40_000, newStar},
		{"hotspot", 20_000, newHotspot},
		{"flashcrowd", 10_000, newFlashcrowd},
		{"commute", 10_000, newCommute},
		{"raid", 10_000, newRaid},
		{"uniform", 20_000, newUniform},
		{"economy", 20_000, newEconomy},
	}
}

func scenarioNames() []string {
	var names []string
	for _, k := range kinds() {
		names = append(names, k.name)
	}
	return names
}

// newScenario makes the scenario of a valid configuration, and fills in its size.
func newScenario(c *config) scenario {
	k := kinds()[slices.Index(scenarioNames(), c.scenario)]
	if c.size == 0 {
		c.size = k.size
	}
	return k.make(crowd{
		entities: c.entities, size: c.size, length: c.length(), join: time.Duration(c.join) * time.Second,
		chance: rand.New(rand.NewPCG(c.seed, crowdStream)),
	}, c)
}

// Streams of chance: each part of the lab has its own, so that more of one does not change another.
const (
	crowdStream = iota + 1
	factorStream
	noiseStream
)
