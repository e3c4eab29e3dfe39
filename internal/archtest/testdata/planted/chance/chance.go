// Package chance draws from the process's source.
package chance

import (
	old "math/rand"
	"math/rand/v2"
)

// Draw does it.
func Draw(r *rand.Rand) int {
	r.Shuffle(1, nil)
	return old.Int() + rand.IntN(6) + rand.N(6)
}
