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
	restedFlag
	viaFlag
	riddenFlag
)

const (
	// minEntry is the fewest bytes that an entry has: eleven numbers of a byte each, and the time.
	minEntry = 11 + 8
	// minResting is the fewest bytes that an alias which rests has: two numbers.
	minResting = 2
	// maxAhead bounds how far ahead in virtual time an entry may be, in steps of an entity at 0 m.
	maxAhead = minStep + farthest*farthest*(maxStep-minStep)
	// maxNumber keeps bundle numbers from overflowing.
	maxNumber = 1 << 62
)

var errState = errors.New("witness: the state is not one that Append writes")

// Append encodes everything that the next cell needs in order to go on where this one stopped:
//
//	uvarint bundle number, uvarint packet number, uvarint deficit, f32 detail factor,
//	f32 radius, f32 hysteresis, the aliases (aliases.append), uvarint count,
//	then by ascending alias and id
//	uvarint id, uvarint incarnation, u8 flags, with viaFlag uvarint via, with riddenFlag
//	uvarint stamp and bool aboard, uvarint level,
//	uvarint levels and for each: uvarint 1 + number known, or 0; Lossy properties (appendLossy),
//	uvarint last call number, uvarint last move stamp, uvarint alias,
//	f64 virtual time ahead of now, uvarint Updates waited;
//	then what the client keeps of entities that have left (kept.append), and what scripts say of single
//	entities (appendPairs)
func (w *Witness) Append(b []byte) []byte {
	b = binary.AppendUvarint(b, w.number)
	b = binary.AppendUvarint(b, uint64(w.moves.number))
	b = binary.AppendUvarint(b, uint64(w.deficit))
	b = codec.AppendF32(codec.AppendF32(codec.AppendF32(b, w.factor), w.reach[0]), w.reach[1])
	b = w.aliases.append(b, w.number+1)
	b = binary.AppendUvarint(b, uint64(w.names.n))
	for i := range w.entries {
		if en := &w.entries[i]; en.a != nil {
			b = w.appendEntry(b, en)
		}
	}
	return w.appendPairs(w.kept.append(b))
}

// Said reports whether scripts have said anything of how this client sees.
func (w *Witness) Said() bool {
	return w.factor != w.cfg.DetailFactor || w.reach != [2]float32{} || len(w.pairs) > 0
}

// AppendSaid encodes what scripts have said of how this client sees, for a backup:
//
//	f32 detail factor, f32 radius, f32 hysteresis, pairs (appendPairs)
func (w *Witness) AppendSaid(b []byte) []byte {
	b = codec.AppendF32(codec.AppendF32(codec.AppendF32(b, w.factor), w.reach[0]), w.reach[1])
	return w.appendPairs(b)
}

// ReadSaid decodes what AppendSaid wrote into a new witness. Errors are r's.
func (w *Witness) ReadSaid(r *codec.Reader) {
	factor, reach := readSight(r)
	if pairs := readPairs(r); r.Err() == nil {
		w.factor, w.reach, w.pairs = factor, reach, pairs
		w.rescale()
	}
}

// readSight reads the factor of details and the reach.
func readSight(r *codec.Reader) (factor float32, reach [2]float32) {
	factor, reach = r.F32(), [2]float32{r.F32(), r.F32()}
	far := func(x float32) bool { return x >= 0 && x <= property.MaxCoordinate }
	if !(factor > 0 && factor <= 1) || !far(reach[0]) || !far(reach[1]) {
		r.Fail(errState)
	}
	return factor, reach
}

func (w *Witness) appendEntry(b []byte, en *entry) []byte {
	a := en.a
	b = fields.AppendID(b, a.id)
	b = binary.AppendUvarint(b, uint64(a.incarnation))
	b = append(b, w.flags(en))
	if a.via != 0 {
		b = binary.AppendUvarint(b, a.via)
	}
	if a.ridden != 0 {
		b = codec.AppendBool(binary.AppendUvarint(b, uint64(a.ridden)), en.aboard())
	}
	b = binary.AppendUvarint(b, uint64(en.level))
	b = appendLossy(appendHave(b, a.have), a.lossy)
	b = binary.AppendUvarint(b, uint64(a.heard))
	b = binary.AppendUvarint(b, uint64(en.moved))
	b = binary.AppendUvarint(b, uint64(en.alias))
	ahead := 0.0
	if en.placed {
		ahead = float64(en.at.ahead(w.queue.now)) / step1
	}
	b = codec.AppendF64(b, ahead)
	return binary.AppendUvarint(b, uint64(min(w.waited(en), math.MaxInt32)))
}

