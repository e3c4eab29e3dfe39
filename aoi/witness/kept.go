package witness

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/entity/presence"
	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/internal/fields"
	"github.com/cellscape/cellscape/property"
)

const (
	// MaxKeptBytes bounds what one client keeps of entities that have left, in bytes of properties as
	// they are when an entity leaves: 256 bytes for each of protocol.MaxKept entities. What takes more
	// than a quarter of it is not kept, so that one giant does not push out a crowd.
	MaxKeptBytes = 64 << 10
	maxKeptOne   = MaxKeptBytes / 4
	// keptPlace is what a kept entity takes beside its properties.
	keptPlace = 32
)

// kept is what the client keeps of entities that have left, by slot. The witness decides it, and tells
// the client in the stream of bundles.
type kept struct {
	ids    []entity.ID // 0 in an empty slot
	orders []uint32    // count when they left
	notes  []note
	line   []leaver // of those that were kept, the oldest first
	passed int      // how many at the front of line are not kept any more
	used   int      // slots that are not empty
	bytes  int
	count  uint32 // of entities kept so far
	off    bool   // nothing is kept: for measurements
	drop   []byte // scratch
}

// note is what the client knows of a kept entity, as account and entry have it of one in range.
type note struct {
	incarnation, moved uint32
	heard              property.EventNumber
	size               int32 // in bytes
	rested             bool
	have               []uint64
	lossy              []lossy
}

// find returns the slot of an entity.
func (k *kept) find(id entity.ID) (slot int, ok bool) {
	slot = slices.Index(k.ids, id)
	return slot, slot >= 0
}

// leaver is who left as the order-th, and was kept in a slot.
type leaver struct {
	order uint32
	slot  uint8
}

// oldest is the slot of who left first of those that are kept. There must be one.
func (k *kept) oldest() int {
	for {
		at := k.line[k.passed]
		if slot := int(at.slot); k.ids[slot] != 0 && k.orders[slot] == at.order {
			return slot
		}
		k.passed++
	}
}

// enlist has a slot stand in line as that of the last to leave.
func (k *kept) enlist(slot int) {
	if len(k.line) >= 2*protocol.MaxKept { // half of them came back, or went before their time
		k.line = slices.DeleteFunc(k.line, func(at leaver) bool { return k.ids[at.slot] == 0 || k.orders[at.slot] != at.order })
		k.passed = 0
	}
	k.line = append(k.line, leaver{k.orders[slot], uint8(slot)})
	k.used++
}

// room finds a slot for an entity of some size, and empties what is in the way: drop are the slots that
// the client must empty, too.
func (k *kept) room(id entity.ID, size int) (slot int, drop []byte) {
	k.drop = k.drop[:0]
	slot, ok := k.find(id) // an older incarnation, which is of no use any more
	if ok {
		k.empty(slot)
	}
	for k.bytes+size > MaxKeptBytes {
		old := k.oldest()
		k.empty(old)
		k.drop = append(k.drop, byte(old))
	}
	switch {
	case ok:
	case k.used < len(k.ids):
		slot = slices.Index(k.ids, 0)
	case len(k.ids) < protocol.MaxKept:
		slot = len(k.ids)
		k.grow()
	default:
		slot = k.oldest()
		k.empty(slot)
	}
	return slot, k.drop
}

// grow adds an empty slot.
func (k *kept) grow() {
	k.ids, k.orders, k.notes = append(k.ids, 0), append(k.orders, 0), append(k.notes, note{})
}

func (k *kept) empty(slot int) {
	k.ids[slot] = 0
	k.used--
	k.bytes -= int(k.notes[slot].size)
}

// put notes that an entity is kept in an empty slot.
func (k *kept) put(slot int, en *entry, size int) {
	a, n := en.a, &k.notes[slot]
	k.count++
	k.ids[slot], k.orders[slot], k.bytes = a.id, k.count, k.bytes+size
	k.enlist(slot)
	*n = note{a.incarnation, en.moved, a.heard, int32(size), en.rested && !en.aboard(), append(n.have[:0], a.have...), append(n.lossy[:0], a.lossy...)}
}

// sizeOf is what the client keeps of an entity, as far as can be told here: it may have older values,
// of another length.
func sizeOf(e *presence.Entity) int {
	size := keptPlace
	for _, i := range e.Def.Stream(property.OtherClientStream) {
		size += e.Props.Size(i) + 1
	}
	return size
}

// sayLeave makes the client forget an entity if it has to and there is room, or keep it. One that is in
// range is met anew then.
func (w *Witness) sayLeave(en *entry) {
	a := en.a
	if !a.leave || len(w.bundle) >= MaxDirect {
		return
	}
	if m, ok := w.keep(en); ok {
		w.bundle = m.Append(w.bundle)
	} else {
		w.bundle = protocol.AppendLeave(w.bundle, a.id)
	}
	a.leave, en.sent = false, false
	if !a.gone && a.s != nil {
		en.begin(a.s)
	}
}

