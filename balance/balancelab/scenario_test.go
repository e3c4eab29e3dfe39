package main

import (
	"testing"
	"time"
)

// No scenario leaves its world or goes faster than it says, and all have a start, a size and an
// order of disturbances.
func TestScenarios(t *testing.T) {
	for _, k := range kinds() {
		c := small(k.name)
		c.entities, c.size, c.seconds = 500, 0, 100
		l := start(t, c, 0)
		if l.cfg.size != k.size {
			t.Errorf("%s: a world of %v m", k.name, l.cfg.size)
		}
		before := time.Duration(-1)
		for _, d := range l.scenario.disturbances() {
			if d.begin <= before || d.end < d.begin {
				t.Errorf("%s: disturbances %v", k.name, l.scenario.disturbances())
			}
			before = d.begin
		}
		half := k.size/2 + 1e-6
		moved := 0.0
		for l.now < c.length() {
			was := append([]entity(nil), l.present()...)
			l.now += checkPeriod
			l.move()
			now := l.present()
			for i := range now {
				e := &now[i]
				if !(e.at.x >= -half-100 && e.at.x <= half+100 && e.at.z >= -half-100 && e.at.z <= half+100) {
					t.Fatalf("%s: entity %d is at %v in a world of %v m", k.name, i, e.at, k.size)
				}
				if i < len(was) && k.name != "economy" {
					moved += e.at.distance(was[i].at)
				}
			}
		}
		still := k.name == "uniform" || k.name == "economy"
		if (moved == 0) != still {
			t.Errorf("%s: moved %v m in all", k.name, moved)
		}
	}
}

// The star's people never outrun a horse, whatever their arm does.
func TestStarWalksAtHumanSpeed(t *testing.T) {
	c := small("star")
	c.size = 40_000
	l := start(t, c, 20)
	was := append([]entity(nil), l.present()...)
	l.now += checkPeriod
	l.move()
	for i := range was {
		if v := was[i].at.distance(l.entities[i].at) / checkPeriod.Seconds(); v > riding+1e-6 {
			t.Fatalf("entity %d goes at %v m/s", i, v)
		}
	}
}

// The crowd of the economy grows from a thousand to all in half of the run, by the same factor in
// equal times, and goes the same way.
func TestEconomyGrowsAndGoes(t *testing.T) {
	c := small("economy")
	c.entities, c.seconds = 16_000, 400
	e := newScenario(&c)
	for _, x := range []struct{ at, first, last int }{
		{0, 0, 1000}, {50, 0, 2000}, {100, 0, 4000}, {200, 0, 16_000}, {300, 12_000, 16_000}, {350, 14_000, 16_000}, {400, 15_000, 16_000},
	} {
		e.tick(time.Duration(x.at) * time.Second)
		if first, last := e.present(); first != x.first || last != x.last {
			t.Errorf("at %d s: %d to %d, not %d to %d", x.at, first, last, x.first, x.last)
		}
	}
}

// Everyone is in the square when the flash crowd has gathered, and at home before and afterwards.
func TestFlashcrowdGathers(t *testing.T) {
	c := small("flashcrowd")
	c.seconds, c.join = 600, 0
	l := start(t, c, 0)
	spot := point{flashX * l.cfg.size, flashZ * l.cfg.size}
	inside := func() (n int) {
		for i := range l.present() {
			at := l.present()[i].at
			if d := flashHalf + 2*flashMill; at.x-spot.x < d && spot.x-at.x < d && at.z-spot.z < d && spot.z-at.z < d {
				n++
			}
		}
		return n
	}
	for _, x := range []struct {
		at   time.Duration
		all  bool
		name string
	}{{170 * time.Second, false, "before"}, {241 * time.Second, true, "gathered"}, {419 * time.Second, true, "milling"}, {481 * time.Second, false, "dispersed"}} {
		for l.now < x.at {
			l.now += checkPeriod
			l.move()
		}
		if n := inside(); (n == c.entities) != x.all || (!x.all && n > c.entities/5) {
			t.Errorf("%s: %d of %d are in the square", x.name, n, c.entities)
		}
	}
}