func (w *Witness) flags(en *entry) byte {
	var f byte
	for _, flag := range []struct {
		on  bool
		bit byte
	}{{en.sent, sentFlag}, {en.a.leave, leaveFlag}, {en.a.gone, goneFlag}, {!en.placed, freshFlag}, {en.a.named, namedFlag}, {en.rested, restedFlag}, {en.a.via != 0, viaFlag}, {en.a.ridden != 0, riddenFlag}} {
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
	factor, reach := readSight(r)
	if number > maxNumber || deficit > 2*maxBudget {
		r.Fail(errState)
	}
	var names aliases
	if names.read(r, number+1); r.Err() != nil {
		return
	}
	count := r.Count(MaxEntries, minEntry)
	next := Witness{updates: w.updates, entries: make([]entry, 0, count), odd: make([]ref, 0, count)}
	next.names.grow(count)
	accounts, numbers := make([]account, count), make(slab, 0, 2*count)
	for i := range accounts {
		en := next.readEntry(r, &accounts[i], &numbers)
		n := ref{en.a.id, en.alias}
		if _, twice := next.names.get(n.id); twice || i > 0 && !next.entries[i-1].before(n) || n.alias != none && !names.claim(n.alias) {
			r.Fail(errState)
		}
		if r.Err() != nil {
			return
		}
		next.names.put(n)
		en.listed = true
		next.entries, next.odd = append(next.entries, en), append(next.odd, n)
		if !en.a.gone {
			next.live++
		}
	}
	next.kept.read(r)
	if next.pairs = readPairs(r); r.Err() != nil {
		return
	}
	w.entries, w.names, w.live, w.odd, w.gaps = next.entries, next.names, next.live, next.odd, 0
	w.number, w.queue, w.factor, w.reach = number, queue{}, factor, reach
	names.settle()
	w.aliases, w.moves.number, w.moves.seen, w.moves.bits = names, packet, protocol.Seen{}, 0
	w.kept, w.pairs = next.kept, next.pairs
	for i := range w.entries {
		w.entries[i].a.scheme = w.schemeFor(w.entries[i].a.id)
	}
	w.rescale()
	w.deficit = min(int(deficit), w.cfg.MaxDeficit)
}

func (w *Witness) readEntry(r *codec.Reader, a *account, m *slab) entry {
	*a = account{id: fields.ReadID(r), incarnation: fields.ReadUint32(r), grace: RelinkGrace}
	en := entry{a: a}
	flags := r.U8()
	en.sent, en.rested, a.leave = flags&sentFlag != 0, flags&restedFlag != 0, flags&leaveFlag != 0
	a.gone, a.named = flags&goneFlag != 0, flags&namedFlag != 0
	en.placed = flags&freshFlag == 0
	if flags&viaFlag != 0 {
		if a.via = r.Uvarint(); a.via == 0 {
			r.Fail(errState)
		}
	}
	if flags&riddenFlag != 0 {
		en.readRide(r)
	}
	level := r.Uvarint()
	a.have = readHave(r, m)
	a.lossy = readLossy(r)
	en.level = uint8(min(level, property.MaxLevels))
	a.heard = property.EventNumber(fields.ReadUint32(r))
	en.moved = fields.ReadUint32(r)
	alias := fields.ReadUint32(r)
	if alias > none {
		r.Fail(errState)
	}
	en.alias = uint16(min(alias, none))
	ahead := r.F64()
	waited := r.Uvarint()
	en.since = w.updates - uint32(min(waited, math.MaxInt32))
	if !a.id.Valid() || level >= uint64(len(a.have)) || waited > math.MaxInt32 ||
		!(ahead >= 0 && ahead <= maxAhead) || a.gone && !a.leave {
		r.Fail(errState)
		return en
	}
	en.at = virtual(ahead * step1)
	en.stepped = halves(en.at)
	return en
}
