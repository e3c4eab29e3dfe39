package fields

import (
	"encoding/binary"
	"errors"
	"math"

	"github.com/cellscape/cellscape/bsp"
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/presence"
	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/property"
)

// AppendID encodes an entity id.
func AppendID(b []byte, id entity.ID) []byte { return binary.AppendUvarint(b, uint64(id)) }

// ReadID reads an entity id; ids outside 53 bits set the reader's error.
func ReadID(r *codec.Reader) entity.ID {
	v := r.Uvarint()
	if v > uint64(entity.MaxID) {
		r.Fail(errors.New("fields: id out of range"))
		return 0
	}
	return entity.ID(v)
}

// ReadUint32 reads an unsigned varint that must fit 32 bits.
func ReadUint32(r *codec.Reader) uint32 {
	v := r.Uvarint()
	if v > 1<<32-1 {
		r.Fail(errors.New("fields: number out of range"))
		return 0
	}
	return uint32(v)
}

// AppendOrder and ReadOrder carry an Order.
func AppendOrder(b []byte, o entity.Order) []byte {
	b = binary.AppendUvarint(b, uint64(o.Incarnation))
	return binary.AppendUvarint(b, uint64(o.Hop))
}

// ReadOrder reads what AppendOrder wrote.
func ReadOrder(r *codec.Reader) entity.Order {
	return entity.Order{Incarnation: ReadUint32(r), Hop: ReadUint32(r)}
}

// ReadPart reads a part of an entity.
func ReadPart(r *codec.Reader) entity.Part {
	s := entity.Part(r.U8())
	if s < entity.CellPart || s > entity.ClientPart {
		r.Fail(errors.New("fields: unknown part"))
		return 0
	}
	return s
}

// AppendEnd and ReadEnd carry which part of which entity an end of a flow is.
func AppendEnd(b []byte, id entity.ID, side entity.Part) []byte {
	return append(AppendID(b, id), byte(side))
}

// ReadEnd reads what AppendEnd wrote.
func ReadEnd(r *codec.Reader) (entity.ID, entity.Part) { return ReadID(r), ReadPart(r) }

// AppendMailbox encodes who a flow's other end is, and where it was.
func AppendMailbox(b []byte, id entity.ID, side entity.Part, at mercury.Address) []byte {
	return mercury.AppendAddress(AppendEnd(b, id, side), at)
}

// ReadMailbox reads what AppendMailbox wrote.
func ReadMailbox(r *codec.Reader) (id entity.ID, side entity.Part, at mercury.Address) {
	return ReadID(r), ReadPart(r), mercury.ReadAddress(r)
}

var errNotFinite = errors.New("fields: a coordinate is not finite or out of range")

// AppendVector3 encodes three floats, 12 bytes.
func AppendVector3(b []byte, v property.Vector3) []byte {
	b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v.X))
	b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v.Y))
	return binary.LittleEndian.AppendUint32(b, math.Float32bits(v.Z))
}

// ReadVector3 reads what AppendVector3 wrote; numbers that are not Finite set
// the reader's error.
func ReadVector3(r *codec.Reader) property.Vector3 {
	v := property.Vector3{X: r.F32(), Y: r.F32(), Z: r.F32()}
	if r.Err() == nil && !property.Finite(v) {
		r.Fail(errNotFinite)
		return property.Vector3{}
	}
	return v
}

// AppendPlace encodes where an entity is, as every message that says so has it:
// the stamp that numbers its moves, position and direction.
func AppendPlace(b []byte, stamp uint32, position, direction property.Vector3) []byte {
	b = binary.AppendUvarint(b, uint64(stamp))
	b = AppendVector3(b, position)
	return AppendVector3(b, direction)
}

// ReadPlace reads what AppendPlace wrote.
func ReadPlace(r *codec.Reader) (stamp uint32, position, direction property.Vector3) {
	stamp = ReadUint32(r)
	position = ReadVector3(r)
	return stamp, position, ReadVector3(r)
}

// AppendControl and ReadControl carry which other entity's client moves an entity: a byte if none does.
func AppendControl(b []byte, c presence.Control) []byte {
	b = AppendID(b, c.By)
	if c.By == 0 {
		return b
	}
	return binary.AppendUvarint(b, uint64(c.Number))
}

// ReadControl reads what AppendControl wrote.
func ReadControl(r *codec.Reader) (c presence.Control) {
	if c.By = ReadID(r); c.By != 0 {
		c.Number = ReadUint32(r)
	}
	return c
}

// AppendRide and ReadRide carry what an entity rides on: a byte for one that has never ridden.
func AppendRide(b []byte, v *presence.Ride) []byte {
	b = binary.AppendUvarint(b, uint64(v.Stamp))
	if v.Stamp == 0 {
		return b
	}
	b = binary.AppendUvarint(b, uint64(v.Stamp-v.Since))
	if b = AppendID(b, v.Vehicle); v.Vehicle == 0 {
		return b
	}
	return AppendVector3(AppendVector3(b, v.Seat.Position), v.Seat.Direction)
}

// ReadRide reads what AppendRide wrote.
func ReadRide(r *codec.Reader) (v presence.Ride) {
	if v.Stamp = ReadUint32(r); v.Stamp == 0 {
		return v
	}
	v.Since = v.Stamp - ReadUint32(r)
	if v.Vehicle = ReadID(r); v.Vehicle != 0 {
		v.Seat.Position, v.Seat.Direction = ReadVector3(r), ReadVector3(r)
	}
	return v
}

// AppendRect appends a rectangle, four float64.
func AppendRect(b []byte, r bsp.Rect) []byte {
	for _, v := range [...]float64{r.MinX, r.MinZ, r.MaxX, r.MaxZ} {
		b = appendFloat(b, v)
	}
	return b
}

// ReadRect reads what AppendRect wrote. The edges may be any numbers, or none: who uses them checks them.
func ReadRect(r *codec.Reader) bsp.Rect {
	return bsp.Rect{MinX: readFloat(r), MinZ: readFloat(r), MaxX: readFloat(r), MaxZ: readFloat(r)}
}

func appendFloat(b []byte, v float64) []byte {
	return binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
}

func readFloat(r *codec.Reader) float64 { return math.Float64frombits(r.U64()) }

// ReadAspect reads how an entity shows itself, which is a byte; what is not known sets the reader's
// error.
func ReadAspect(r *codec.Reader) presence.Aspect {
	a := presence.Aspect(r.U8())
	if !a.Valid() {
		r.Fail(errors.New("fields: no such aspect"))
	}
	return a
}
