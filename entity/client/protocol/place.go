package protocol

import (
	"encoding/binary"
	"math"

	"github.com/cellscape/cellscape/entity/presence"
	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/internal/fields"
	"github.com/cellscape/cellscape/property"
)

// An entry of a packet tells a place in one of these forms. Those of the last list are told apart by a flag.
//
//	near     X, Z (8 bits each)                              the lowest bits of the place on the grid
//	turning  X, Z, yaw                                       the same
//	flagged  flags, X, Z (12 bits each): middle              the same, and 8 bits of the height
//	         [yaw] [height]
//	         flags, X, Z (16 bits each) or the whole place:  the lowest bits, near the packet's origin
//	         far    [yaw] [height] [pitch, roll]
//
// One of the last list may be a seat (Seated): then all is as seen from the vehicle, and the origin is there.
const (
	yawFlag    = 1 << 0
	heightFlag = 1 << 1
	tiltFlag   = 1 << 2 // pitch and roll follow
	levelFlag  = 1 << 3 // pitch and roll are zero
	wholeFlag  = 1 << 4 // the place and the direction follow as they are, and nothing else
	middleFlag = 1 << 5 // it is the middle form, not the far one
	seatFlag   = 1 << 6 // it is a seat on a vehicle

	farFlags    = yawFlag | heightFlag | tiltFlag | levelFlag | wholeFlag
	middleFlags = middleFlag | yawFlag | heightFlag

	nearBits = 8
	// NearReach is how far an entity may have gone, by presence.Motion.Path, from any place that the
	// client may hold, so that the near form tells where it is. One more would leave two places open,
	// and what the client holds is rounded to the grid once more.
	NearReach = 1<<(nearBits-1) - 2
	// MiddleReach is the same of the middle form, and RiseReach by presence.Motion.Rise.
	MiddleReach = 1<<(middleBits-1) - 2
	RiseReach   = 1<<(heightBits-1) - 2
	middleBits  = 12
	heightBits  = 8
	// farReach is how far from the origin the far form reaches, in parts of a metre.
	farReach = 1<<15 - 1
)

// Near is where an entity is in the near form: for a client that holds a place from which the entity
// has gone no farther than NearReach. What the client holds of height, pitch and roll must be true.
type Near [3]byte

// NearOf is the near form of a place, with the yaw.
func NearOf(m *presence.Motion) Near {
	return Near{byte(m.X), byte(m.Z), m.Yaw}
}

// Append encodes n, for the list Turning with yaw, else for NearBy: then the client must hold the
// yaw that the entity has now.
func (n Near) Append(b []byte, yaw bool) []byte {
	if yaw {
		return append(b, n[:]...)
	}
	return append(b, n[0], n[1])
}

// Middle is where an entity is in the middle form: for a client that holds a place from which the
// entity has gone no farther than MiddleReach. What the client holds of pitch and roll must be true.
type Middle [5]byte

// MiddleOf is the middle form of a place, with yaw and height.
func MiddleOf(m *presence.Motion) Middle {
	const mask = 1<<middleBits - 1
	word := uint32(m.X&mask) | uint32(m.Z&mask)<<middleBits
	return Middle{byte(word), byte(word >> 8), byte(word >> 16), m.Yaw, byte(m.Height)}
}

// Append encodes m. Without yaw or height, the client must hold those that the entity has now; with
// height, one from which it has gone up and down no farther than RiseReach.
func (m Middle) Append(b []byte, yaw, height bool) []byte {
	flags := byte(middleFlag)
	if yaw {
		flags |= yawFlag
	}
	if height {
		flags |= heightFlag
	}
	b = append(b, flags, m[0], m[1], m[2])
	if yaw {
		b = append(b, m[3])
	}
	if height {
		b = append(b, m[4])
	}
	return b
}

// AppendFar encodes where an entity is for a client that may hold any place of it.
func AppendFar(b []byte, e *presence.Entity, origin [2]int32) []byte {
	m := &e.Motion
	if !inReach(m.X, origin[0]) || !inReach(m.Z, origin[1]) {
		return AppendWhole(b, e)
	}
	level := e.Direction.Y == 0 && e.Direction.Z == 0
	head := len(b)
	b = append(b, yawFlag|heightFlag)
	b = binary.LittleEndian.AppendUint16(b, uint16(m.X))
	b = binary.LittleEndian.AppendUint16(b, uint16(m.Z))
	b = append(b, m.Yaw)
	b = binary.AppendVarint(b, int64(m.Height))
	if level {
		b[head] |= levelFlag
		return b
	}
	b[head] |= tiltFlag
	return append(b, presence.TurnsOf(e.Direction.Y), presence.TurnsOf(e.Direction.Z))
}

// AppendWhole encodes where an entity is exactly, and which way it faces.
func AppendWhole(b []byte, e *presence.Entity) []byte {
	b = append(b, wholeFlag)
	return fields.AppendVector3(fields.AppendVector3(b, e.Position), e.Direction)
}

// MarkSeat makes an entry of the last list that of a seat. A place in the far form is told with an origin of
// zero then.
func MarkSeat(entry []byte) { entry[0] |= seatFlag }

// inReach reports whether the far form tells a coordinate. The most extreme ones go whole, since
// what is rounded must not leave the world.
func inReach(x, origin int32) bool {
	d := int64(x) - int64(origin)*originUnit*presence.Grid
	return d >= -farReach && d <= farReach && x > -(property.MaxCoordinate-1)*presence.Grid && x < (property.MaxCoordinate-1)*presence.Grid
}

