package leases

import "github.com/cellscape/cellscape/internal/invariant"

// assert checks that each value has a lease that will end. Of a long queue it looks at the leases that
// end next.
func (s *Set[K, V]) assert(most int) {
	if len(s.queue) > most || len(s.last) > len(s.queue) {
		invariant.Broken("leases: %d values with %d leases, at most %d", len(s.last), len(s.queue), most)
	}
	for i, e := range s.queue[:min(len(s.queue), 64)] {
		if n, ok := s.last[e.key]; !ok || n < s.past+uint64(i) || i > 0 && e.until < s.queue[i-1].until {
			invariant.Broken("leases: the lease of %v ends out of turn, or is of nothing", e.key)
		}
	}
}
