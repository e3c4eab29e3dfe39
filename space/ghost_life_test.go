package space

import (
	"cmp"
	"fmt"
	"testing"
	"time"

	"github.com/cellscape/cellscape/ghost"
)

// ghostsMade counts the ghosts that are made on an app, and those that their reals end there.
func (r *rig) ghostsMade(app int) (made, ended *int) {
	made, ended = new(int), new(int)
	r.arrive = func(p packet) {
		if p.to != addr(app) {
			return
		}
		switch p.m.(type) {
		case *ghost.State:
			*made++
		case *ghost.Delete:
			*ended++
		}
	}
	return made, ended
}

// An entity that steps to and fro where its ghost begins has one ghost all the time: within the slack for
// however short a life, and beyond it for the life.
func TestSteppingWhereGhostsBeginMakesOneGhost(t *testing.T) {
	for _, tt := range []struct {
		life  time.Duration
		slack float32
		far   float32
	}{
		{time.Millisecond, 0, -149}, // the default slack
		{time.Millisecond, 50, -179},
		{time.Minute, 0, -300},
	} {
		t.Run(fmt.Sprint(tt), func(t *testing.T) {
			r := newRig(t, 2, func(c *Config) { c.GhostLife = tt.life; c.GhostSlack = cmp.Or(tt.slack, DefaultGhostSlack) })
			made, ended := r.ghostsMade(2)
			r.create(7, -129, 0)
			for range 20 {
				r.tick(3)
				r.move(7, tt.far)
				r.tick(3)
				r.move(7, -129)
			}
			if *made != 1 || *ended != 0 {
				t.Errorf("%d ghosts were made and %d ended", *made, *ended)
			}
		})
	}
}

// A ghost of an entity that has gone beyond the slack ends with its least life, and no later.
func TestGhostLife(t *testing.T) {
	for _, life := range []time.Duration{DefaultGhostLife, 5 * time.Second} {
		r := newRig(t, 2, func(c *Config) { c.GhostLife = life })
		made, ended := r.ghostsMade(2)
		r.create(7, -129, 0)
		for *made == 0 && r.now < time.Second {
			r.tick(1)
		}
		r.move(7, -151)
		since := r.now
		for *ended == 0 && r.now < since+2*life {
			r.tick(1)
		}
		if lived := r.now - since; lived < life || lived > life+DefaultCheckPeriod {
			t.Errorf("a ghost lived %v, its least life is %v", lived, life)
		}
		r.calm()
	}
}

// Beyond the slack a ghost ends, also at another slack.
func TestGhostSlack(t *testing.T) {
	r := newRig(t, 2, func(c *Config) { c.GhostLife = time.Millisecond; c.GhostSlack = 50 })
	r.create(7, -129, 0)
	r.tick(3)
	r.move(7, -179)
	r.tick(3)
	if r.ghost(2, 7) == nil {
		t.Error("a ghost ends within the slack")
	}
	r.move(7, -181)
	r.tick(3)
	if r.ghost(2, 7) != nil {
		t.Error("a ghost is kept beyond the slack")
	}
}
