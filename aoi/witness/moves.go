package witness

import (
	"encoding/binary"

	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/property"
)

// moves holds the Positions packets of one Update, one behind the other in one buffer.
type moves struct {
	most   int // bytes of a packet
	origin property.Vector3
	writer protocol.PacketWriter
	buf    []byte
	// starts says where the packets begin in buf. Each leaves numberRoom for its number, which is
	// not known before the bundle is done.
	starts  []int
	packets [][]byte
	told    []told
}

const numberRoom = binary.MaxVarintLen64

// told is the state of an entry before its place went into a packet, for Unsent.
type told struct {
	en     *entry
	packet int
	moved  uint32
	at     float64
	waited int
}

// SetMaxPacket says how long a Positions packet may be, in bytes: as long as the channels on its
// way take now, and at least MinPacket. The setting does not travel: the next cell makes its own.
func (w *Witness) SetMaxPacket(bytes int) { w.moves.most = max(bytes, MinPacket) }

// Unsent takes back a packet of the last Update that could not be sent. Its places still have to be
// told, in the turns that they had.
func (w *Witness) Unsent(packet int) {
	m := &w.moves
	for i := range m.told {
		if t := &m.told[i]; t.packet == packet {
			t.en.moved, t.en.at, t.en.waited = t.moved, t.at, t.waited+1
		}
	}
	w.deficit = max(0, w.deficit-len(m.packets[packet]))
}

func (m *moves) begin(origin property.Vector3) {
	m.origin = origin
	m.buf, m.starts, m.packets = m.buf[:0], m.starts[:0], m.packets[:0]
	clear(m.told) // do not hold on to entries that are let go
	m.told = m.told[:0]
}

// size is the part of the packets that counts against the budget; their numbers do not.
func (m *moves) size() int { return len(m.buf) - len(m.starts)*numberRoom }

// say puts the place of an entity into the last packet, or into a new one, and returns how many
// bytes that took.
func (m *moves) say(en *entry) int {
	before := m.size()
	if len(m.starts) == 0 {
		m.open()
	}
	place, end := en.place(), len(m.buf)
	m.buf = m.writer.Append(m.buf, &place)
	if len(m.buf)-m.starts[len(m.starts)-1] > m.most {
		m.buf = m.buf[:end]
		m.open()
		m.buf = m.writer.Append(m.buf, &place)
	}
	m.told = append(m.told, told{en, len(m.starts) - 1, en.moved, en.at, en.waited})
	en.moved = en.e.MoveStamp
	return m.size() - before
}

func (m *moves) open() {
	m.starts = append(m.starts, len(m.buf))
	m.buf = append(m.buf, make([]byte, numberRoom)...)
	m.buf = m.writer.Begin(m.buf, m.origin)
}

// finish gives each packet the number of the bundle that it follows.
func (m *moves) finish(number uint64) [][]byte {
	if len(m.starts) == 0 {
		return nil
	}
	var room [numberRoom]byte
	head := protocol.BeginPositions(room[:0], number)
	for i, start := range m.starts {
		end := len(m.buf)
		if i+1 < len(m.starts) {
			end = m.starts[i+1]
		}
		start += numberRoom - len(head)
		copy(m.buf[start:], head)
		m.packets = append(m.packets, m.buf[start:end])
	}
	return m.packets
}