// Moved is an entry of a packet.
type Moved struct {
	Alias uint32

	origin   [2]int32
	near     bool
	seat     bool
	flags    uint8
	x, z     uint16
	yaw      uint8
	tilt     [2]uint8
	y        int64
	position property.Vector3 // whole
	rotation property.Vector3
}

// Seated reports whether it is the seat on a vehicle: then From is given the seat that is held, and says
// what the new one is.
func (m *Moved) Seated() bool { return m.seat }

// readNear reads an entry of the first two lists.
func (m *Moved) readNear(r *codec.Reader, yaw bool) {
	word := r.U16()
	m.near, m.seat, m.flags, m.x, m.z = true, false, 0, word&(1<<nearBits-1), word>>nearBits
	if yaw {
		m.flags, m.yaw = yawFlag, r.U8()
	}
}

// read reads an entry of the last list.
func (m *Moved) read(r *codec.Reader) {
	m.near, m.flags = false, r.U8()
	m.seat, m.flags = m.flags&seatFlag != 0, m.flags&^seatFlag
	if m.flags&middleFlag != 0 {
		m.readMiddle(r)
		return
	}
	if m.flags&^farFlags != 0 || m.flags&wholeFlag != 0 && m.flags != wholeFlag {
		r.Fail(errEntry)
		return
	}
	if m.flags&wholeFlag != 0 {
		m.position, m.rotation = fields.ReadVector3(r), fields.ReadVector3(r)
		return
	}
	m.x, m.z = r.U16(), r.U16()
	if m.flags&yawFlag != 0 {
		m.yaw = r.U8()
	}
	if m.flags&heightFlag != 0 {
		if m.y = r.Varint(); m.y < -property.MaxCoordinate*presence.Grid || m.y > property.MaxCoordinate*presence.Grid {
			r.Fail(errEntry)
		}
	}
	if m.flags&tiltFlag != 0 {
		m.tilt = [2]uint8{r.U8(), r.U8()}
	}
}

// readAnew reads an entry with flags for a client that holds no place of the entity, and tells it.
// The middle form is next to a place that is held, and no good.
func (m *Moved) readAnew(r *codec.Reader) (at, to property.Vector3) {
	m.read(r)
	at, to, ok := m.From(property.Vector3{}, property.Vector3{})
	if !ok || m.seat || m.flags&middleFlag != 0 {
		r.Fail(errEntry)
	}
	return at, to
}

func (m *Moved) readMiddle(r *codec.Reader) {
	if m.flags&^middleFlags != 0 {
		r.Fail(errEntry)
		return
	}
	word := uint32(r.U8()) | uint32(r.U8())<<8 | uint32(r.U8())<<16
	m.x, m.z = uint16(word&(1<<middleBits-1)), uint16(word>>middleBits)
	if m.flags&yawFlag != 0 {
		m.yaw = r.U8()
	}
	if m.flags&heightFlag != 0 {
		m.y = int64(r.U8())
	}
}

// From is where the entity is, for a client that holds a place and a direction of it. ok is false
// for what is nowhere: a packet that no server makes.
func (m *Moved) From(position, direction property.Vector3) (at, to property.Vector3, ok bool) {
	switch {
	case m.near:
		at = property.Vector3{X: nextTo(m.x, nearBits, position.X), Y: position.Y, Z: nextTo(m.z, nearBits, position.Z)}
		to = direction
	case m.flags&wholeFlag != 0:
		at, to = m.position, m.rotation
	case m.flags&middleFlag != 0:
		at = property.Vector3{X: nextTo(m.x, middleBits, position.X), Y: position.Y, Z: nextTo(m.z, middleBits, position.Z)}
		to = direction
	default:
		origin := m.origin
		if m.seat {
			origin = [2]int32{}
		}
		at = property.Vector3{X: farFrom(m.x, origin[0]), Y: position.Y, Z: farFrom(m.z, origin[1])}
		to = direction
	}
	switch m.flags & (heightFlag | middleFlag) {
	case heightFlag:
		at.Y = float32(m.y) / presence.Grid
	case heightFlag | middleFlag:
		at.Y = nextTo(uint16(m.y), heightBits, position.Y)
	}
	if m.flags&yawFlag != 0 {
		to.X = angle(m.yaw)
	}
	if m.flags&levelFlag != 0 {
		to.Y, to.Z = 0, 0
	}
	if m.flags&tiltFlag != 0 {
		to.Y, to.Z = angle(m.tilt[0]), angle(m.tilt[1])
	}
	return at, to, property.Finite(at)
}

// nextTo is the coordinate whose lowest bits are given, next to one that is held.
func nextTo(low uint16, bits int, held float32) float32 {
	mask := int32(1)<<bits - 1
	h := nearest(held)
	d := (int32(low) - h) & mask
	if d > mask/2 {
		d -= mask + 1
	}
	return float32(float64(h+d) / presence.Grid)
}

// nearest is the place on the grid that is nearest to a coordinate. It is math.Round, which costs more than
// all else that is done with a place.
func nearest(held float32) int32 {
	x := float64(held) * presence.Grid
	if x < 0 {
		return int32(x - 0.5)
	}
	return int32(x + 0.5)
}

// farFrom is the coordinate whose lowest bits are given, next to the origin.
func farFrom(low uint16, origin int32) float32 {
	o := int64(origin) * originUnit * presence.Grid
	return float32(float64(o+int64(int16(low-uint16(o)))) / presence.Grid)
}

// angle is what presence.TurnsOf made, in radians from -π to π.
func angle(turns uint8) float32 { return float32(float64(int8(turns)) / 256 * 2 * math.Pi) }
