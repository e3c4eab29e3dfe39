package mercury

import "slices"

// numberRange is an unbroken run of packet numbers, both ends within.
type numberRange struct{ lo, hi uint64 }

// maxNumberRanges bounds the memory of what was received. A gap stays open for ever, since a lost
// packet's content comes again under a new number. At a loss of one in ten this remembers some
// thousand packets.
const maxNumberRanges = 128

// reorderMargin is how far below the largest number a late packet can still be told from a
// duplicate, even when the peer already knows that we have what lies above it.
const reorderMargin = 256

// numberSet remembers which packet numbers were received. Numbers below the floor count as
// received. A duplicate and a very late packet cannot be told apart there, and a late one's content
// comes again anyway.
//
// Invariant: runs ascend, do not touch, and lie at or above the floor.
type numberSet struct {
	runs  []numberRange
	floor uint64
	known uint64 // the peer has seen acks of all that was received below it
}

// add remembers n; false when it was there before.
func (s *numberSet) add(n uint64) bool {
	if n < s.floor {
		return false
	}
	i := len(s.runs) // the first run above n
	for i > 0 && s.runs[i-1].lo > n {
		i--
	}
	if i > 0 && n <= s.runs[i-1].hi {
		return false
	}
	joinsBelow := i > 0 && s.runs[i-1].hi+1 == n
	joinsAbove := i < len(s.runs) && s.runs[i].lo == n+1
	switch {
	case joinsBelow && joinsAbove:
		s.runs[i-1].hi = s.runs[i].hi
		s.runs = slices.Delete(s.runs, i, i+1)
	case joinsBelow:
		s.runs[i-1].hi = n
	case joinsAbove:
		s.runs[i].lo = n
	default:
		s.runs = slices.Insert(s.runs, i, numberRange{n, n})
		if len(s.runs) > maxNumberRanges {
			s.raise(s.runs[1].lo)
		}
	}
	return true
}

// settled is called when the peer is known to have seen acks up to n. What lies well below need not
// be reported again.
func (s *numberSet) settled(n uint64) {
	s.known = max(s.known, n+1)
	if largest, ok := s.largest(); ok && largest > reorderMargin {
		s.raise(min(n+1, largest-reorderMargin))
	}
}

// raise lifts the floor to n, which is at most the largest number received.
func (s *numberSet) raise(n uint64) {
	if n <= s.floor {
		return
	}
	s.floor = n
	drop := 0
	for drop < len(s.runs) && s.runs[drop].hi < n {
		drop++
	}
	s.runs = slices.Delete(s.runs, 0, drop)
	if len(s.runs) > 0 {
		s.runs[0].lo = max(s.runs[0].lo, n)
	}
}

// largest is the highest number received.
func (s *numberSet) largest() (uint64, bool) {
	if len(s.runs) == 0 {
		return 0, false
	}
	return s.runs[len(s.runs)-1].hi, true
}
