package recording

import (
	"encoding/binary"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/internal/fields"
	"github.com/cellscape/cellscape/property"
)

// kind is the first byte of a record.
type kind uint8

const (
	kindState kind = 1 + iota
	kindPlace
	kindChange
	kindCall
	kindGoneOn
	kindEnd
	kindData
	kindAllData
	kindEndOfKey
	kindClose
	kindRider
	kindRide
)

// Track is what a log knows of an entity that it holds.
type Track struct {
	alias   uint32
	vehicle entity.ID
	spot    Spot // on the vehicle, or in the world
}

// Vehicle is what the entity rides on by what the log has of it, 0 if nothing.
func (t *Track) Vehicle() entity.ID { return t.vehicle }

// Encoder makes the chunks of one log. Its buffer is used again for each.
type Encoder struct {
	b    []byte // the records, behind room for the head
	free []uint32
	next uint32
}

// headRoom is the most bytes of a Head.
const headRoom = binary.MaxVarintLen64 + 1

// Len is how many bytes of records there are.
func (e *Encoder) Len() int { return max(0, len(e.b)-headRoom) }

// Chunk is the chunk of the records since Reset. It is good until something else is added.
func (e *Encoder) Chunk(head Head) []byte {
	var b [headRoom]byte
	h := head.append(b[:0])
	from := headRoom - len(h)
	copy(e.b[from:], h)
	return e.b[from:]
}

// Reset begins the next chunk.
func (e *Encoder) Reset() { e.b = e.b[:min(len(e.b), headRoom)] }

// begin begins a record.
func (e *Encoder) begin(k kind) []byte {
	if len(e.b) == 0 {
		e.b = make([]byte, headRoom, 4096)
	}
	return append(e.b, byte(k))
}

// State is an entity as a whole.
type State struct {
	ID        entity.ID
	Order     entity.Order
	Type      uint16 // property.Definition.ID
	Position  property.Vector3
	Direction property.Vector3
	// Vehicle is what it rides on, 0 if nothing, and SeatPosition and SeatDirection where.
	Vehicle                     entity.ID
	SeatPosition, SeatDirection property.Vector3
	// Cell are the properties of the cell part, and Base those of the base that are known; nil for
	// none.
	Cell, Base *property.Values
}

// State adds an entity as a whole. With t, in a key frame, it keeps the alias that it has; with nil it
// gets one. It reports false, and adds nothing, if the entity is too large; t is then of no use.
func (e *Encoder) State(t *Track, s *State) (*Track, bool) {
	k := kindState
	if s.Vehicle != 0 {
		k = kindRider
	}
	b := e.begin(k)
	mark := len(b) - 1
	if t == nil {
		t = &Track{alias: e.take()}
	}
	t.spot, t.vehicle = SpotOf(s.Position, s.Direction), s.Vehicle
	b = binary.AppendUvarint(b, uint64(t.alias))
	b = fields.AppendOrder(fields.AppendID(b, s.ID), s.Order)
	b = binary.AppendUvarint(b, uint64(s.Type))
	b = appendSpot(b, &t.spot)
	if s.Vehicle != 0 {
		t.spot = SpotOf(s.SeatPosition, s.SeatDirection)
		b = appendSpot(fields.AppendID(b, s.Vehicle), &t.spot)
	}
	b, cell := appendProps(b, s.Cell, property.CellReplayStream)
	b = codec.AppendBool(b, s.Base != nil)
	base := 0
	if s.Base != nil {
		b, base = appendProps(b, s.Base, property.BaseReplayStream)
	}
	e.b = b
	if cell <= MaxProps && base <= MaxProps {
		return t, true
	}
	e.b = e.b[:mark]
	e.free = append(e.free, t.alias)
	return nil, false
}

func appendSpot(b []byte, s *Spot) []byte {
	for _, n := range s {
		b = binary.AppendVarint(b, n)
	}
	return b
}

