package space_test

import (
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space"
)

// A Duellist is told of its opponent more often than of anyone else.
type Duellist struct{ *space.Real }

// Challenge shows the ring of the duel, of a type with ManualAoI, to the two who fight and to nobody else.
func (d *Duellist) Challenge(opponent, ring entity.ID) {
	if err := d.AddToAoI(ring); err != nil {
		d.Log().Warn("fights without a ring", "error", err)
	}
	often := property.UpdateScheme{Min: 1, Max: 4, Distance: 50} // where others have 1 to 51
	if err := d.SetUpdateScheme(opponent, often); err != nil {
		d.Log().Warn("fights as in a crowd", "error", err)
	}
}

// Flee hides the duellist from everybody's client.
func (d *Duellist) Flee() { d.SetWithheld(true) }

func ExampleReal_AddToAoI() {
	_ = (*Duellist).Challenge // a cell method of the type's definition
	_ = (*Duellist).Flee
}
