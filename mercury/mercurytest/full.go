package mercurytest

import (
	"errors"
	"testing"

	"github.com/cellscape/cellscape/mercury"
)

// fullMost bounds what testFull tries to send: more than a queue and what a system buffers below
// it.
const fullMost = 128 << 20

// testFull fills the queue towards a peer that lives. The queue refuses what it has no room for,
// and nothing else comes of it: what was queued arrives in order, then there is room again.
func testFull(t *testing.T, x *bench) {
	a, b := x.connect()
	size := min(x.MaxMessage-4, 64<<10)
	if x.a.Of(a).Rooms != 0 {
		t.Error("word of room before anything was refused")
	}
	sent, refused := 0, false
	fill := func() {
		for bytes := 0; bytes < fullMost; bytes += size {
			err := x.A.Send(a, numbered(sent, size))
			if waiting, limit := x.A.Queued(a); waiting > limit {
				t.Fatalf("%d bytes wait, at most %d", waiting, limit)
			}
			if err != nil {
				if !errors.Is(err, mercury.ErrFull) {
					t.Fatalf("message %d: %v", sent, err)
				}
				refused = true
				return
			}
			sent++
		}
	}
	for round := range 3 {
		fill()
		if !refused {
			t.Fatalf("%d messages of %d bytes were never too many", sent, size)
		}
		refused = false
		x.until("word of room", func() bool { return x.a.Of(a).Rooms == round+1 })
		if waiting, limit := x.A.Queued(a); waiting > mercury.HighMark(limit) {
			t.Fatalf("round %d: told of room with %d bytes waiting, at most %d", round, waiting, limit)
		}
		if len(x.a.Of(a).Closed)+len(x.b.Of(b).Closed) > 0 {
			t.Fatalf("round %d: the channel to a live peer was closed: %v, %v", round, x.a.Of(a).Closed, x.b.Of(b).Closed)
		}
	}
	x.until("all that was taken", func() bool { return len(x.b.Of(b).Reliable) >= sent })
	x.wantStream(x.b.Of(b).Reliable, sent)
	x.until("word that all has come", func() bool {
		waiting, _ := x.A.Queued(a)
		return waiting == 0
	})
	if _, limit := x.A.Queued(a); limit <= 0 {
		t.Errorf("the limit is %d bytes", limit)
	}
	if waiting, _ := x.A.Queued(a + 1000); waiting != 0 {
		t.Errorf("%d bytes wait in a channel that is not there", waiting)
	}
}
