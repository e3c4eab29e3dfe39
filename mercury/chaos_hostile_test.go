package mercury_test

import (
	"testing"

	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/mercurytest"
)

// Endpoints without a Guard against floods, forgeries, replays and peers that break the protocol.
func TestChaosHostile(t *testing.T) {
	mercurytest.TestHostile(t, func(_ testing.TB, n int) mercury.Config {
		return mercury.Config{Secret: [16]byte{byte(n)}}
	})
}
