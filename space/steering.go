package space

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/entity/presence"
	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/internal/fields"
	"github.com/cellscape/cellscape/property"
)

// This file decides who moves a player; the package documentation has the rules.

// ledPeriod is how often a client is told where the server moves its entity. Each time costs some 30
// bytes in the reliable stream: three times a second that is less than an unreliable place in each
// tick would take, and needs no second way to tell it. Where the entity stops is told at once.
const ledPeriod = 300 * time.Millisecond

// steering is who moves a real, and what of its client's word counts.
//
// Invariants: the client's moves count only while it has the control and if they carry number.
// Whenever the server moves the entity in another way than number says, or takes or gives the
// control, number rises. While untold is set, the client has yet to be told the place.
type steering struct {
	number uint32 // of the last forced place
	untold bool
	server bool // the script said that the server moves it
	led    bool // a controller moves it
	// by is the other entity whose client moves it, 0 for none; session and sequence are of the last
	// move of that client.
	by       entity.ID
	session  uint32
	sequence uint32
	aboard   bool   // the client knows its entity from the vehicle that it is on; see checkAboard
	stepping bool   // the step of a controller runs
	ledTick  uint64 // the last tick in which one moved it
	// toldStamp is the MoveStamp of the place that the client was told last, and toldAt when.
	toldStamp uint32
	toldAt    time.Duration // in the time of the cluster

	limit  speedLimit
	stride stride
}

// clientMoves reports whether the client has the control.
func (r *Real) clientMoves() bool {
	s := &r.steering
	return r.HasClient() && !s.server && !s.led && s.by == 0 && s.aboard == (r.e.Ride.Vehicle != 0)
}

// ControlledBy is the entity whose client moves this one: the entity itself, another, or 0 if the
// server does. It says who may, whether or not there is a client. See "Who moves a player" in the
// package documentation.
func (r *Real) ControlledBy() entity.ID {
	switch s := &r.steering; {
	case s.server:
		return 0
	case s.by != 0:
		return s.by
	}
	return r.e.ID
}

// SetControlledBy says who moves the entity: its own client, by the entity's own id, which is so by
// default; the client of another entity, which need not exist yet, as long as that client sees this
// one; or with 0 the server alone. The clients are told. It stays so when the entities move to other
// cells or are restored. A client moves at most MaxControlled entities beside its own. Errors are
// entity.ErrGone, and that of an id that no entity can have.
func (r *Real) SetControlledBy(id entity.ID) error {
	switch {
	case r.gone != staying:
		return entity.ErrGone
	case id != 0 && !id.Valid():
		return fmt.Errorf("space: %s cannot be controlled by the client of %d, which is no id of an entity", r.e.ID, uint64(id))
	}
	s := &r.steering
	s.server = id == 0
	if id == r.e.ID {
		id = 0
	}
	if s.by != id {
		s.by, s.session, s.sequence = id, 0, 0
	}
	r.force()
	r.shareControl()
	return nil
}

// SetTopSpeed limits how fast the entity's client may move it, in m/s; the default is
// Config.ClientTopSpeed. A vertical limit above 0 is for up and down alone, and speed is then for
// the ground; otherwise speed limits the whole way, falls included. A speed of 0 is none: then
// nothing is checked. The script itself may move the entity as fast as it likes. It stays so when
// the entity moves to another cell or is restored. Errors are entity.ErrGone, and that of a speed
// that is negative or not finite.
func (r *Real) SetTopSpeed(speed, vertical float32) error {
	limit := speedLimit{speed, vertical}
	switch {
	case r.gone != staying:
		return entity.ErrGone
	case !limit.valid():
		return fmt.Errorf("space: top speed %g m/s, vertical %g m/s: give finite numbers from 0 up", speed, vertical)
	}
	if r.steering.limit.speed == 0 { // nothing was counted
		r.steering.stride.begin(r.cell.population.clusterNow())
	}
	r.steering.limit = limit
	return nil
}

// TopSpeed is what SetTopSpeed has set.
func (r *Real) TopSpeed() (speed, vertical float32) {
	return r.steering.limit.speed, r.steering.limit.vertical
}

// force makes the place where the entity is the server's word: nothing counts that its client has
// said before it was told. Whoever moves the entity by other means than its client calls it
// afterwards, unless the client begins anew with a CellPlayer (greet).
func (r *Real) force() {
	if !r.HasClient() && r.steering.by == 0 {
		return
	}
	r.renumber()
	r.steering.stride.begin(r.cell.population.clusterNow())
}

