package udp

import "sync"

// maxFree bounds what a stock keeps: as many as there are threads that read at once, on a machine
// of some size.
const maxFree = 16

// stock is what the calls of all sockets of the process share, since each needs it only while it is
// under way. Unlike a sync.Pool it does not forget at a garbage collection what the next call has
// to make again.
type stock[T any] struct {
	mu   sync.Mutex
	free []*T
}

// take returns a free one, or a zero one.
func (s *stock[T]) take() *T {
	s.mu.Lock()
	defer s.mu.Unlock()
	last := len(s.free) - 1
	if last < 0 {
		return new(T)
	}
	t := s.free[last]
	s.free[last], s.free = nil, s.free[:last]
	return t
}

// put takes one back, and reports whether it keeps it.
func (s *stock[T]) put(t *T) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.free) >= maxFree {
		return false
	}
	s.free = append(s.free, t)
	return true
}
