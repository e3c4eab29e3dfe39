package protocol

import (
	"encoding/binary"

	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/property"
)

// MaxKept is how many entities that have left a client keeps: four times the 62 that a player usually
// has in view, so that whoever walks to and fro over the edge is found again, and as many as one byte
// tells apart.
const MaxKept = 256

// Keep takes an entity out of the area of interest, as a Leave does, and has the client keep what it
// knows of it: the values of its properties, and its place. It goes by the alias, which is shorter
// than an id; an entity without one is not kept.
type Keep struct {
	Alias uint32
	// Slot is where it is kept. What was there before is forgotten.
	Slot uint8
	// Drop are slots that are emptied first. It aliases the input after Parse.
	Drop []byte
}

// Append frames and encodes m.
func (m *Keep) Append(b []byte) []byte {
	b, mark := Begin(b, KeepID)
	b = binary.AppendUvarint(b, uint64(m.Alias))
	b = append(append(b, m.Slot), m.Drop...)
	return End(b, mark)
}

// Parse decodes a body.
func (m *Keep) Parse(body []byte) error {
	r := codec.NewReader(body)
	alias := r.Uvarint()
	if alias >= NoAlias {
		r.Fail(errEntry)
	}
	m.Alias, m.Slot, m.Drop = uint32(min(alias, NoAlias)), r.U8(), r.Rest()
	return done(&r, "keep")
}

// Return brings an entity back into the area of interest that the client has kept, which keeps it no
// longer. It says only what has changed since.
type Return struct {
	Slot  uint8
	Alias uint32 // as in Enter
	// Entry is the place, as AppendFar writes it for Origin or as AppendWhole does; nil if the place is
	// the one that was kept. It aliases the input after Parse.
	Entry  []byte
	Origin [2]int32
	// Props are changes as in Changes; it aliases the input after Parse.
	Props []byte
}

// Append frames and encodes m.
func (m *Return) Append(b []byte) []byte {
	b, mark := Begin(b, ReturnID)
	b = append(b, m.Slot)
	if len(m.Entry) == 0 {
		b = binary.AppendUvarint(b, uint64(m.Alias)<<1)
	} else {
		b = binary.AppendUvarint(b, uint64(m.Alias)<<1|1)
		b = appendOrigin(b, m.Origin)
		b = append(b, m.Entry...)
	}
	return End(append(b, m.Props...), mark)
}

// Parse decodes a body.
func (m *Return) Parse(body []byte) error {
	r := codec.NewReader(body)
	m.Slot = r.U8()
	alias := r.Uvarint()
	if alias>>1 > NoAlias {
		r.Fail(errEntry)
	}
	m.Alias, m.Origin, m.Entry = uint32(min(alias>>1, NoAlias)), [2]int32{}, nil
	if alias&1 != 0 {
		m.Origin = readOrigin(&r)
		start := len(body) - r.Len()
		var place Moved
		if place.read(&r); place.seat {
			r.Fail(errEntry) // who comes back rides on nothing yet
		}
		if r.Err() == nil {
			m.Entry = body[start : len(body)-r.Len()]
		}
	}
	m.Props = r.Rest()
	return done(&r, "return")
}

// From is where the entity is, for a client that has kept a place and a direction of it. ok is false
// for what is nowhere.
func (m *Return) From(position, direction property.Vector3) (at, to property.Vector3, ok bool) {
	if len(m.Entry) == 0 {
		return position, direction, true
	}
	r := codec.NewReader(m.Entry)
	place := Moved{origin: m.Origin}
	place.read(&r)
	at, to, ok = place.From(position, direction)
	return at, to, ok && r.Err() == nil
}
