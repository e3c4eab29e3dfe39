package streamtest

import (
	"testing"
	"time"

	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/stream"
)

const (
	// bulkMessage is the size of a message in Bulk.
	bulkMessage = 100
	// bulkBatch is how many are sent in a turn.
	bulkBatch = 500
	// bulkBacklog is what Bulk lets wait.
	bulkBacklog = 1 << 20
)

// counter is a mercury.Handler that counts.
type counter struct {
	opened   mercury.ChannelID
	messages int
}

func (c *counter) Opened(_ time.Duration, ch mercury.ChannelID, _ mercury.Address) { c.opened = ch }

func (c *counter) Message(time.Duration, mercury.ChannelID, bool, []byte) { c.messages++ }

func (c *counter) Closed(time.Duration, mercury.ChannelID, error) {}

// Bulk measures messages of 100 bytes one way as fast as they go, two owners on two goroutines in
// one process.
func Bulk(b *testing.B, from, to *stream.Transport) {
	var out, in counter
	from.SetHandler(&out)
	to.SetHandler(&in)
	ch := from.Dial(to.Self())
	if !Until(patience, func() bool { return out.opened != 0 && in.opened != 0 }, from, to) {
		b.Fatal("the channel did not open")
	}
	msg := make([]byte, bulkMessage)
	b.ReportAllocs()
	b.SetBytes(bulkMessage)
	b.ResetTimer()
	done := make(chan struct{})
	go func() {
		defer close(done)
		for in.messages < b.N {
			_, _ = to.Receive(to.Now() + time.Second)
			_ = to.Flush()
		}
	}()
	for sent := 0; sent < b.N; {
		for range min(bulkBatch, b.N-sent) {
			if err := from.Send(ch, msg); err != nil {
				b.Error(err)
				return
			}
			sent++
		}
		_ = from.Flush()
		_, _ = from.Receive(0)
		for backlog(from, ch) > bulkBacklog {
			_, _ = from.Receive(from.Now() + 50*time.Microsecond)
		}
	}
	for running := true; running; {
		select {
		case <-done:
			running = false
		default:
			_, _ = from.Receive(from.Now() + time.Millisecond)
			_ = from.Flush()
		}
	}
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds()/1e6, "Mmsg/s")
}

func backlog(x *stream.Transport, ch mercury.ChannelID) int {
	n, _ := x.Queued(ch)
	return n
}
