package secure

import "time"

// strikeID names one pass or ticket. It is the beginning of the random nonce under which the pass
// was sealed.
type strikeID [16]byte

// strikes remembers what was used, for at least life. It has two sets; the older is dropped when
// the newer has been open for life. So memory is bounded by two limits, and nothing is ever
// scanned.
//
// It never forgets early. When it is full it refuses new ones: a refused client pays a round trip,
// and a replayer gains nothing.
type strikes struct {
	life     time.Duration
	limit    int // of one set
	turned   time.Duration
	new, old map[strikeID]struct{}
}

func newStrikes(life time.Duration, limit int) *strikes {
	return &strikes{life: life, limit: limit}
}

// turn drops what was used more than life ago, one set at a time. What was added since the last
// turn stays for another life, however long ago that turn was.
func (s *strikes) turn(now time.Duration) {
	if now-s.turned < s.life {
		return
	}
	s.old, s.new = s.new, nil
	s.turned = now
}

func (s *strikes) has(id strikeID) bool {
	_, inNew := s.new[id]
	_, inOld := s.old[id]
	return inNew || inOld
}

func (s *strikes) full() bool { return len(s.new) >= s.limit }

// add adds id, and reports whether it was new and there was room.
func (s *strikes) add(id strikeID) bool {
	if s.full() || s.has(id) {
		return false
	}
	if s.new == nil {
		s.new = make(map[strikeID]struct{})
	}
	s.new[id] = struct{}{}
	return true
}
