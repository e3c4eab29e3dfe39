package recording

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/internal/fields"
)

// Reader is told what is in a chunk, record by record. An error ends the reading. Slices are good
// during the call only.
type Reader interface {
	State(alias uint32, s *ReadState) error
	// Place is how far the entity has gone since its last place in the log: in the world, or on its
	// vehicle.
	Place(alias uint32, by *Spot) error
	// Ride tells that the entity rides on a vehicle now, at a seat, or with vehicle 0 that it is off it, at
	// a place in the world.
	Ride(alias uint32, vehicle entity.ID, at *Spot) error
	Change(alias uint32, property int, change []byte) error
	Call(alias uint32, method int, own bool, args []byte) error
	// Left tells that another log goes on with an entity, or with ended that it is no more.
	Left(alias uint32, ended bool) error
	Data(d *Datum) error
	AllData(last uint64, all []Datum) error
	EndKey() error
	Close() error
}

// ReadState is an entity as a whole, as it is read.
type ReadState struct {
	ID    entity.ID
	Order entity.Order
	Type  uint16
	Spot  Spot
	// Vehicle is what it rides on, 0 if nothing, and Seat where.
	Vehicle entity.ID
	Seat    Spot
	// Cell is property.CellReplayStream, and Base property.BaseReplayStream if HasBase.
	Cell, Base []byte
	HasBase    bool
}

// Head is what a chunk begins with.
type Head struct {
	Game time.Duration
	// Key says that a key frame begins.
	Key bool
	// Gap says that nothing was recorded between the chunk before it and this one, which is a key frame.
	Gap bool
}

// The flags of a head.
const (
	flagKey = 1 << iota
	flagGap
	flags
)

func (h *Head) append(b []byte) []byte {
	f := byte(0)
	if h.Key {
		f |= flagKey
	}
	if h.Gap {
		f |= flagGap
	}
	return append(binary.AppendVarint(b, int64(h.Game)), f)
}

func (h *Head) read(r *codec.Reader) {
	h.Game = time.Duration(r.Varint())
	f := r.U8()
	h.Key, h.Gap = f&flagKey != 0, f&flagGap != 0
	if f >= flags || h.Gap && !h.Key {
		r.Fail(errFlags)
	}
}

// ReadHead reads only the head of a chunk, or of its first bytes.
func ReadHead(chunk []byte) (h Head, err error) {
	r := codec.NewReader(chunk)
	h.read(&r)
	if err := r.Err(); err != nil {
		return h, fmt.Errorf("%w: chunk: %w", ErrMalformed, err)
	}
	return h, nil
}

// ReadChunk reads a chunk. Its errors wrap ErrMalformed, but for those of to.
func ReadChunk(chunk []byte, to Reader) (h Head, err error) {
	r := codec.NewReader(chunk)
	for h.read(&r); r.Err() == nil && r.Len() > 0; {
		if err := readRecord(&r, to); err != nil {
			return h, err
		}
	}
	return h, r.CloseAs(ErrMalformed, "chunk")
}

var (
	errKind  = errors.New("unknown record")
	errSpot  = errors.New("a place out of range")
	errFlags = errors.New("unknown flags")
	errIndex = errors.New("index out of range")
	errRide  = errors.New("a ride on what no entity can ride on")
)

// readRecord reads one record, and passes it on if it was read whole.
func readRecord(r *codec.Reader, to Reader) error {
	switch k := kind(r.U8()); k {
	case kindState, kindRider:
		return readState(r, k == kindRider, to)
	case kindRide:
		return readRide(r, to)
	case kindPlace:
		return readPlace(r, to)
	case kindChange:
		alias, index := readAlias(r), readIndex(r)
		payload := r.Bytes(MaxPayload)
		return pass(r, func() error { return to.Change(alias, index, payload) })
	case kindCall:
		alias, index := readAlias(r), readIndex(r)
		own, args := r.Bool(), r.Bytes(MaxPayload)
		return pass(r, func() error { return to.Call(alias, index, own, args) })
	case kindGoneOn, kindEnd:
		alias := readAlias(r)
		return pass(r, func() error { return to.Left(alias, k == kindEnd) })
	case kindData:
		d := readDatum(r)
		return pass(r, func() error { return to.Data(&d) })
	case kindAllData:
		return readAllData(r, to)
	case kindEndOfKey:
		return pass(r, to.EndKey)
	case kindClose:
		return pass(r, to.Close)
	default:
		r.Fail(errKind)
		return nil
	}
}

func pass(r *codec.Reader, tell func() error) error {
	if r.Err() != nil {
		return nil // Close tells
	}
	return tell()
}

func readAlias(r *codec.Reader) uint32 {
	v := r.Uvarint()
	if v >= MaxAliases {
		r.Fail(errIndex)
		return 0
	}
	return uint32(v)
}

// readIndex reads the index of a property, method or type: those of definitions are below 2^16.
func readIndex(r *codec.Reader) int {
	v := r.Uvarint()
	if v > 1<<16-1 {
		r.Fail(errIndex)
		return 0
	}
	return int(v)
}

func readSpot(r *codec.Reader) (s Spot) {
	for i := range s {
		s[i] = r.Varint()
	}
	if r.Err() == nil && !s.valid() {
		r.Fail(errSpot)
	}
	return s
}

func readState(r *codec.Reader, rides bool, to Reader) error {
	alias := readAlias(r)
	var s ReadState
	s.ID, s.Order = fields.ReadID(r), fields.ReadOrder(r)
	s.Type = uint16(readIndex(r))
	s.Spot = readSpot(r)
	if rides {
		s.Vehicle, s.Seat = fields.ReadID(r), readSpot(r)
		if r.Err() == nil && (!s.Vehicle.Valid() || s.Vehicle == s.ID) {
			r.Fail(errRide)
		}
	}
	s.Cell = r.Bytes(MaxProps)
	if s.HasBase = r.Bool(); s.HasBase {
		s.Base = r.Bytes(MaxProps)
	}
	if r.Err() == nil && !s.ID.Valid() {
		r.Fail(errIndex)
	}
	return pass(r, func() error { return to.State(alias, &s) })
}

func readRide(r *codec.Reader, to Reader) error {
	alias, vehicle, at := readAlias(r), fields.ReadID(r), readSpot(r)
	if r.Err() == nil && vehicle != 0 && !vehicle.Valid() {
		r.Fail(errRide)
	}
	return pass(r, func() error { return to.Ride(alias, vehicle, &at) })
}

func readPlace(r *codec.Reader, to Reader) error {
	alias, mask := readAlias(r), r.U8()
	var by Spot
	for i := range by {
		if mask&(1<<i) == 0 {
			continue
		}
		if by[i] = r.Varint(); by[i] > 2*maxSteps || by[i] < -2*maxSteps || by[i] == 0 {
			r.Fail(errSpot)
		}
	}
	if mask == 0 || mask >= 1<<len(by) {
		r.Fail(errSpot)
	}
	return pass(r, func() error { return to.Place(alias, &by) })
}

func readDatum(r *codec.Reader) (d Datum) {
	d.Number = r.Uvarint()
	d.Key = uint16(readIndex(r))
	d.ID = entity.DataID(r.Uvarint())
	d.Removed = r.Bool()
	d.Value = r.Bytes(MaxValue)
	return d
}

func readAllData(r *codec.Reader, to Reader) error {
	last := r.Uvarint()
	n := r.Count(MaxData, 5)
	all := make([]Datum, 0, min(n, 64))
	for range n {
		if all = append(all, readDatum(r)); r.Err() != nil {
			return nil
		}
	}
	return pass(r, func() error { return to.AllData(last, all) })
}
