package space

import (
	"github.com/cellscape/cellscape/entity/presence"
)

// enter shows a real that was taken over to everyone, between two calls of its script. was is the
// aspect under which it was known here.
//
// What the first call changes is part of the new hop's State, which every haunt gets. It must not
// be told as an Update before that, since no ghost is of the new hop yet. The haunts get the State
// even if the script has destroyed the real: their ghosts then know from whom its end comes.
func (r *Real) enter(was presence.Aspect) {
	callback(r, "OnEnteringCell", func(s Arriver) { s.OnEnteringCell() })
	r.forgetChanges()
	if r.e.Aspect != was {
		r.cell.aspectChanged(r.cell.population.find(r.e.ID))
	}
	r.showAll()
	r.hauntsKnow()
	if r.gone == staying {
		callback(r, "OnEnteredCell", func(s Enterer) { s.OnEnteredCell() })
	}
}
