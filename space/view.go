package space

import (
	"iter"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/ghost"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/property"
)

// View is a read-only look at an entity on the cell, real or ghost. It is valid until the callback
// that got it returns.
type View struct{ rec *record }

// ID is the entity's id.
func (v View) ID() entity.ID { return v.rec.e.ID }

// Def is the entity's definition.
func (v View) Def() *property.Definition { return v.rec.e.Def }

// MoveStamp numbers the moves of the entity; it wraps around.
func (v View) MoveStamp() uint32 { return v.rec.e.MoveStamp }

// Position is where the entity is.
func (v View) Position() property.Vector3 { return v.rec.e.Position }

// Order says which incarnation and hop this copy has or mirrors.
func (v View) Order() entity.Order { return v.rec.e.Order }

// IsReal reports whether its real is on this cell.
func (v View) IsReal() bool { return v.rec.real != nil }

// Direction is yaw, pitch and roll, in radians.
func (v View) Direction() property.Vector3 { return v.rec.e.Direction }

// Vehicle is what the entity rides on, 0 if nothing.
func (v View) Vehicle() entity.ID { return v.rec.e.Ride.Vehicle }

// Now is the entity's game time: its own Now for a real, the cell's for a ghost.
func (v View) Now() time.Duration {
	if v.rec.real != nil {
		return v.rec.real.Now()
	}
	return v.rec.cell.game
}

// Home is the CellApp that the real is on, as far as this copy knows.
func (v View) Home() mercury.Address {
	if v.rec.real != nil {
		return v.rec.cell.self
	}
	return v.rec.ghost.Real
}

// LastEvent is the number of the last change or event that this copy has.
func (v View) LastEvent() property.EventNumber { return v.rec.e.History.Last() }

// Sum is a hash of everything that a ghost and its real have in common; see ghost.Sum.
func (v View) Sum() uint64 {
	sum, _ := ghost.Sum(v.rec.e, nil)
	return sum
}

// Get returns the value of a property that this copy holds: any cell property of a real, a ghosted
// one of a ghost. ok is false for others.
func (v View) Get(name string) (value property.Value, ok bool) {
	p := v.rec.e.Def.Property(name)
	if p == nil || !v.rec.e.Props.Holds(p.Index) {
		return property.Value{}, false
	}
	return v.rec.e.Props.Get(p.Index), true
}

// ClientBudget is how many bytes the client of a real is told in a tick at present, 0 without a
// client: Config.Witness's budget, less where the path to the client carries less, or while the cell
// has too much work.
func (v View) ClientBudget() int {
	if v.rec.real == nil || v.rec.real.witness == nil {
		return 0
	}
	return v.rec.real.witness.Budget()
}

// Script returns a real's script, for tests and tools on the goroutine of the CellApp; nil for a
// ghost or a type without a script.
func (v View) Script() any {
	if v.rec.real == nil {
		return nil
	}
	return v.rec.real.Script()
}

// GhostScript returns a ghost's script, for tests and tools on the goroutine of the CellApp; nil
// for a real or a type without one.
func (v View) GhostScript() any {
	if v.rec.mirror == nil {
		return nil
	}
	return v.rec.mirror.script.Interface()
}

// Views yields all entities on the cell, reals and ghosts alike, in id order.
func (c *Cell) Views() iter.Seq[View] {
	return func(yield func(View) bool) {
		i, j := 0, 0
		for i < len(c.reals) || j < len(c.ghosts) {
			var rec *record
			if j == len(c.ghosts) || i < len(c.reals) && c.reals[i].e.ID < c.ghosts[j].e.ID {
				rec = c.reals[i]
				i++
			} else {
				rec = c.ghosts[j]
				j++
			}
			if !yield(View{rec}) {
				return
			}
		}
	}
}
