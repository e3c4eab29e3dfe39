package protocol

import (
	"encoding/binary"
	"errors"
	"math"

	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/internal/fields"
	"github.com/cellscape/cellscape/property"
)

// A Positions packet is a head, three lists of places (Lists), and News.

const (
	// originUnit is what the origin of a packet counts in, in metres.
	originUnit = 64

	// MaxAlias bounds the aliases of one client's entities: with the entities that it has forgotten
	// and not yet said so there may be more of them than entities. With NoAlias they fit 16 bits.
	MaxAlias = 4*MaxAudited - 1
	// NoAlias is that of an entity of which no packet tells.
	NoAlias = MaxAlias
	// MaxEntry is the most that an entry takes with its alias, MaxPacketHead what comes before.
	MaxEntry      = 3 + 1 + 24
	MaxPacketHead = binary.MaxVarintLen64 + 5 + 1 + 2*4 + lists*3
)

var errEntry = errors.New("no such entry")

// PacketHead says what a Positions packet is.
type PacketHead struct {
	// After is the number of the bundle that the packet comes after.
	After uint64
	// Number counts the packets of a witness, from 1. The client says which it has seen; see Seen.
	Number uint32
	// Epoch is the low byte of the incarnation of the player's real: numbers begin anew with each.
	Epoch uint8
	// Origin is a place near those of the packet, in units of 64 m.
	Origin [2]int32
}

// OriginOf is the origin of a packet for a watcher at a place.
func OriginOf(at property.Vector3) [2]int32 {
	unit := func(x float32) int32 {
		return int32(math.Round(float64(min(max(x, -property.MaxCoordinate), property.MaxCoordinate)) / originUnit))
	}
	return [2]int32{unit(at.X), unit(at.Z)}
}

// Append encodes h.
func (h *PacketHead) Append(b []byte) []byte {
	b = binary.AppendUvarint(b, h.After)
	b = binary.AppendUvarint(b, uint64(h.Number))
	b = append(b, h.Epoch)
	return appendOrigin(b, h.Origin)
}

func (h *PacketHead) read(r *codec.Reader) {
	h.After = r.Uvarint()
	h.Number = fields.ReadUint32(r)
	h.Epoch = r.U8()
	h.Origin = readOrigin(r)
}

func appendOrigin(b []byte, origin [2]int32) []byte {
	b = binary.AppendVarint(b, int64(origin[0]))
	return binary.AppendVarint(b, int64(origin[1]))
}

func readOrigin(r *codec.Reader) [2]int32 {
	const most = property.MaxCoordinate / originUnit
	x, z := r.Varint(), r.Varint()
	if x < -most || x > most || z < -most || z > most {
		r.Fail(errEntry)
	}
	return [2]int32{int32(x), int32(z)}
}

// Positions decodes a Positions packet: it calls f for each place with the head of the packet. m is
// valid during the call.
func Positions(packet []byte, f func(h *PacketHead, m *Moved)) error {
	var scratch PositionsReader
	return scratch.Read(packet, f, func(*PacketHead, *News) {})
}

// PositionsReader decodes one Positions packet after the other: Begin, NextPlace while there is one,
// NextNews likewise, and End. The zero value is usable. What it shows is valid until the next call.
type PositionsReader struct {
	Head    PacketHead
	Aliases []uint32 // of those whose places are told, list after list
	Place   Moved
	News    News

	rest codec.Reader
	told int        // places that have been read
	ends [lists]int // of the lists, in Aliases
}

// Begin reads the head of a packet, and the aliases.
func (p *PositionsReader) Begin(packet []byte) {
	p.rest = codec.NewReader(packet)
	p.Head.read(&p.rest)
	p.Aliases = p.Aliases[:0]
	for i := range p.ends {
		p.Aliases = readAliases(&p.rest, p.Aliases)
		p.ends[i] = len(p.Aliases)
	}
	if p.rest.Err() != nil {
		p.Aliases = p.Aliases[:0]
	}
	p.Place, p.News, p.told = Moved{origin: p.Head.Origin}, News{}, 0
}

// More reports whether there is anything after what has been read.
func (p *PositionsReader) More() bool { return p.rest.Len() > 0 }

// NextPlace reads the next place, and reports whether there was one.
func (p *PositionsReader) NextPlace() bool {
	if p.told == len(p.Aliases) {
		return false
	}
	p.Place.Alias = p.Aliases[p.told]
	if p.told < p.ends[Turning] {
		p.Place.readNear(&p.rest, p.told >= p.ends[NearBy])
	} else {
		p.Place.read(&p.rest)
	}
	p.told++
	return p.rest.Err() == nil
}

// NextNews reads the next piece of news, and reports whether there was one. All places have been read
// before.
func (p *PositionsReader) NextNews() bool {
	if p.rest.Len() == 0 {
		return false
	}
	if p.News.Body != nil {
		p.News.Order++
	}
	p.News.read(&p.rest)
	return p.rest.Err() == nil
}

// End reports what was wrong with the packet.
func (p *PositionsReader) End() error {
	err := done(&p.rest, "positions")
	p.rest, p.News = codec.Reader{}, News{}
	return err
}

// Read decodes a packet: it calls places for each place, and then news for each piece of news, with
// the head of the packet. What they are given is valid during the call.
func (p *PositionsReader) Read(packet []byte, places func(h *PacketHead, m *Moved), news func(h *PacketHead, n *News)) error {
	for p.Begin(packet); p.NextPlace(); {
		places(&p.Head, &p.Place)
	}
	for p.NextNews() {
		news(&p.Head, &p.News)
	}
	return p.End()
}
