package witness

import (
	"encoding/binary"
	"errors"
	"math"

	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/internal/fields"
	"github.com/cellscape/cellscape/property"
)

// Flags of an entry on the wire.
const (
	sentFlag = 1 << iota
	leaveFlag
	goneFlag
	freshFlag
	namedFlag
	allFlags = sentFlag | leaveFlag | goneFlag | freshFlag | namedFlag
)

const (
	// minEntry is the fewest bytes that an entry has: eleven numbers of a byte each, and the time.
	minEntry = 11 + 8
	// maxAhead bounds how far ahead in virtual time an entry may be: a step at the largest distance
	// of the coordinate space, over the smallest radius that makes sense (a metre).
	maxAhead = 1 << 32
	// maxNumber keeps bundle numbers from overflowing.
	maxNumber = 1 << 62
)

var errState = errors.New("witness: the state is not one that Append writes")

// Append encodes everything that the next cell needs in order to go on where this one stopped:
//
//	uvarint bundle number, uvarint packet number, uvarint deficit, f32 detail factor, uvarint count, then by ascending id
//	uvarint id, uvarint incarnation, u8 flags, uvarint level,
//	uvarint levels and for each: uvarint 1 + number known, or 0,
//	uvarint last call number, uvarint reliable move stamp, uvarint last move stamp, uvarint alias,
//	f64 virtual time ahead of now, uvarint Updates waited
func (w *Witness) Append(b []byte) []byte {
	b = binary.AppendUvarint(b, w.number)
	b = binary.AppendUvarint(b, uint64(w.moves.number))
	b = binary.AppendUvarint(b, uint64(w.deficit))
	b = codec.AppendF32(b, w.factor)
	b = binary.AppendUvarint(b, uint64(len(w.entries)))
	for _, en := range w.entries {
		b = fields.AppendID(b, en.id)
		b = binary.AppendUvarint(b, uint64(en.incarnation))
		b = append(b, en.flags())
		b = binary.AppendUvarint(b, uint64(en.level))
		b = binary.AppendUvarint(b, uint64(len(en.have)))
		for _, known := range en.have {
			b = binary.AppendUvarint(b, known)
		}
		b = binary.AppendUvarint(b, uint64(en.heard))
		b = binary.AppendUvarint(b, uint64(en.rested))
		b = binary.AppendUvarint(b, uint64(en.moved))
		b = binary.AppendUvarint(b, uint64(en.alias))
		b = codec.AppendF64(b, min(max(en.at-w.now, 0), maxAhead))
		b = binary.AppendUvarint(b, uint64(min(en.waited, math.MaxInt32)))
	}
	return b
}

func (en *entry) flags() byte {
	var f byte
	for _, flag := range []struct {
		on  bool
		bit byte
	}{{en.sent, sentFlag}, {en.leave, leaveFlag}, {en.gone, goneFlag}, {en.fresh, freshFlag}, {en.named, namedFlag}} {
		if flag.on {
			f |= flag.bit
		}
	}
	return f
}

// Read decodes what Append wrote and replaces what w knew; the configuration stays. Every entry is
// unlinked: call Enter for whatever is in range here. After an error, which is r's, w is unchanged.
func (w *Witness) Read(r *codec.Reader) {
	number := r.Uvarint()
	packet := fields.ReadUint32(r)
	deficit := r.Uvarint()
	factor := r.F32()
	if number > maxNumber || deficit > 2*maxBudget || !(factor > 0 && factor <= 1) {
		r.Fail(errState)
	}
	entries := make([]*entry, 0, r.Count(MaxEntries, minEntry))
	live := 0
	var names aliases
	for range cap(entries) {
		en := new(entry)
		en.read(r)
		if len(entries) > 0 && en.id <= entries[len(entries)-1].id || en.alias != none && !names.claim(en.alias) {
			r.Fail(errState)
		}
		if r.Err() != nil {
			return
		}
		entries = append(entries, en)
		if !en.gone {
			live++
		}
	}
	if r.Err() != nil {
		return
	}
	w.entries, w.live, w.number, w.now, w.factor = entries, live, number, 0, factor
	names.settle(number)
	w.aliases, w.moves.number, w.moves.seen = names, packet, protocol.Seen{}
	w.rescale()
	w.deficit = min(int(deficit), w.cfg.MaxDeficit)
}

func (en *entry) read(r *codec.Reader) {
	en.id = fields.ReadID(r)
	en.incarnation = fields.ReadUint32(r)
	flags := r.U8()
	en.sent, en.leave = flags&sentFlag != 0, flags&leaveFlag != 0
	en.gone, en.fresh, en.named = flags&goneFlag != 0, flags&freshFlag != 0, flags&namedFlag != 0
	level := r.Uvarint()
	en.have = make([]uint64, r.Count(property.MaxLevels+1, 1))
	for l := range en.have {
		en.have[l] = r.Uvarint()
		if en.have[l] > math.MaxUint32+1 {
			r.Fail(errState)
		}
	}
	en.level = int(min(level, property.MaxLevels))
	en.heard = property.EventNumber(fields.ReadUint32(r))
	en.rested = fields.ReadUint32(r)
	en.moved = fields.ReadUint32(r)
	if en.alias = fields.ReadUint32(r); en.alias > none {
		r.Fail(errState)
		en.alias = none
	}
	en.at = r.F64()
	waited := r.Uvarint()
	en.waited = int(min(waited, math.MaxInt32))
	en.grace = RelinkGrace
	if !en.id.Valid() || flags > allFlags || level >= uint64(len(en.have)) || waited > math.MaxInt32 ||
		!(en.at >= 0 && en.at <= maxAhead) || en.gone && !en.leave {
		r.Fail(errState)
	}
}
