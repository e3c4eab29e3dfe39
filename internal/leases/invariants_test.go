//go:build invariants || race

package leases

import (
	"testing"
	"time"

	"github.com/cellscape/cellscape/internal/invariant"
)

// TestAsserts plants bugs in what a Set knows.
func TestAsserts(t *testing.T) {
	for name, plant := range map[string]func(*Set[int, string]){
		"a lease without a value":      func(s *Set[int, string]) { delete(s.last, 7) },
		"a value without a lease":      func(s *Set[int, string]) { s.queue = s.queue[1:] },
		"a lease that ends before its": func(s *Set[int, string]) { s.queue[0].until = time.Hour },
		"a value of an older lease":    func(s *Set[int, string]) { s.last[8] = 0 },
	} {
		var s Set[int, string]
		s.Put(7, "a", 1, 9)
		s.Put(8, "b", 2, 9)
		plant(&s)
		if invariant.Caught(func() { s.Put(9, "c", 3, 9) }) == "" {
			t.Errorf("not caught: %s", name)
		}
	}
}
