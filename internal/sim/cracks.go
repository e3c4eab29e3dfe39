package sim

import "github.com/cellscape/cellscape/entity"

// In a world with cracks the scripts of bases of every kind panic now and then, in their timers. A
// base goes on from its newest copy then, or ends if nothing protects it; so what it promised others
// holds, as after the death of its BaseApp. No base panics so often that it is given up for that.

// oddsOfCrack is one in how many beats of a base ends in a panic, mostCracks how often one does.
const (
	oddsOfCrack = 200
	mostCracks  = 2
)

// crack may panic in the name of a base.
func (w *world) crack(b *entity.Base) {
	if !w.cracks || w.calm || w.hush || w.chance.cracks.IntN(oddsOfCrack) > 0 || w.cracked[b.ID()] == mostCracks {
		return
	}
	w.cracked[b.ID()]++
	panic(wantedPanic)
}
