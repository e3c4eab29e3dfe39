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
	byKey map[K]entry[V]
	queue []end[K] // the oldest first
	past  uint64   // leases that have ended
}

type entry[V any] struct {
	value V
	lease uint64 // the last of this key: they count from 0
}

type end[K comparable] struct {
	key K
	at  time.Duration
}

// Put sets a value, whose lease ends at a time that is not before that of the one before. With most
// leases already, the oldest ends now.
func (s *Set[K, V]) Put(key K, value V, until time.Duration, most int) {
	if s.byKey == nil {
		s.byKey = make(map[K]entry[V])
	}
	if len(s.queue) >= most {
		s.pop()
	}
	s.byKey[key] = entry[V]{value, s.past + uint64(len(s.queue))}
	s.queue = append(s.queue, end[K]{key, until})
	if invariant.On {
		s.assert(most)
	}
}

// Get returns the value of a key, and whether there is one.
func (s *Set[K, V]) Get(key K) (V, bool) {
	x, ok := s.byKey[key]
	return x.value, ok
}

// Len is how many values there are.
func (s *Set[K, V]) Len() int { return len(s.byKey) }

// Expire ends the leases whose time has come.
func (s *Set[K, V]) Expire(now time.Duration) {
	for len(s.queue) > 0 && s.queue[0].at <= now {
		s.pop()
	}
}

// pop ends the oldest lease, and the value unless it has a later one.
func (s *Set[K, V]) pop() {
	if key := s.queue[0].key; s.byKey[key].lease == s.past {
		delete(s.byKey, key)
	}
	s.past++
	if s.queue = s.queue[1:]; len(s.queue) == 0 {
		s.queue = nil // append would go on after what was taken
	}
}
