package sim

import (
	"encoding/binary"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/space"
)

// metronomes is how many a clock has, all at once, beside the walk that it is on.
const metronomes = 3

// metronome is a controller as a game writes it. It swings for a while and counts how often. Its
// clock counts along in properties, so that each step finds out what was lost on the way.
type metronome struct {
	Number uint64
	Swings uint64
	Left   time.Duration
}

// Step implements space.Controller.
func (m *metronome) Step(r *space.Real, dt time.Duration) (done bool) {
	s := r.Script().(*clockCell)
	at := int(m.Number) * 2
	if swings, left := s.Swings.At(at), s.Swings.At(at+1); int64(m.Swings) != swings || int64(m.Left) != left {
		s.fault("metronome %d has swung %d times and has %v to go; its clock counted %d and %v", m.Number, m.Swings, m.Left, swings, time.Duration(left))
	}
	m.Swings++
	m.Left -= dt
	_ = s.Swings.SetAt(at, int64(m.Swings))
	_ = s.Swings.SetAt(at+1, int64(m.Left))
	return m.Left <= 0
}

// AppendState implements space.Controller.
func (m *metronome) AppendState(b []byte) []byte {
	b = binary.AppendUvarint(b, m.Number)
	b = binary.AppendUvarint(b, m.Swings)
	return binary.AppendVarint(b, int64(m.Left))
}

// ReadState implements space.Controller.
func (m *metronome) ReadState(b []byte) error {
	r := codec.NewReader(b)
	m.Number = r.Uvarint()
	m.Swings = r.Uvarint()
	m.Left = time.Duration(r.Varint())
	return r.Close()
}

// swing winds a metronome up, each for another time.
func (s *clockCell) swing(n uint64) {
	m := &metronome{Number: n, Left: time.Duration(n+1) * 1300 * time.Millisecond}
	id, err := s.AddController(m, "OnStill", int64(n))
	if err != nil {
		s.fault("metronome %d: %v", n, err)
		return
	}
	s.fresh(id)
	_ = s.Swings.SetAt(int(n)*2, 0)
	_ = s.Swings.SetAt(int(n)*2+1, int64(m.Left))
	_ = s.Swinging.SetAt(int(n), uint32(id))
}

// OnStill winds a metronome up again. The last one ends the first in the middle of its swing.
func (s *clockCell) OnStill(c entity.Callback) {
	n := uint64(c.User)
	if n >= metronomes || s.Swinging.At(int(n)) != uint32(c.ID) {
		s.fault("metronome %d (%d of its script) is still; %d swing", c.ID, c.User, s.Swinging.Len())
		return
	}
	if n == metronomes-1 {
		if !s.Cancel(entity.CallbackID(s.Swinging.At(0))) {
			s.fault("metronome 0 is not there to be cancelled")
		}
		s.swing(0)
	}
	s.swing(n)
}
