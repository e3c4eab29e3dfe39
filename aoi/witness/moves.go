package witness

import (
	"slices"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/property"
)

// moves are the Positions packets of one Update. Their entries are written into one buffer in the
// order of the queue; finish puts those of each packet in the order of their aliases.
type moves struct {
	most   int    // bytes of a packet
	number uint32 // of the last packet
	origin [2]int32
	epoch  uint8
	seen   protocol.Seen

	places []byte // entries, one behind the other
	told   []told
	// starts are where the packets begin in told.
	starts  []int
	closed  int     // bytes of the packets before the last
	last    packing // of the last packet
	at      []int32
	aliases []uint32
	buf     []byte
	ends    []int
	packets [][]byte
}

// told is what an entry was before its place went into a packet, for Unsent, and where it stands.
type told struct {
	en         *entry
	packet     int
	start, end int // in moves.places
	moved      uint32
	at         float64
	waited     int
}

// SetMaxPacket says how long a Positions packet may be, in bytes: what the channels on its way take now. Below
// MinPacket it is MinPacket. It does not travel: the next cell has its own word.
func (w *Witness) SetMaxPacket(bytes int) { w.moves.most = max(bytes, MinPacket) }

// Unsent takes back a packet of the last Update that could not be sent. Its
// places are still to be told, in the turns that they had.
func (w *Witness) Unsent(packet int) {
	m := &w.moves
	for i := range m.told {
		if t := &m.told[i]; t.packet == packet {
			t.en.moved, t.en.at, t.en.waited = t.moved, t.at, t.waited+1
		}
	}
	w.deficit = max(0, w.deficit-len(m.packets[packet]))
}

// Saw takes in what the client says that it has seen, so that places next to those take fewer bytes.
// What is older than what was said before is ignored.
func (w *Witness) Saw(s *protocol.Seen) {
	if s.Bundle <= w.number { // else it is of what was never sent
		w.aliases.applied(s.Bundle)
	}
	if s.Packet <= w.moves.number && s.Packet >= w.moves.seen.Packet && s.Bundle >= w.moves.seen.Bundle && s.Bundle <= w.number {
		w.moves.seen = *s
	}
}

func (m *moves) begin(at property.Vector3, epoch uint8) {
	m.origin, m.epoch = protocol.OriginOf(at), epoch
	m.places, m.starts, m.packets = m.places[:0], m.starts[:0], m.packets[:0]
	m.closed, m.last = 0, packing{}
	clear(m.told) // entries that are let go must not be held
	m.told = m.told[:0]
}

// size is what the packets take of the budget.
func (m *moves) size() int {
	if len(m.starts) == 0 {
		return 0
	}
	return m.closed + packetHead + m.last.size()
}

// packetHead is what a packet takes before its aliases, as a rule: the head grows with the numbers.
const packetHead = 12

// packing tells how long a packet is without its head.
type packing struct {
	entries int    // how many there are
	places  int    // bytes of them
	steps   int    // bytes of their aliases as steps, at the most
	alias   uint32 // the highest
}

func (p packing) with(alias uint32, place int) packing {
	return packing{p.entries + 1, p.places + place, p.steps + aliasBytes(alias), max(p.alias, alias)}
}

// size goes by the form that protocol.AppendAliases takes.
func (p packing) size() int {
	if bits := int(p.alias)/8 + 1; bits <= p.entries {
		return p.places + bits
	}
	return p.places + p.steps
}

// say puts the place of an entity into the last packet, or into another one, and returns how many bytes that took.
func (m *moves) say(en *entry) int {
	before, start := m.size(), len(m.places)
	en.held.confirm(&m.seen)
	if near, yaw := en.held.near(en.e); near {
		m.places = protocol.AppendNear(m.places, &en.e.Motion, yaw)
	} else {
		m.places = protocol.AppendFar(m.places, en.e, m.origin)
	}
	next := m.last.with(en.alias, len(m.places)-start)
	if len(m.starts) == 0 || next.size() > m.most-protocol.MaxPacketHead {
		m.closed = before
		m.starts = append(m.starts, len(m.told))
		m.number++
		next = packing{}.with(en.alias, len(m.places)-start)
	}
	m.last = next
	m.told = append(m.told, told{en, len(m.starts) - 1, start, len(m.places), en.moved, en.at, en.waited})
	en.moved = en.e.MoveStamp
	en.held.sends(m.number, en.e)
	return m.size() - before
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

// finish writes the packets, which come after a bundle.
func (m *moves) finish(after uint64) [][]byte {
	if len(m.starts) == 0 {
		return nil
	}
	m.buf, m.ends = m.buf[:0], m.ends[:0]
	head := protocol.PacketHead{After: after, Number: m.number - uint32(len(m.starts)), Epoch: m.epoch, Origin: m.origin}
	for i, start := range m.starts {
		end := len(m.told)
		if i+1 < len(m.starts) {
			end = m.starts[i+1]
		}
		head.Number++
		m.buf = head.Append(m.buf)
		m.write(m.told[start:end])
		m.ends = append(m.ends, len(m.buf))
	}
	from := 0
	for _, end := range m.ends {
		m.packets = append(m.packets, m.buf[from:end])
		from = end
	}
	return m.packets
}

// sparse is from how many aliases for each entry on it is quicker to sort than to look at them all.
const sparse = 32

// write writes the entries of a packet by their aliases.
func (m *moves) write(all []told) {
	most := uint32(0)
	for i := range all {
		most = max(most, all[i].en.alias)
	}
	for len(m.at) <= int(most) {
		m.at = append(m.at, 0)
	}
	for i := range all {
		m.at[all[i].en.alias] = int32(i) + 1
	}
	m.aliases = m.aliases[:0]
	if int(most) < sparse*len(all) {
		for alias, i := range m.at[:most+1] {
			if i != 0 {
				m.aliases = append(m.aliases, uint32(alias))
			}
		}
	} else {
		for i := range all {
			m.aliases = append(m.aliases, all[i].en.alias)
		}
		slices.Sort(m.aliases)
	}
	m.buf = protocol.AppendAliases(m.buf, m.aliases)
	for _, alias := range m.aliases {
		t := &all[m.at[alias]-1]
		m.buf = append(m.buf, m.places[t.start:t.end]...)
		m.at[alias] = 0
	}
}

// epochOf is what tells the packets of one incarnation of the watcher from those of another.
func epochOf(watcher *entity.Entity) uint8 { return uint8(watcher.Order.Incarnation) }
