package sim

import (
	"errors"
	"fmt"

	"github.com/cellscape/cellscape/entity"
)

// callsNumbered checks promises 3 and 6 for calls of every kind by their numbers, in all runs,
// whatever died:
//
//   - a client's call of another entity is handled once and in order, or is refused; no call to a
//     target that has a base is lost, whether the CellApp of the target died, that of the caller,
//     or both;
//   - no call in whose method its target has ended is told as one that nobody has handled;
//   - what a cell part says to its base and to its own client comes in order, each number once,
//     unless the cell part was restored: then some come again, and none is left out; other clients
//     hear no number twice while they have the entity in sight, and no other life of it;
//   - what a base says to its client comes in order, each number once.
//
// exactlyOnce does the same for what a base says to its cell part, callsOnce for what a client
// calls of its own entity.
type callsNumbered struct {
	c *Cluster
	// hasty are the bases that have made a cell part again before anybody had a copy of what the
	// former one had said: if their app dies then, some of that is lost, as their log says.
	hasty map[entity.ID]bool
}

func (k *callsNumbered) safe() error {
	var faults []error
	for v := range k.c.reals() {
		if n := get(v, "again"); n > 0 {
			faults = append(faults, fmt.Errorf("promise 3: %s on %s handled %d calls of other clients twice, or out of order", v.ID(), v.p.Name, n))
		}
	}
	for _, call := range k.c.world.untrue {
		faults = append(faults, fmt.Errorf("promise 10: a call was told as given up in which its target has ended: %s", call))
	}
	for b := range k.c.bases() {
		if b.Hasty {
			k.hasty[b.ID] = true
		}
		if n := skips(b.script()); n > 0 && !(b.Life > 0 && k.hasty[b.ID]) {
			faults = append(faults, fmt.Errorf("promise 3: the base of %s on %s met %d numbers of its cell part out of order, or after a gap", b.ID, b.p.Name, n))
		}
	}
	for _, pl := range k.c.players {
		for _, fault := range pl.ear.faults {
			faults = append(faults, fmt.Errorf("promise 3: %s", fault))
		}
	}
	return errors.Join(faults...)
}

func skips(script any) uint32 {
	switch s := script.(type) {
	case *walkerBase:
		return s.Skipped.Get()
	case *roverBase:
		return s.Skipped.Get()
	}
	return 0
}

func (k *callsNumbered) converged() error {
	faults := []error{k.safe(), k.counters()}
	lost := func(call, why string) {
		if !k.c.world.refusedCalls[call] {
			faults = append(faults, fmt.Errorf("promise 6: a call was lost: %s, %s", call, why))
		}
	}
	for v := range k.c.reals() {
		if !v.Def().HasBase {
			continue
		}
		for _, call := range list(v.View, "missed") {
			lost(call, "a later one was handled")
		}
		_, last := greetersOf(v.Script())
		for _, pl := range k.c.players {
			if pl.rude || !pl.playing() {
				continue
			}
			for n := last[pl.id().String()] + 1; n <= pl.ear.greets[v.ID()]; n++ {
				lost(missing(pl.id(), v.ID(), n), "on "+v.p.Name)
			}
		}
	}
	return errors.Join(faults...)
}

// counters checks what an operator sees of all this.
func (k *callsNumbered) counters() error {
	n := k.c.observer.last.Counters
	var faults []error
	if n.Errors > k.c.panics && !k.c.parted {
		faults = append(faults, fmt.Errorf("%d things happened that should not", n.Errors))
	}
	if n.FlowLost > 0 {
		faults = append(faults, fmt.Errorf("promise 3: messages of flows: %d lost", n.FlowLost))
	}
	return errors.Join(faults...)
}

// greetedBy is the last number that the real of an entity has of a caller.
func (c *Cluster) greetedBy(id, caller entity.ID) (n uint32) {
	for v := range c.reals() {
		if v.ID() == id {
			_, last := greetersOf(v.Script())
			n = last[caller.String()]
		}
	}
	return n
}
