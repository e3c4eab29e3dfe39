package sim

import (
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
)

// TestFlowsAreForgotten: when all have been silent for a few minutes, nobody asks again and again
// about a flow that he would forget.
func TestFlowsAreForgotten(t *testing.T) {
	play(t, Options{Seed: 58, CellApps: 3, BaseApps: 2, Replicas: 1, Players: 6, Rovers: 6, Wild: Wild{Gossips: 6}}, func(r *rig) {
		asked, answered := map[flow.Inquiry]int{}, 0
		r.hook = func(_ *Process, _ mercury.ChannelID, msg []byte) []byte {
			var q flow.Inquiry
			switch id, body, err := wire.Split(msg); {
			case err != nil:
			case id == wire.FlowInquiryID && q.Parse(body) == nil:
				q.Reply, q.Stamp = mercury.Address{}, 0
				asked[q]++
			case id == wire.FlowRemainderID:
				answered++
			}
			return msg
		}
		r.wait(20 * time.Second)
		r.fallSilent()
		r.wait(4 * time.Minute)
		t.Logf("asked about %d flows, %d answers", len(asked), answered)
		if len(asked) == 0 || answered == 0 {
			t.Fatal("nobody asked, or nobody answered")
		}
		clear(asked)
		r.wait(2 * time.Minute)
		for q, n := range asked {
			if n > 4 { // twice, by way of the base
				t.Errorf("%v asked %d times about the flow from %v", q.By, n, q.Of)
			}
		}
	})
}