// keep finds a slot for what the client knows of an entity that leaves. ok is false for one that it is
// to forget: an older incarnation, one that is no more, one that was seen through something, whose places are
// no good elsewhere, or one of which nobody knows here how much it is.
func (w *Witness) keep(en *entry) (m protocol.Keep, ok bool) {
	a, size := en.a, int(en.a.size)
	if a.s != nil {
		size = sizeOf(a.s.Entity)
	}
	if !en.sent || a.via != 0 || !a.named || en.alias == none || size == 0 || size > maxKeptOne || w.kept.off {
		return m, false
	}
	slot, drop := w.kept.room(a.id, size)
	w.kept.put(slot, en, size)
	return protocol.Keep{Alias: uint32(en.alias), Slot: uint8(slot), Drop: drop}, true
}

// sayReturn writes what has changed of an entity since the client kept it, if it did. exact is whether
// it says where the entity is at rest.
func (w *Witness) sayReturn(en *entry) (exact, ok bool) {
	e, a := en.entity(), en.a
	slot, ok := w.kept.find(a.id)
	if !ok {
		return false, false
	}
	if a.via != 0 { // the kept place is where it is; calls that it hears now must not come again
		w.kept.empty(slot)
		return false, false
	}
	n := &w.kept.notes[slot]
	if n.incarnation != a.incarnation || len(n.have) != len(a.have) || len(n.lossy) != len(a.lossy) {
		return false, false
	}
	copy(a.have, n.have)
	copy(a.lossy, n.lossy)
	a.heard = n.heard
	w.kept.empty(slot)
	m := protocol.Return{Slot: uint8(slot), Alias: uint32(en.alias), Origin: w.moves.origin}
	switch {
	case n.rested && n.moved == e.MoveStamp:
		exact = true
	case w.toldExactly(en):
		w.packed, exact = protocol.AppendWhole(w.packed[:0], e), true
		m.Entry = w.packed
	default:
		w.packed = protocol.AppendFar(w.packed[:0], e, m.Origin)
		m.Entry = w.packed
	}
	w.findChanges(en, true)
	w.appendChanges(en, w.changed)
	en.made(w.changed)
	m.Props = w.props
	w.bundle = m.Append(w.bundle)
	return exact, true
}

// append encodes what is kept, the oldest first: uvarint count, and for each
//
//	uvarint id, u8 slot, uvarint incarnation, uvarint last move stamp, uvarint last call number,
//	uvarint bytes, bool rested,
//	uvarint levels and for each: uvarint 1 + number known, or 0; Lossy properties (appendLossy)
func (k *kept) append(b []byte) []byte {
	var slots []int
	for i, id := range k.ids {
		if id != 0 {
			slots = append(slots, i)
		}
	}
	slices.SortFunc(slots, func(i, j int) int { return int(int32(k.orders[i] - k.orders[j])) })
	b = binary.AppendUvarint(b, uint64(len(slots)))
	for _, i := range slots {
		n := &k.notes[i]
		b = append(fields.AppendID(b, k.ids[i]), byte(i))
		b = binary.AppendUvarint(b, uint64(n.incarnation))
		b = binary.AppendUvarint(b, uint64(n.moved))
		b = binary.AppendUvarint(b, uint64(n.heard))
		b = binary.AppendUvarint(b, uint64(n.size))
		b = appendLossy(appendHave(codec.AppendBool(b, n.rested), n.have), n.lossy)
	}
	return b
}

// minKept is the fewest bytes that a kept entity has.
const minKept = 9

// read decodes what append wrote, into an empty k.
func (k *kept) read(r *codec.Reader) {
	count := r.Count(protocol.MaxKept, minKept)
	numbers := make(slab, 0, 2*count)
	for range count {
		id, slot := fields.ReadID(r), int(r.U8())
		for len(k.ids) <= slot {
			k.grow()
		}
		k.count++
		n := note{incarnation: fields.ReadUint32(r), moved: fields.ReadUint32(r), heard: property.EventNumber(fields.ReadUint32(r))}
		size := r.Uvarint()
		n.size, n.rested, n.have = int32(min(size, MaxKeptBytes)), r.Bool(), readHave(r, &numbers)
		n.lossy = readLossy(r)
		if _, twice := k.find(id); twice || !id.Valid() || k.ids[slot] != 0 || size == 0 || size > maxKeptOne || k.bytes+int(n.size) > MaxKeptBytes {
			r.Fail(errState)
		}
		if r.Err() != nil {
			return
		}
		k.ids[slot], k.orders[slot], k.notes[slot] = id, k.count, n
		k.enlist(slot)
		k.bytes += int(n.size)
	}
}

func appendHave(b []byte, have []uint64) []byte {
	b = binary.AppendUvarint(b, uint64(len(have)))
	for _, known := range have {
		b = binary.AppendUvarint(b, known)
	}
	return b
}

// slab is memory from which many short lists are cut.
type slab []uint64

// cut returns a list of n zeros, which has no room for more.
func (m *slab) cut(n int) []uint64 {
	if cap(*m)-len(*m) < n {
		*m = make(slab, 0, max(n, cap(*m)))
	}
	from := len(*m)
	*m = (*m)[:from+n]
	return (*m)[from : from+n : from+n]
}

func readHave(r *codec.Reader, m *slab) []uint64 {
	have := m.cut(r.Count(property.MaxLevels+1, 1))
	for l := range have {
		if have[l] = r.Uvarint(); have[l] > math.MaxUint32+1 {
			r.Fail(errState)
		}
	}
	return have
}
