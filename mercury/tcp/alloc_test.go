package tcp_test

import (
	"testing"
	"time"

	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/stream"
	"github.com/cellscape/cellscape/mercury/stream/streamtest"
)

// counter counts messages.
type counter struct{ n int }

func (*counter) Opened(time.Duration, mercury.ChannelID, mercury.Address) {}
func (c *counter) Message(time.Duration, mercury.ChannelID, bool, []byte) { c.n++ }
func (*counter) Closed(time.Duration, mercury.ChannelID, error)           {}

// TestNoAllocation sends and delivers turns of 50 messages, in the steady state: nothing is
// allocated by anyone.
func TestNoAllocation(t *testing.T) {
	a, b := listen(t, stream.Config{Salt: 1}), listen(t, stream.Config{Salt: 2})
	defer streamtest.Stop(t, b)
	defer streamtest.Stop(t, a)
	var at counter
	b.SetHandler(&at)
	ch := a.Dial(b.Self())
	msg := make([]byte, 100)
	want := 0
	arrived := func() bool { return at.n >= want }
	turn := func() {
		for i := range 50 {
			err := error(nil)
			if i%5 == 0 {
				_, err = a.SendUnreliable(ch, msg)
			} else {
				err = a.Send(ch, msg)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		want += 50
		if !streamtest.Until(patience, arrived, a, b) {
			t.Fatalf("%d messages came, want %d", at.n, want)
		}
	}
	for range 100 {
		turn() // buffers grow to what they need
	}
	if n := testing.AllocsPerRun(200, turn); n > 0 {
		t.Errorf("%v allocations a turn of 50 messages", n)
	}
}
