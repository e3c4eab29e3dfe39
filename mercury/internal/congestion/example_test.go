package congestion_test

import (
	"fmt"
	"time"

	"github.com/cellscape/cellscape/mercury/internal/congestion"
)

// A sender asks before each packet, and tells of what leaves and of what arrives.
func Example() {
	const size = 1200
	var m congestion.Model
	m.Init(size, 0)
	now, inFlight := time.Second, 0
	var stamps []congestion.Stamp
	for inFlight+size <= m.Window() && m.Allowed(now) >= size {
		var s congestion.Stamp
		m.OnSend(now, size, inFlight, &s)
		m.Spend(now, size)
		inFlight += size
		stamps = append(stamps, s)
	}
	sent := now
	now += 40 * time.Millisecond
	var frame congestion.Frame
	for _, s := range stamps {
		m.OnAcked(now, sent, size, &s, &frame)
		inFlight -= size
	}
	m.EndAck(now, now-sent, inFlight, &frame)
	fmt.Println(len(stamps), "packets at once, a round trip of", m.MinRTT())
	// Output:
	// 12 packets at once, a round trip of 40ms
}
