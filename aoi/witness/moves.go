package witness

import (
	"math/bits"

	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/entity/presence"
	"github.com/cellscape/cellscape/property"
)

// moves are the Positions packets of a witness. Places are written in the order of aliases.
type moves struct {
	*pages     // of the present Update
	most   int // bytes of a packet
	seen   protocol.Seen
	bits   uint64 // the same: one for each packet back from seen.Packet on
	number uint32 // of the last packet
	// moments are when the last packets were made, by number, counted round.
	moments [remembered]moment
}

// remembered is how many packets are known by the time at which they were made: a crowd of a
// thousand takes four in a tick, and what a client has seen goes 32 back.
const remembered = 64

// told is an entry whose place went into a packet, for Unsent.
type told struct {
	entry, packet int32
	since         uint32
	alias         uint16
}

// form is how a place is written.
type form uint8

const (
	_ form = iota // of no place
	nearForm
	turningForm
	middleForm
	middleYaw
	middleHeight
	middleBoth
	farForm
	wholeForm
)

// nearBytes is how many a place takes in the near form.
const nearBytes = 2

// manner is the list in which a place stands.
func (f form) manner() protocol.Manner {
	switch f {
	case nearForm:
		return protocol.NearBy
	case turningForm:
		return protocol.Turning
	}
	return protocol.Flagged
}

// bytes is how many a place takes; of the far form, as a rule.
func (f form) bytes() int { return [...]int{0, nearBytes, 3, 4, 5, 5, 6, 9, 25}[f] }

// SetMaxPacket says how long a Positions packet may be, in bytes: what the channels on its way take
// now. Below MinPacket it is MinPacket. It does not travel: the next cell has its own word.
func (w *Witness) SetMaxPacket(bytes int) { w.moves.most = max(bytes, MinPacket) }

// Unsent takes back a packet of the last Update that could not be sent. Its places and values are still to
// be told, before others. Calls in it are lost, as if it had been lost on its way.
func (w *Witness) Unsent(packet int) {
	m := &w.moves
	for i := range m.told {
		t := &m.told[i]
		if int(t.packet) != packet || !w.still(t.entry, t.alias) {
			continue
		}
		if w.with.Told != nil {
			w.with.Told.PlacesSent--
		}
		en := &w.entries[t.entry]
		en.moved, en.rested = en.moved-1, false
		en.since = t.since
		w.again(en)
	}
	w.unsentNews(packet)
	w.deficit = max(0, w.deficit-len(m.packets[packet]))
}

// still reports whether an entry of the last Update stands where it stood.
func (w *Witness) still(i int32, alias uint16) bool {
	return int(i) < len(w.entries) && w.entries[i].alias == alias && w.entries[i].a != nil
}

// Saw takes in what the client says that it has seen, so that places next to those take fewer bytes.
// What is older than what was said before is ignored.
func (w *Witness) Saw(s *protocol.Seen) {
	m := &w.moves
	if s.Bundle <= w.number { // else it is of what was never sent
		w.aliases.applied(s.Bundle)
	}
	if s.Packet <= m.number && s.Packet >= m.seen.Packet && s.Bundle >= m.seen.Bundle && s.Bundle <= w.number {
		m.seen, m.bits = *s, 0
		if s.Packet > 0 {
			m.bits = 1 | uint64(s.Earlier)<<1
		}
	}
}

// Doubt says that the client may hold other places than it has said. It begins anew with what it was told
// reliably, since its BaseApp has died or its base has gone back to a copy, and packets do not come again.
// Places are told whole until it has said that it has seen such a packet. (One came into sight, walked on
// for twenty metres, and was told next to there to a client that had it where it came into sight.)
func (w *Witness) Doubt() {
	for i := range w.entries {
		if en := &w.entries[i]; en.a != nil {
			en.told, en.sure, en.bundled = 0, 0, false
		}
	}
}

func (m *moves) begin(at property.Vector3, epoch uint8, tick uint64) {
	m.origin, m.epoch, m.now = protocol.OriginOf(at), epoch, momentOf(tick)
	m.planned, m.written = tally{}, tally{}
	m.drop()
	m.news, m.pieces, m.hints, m.tail = m.news[:0], m.pieces[:0], m.hints[:0], m.tail[:0]
	m.told, m.buf, m.ends, m.packets = m.told[:0], m.buf[:0], m.ends[:0], m.packets[:0]
}

// size is what the packets take of the budget.
func (m *moves) size() int {
	places := max(m.planned.size(), m.written.size())
	if places == 0 && len(m.news) > 0 {
		places = packetHead
	}
	return places + len(m.news)
}