// renumber makes void what the client has said, and has it told the place.
func (r *Real) renumber() {
	r.steering.number++
	r.steering.untold = true
	r.shareControl()
}

// shareControl lets the cells that have the entity know if another entity's client moves it.
func (r *Real) shareControl() {
	s := &r.steering
	r.e.Control = presence.Control{}
	if s.by != 0 && !s.led && r.e.Ride.Vehicle == 0 {
		r.e.Control = presence.Control{By: s.by, Number: s.number}
		r.cell.noteControl(r.e)
	}
}

// lead notes that a controller has moved the entity: the client loses the control until none does.
func (r *Real) lead() {
	s := &r.steering
	s.ledTick = r.cell.tick
	if !s.led && (r.HasClient() || s.by != 0) {
		s.led = true
		r.force()
	}
}

// endLead gives the control back if no controller has moved the entity in this tick.
func (r *Real) endLead() {
	if s := &r.steering; s.led && s.ledTick != r.cell.tick {
		s.led = false
		r.force()
	}
}

// beginSteering is for a client that is told everything anew. Number goes on, so that nothing
// counts that was said before.
func (r *Real) beginSteering() {
	s := &r.steering
	s.number++
	s.untold, s.led, s.aboard = false, false, false
	r.shareControl()
	s.toldStamp, s.toldAt = r.e.MoveStamp, r.cell.population.clusterNow()
	s.stride.begin(s.toldAt)
}

// tellForced tells the client in a tick where the server has put its entity, and whether it has the
// control: the newest, once.
func (r *Real) tellForced() {
	s := &r.steering
	if r.e.Ride.Vehicle != 0 {
		r.checkAboard()
	}
	if !s.untold && !r.ledFar() {
		return
	}
	s.untold, s.toldStamp, s.toldAt = false, r.placeStamp(), r.cell.population.clusterNow()
	m := protocol.Forced{Number: s.number, Control: r.clientMoves(), Position: r.e.Position, Direction: r.e.Direction}
	if s.aboard {
		m.Vehicle, m.Position, m.Direction = r.e.Ride.Vehicle, r.e.Ride.Seat.Position, r.e.Ride.Seat.Direction
	}
	r.direct = m.Append(r.direct)
	r.spill()
}

// owesPlace reports whether the client is still to be told where its entity is.
func (r *Real) owesPlace() bool {
	s := &r.steering
	return s.untold || s.led || !r.clientMoves() && s.toldStamp != r.placeStamp()
}

// placeStamp counts the changes of what the client is told of the place: of the seat, if it knows the rest
// from the vehicle.
func (r *Real) placeStamp() uint32 {
	if r.steering.aboard {
		return r.e.Ride.Stamp
	}
	return r.e.MoveStamp
}

// ledFar reports whether the client is to be told again where the server has moved its entity.
func (r *Real) ledFar() bool {
	s := &r.steering
	return !r.clientMoves() && s.toldStamp != r.placeStamp() && r.cell.population.clusterNow()-s.toldAt >= ledPeriod
}

// steer moves the entity as its client says, if the client has the control, knows of the last forced
// place, is not too fast, and the game agrees.
func (r *Real) steer(m *flow.ClientRest) {
	s := &r.steering
	if m.Forced != s.number || !r.clientMoves() {
		r.cell.count.Overruled++
		return
	}
	if s.aboard {
		r.stepAboard(presence.Spot{Position: m.Position, Direction: m.Direction})
		return
	}
	r.stepTo(m.Position, m.Direction)
}

// stepTo moves the entity as the client says that moves it, if that is not too fast and the game
// agrees.
func (r *Real) stepTo(to, direction property.Vector3) {
	if !property.Finite(to) || !property.Finite(direction) {
		r.cell.count.Refused++
		return
	}
	s := &r.steering
	now, from, number := r.cell.population.clusterNow(), r.e.Position, s.number
	if !s.stride.take(now, s.limit.takes(from, to)) {
		r.correct()
		return
	}
	at, ok := r.askGame(from, to)
	if r.gone != staying || s.number != number {
		return // the hook has had the last word
	}
	if ok {
		// It is finite, and the real is here: there is no error.
		_ = r.put(at, direction)
	}
	if !ok || at != to {
		r.correct()
	}
}

