package protocol

import (
	"encoding/binary"
	"errors"
	"math"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/internal/fields"
	"github.com/cellscape/cellscape/property"
)

// The head of an entry of a Positions packet.
const (
	allocatorBits = 0x03 // which allocator of the packet made the id; newAllocator: a new one follows
	wholeFlag     = 1 << 2
	turnShift     = 3 // three flags: X, Y and Z of the direction follow
	turnBits      = 0x07
	newAllocator  = 3
	unusedBits    = 0xff &^ (allocatorBits | wholeFlag | turnBits<<turnShift)
)

const (
	// placeUnit is the unit of an entry's position, as a fraction of a metre. A position is off by
	// less than a centimetre, and reaches 512 m from the origin of its packet. What is further away
	// goes whole.
	placeUnit = 64
	// turnUnit is the unit of an entry's direction, as a fraction of π: it is off by less than a
	// tenth of a milliradian.
	turnUnit = math.MaxInt16

	// MaxEntry is the most that an entry takes, MaxPacketHead the most that precedes the first one.
	MaxEntry      = 1 + 3 + 5 + 5 + 24
	MaxPacketHead = binary.MaxVarintLen64 + 3*4
)

var errEntry = errors.New("no such entry")

// counterBits are the bits of an entity id that hold its counter; the others hold its allocator.
const counterBits = 32

// packing is what the entries of one packet share. The writer and the reader of a packet have the
// same packing at each entry.
type packing struct {
	origin     [3]int32 // metres
	allocators [newAllocator]uint32
	known      int
}

func (p *packing) learn(allocator uint32) {
	if p.known < len(p.allocators) {
		p.allocators[p.known] = allocator
		p.known++
	}
}

// PacketWriter writes one Positions packet after the other:
//
//	b = protocol.BeginPositions(b, after)
//	b = w.Begin(b, origin)
//	b = w.Append(b, &place) // for each
//
// The zero value is usable.
type PacketWriter struct{ packing }

// BeginPositions starts a Positions packet, whose number it appends.
func BeginPositions(b []byte, after uint64) []byte { return binary.AppendUvarint(b, after) }

// Begin begins the entries of a packet. origin is a place near those that follow: the watcher's.
func (w *PacketWriter) Begin(b []byte, origin property.Vector3) []byte {
	w.packing = packing{origin: [3]int32{metres(origin.X), metres(origin.Y), metres(origin.Z)}}
	for _, o := range w.origin {
		b = binary.AppendVarint(b, int64(o))
	}
	return b
}

// metres rounds a coordinate. All coordinates of entities are within entity.MaxCoordinate.
func metres(x float32) int32 {
	return int32(math.Round(float64(min(max(x, -entity.MaxCoordinate), entity.MaxCoordinate))))
}

// Append appends an entry. Position and direction are rounded, unless the position is too far from
// the origin or the direction is not made of angles.
func (w *PacketWriter) Append(b []byte, p *Place) []byte {
	head := len(b)
	b = append(b, 0)
	b = w.appendID(b, p.ID)
	b = binary.AppendUvarint(b, uint64(p.Stamp))
	at := [3]float32{p.Position.X, p.Position.Y, p.Position.Z}
	to := [3]float32{p.Direction.X, p.Direction.Y, p.Direction.Z}
	var near, turn [3]int16
	fits := true
	for i := range at {
		var ok [2]bool
		near[i], ok[0] = rounded((float64(at[i]) - float64(w.origin[i])) * placeUnit)
		turn[i], ok[1] = rounded(float64(to[i]) / math.Pi * turnUnit)
		fits = fits && ok[0] && ok[1] && math.Abs(float64(at[i])) < entity.MaxCoordinate-1
	}
	if !fits {
		b[head] |= wholeFlag
		b = fields.AppendVector3(b, p.Position)
		return fields.AppendVector3(b, p.Direction)
	}
	for i := range near {
		b = binary.LittleEndian.AppendUint16(b, uint16(near[i]))
	}
	for i := range turn {
		if turn[i] != 0 {
			b[head] |= 1 << (turnShift + i)
			b = binary.LittleEndian.AppendUint16(b, uint16(turn[i]))
		}
	}
	return b
}

// appendID writes an id after its head, which is b's last byte.
func (w *PacketWriter) appendID(b []byte, id entity.ID) []byte {
	allocator, head := uint32(id>>counterBits), len(b)-1
	slot := 0
	for slot < w.known && w.allocators[slot] != allocator {
		slot++
	}
	if slot == w.known {
		slot = newAllocator
		b = binary.AppendUvarint(b, uint64(allocator))
		w.learn(allocator)
	}
	b[head] |= byte(slot)
	return binary.AppendUvarint(b, uint64(uint32(id)))
}

// rounded returns false for what does not fit 16 bits.
func rounded(x float64) (int16, bool) {
	x = math.Round(x)
	if !(math.Abs(x) <= math.MaxInt16) {
		return 0, false
	}
	return int16(x), true
}

// Positions decodes a Positions packet.
func Positions(packet []byte, f func(after uint64, p *Place)) error {
	r := codec.NewReader(packet)
	after := r.Uvarint()
	var shared packing
	for i := range shared.origin {
		shared.origin[i] = int32(readMetres(&r))
	}
	var p Place
	for r.Len() > 0 {
		p.readEntry(&r, &shared)
		if r.Err() != nil {
			break
		}
		f(after, &p)
	}
	return done(&r, "positions")
}

func readMetres(r *codec.Reader) int64 {
	m := r.Varint()
	if m < -entity.MaxCoordinate || m > entity.MaxCoordinate {
		r.Fail(errEntry)
		return 0
	}
	return m
}

func (p *Place) readEntry(r *codec.Reader, shared *packing) {
	head := r.U8()
	slot := int(head & allocatorBits)
	var allocator uint32
	switch {
	case slot == newAllocator:
		allocator = fields.ReadUint32(r)
		shared.learn(allocator)
	case slot < shared.known:
		allocator = shared.allocators[slot]
	default:
		r.Fail(errEntry)
	}
	p.ID = entity.ID(allocator)<<counterBits | entity.ID(fields.ReadUint32(r))
	p.Stamp = fields.ReadUint32(r)
	if !p.ID.Valid() || head&unusedBits != 0 || head&wholeFlag != 0 && head>>turnShift != 0 {
		r.Fail(errEntry)
	}
	if head&wholeFlag != 0 {
		p.Position, p.Direction = fields.ReadVector3(r), fields.ReadVector3(r)
		return
	}
	var at, to [3]float32
	for i := range at {
		at[i] = float32(float64(shared.origin[i]) + float64(int16(r.U16()))/placeUnit)
	}
	for i := range to {
		if head&(1<<(turnShift+i)) != 0 {
			to[i] = float32(float64(int16(r.U16())) / turnUnit * math.Pi)
		}
	}
	p.Position = property.Vector3{X: at[0], Y: at[1], Z: at[2]}
	p.Direction = property.Vector3{X: to[0], Y: to[1], Z: to[2]}
	if !entity.Finite(p.Position) {
		r.Fail(errEntry)
	}
}