// form decides how the place of an entry is to be written, seen from a distance of which the square
// is given: the near and the middle form are right for every place that the client may hold, and have
// the yaw unless the client does.
func (m *moves) form(en *entry, square float32) form {
	s := en.s
	if s.traits&exact != 0 {
		return wholeForm
	}
	if s.traits&bounded != 0 {
		en.look(en.a.s.without(square))
	}
	if en.unseen&unseenPlace != 0 {
		if en.told != 0 {
			m.confirm(en)
		}
		m.confirmBundle(en)
		return en.farther(en.course())
	}
	if en.knows() && !en.turns(s) {
		return nearForm
	}
	if en.told != 0 {
		m.confirm(en)
	}
	if !en.knows() {
		if m.confirmBundle(en); !en.knows() {
			return en.farther(s)
		}
	}
	if en.turns(s) {
		return turningForm
	}
	return nearForm
}

// knows reports whether the near form tells the client the place.
func (en *entry) knows() bool { return en.holds(en.s.nearFrom) && en.tilts(en.s) }

// tilts reports whether the client knows pitch and roll, as far as it is to know.
func (en *entry) tilts(s *sight) bool { return en.holds(s.tilted) || en.unseen&unseenTilt != 0 }

// turns reports whether the client has to be told the yaw.
func (en *entry) turns(s *sight) bool { return !en.holds(s.turned) && en.unseen&unseenYaw == 0 }

// farther is the form of a place that the near one does not tell.
func (en *entry) farther(s *sight) form {
	if !en.holds(s.middleFrom) || !en.tilts(s) {
		return farForm
	}
	f := middleForm
	if en.turns(s) {
		f += middleYaw - middleForm
	}
	if !en.holds(s.rose) {
		f += middleHeight - middleForm
	}
	return f
}

// look notes what a client is not told of from where it watches. What it is told again, it was not
// told in the places that it has had.
func (en *entry) look(now unseen) {
	if en.unseen&^now&^unseenPlace != 0 {
		en.told, en.sure, en.bundled = 0, 0, false
	}
	en.unseen = now | en.unseen&unseenPlace
}

// holds reports whether the client is known to have had a place from a moment on.
func (en *entry) holds(from moment) bool { return en.sure != 0 && !from.after(en.sure) }

// confirm takes in which of the packets that tell of an entry the client has seen. None before the
// last of them counts any more.
func (m *moves) confirm(en *entry) {
	back := int32(m.seen.Packet - en.packet) // from the last that the client has seen to the last of the entry
	both := uint64(0)
	switch {
	case back >= 0 && back <= 32:
		both = uint64(en.told) << back & m.bits
	case back < 0 && back > -32:
		both = uint64(en.told) >> -back & m.bits
	}
	if both == 0 {
		return
	}
	k := bits.TrailingZeros64(both)
	packet := m.seen.Packet - uint32(k)
	if m.number-packet < remembered {
		en.confirm(m.moments[packet%remembered])
	}
	en.told &= 1<<(int32(k)-back) - 1
}

// confirmBundle takes in that the client has applied the last bundle with the place of an entry.
func (m *moves) confirmBundle(en *entry) {
	if en.bundled && en.a.bundle <= m.seen.Bundle {
		en.confirm(en.a.telling)
		en.bundled = false
	}
}

// confirm notes that the client has had the place that it was told at a moment.
func (en *entry) confirm(at moment) {
	if en.sure == 0 || at.after(en.sure) {
		en.sure = at
	}
}

// plan reckons with the place of an entry.
func (m *moves) plan(en *entry, f form) {
	size := f.bytes()
	if f == farForm { // the one whose length depends
		e, origin := en.standing(m.origin)
		size = len(protocol.AppendFar(m.lists[protocol.Flagged].Entries[:0], e, origin)) // nothing is written yet
	}
	m.planned.add(f.manner(), uint32(en.alias), size, m.most)
}

// say writes the place of an entry, which stands at an index.
func (m *moves) say(en *entry, index int32, f form) {
	manner := f.manner()
	list := &m.lists[manner]
	start := len(list.Entries)
	switch f {
	case farForm:
		e, origin := en.standing(m.origin)
		list.Entries = protocol.AppendFar(list.Entries, e, origin)
	case wholeForm:
		e, _ := en.standing(m.origin)
		list.Entries = protocol.AppendWhole(list.Entries, e)
	case middleForm, middleYaw, middleHeight, middleBoth:
		list.Entries = en.course().middle.Append(list.Entries, f == middleYaw || f == middleBoth, f >= middleHeight)
	default:
		list.Entries = en.s.near.Append(list.Entries, f == turningForm)
	}
	if en.aboard() {
		protocol.MarkSeat(list.Entries[start:])
	}
	m.wrote(en, index, manner, len(list.Entries)-start)
}

// wrote takes in that the last entry of a list, of so many bytes, is the place of an entry: if the
// packet has no room for it, another one begins.
func (m *moves) wrote(en *entry, index int32, manner protocol.Manner, size int) {
	if m.written.add(manner, uint32(en.alias), size, m.most) {
		m.next(manner, size)
	}
	list := &m.lists[manner]
	list.Aliases = append(list.Aliases, uint32(en.alias))
	m.note(en, index, size)
}

