// Package low has no faults; it stands for a floor.
package low

import (
	"cmp"
	"errors"
	"maps"
	"math/rand/v2"
	"net/netip"
	"slices"
	"time"
)

// ErrNone is an error, which may stand at the top level.
var ErrNone = errors.New("low: none")

var _ error = (*fault)(nil)

var kinds = [...]string{"a", "b"} // named in the table of variables

type fault struct{}

func (*fault) Error() string { return kinds[0] }

// Tidy uses what is accepted.
func Tidy(m map[string]int, now time.Duration, at netip.Addr) int {
	sum := int(now/time.Second) + at.BitLen() + rand.New(rand.NewPCG(1, 2)).IntN(3)
	for _, k := range slices.Sorted(maps.Keys(m)) {
		sum += m[k]
	}
	for range slices.SortedFunc(maps.Values(m), cmp.Compare[int]) {
		sum++
	}
	// order does not show: the sum is of integers
	for _, v := range m {
		sum += v
	}
	clear(m)
	return sum
}
