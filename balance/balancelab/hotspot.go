package main

import (
	"math"
	"time"
)

// hotspot is an even world with one dense place that wanders about: a third of the crowd stays
// around it. It comes to rest before the end.
type hotspot struct {
	crowd
	homes  []point // relative to the hotspot for those who follow it
	centre point
}

const (
	hotspotShare  = 3     // one in so many people follows
	hotspotSigma  = 500.0 // metres
	hotspotOrbit  = 0.25  // of the world's side
	hotspotPeriod = 60 * time.Minute
	hotspotRests  = 0.75 // of the run
	// hotspotStroll is how far people step about their places, so that no one stands still.
	hotspotStroll = 10.0
)

func newHotspot(c crowd, _ *config) scenario {
	h := &hotspot{crowd: c, homes: make([]point, c.entities)}
	h.tick(0)
	return h
}

func (h *hotspot) follows(i int) bool { return i%hotspotShare == 0 }

func (h *hotspot) start(i int) point {
	if h.follows(i) {
		h.homes[i] = h.about(point{}, hotspotSigma)
		return h.within(h.centre.plus(h.homes[i].x, h.homes[i].z))
	}
	h.homes[i] = h.anywhere()
	return h.homes[i]
}

// tick moves the hotspot along a figure of eight around the middle of the world, at up to some 10
// m/s in a world of 20 km.
func (h *hotspot) tick(now time.Duration) {
	h.now = now
	angle := turns(min(now, h.share(hotspotRests)), hotspotPeriod)
	h.centre = point{hotspotOrbit * h.size * math.Sin(angle), hotspotOrbit * h.size * math.Sin(2*angle) / 2}
}

func (h *hotspot) goal(i int, at point) (point, float64) {
	home := h.homes[i]
	if h.follows(i) {
		home = h.within(h.centre.plus(home.x, home.z))
	}
	if at.distance(home) < hotspotStroll {
		return h.near(home, hotspotStroll), walking
	}
	return home, 2 * riding
}

// disturbances is the wandering, which ends.
func (h *hotspot) disturbances() []disturbance { return []disturbance{{0, h.share(hotspotRests)}} }