// askGame is the game's own check; an answer that is no place is a refusal.
func (r *Real) askGame(from, to property.Vector3) (at property.Vector3, ok bool) {
	at, ok = to, true
	if to == from || r.kind == nil {
		return at, ok
	}
	if _, asks := r.script.Interface().(MoveChecker); !asks {
		return at, ok
	}
	callback(r, "OnMoving", func(s MoveChecker) { at, ok = s.OnMoving(from, to) })
	if !property.Finite(at) {
		r.cell.count.Errors++
		r.Log().Error("OnMoving answered with a place that is not finite or out of range; the move is refused", "at", fmt.Sprint(at))
		ok = false
	}
	return at, ok
}

// correct puts the client where its entity is. Its stride goes on: the entity has been there since
// the last move that was taken.
func (r *Real) correct() {
	r.cell.count.Corrected++
	r.renumber()
}

// Flags of a steering that travels.
const (
	steeringUntold = 1 << iota
	steeringServer
	steeringLed
	steeringOther
	steeringAboard
	steeringFlags = 1<<iota - 1
)

// steered reports whether there is anything that a new real would not have: most entities have no
// client, and their scripts do not expect one.
func (r *Real) steered() bool {
	return r.HasClient() || r.steering.server || r.steering.by != 0 || r.steering.limit != r.cell.firstLimit()
}

// firstLimit is the speed limit of a new real.
func (c *Cell) firstLimit() speedLimit { return speedLimit{speed: c.cfg.ClientTopSpeed} }

// appendSteering encodes what travels.
func (r *Real) appendSteering(b []byte) []byte {
	s := &r.steering
	flags := byte(0)
	for i, set := range [...]bool{s.untold, s.server, s.led, s.by != 0, s.aboard} {
		if set {
			flags |= 1 << i
		}
	}
	b = binary.AppendUvarint(append(b, flags), uint64(s.number))
	b = binary.LittleEndian.AppendUint32(b, s.toldStamp)
	b = binary.AppendVarint(b, int64(s.toldAt))
	b = codec.AppendF32(codec.AppendF32(b, s.limit.speed), s.limit.vertical)
	if s.by != 0 {
		b = fields.AppendID(b, s.by)
		b = binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(b, s.session), s.sequence)
	}
	return s.stride.append(b)
}

var errSteering = errors.New("space: an impossible steering")

func (r *Real) readSteering(rd *codec.Reader) {
	s := &r.steering
	flags := rd.U8()
	s.untold, s.server, s.led = flags&steeringUntold != 0, flags&steeringServer != 0, flags&steeringLed != 0
	s.aboard = flags&steeringAboard != 0
	s.ledTick = r.cell.tick
	s.number = fields.ReadUint32(rd)
	s.toldStamp, s.toldAt = rd.U32(), time.Duration(rd.Varint())
	s.toldAt = min(s.toldAt, r.cell.population.clusterNow()) // clocks differ
	s.limit = speedLimit{rd.F32(), rd.F32()}
	if flags&steeringOther != 0 {
		s.by = fields.ReadID(rd)
		s.session, s.sequence = rd.U32(), rd.U32()
	}
	if flags&^byte(steeringFlags) != 0 || !s.limit.valid() || flags&steeringOther != 0 && (!s.by.Valid() || s.server || s.by == r.e.ID) {
		rd.Fail(errSteering)
	}
	s.stride.read(rd)
	r.shareControl()
}

// speedLimit is how fast a client may move an entity, in m/s.
type speedLimit struct{ speed, vertical float32 }

func (l speedLimit) valid() bool {
	ok := func(v float32) bool { return v >= 0 && !math.IsInf(float64(v), 0) }
	return ok(l.speed) && ok(l.vertical)
}

// takes is how long a way takes at least.
func (l speedLimit) takes(from, to property.Vector3) time.Duration {
	if l.speed == 0 {
		return 0
	}
	dx, dy, dz := float64(to.X)-float64(from.X), float64(to.Y)-float64(from.Y), float64(to.Z)-float64(from.Z)
	seconds := 0.0
	if l.vertical > 0 {
		seconds = max(math.Hypot(dx, dz)/float64(l.speed), math.Abs(dy)/float64(l.vertical))
	} else {
		seconds = math.Hypot(math.Hypot(dx, dz), dy) / float64(l.speed)
	}
	return time.Duration(min(seconds, longestWay.Seconds()) / speedTolerance * float64(time.Second))
}
