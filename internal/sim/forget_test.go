package sim

import (
	"testing"
	"time"

	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
)

// TestFlowsAreForgotten: when all have been silent for a few minutes, nobody has a flow any more that he would have
// to ask about.
func TestFlowsAreForgotten(t *testing.T) {
	play(t, Options{Seed: 58, CellApps: 3, BaseApps: 2, Replicas: 1, Players: 6, Rovers: 6, Wild: Wild{Gossips: 6}}, func(r *rig) {
		asked, answered := 0, 0
		r.hook = func(_ *Process, _ mercury.ChannelID, msg []byte) []byte {
			if len(msg) > 0 && wire.ID(msg[0]) == wire.FlowInquiryID {
				asked++
			}
			if len(msg) > 0 && wire.ID(msg[0]) == wire.FlowRemainderID {
				answered++
			}
			return msg
		}
		r.wait(20 * time.Second)
		r.fallSilent()
		r.wait(5 * time.Minute)
		if asked == 0 || answered == 0 {
			t.Fatalf("%d questions, %d answers", asked, answered)
		}
		t.Logf("%d questions, %d answers", asked, answered)
		asked = 0
		r.wait(2 * time.Minute)
		if asked > 0 {
			t.Errorf("%d questions after five minutes", asked)
		}
	})
}
