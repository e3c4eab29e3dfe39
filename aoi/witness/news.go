package witness

import (
	"encoding/binary"
	"math"

	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/internal/fields"
	"github.com/cellscape/cellscape/property"
)

// News are changes and calls that may be lost: they go into the packets, beside the places. What is
// owed of a Lossy property goes by two numbers of its own, apart from those of the levels:
//
//	stamp of the property   3          4     7  9  12              12
//	                        Enter      packet each                 Changes, once it has rested
//	told (in any way)       3          4     7  9  12              12
//	have - 1 (for sure)     3          3     3  3  3               12

// lossy is what the client has of one Lossy property.
type lossy struct {
	// have is 1 + the number up to which the client knows the property for sure, 0 if it never had it.
	have uint64
	// told is the highest number that the client was told in any way. A copy that is behind tells
	// nothing.
	told property.EventNumber
}

// lacks reports whether the client may not know a value of a stamp, and this copy does.
func (l *lossy) lacks(stamp property.EventNumber) bool {
	return uint64(stamp) >= l.have && stamp >= l.told
}

// sure notes that the client is told a value reliably.
func (l *lossy) sure(stamp property.EventNumber) {
	l.have, l.told = max(l.have, uint64(stamp)+1), max(l.told, stamp)
}

// pulse is when a Lossy property of a Subject changed last, as far as a Show has seen it.
type pulse struct {
	stamp property.EventNumber
	tick  uint64
}

// feel brings the pulses of the Lossy properties up to date. It begins with all of them in motion.
func (s *Subject) feel(tick uint64) {
	list := s.Entity.Def.Lossy()
	if len(list) == 0 {
		return
	}
	if s.pulses == nil {
		s.pulses = make([]pulse, len(list))
		for k := range s.pulses {
			s.pulses[k].tick = tick
		}
	}
	for k, i := range list {
		if stamp := s.Entity.History.Stamp(i); stamp != s.pulses[k].stamp {
			s.pulses[k] = pulse{stamp, tick}
		}
	}
}

// rested reports whether a Lossy property has not changed for RestTicks.
func (s *Subject) rested(k int) bool { return s.tick-s.pulses[k].tick >= RestTicks }

// lossyAt reports whether a Lossy property is seen at a level and the client may lack it.
func (en *entry) lossyAt(level, k int) bool {
	e := en.entity()
	i := e.Def.Lossy()[k]
	return e.Def.Properties[i].Level >= level && en.a.lossy[k].lacks(e.History.Stamp(i))
}

// awaits reports whether the client may lack a Lossy property that it sees at a level: it was told in
// a packet, or is to be.
func (en *entry) awaits(level int) bool {
	for k := range en.a.lossy {
		if en.lossyAt(level, k) {
			return true
		}
	}
	return false
}

// claim is how the client is to be told a Lossy property now, if at all.
func (w *Witness) claim(en *entry, k int) due {
	if !en.lossyAt(int(en.level), k) {
		return 0
	}
	e, l := en.entity(), &en.a.lossy[k]
	i := e.Def.Lossy()[k]
	switch {
	case l.have == 0 || en.a.s.rested(k) || !w.whispers(en, e.Props.Size(i)+protocol.MaxCallHead):
		return dueHistory
	case l.told != e.History.Stamp(i):
		return dueNews
	}
	return 0
}

// whispers reports whether news of an entity with a body of so many bytes can go into a packet.
func (w *Witness) whispers(en *entry, body int) bool {
	return !w.view.unlimited && en.alias != none && body <= w.moves.most-protocol.MaxPacketHead-protocol.MaxNewsHead
}

// whispered reports whether a call goes into a packet.
func (w *Witness) whispered(en *entry, ev *property.Event) bool {
	return en.entity().Def.ClientMethods[ev.Method].Unreliable && w.whispers(en, len(ev.Payload)+protocol.MaxCallHead)
}

// hears reports whether the client is to be told a call that it was not told.
func (w *Witness) hears(en *entry, ev *property.Event, dist float32) bool {
	d := en.entity().Def
	return w.audible(d, ev.Method, dist) && !(ev.Number <= en.a.whispered && d.ClientMethods[ev.Method].Unreliable)
}

// meetLossy notes that the client is told all Lossy properties that it sees, whatever it knew.
func (en *entry) meetLossy() {
	e := en.entity()
	clear(en.a.lossy)
	for k, i := range e.Def.Lossy() {
		if e.Def.Properties[i].Level >= int(en.level) {
			en.a.lossy[k].sure(e.History.Stamp(i))
		}
	}
}

// made notes that the client was told of changes reliably.
func (en *entry) made(changes []change) {
	for i := range changes {
		if c := &changes[i]; c.lossy > 0 {
			en.a.lossy[c.lossy-1].sure(c.number)
		}
	}
}