func appendProps(b []byte, v *property.Values, s property.Stream) (out []byte, bytes int) {
	b, mark := codec.BeginBytes(b)
	b = v.AppendStream(b, s)
	bytes = len(b) - mark
	return codec.EndBytes(b, mark), bytes
}

func (e *Encoder) take() uint32 {
	if n := len(e.free); n > 0 {
		alias := e.free[n-1]
		e.free = e.free[:n-1]
		return alias
	}
	e.next++
	return e.next - 1
}

func (e *Encoder) about(k kind, t *Track) []byte {
	return binary.AppendUvarint(e.begin(k), uint64(t.alias))
}

// Ride adds that an entity rides on a vehicle from now on, at a seat, or with vehicle 0 that it is off it, at
// a place in the world.
func (e *Encoder) Ride(t *Track, vehicle entity.ID, position, direction property.Vector3) {
	t.vehicle, t.spot = vehicle, SpotOf(position, direction)
	e.b = appendSpot(fields.AppendID(e.about(kindRide, t), vehicle), &t.spot)
}

// Place adds where an entity is, on its vehicle if it rides, if that is another place than before at this
// resolution.
func (e *Encoder) Place(t *Track, position, direction property.Vector3) {
	to := SpotOf(position, direction)
	if to == t.spot {
		return
	}
	b := e.about(kindPlace, t)
	at := len(b)
	b = append(b, 0)
	for i := range to {
		if by := to[i] - t.spot[i]; by != 0 {
			b[at] |= 1 << i
			b = binary.AppendVarint(b, by)
		}
	}
	t.spot, e.b = to, b
}

// Change adds a change that v, of one part of the entity, has had.
func (e *Encoder) Change(t *Track, v *property.Values, c *property.Change) {
	b, mark := codec.BeginBytes(binary.AppendUvarint(e.about(kindChange, t), uint64(c.Index)))
	e.b = codec.EndBytes(v.AppendChange(b, c), mark)
}

// Call adds a call of a client method. own says that only the own client heard it.
func (e *Encoder) Call(t *Track, method int, own bool, args []byte) {
	b := binary.AppendUvarint(e.about(kindCall, t), uint64(method))
	e.b = codec.AppendBytes(codec.AppendBool(b, own), args)
}

// GoneOn adds that another log goes on with an entity, or none if nothing brings it back. t is of no
// use any more.
func (e *Encoder) GoneOn(t *Track) { e.leave(kindGoneOn, t) }

// End adds that an entity is no more. t is of no use any more.
func (e *Encoder) End(t *Track) { e.leave(kindEnd, t) }

func (e *Encoder) leave(k kind, t *Track) {
	e.b = e.about(k, t)
	e.free = append(e.free, t.alias)
}

// Datum is a change of the space's data. Numbers order those of all logs.
type Datum struct {
	Number uint64
	entity.SpaceDatum
}

func appendDatum(b []byte, d *Datum) []byte {
	b = binary.AppendUvarint(b, d.Number)
	b = binary.AppendUvarint(b, uint64(d.Key))
	b = binary.AppendUvarint(b, uint64(d.ID))
	b = codec.AppendBool(b, d.Removed)
	return codec.AppendBytes(b, d.Value)
}

// Data adds a change of the space's data.
func (e *Encoder) Data(d *Datum) { e.b = appendDatum(e.begin(kindData), d) }

// AllData adds all entries of the space's data, as of the change with number last. So many times as n
// says, Datum follows.
func (e *Encoder) AllData(last uint64, n int) {
	e.b = binary.AppendUvarint(e.begin(kindAllData), last)
	e.b = binary.AppendUvarint(e.b, uint64(n))
}

// Datum adds an entry to AllData.
func (e *Encoder) Datum(d *Datum) { e.b = appendDatum(e.b, d) }

// EndKey adds that the key frame is complete.
func (e *Encoder) EndKey() { e.b = e.begin(kindEndOfKey) }

// Close adds that the log ends in order.
func (e *Encoder) Close() { e.b = e.begin(kindClose) }
