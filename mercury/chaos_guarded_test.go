package mercury_test

import (
	"math/rand/v2"
	"testing"

	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/secure"
)

// chaosGuard makes the Guard of a node for its next life. All nodes have the same static key, and
// each knows it, so that each may dial each. What they draw comes from the node and the life.
func chaosGuard(t *testing.T) func(n *chaosNode) mercury.Guard {
	t.Helper()
	key, err := secure.GenerateKey(rand.NewChaCha8([32]byte{1}))
	if err != nil {
		t.Fatal(err)
	}
	return func(n *chaosNode) mercury.Guard {
		g, err := secure.New(secure.Config{
			Random: rand.NewChaCha8([32]byte{byte(n.n + 2), byte(n.salts)}), Key: key, ServerKey: key.Public(),
		})
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
}

// The model over guarded channels: handshakes, tickets and sealed packets under the same faults.
func TestChaosModelGuarded(t *testing.T) { chaosMany(t, (*chaosSeeds+9)/10, false, chaosGuard(t)) }

// And while a node changes its address.
func TestChaosModelGuardedMoving(t *testing.T) { chaosMany(t, (*chaosSeeds+9)/10, true, chaosGuard(t)) }
