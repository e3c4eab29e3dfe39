package main

// uniform is an even crowd. It stands still or, with -jitter, steps about its places: no line has a
// reason to move once the load is even.
type uniform struct {
	crowd
	jitter float64
	places []point
}

// jitterSpeed is how fast someone steps about, in metres per second.
const jitterSpeed = 3.0

func newUniform(c crowd, cfg *config) scenario {
	return &uniform{crowd: c, jitter: cfg.jitter, places: make([]point, c.entities)}
}

func (u *uniform) start(i int) point {
	u.places[i] = u.anywhere()
	return u.places[i]
}

func (u *uniform) goal(i int, at point) (point, float64) {
	if u.jitter == 0 {
		return at, 0
	}
	return u.near(u.places[i], u.jitter), jitterSpeed
}

// disturbances is the coming in of the crowd.
func (u *uniform) disturbances() []disturbance { return []disturbance{{0, u.join}} }
