package client

import (
	"time"

	"github.com/cellscape/cellscape/property"
)

// Word is what the server says of an entity with a place.
type Word uint8

// The words on a place.
const (
	// Moves: the entity is on its way.
	Moves Word = iota
	// Rests: it stands there. The server says so reliably.
	Rests
	// Appears: it is there now, wherever it was before.
	Appears
)

// Filter decides where an entity is shown while places of it arrive some times a second, early or
// late. It belongs to one replica. The same clock as that of Client.Tick counts. While the entity rides,
// its places are its seats (Replica.Seat): it is shown there on the vehicle, wherever that is shown.
type Filter interface {
	// Input takes a place that has just arrived.
	Input(now time.Duration, position, direction property.Vector3, says Word)
	// Output is where the entity is shown at a time, which is not before that of an earlier call.
	Output(now time.Duration) (position, direction property.Vector3)
}

// SetFilter gives the entity a filter, which begins at the place that r has; nil takes it away.
// Config.Filter gives each entity one as it comes into view.
func (r *Replica) SetFilter(f Filter) {
	if f != nil || r.rare != nil {
		r.extend().filter = f
	}
	r.play(Appears)
}

// Shown is where to draw the entity at a time, by its filter. Position and Direction are what the
// server said last, and what is drawn of an entity without a filter. The player's own entity is where
// the player put it, and who rides is on the vehicle as that is shown.
func (r *Replica) Shown(now time.Duration) (position, direction property.Vector3) {
	if at, ok := r.shownOn(now, 0); ok {
		return at.Position, at.Direction
	}
	return r.filtered(now)
}

// filtered is Shown of who is on no vehicle in sight.
func (r *Replica) filtered(now time.Duration) (position, direction property.Vector3) {
	if r.rare == nil || r.rare.filter == nil || r.rare.ride != nil {
		return r.Position, r.Direction
	}
	return r.rare.filter.Output(now)
}

// play hands the place of r to its filter, or its seat.
func (r *Replica) play(says Word) {
	if r.rare == nil || r.rare.filter == nil {
		return
	}
	position, direction := r.Position, r.Direction
	if on := r.rare.ride; on != nil {
		position, direction = on.seat.Position, on.seat.Direction
	}
	r.rare.filter.Input(r.client.now, position, direction, says)
}

// Raw is a Filter that shows each place as it arrives: of use to compare others with.
type Raw struct{ position, direction property.Vector3 }

// Input implements Filter.
func (f *Raw) Input(_ time.Duration, position, direction property.Vector3, _ Word) {
	f.position, f.direction = position, direction
}

// Map implements Mapper.
func (f *Raw) Map(offset property.Vector3) {
	f.position.X, f.position.Y, f.position.Z = f.position.X+offset.X, f.position.Y+offset.Y, f.position.Z+offset.Z
}

// Output implements Filter.
func (f *Raw) Output(time.Duration) (position, direction property.Vector3) {
	return f.position, f.direction
}
