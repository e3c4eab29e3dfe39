// Package leases remembers what came to an end, each for a time, so that a late message is known for one.
//
//	Put ──▶ | d  c  b  a | ──▶ Expire, or Put into a full one
//
// Invariants:
//
//   - There are never more leases than the bound, and each ends.
//   - What was put again stands until its last lease ends.
//
// A Set belongs to one goroutine.
package leases

import (
	"time"

	"github.com/cellscape/cellscape/internal/invariant"
)

// Set has values by their keys. The zero value has none.
type Set[K comparable, V any] struct {
	last  map[K]uint64 // the last lease of each key; they count from 0
	queue []lease[K, V]
	past  uint64 // leases that have ended: the first of queue has this number
}

type lease[K comparable, V any] struct {
	key   K
	value V
	until time.Duration
}

// Put sets a value, whose lease ends at a time that is not before that of the one before. With most
// leases already, the oldest ends now.
func (s *Set[K, V]) Put(key K, value V, until time.Duration, most int) {
	if s.last == nil {
		s.last = make(map[K]uint64)
	}
	if len(s.queue) >= most {
		s.pop()
	}
	s.last[key] = s.past + uint64(len(s.queue))
	s.queue = append(s.queue, lease[K, V]{key, value, until})
	if invariant.On {
		s.assert(most)
	}
}

// Get returns the value of a key until the next Put or Expire, or nil if there is none.
func (s *Set[K, V]) Get(key K) *V {
	if n, ok := s.last[key]; ok {
		return &s.queue[n-s.past].value
	}
	return nil
}

// Len is how many values there are.
func (s *Set[K, V]) Len() int { return len(s.last) }

// Expire ends the leases whose time has come.
func (s *Set[K, V]) Expire(now time.Duration) {
	for len(s.queue) > 0 && s.queue[0].until <= now {
		s.pop()
	}
}

// pop ends the oldest lease, and the value unless it has a later one.
func (s *Set[K, V]) pop() {
	if key := s.queue[0].key; s.last[key] == s.past {
		delete(s.last, key)
	}
	s.past++
	if s.queue = s.queue[1:]; len(s.queue) == 0 {
		s.queue = nil // append would go on after what was taken
	}
}
