package sim

import (
	"fmt"

	"github.com/cellscape/cellscape/property"
)

// In a world with walls every second player tries to go into the ground, slowly enough for its top
// speed. The script refuses that in one of several ways, or puts it back onto the ground. Nobody
// but the player itself may ever see it below.

const (
	pit    = -1 // metres, where a move is refused
	cellar = -2 // where it is put back onto the ground
	ground = -0.25
	// kerb is where the script puts it: where no client goes by itself, so that movesInOrder can
	// tell this place from one on which a move is void.
	kerb = 0.125
)

// sneak is where a player goes instead, now and then.
func (pl *player) sneak(at, to property.Vector3) property.Vector3 {
	if !pl.sneaks || pl.c.wild.walls.IntN(8) != 0 {
		return to
	}
	to.X, to.Z = (at.X+to.X)/2, (at.Z+to.Z)/2
	to.Y = pit
	if pl.c.wild.walls.IntN(2) == 0 {
		to.Y = cellar
	}
	return to
}

// OnMoving answers for moves into the ground.
func (s *walkerCell) OnMoving(from, to property.Vector3) (property.Vector3, bool) {
	if !s.w.walls || to.Y >= ground {
		return to, true
	}
	answer := func(how string) { s.w.walled[how]++ }
	if to.Y == cellar {
		answer("corrected")
		return property.Vector3{X: to.X, Y: kerb, Z: to.Z}, true
	}
	switch s.w.chance.walls.IntN(3) {
	case 0:
		answer("stays")
		return from, true
	case 1:
		answer("moved by the hook")
		s.w.expect(s.SetPosition(from), nil)
		return to, true
	}
	answer("refused")
	return to, false
}

// wallsHold checks that nobody is seen in the ground.
type wallsHold struct{ c *Cluster }

func (k *wallsHold) safe() error {
	if !k.c.opts.Wild.Walls {
		return nil
	}
	for v := range k.c.views() {
		if k.c.owner(v.ID()) != nil && v.Position().Y < ground {
			return fmt.Errorf("promise 4: %s (real %t) on %s is at %v, where it must not go", v.ID(), v.IsReal(), v.p.Name, v.Position())
		}
	}
	for _, pl := range k.c.players {
		if !pl.playing() {
			continue
		}
		for r := range pl.client.Entities() {
			if !r.Own() && k.c.owner(r.ID) != nil && r.Position.Y < ground {
				return fmt.Errorf("promise 5: %s sees %s at %v, where it must not go", pl.name, r.ID, r.Position)
			}
		}
	}
	return nil
}

func (k *wallsHold) converged() error { return nil }
