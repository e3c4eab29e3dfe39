//go:build invariants || race

package mercury

import (
	"net/netip"
	"testing"

	"github.com/cellscape/cellscape/internal/invariant"
)

// TestAsserts plants bugs in the accounts of a channel, each of which the next flush finds.
func TestAsserts(t *testing.T) {
	for name, plant := range map[string]func(*channel){
		"a packet in flight is not counted": func(c *channel) { c.out.inFlight-- },
		"bytes in flight are not counted":   func(c *channel) { c.out.flightBytes++ },
		"a packet has a number to come":     func(c *channel) { c.out.sent.at(0).number = c.out.number + 9 },
		"a queued byte is not counted":      func(c *channel) { c.out.streams[laneGame].queued++ },
		"a lost segment is not counted":     func(c *channel) { c.out.streams[laneGame].segments.at(0).lost = true },
		"more is sent than the window":      func(c *channel) { c.out.window = 0 },
	} {
		a, _, ch := openPair(t)
		c := a.channels[ch]
		if err := a.Send(ch, []byte("tick")); err != nil {
			t.Fatal(err)
		}
		a.Flush(0, func(netip.AddrPort, []byte) {}) // nobody acks it
		plant(c)
		if invariant.Caught(func() { c.assert(a) }) == "" {
			t.Errorf("not caught: %s", name)
		}
	}
}
