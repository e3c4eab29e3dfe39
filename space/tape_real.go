package space

import (
	"fmt"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/presence"
	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space/recording"
)

// taped is what a recording knows of a real.
type taped struct {
	track *recording.Track
	life  uint64 // of the tape that has track; 0 for none
	stamp uint32 // MoveStamp
	// tooLarge is the tape for which the real was too large; it is tried again with each key frame.
	tooLarge uint64
}

// onTape is the tape that has the real, nil if none has it now.
func (r *Real) onTape() *tape {
	if t := r.cell.tape; t != nil && t.live && r.taped.life == t.life {
		return t
	}
	return nil
}

// tapeState records the real as a whole.
func (r *Real) tapeState() {
	t := r.cell.tape
	if !t.live { // a chunk was refused on the way
		return
	}
	var had *recording.Track
	if r.taped.life == t.life {
		had = r.taped.track
	}
	s := recording.State{ID: r.e.ID, Order: r.e.Order, Type: r.e.Def.ID,
		Position: r.e.Position, Direction: r.e.Direction, Cell: r.e.Props, Base: r.exposed}
	if s.Vehicle = r.vehicleOnTape(); s.Vehicle != 0 {
		s.SeatPosition, s.SeatDirection = r.e.Ride.Seat.Position, r.e.Ride.Seat.Direction
	}
	track, ok := t.enc.State(had, &s)
	if !ok {
		r.cell.count.Unrecorded++
		r.cell.tapeFails(fmt.Errorf("%s %s has more than %d bytes of properties", r.e.Def.Name, r.e.ID, recording.MaxProps))
		r.taped = taped{tooLarge: t.life}
		return
	}
	r.taped = taped{track: track, life: t.life, stamp: r.e.MoveStamp}
}

// vehicleOnTape is the vehicle by which a recording has the place of a real, 0 if it has that by itself: so
// it is for who rides on what the recording does not show, or waits for a vehicle that is not on the cell.
func (r *Real) vehicleOnTape() entity.ID {
	if r.e.Ride.Vehicle == 0 {
		return 0
	}
	v := r.cell.on(r.e.Ride.Vehicle)
	if v == nil || !v.e.Def.HasClient || v.e.Aspect&presence.Withheld != 0 {
		return 0
	}
	if v.real != nil && v.real.taped.tooLarge == r.cell.tape.life {
		return 0
	}
	return r.e.Ride.Vehicle
}

// tapePlace records where a real is: on its vehicle, or in the world.
func (r *Real) tapePlace() {
	enc, track, on := &r.cell.tape.enc, r.taped.track, r.vehicleOnTape()
	position, direction := r.e.Position, r.e.Direction
	if on != 0 {
		position, direction = r.e.Ride.Seat.Position, r.e.Ride.Seat.Direction
	}
	if r.taped.stamp = r.e.MoveStamp; on != track.Vehicle() {
		enc.Ride(track, on, position, direction)
		return
	}
	enc.Place(track, position, direction)
}

// tapeChange records a change of a property of one part, whose values are v.
func (r *Real) tapeChange(v *property.Values, c *property.Change) {
	if t := r.onTape(); t != nil && r.e.Def.Properties[c.Index].ExposedForReplay && r.shownOnTape() {
		t.enc.Change(r.taped.track, v, c)
		r.cell.spillTape()
	}
}

// tapeCall records a call of a client method, to all who see the entity or only to its own client.
func (r *Real) tapeCall(method int, args []byte, others bool) {
	t := r.cell.tape
	if t == nil || !t.live || !r.shownOnTape() || r.taped.tooLarge == t.life {
		return
	}
	switch r.e.Def.ClientMethods[method].ReplayExposure {
	case property.ReplayNone:
		return
	case property.ReplayOther:
		if !others {
			return
		}
	}
	if r.onTape() == nil {
		if r.tapeState(); r.onTape() == nil { // they hear the call of what they see
			return
		}
	}
	t.enc.Call(r.taped.track, method, !others, args)
	r.cell.spillTape()
}

// tapeLeft records that a real leaves the cell. Another cell goes on with one that was handed over
// within the space, and with one that its base brings back: with its next tick, so where the real is by
// now is said here.
func (c *Cell) tapeLeft(r *Real) {
	t := c.tape
	if t == nil || !t.live {
		return
	}
	shown := r.e.Def.HasClient && r.e.Aspect&presence.Withheld == 0 // else no cell that goes on would say so
	goesOn := shown && (r.gone == refused || r.gone == lost && !r.over() || r.gone == handedOver && r.leavesFor == c.space)
	switch has := r.onTape() != nil; {
	case goesOn && r.gone == handedOver && !has: // it has come and goes in one tick
		r.tapeState()
	case goesOn && has:
		r.tapePlace()
	}
	switch {
	case r.onTape() == nil:
	case goesOn:
		t.enc.GoneOn(r.taped.track)
	default:
		t.enc.End(r.taped.track)
	}
	r.taped = taped{}
}

// hearExposed takes what the base says of its properties that are exposed for replay: all of them, or
// a change.
func (r *Real) hearExposed(body []byte) error {
	rd := codec.NewReader(body)
	whole, index := rd.Bool(), 0
	if !whole {
		index = int(rd.U16())
	}
	if err := rd.Err(); err != nil {
		return err
	}
	if whole {
		return r.readExposed(rd.Rest())
	}
	if r.exposed == nil || index >= len(r.e.Def.Properties) || !r.exposed.Holds(index) {
		return errNotExposed
	}
	change, rest, err := r.exposed.ApplyChange(rd.Rest(), index)
	if err := wholly(rest, err); err != nil {
		return err
	}
	r.tapeChange(r.exposed, &change)
	return nil
}

var errNotExposed = fmt.Errorf("space: a property of the base that is not exposed for replay: %w", entity.ErrArguments)

// readExposed takes all of them. A recording is told of each as if it had changed.
func (r *Real) readExposed(stream []byte) error {
	v := property.NewValues(r.e.Def, property.BaseSide, nil)
	if err := wholly(v.ReadStream(stream, property.BaseReplayStream)); err != nil {
		return err
	}
	r.exposed = v
	for _, i := range r.e.Def.Stream(property.BaseReplayStream) {
		r.tapeChange(v, &property.Change{Index: i, New: v.Get(i)})
	}
	return nil
}