// note takes in that the last packet tells of an entry, in so many bytes without the alias.
func (m *moves) note(en *entry, index int32, size int) {
	m.told = append(m.told, told{index, int32(m.written.packets) - 1, en.since, en.alias})
	if d := en.s.def; d != m.counted.def {
		m.count()
		m.counted.def = d
	}
	m.counted.places++
	m.counted.bytes += size + 1
	en.moved, en.rested, en.since = en.course().stamp, false, m.update
	if by := m.number - en.packet; by < 32 {
		en.told = en.told<<by | 1
	} else {
		en.told = 1
	}
	en.packet = m.number
}

// counted are places that were written of one type, one after the other: most entities in sight are of
// one.
type counted struct {
	def           *property.Definition
	places, bytes int
}

// count adds up what was counted, and begins anew.
func (m *moves) count() {
	if c := &m.counted; c.places > 0 {
		m.with.Stats.AddMoves(c.def, c.places, c.bytes)
		*c = counted{}
	}
}

// next begins another packet. It takes over the last bytes of a list: an entry of which the alias
// is not noted yet.
func (m *moves) next(manner protocol.Manner, bytes int) {
	list := &m.lists[manner]
	end := len(list.Entries) - bytes
	over := list.Entries[end:]
	list.Entries = list.Entries[:end]
	m.close()
	list.Entries = append(list.Entries, over...)
	m.number++
	m.moments[m.number%remembered] = m.now
}

// close writes down the packet, if one is being written.
func (m *moves) close() {
	if m.lists.Len()+len(m.tail) > 0 {
		head := protocol.PacketHead{After: m.after, Number: m.number, Epoch: m.epoch, Origin: m.origin}
		m.buf = append(m.lists.Append(head.Append(m.buf)), m.tail...)
		m.ends = append(m.ends, len(m.buf))
	}
	m.tail = m.tail[:0]
	m.drop()
}

// drop empties the lists.
func (m *moves) drop() {
	for i := range m.lists {
		m.lists[i].Aliases, m.lists[i].Entries = m.lists[i].Aliases[:0], m.lists[i].Entries[:0]
	}
}

func (m *moves) finish() [][]byte {
	m.count()
	m.packNews()
	m.close()
	from := 0
	for _, end := range m.ends {
		m.packets = append(m.packets, m.buf[from:end])
		from = end
	}
	if len(m.packets) == 0 {
		return nil
	}
	return m.packets
}

// tally reckons how long packets become.
type tally struct {
	packets int
	closed  int     // bytes of the packets before the last
	last    packing // of the last packet
}

// add reports whether another packet begins with a place.
func (t *tally) add(manner protocol.Manner, alias uint32, bytes, most int) (another bool) {
	l := &t.last.lists[manner]
	size := l.with(alias, bytes)
	if another = t.packets == 0 || t.last.size-l.size+size > most-protocol.MaxPacketHead; another {
		t.another()
		size = l.with(alias, bytes)
	}
	t.last.size += size - l.size
	l.size, l.entries, l.places, l.steps, l.alias = size, l.entries+1, l.places+bytes, l.steps+aliasBytes(alias), max(l.alias, alias)
	return another
}

// another begins another packet.
func (t *tally) another() {
	t.closed = t.size()
	t.packets++
	t.last = packing{}
}

func (t *tally) size() int {
	if t.packets == 0 {
		return 0
	}
	return t.closed + packetHead + t.last.size
}

// packetHead is what a packet takes before its aliases, as a rule: the head grows with the numbers.
const packetHead = 14

// packing tells how long a packet is without its head.
type packing struct {
	size  int
	lists [len(protocol.Lists{})]listing
}

// listing tells how long a list of a packet is.
type listing struct {
	size    int
	entries int    // how many there are
	places  int    // bytes of them
	steps   int    // bytes of their aliases as steps, at the most
	alias   uint32 // the highest
}

// with is the size that the list has with one more place. It goes by the form that aliases take:
// bits or steps, whichever is shorter.
func (l *listing) with(alias uint32, place int) int {
	if bits := int(max(l.alias, alias))/8 + 1; bits <= l.entries+1 {
		return l.places + place + bits
	}
	return l.places + place + l.steps + aliasBytes(alias)
}

// aliasBytes is what the step to an alias takes at the most.
func aliasBytes(alias uint32) int {
	switch {
	case alias < 1<<7:
		return 1
	case alias < 1<<14:
		return 2
	}
	return 3
}

// epochOf is what tells the packets of one incarnation of the watcher from those of another.
func epochOf(watcher *presence.Entity) uint8 { return uint8(watcher.Order.Incarnation) }
