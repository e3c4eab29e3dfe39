package mercurytest_test

import (
	"testing"

	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/mercurytest"
)

func TestEndpoint(t *testing.T) {
	mercurytest.TestTransport(t, func(t *testing.T, seed uint64) *mercurytest.Rig {
		return mercurytest.EndpointRig(t, seed, mercury.Config{})
	})
}

func TestEndpointSmallPackets(t *testing.T) {
	mercurytest.TestTransport(t, func(t *testing.T, seed uint64) *mercurytest.Rig {
		return mercurytest.EndpointRig(t, seed, mercury.Config{MTU: mercury.MinMTU, Window: mercury.MinWindow, MaxMessage: 100000})
	})
}