// appendLossy encodes them: uvarint count, and for each uvarint 1 + number known for sure, or 0, and
// uvarint number told.
func appendLossy(b []byte, list []lossy) []byte {
	b = binary.AppendUvarint(b, uint64(len(list)))
	for i := range list {
		b = binary.AppendUvarint(binary.AppendUvarint(b, list[i].have), uint64(list[i].told))
	}
	return b
}

func readLossy(r *codec.Reader) []lossy {
	n := r.Count(property.MaxProperties, 2)
	if n == 0 {
		return nil
	}
	list := make([]lossy, n)
	for i := range list {
		l := &list[i]
		l.have, l.told = r.Uvarint(), property.EventNumber(fields.ReadUint32(r))
		if l.have > uint64(l.told)+1 {
			r.Fail(errState)
		}
	}
	return list
}

// sayNews writes the news of an entity. It comes before what is said reliably, which settles.
func (w *Witness) sayNews(en *entry, t *turn) {
	e := en.entity()
	w.props = w.props[:0]
	for k := range en.a.lossy {
		if w.claim(en, k) != dueNews {
			continue
		}
		i := e.Def.Lossy()[k]
		if !w.whispers(en, len(w.props)+e.Props.Size(i)+protocol.MaxCallHead) {
			w.sayValues(en)
		}
		start, l := len(w.props), &en.a.lossy[k]
		w.props = e.Props.AppendClientValue(w.props, i)
		w.moves.hints = append(w.moves.hints, hint{t.entry, int32(len(w.moves.pieces)), int32(k), l.told, en.alias})
		l.told = e.History.Stamp(i)
		w.with.Stats.Add(e.Def, i, property.ToOtherClients, len(w.props)-start)
	}
	w.sayValues(en)
	for ev := range e.History.Since(en.a.heard) {
		if w.whispered(en, &ev) && w.hears(en, &ev, t.distance()) {
			en.a.whispered = ev.Number
			w.props = protocol.AppendWhisper(w.props[:0], uint16(ev.Method), ev.Payload)
			bytes := w.moves.tell(&protocol.News{Alias: uint32(en.alias), Call: true, Body: w.props})
			if w.with.Told != nil {
				w.with.Told.Calls += uint64(bytes)
			}
		}
	}
}

// sayValues makes a piece of news of the values in props, if there are any.
func (w *Witness) sayValues(en *entry) {
	if len(w.props) == 0 {
		return
	}
	bytes := w.moves.tell(&protocol.News{Alias: uint32(en.alias), Body: w.props})
	if w.props = w.props[:0]; w.with.Told != nil {
		w.with.Told.Changes += uint64(bytes)
	}
}

// hint is a value in a piece of news, for Unsent: which of the Lossy properties of an entry, and what
// was told before.
type hint struct {
	entry, piece, k int32
	before          property.EventNumber
	alias           uint16
}

// piece is where a piece of news ends in moves.news, and which packet took it.
type piece struct{ end, packet int32 }

// tell keeps a piece of news until the packets are made, and returns its length.
func (m *moves) tell(n *protocol.News) (bytes int) {
	start := len(m.news)
	m.news = n.Append(m.news)
	m.pieces = append(m.pieces, piece{end: int32(len(m.news))})
	return len(m.news) - start
}

// packNews puts the news behind the places of the last packet, and as far as there is no room into more
// packets.
func (m *moves) packNews() {
	start := int32(0)
	for i := range m.pieces {
		p := &m.pieces[i]
		word := m.news[start:p.end]
		if m.written.packets == 0 || m.written.last.size+len(m.tail)+len(word) > m.most-protocol.MaxPacketHead {
			m.next(protocol.NearBy, 0)
			m.written.another()
		}
		m.tail = append(m.tail, word...)
		p.packet, start = int32(m.written.packets)-1, p.end
	}
}

// unsentNews takes back the values of a packet that could not be sent. Its calls are lost.
func (w *Witness) unsentNews(packet int) {
	for i := range w.moves.hints {
		h := &w.moves.hints[i]
		if int(w.moves.pieces[h.piece].packet) != packet || !w.still(h.entry, h.alias) {
			continue
		}
		if en := &w.entries[h.entry]; int(h.k) < len(en.a.lossy) {
			en.a.lossy[h.k].told = h.before
			en.settled = false
			w.again(en)
		}
	}
}

// again gives an entry the next turn, however far it is.
func (w *Witness) again(en *entry) {
	en.stepped = math.MaxUint16
	if w.queue.on && en.s != nil {
		w.queue.put(en, w.queue.now)
	} else {
		en.at, en.placed = w.queue.now, true
	}
}
