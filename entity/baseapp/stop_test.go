package baseapp

import (
	"slices"
	"testing"

	"github.com/cellscape/cellscape/entity/stored"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/space/cluster/status"
)

// stop orders a step of the stop, and returns the last that the app says of it.
func (k *keeper) stop(number uint64, step wire.StopStep) (last wire.StopState) {
	k.t.Helper()
	k.say(k.managers, &wire.Stop{Number: number, Step: step, Reason: "maintenance"})
	k.tick()
	said := false
	for _, s := range k.net.sent {
		if id, body, err := wire.Split(s.msg); err == nil && id == wire.StopStateID {
			parse(k.t, last.Parse(body))
			said = true
		}
	}
	if !said {
		k.t.Fatalf("it says nothing of step %v", step)
	}
	return last
}

// A base that has ended while the store fails waits for its last write. That is nothing under way between
// processes, and if the store does not recover, the report says so. (The world waited for it as for a
// message, and then told the operator that no entity had failed: players who had logged out while the disk
// was full were in no figure.)
func TestStopWhileLastWritesFail(t *testing.T) {
	k := newKeeper(t)
	_, v := k.kept()
	v.Destroy()
	m := k.asked(wire.StoreWrite)
	k.answer(&m, wire.StoreAnswer{Code: stored.Busy, Reason: "the disk is full"})
	if s := k.stop(1, wire.StopPaused); s.Pending != 0 || len(s.Left) > 0 {
		t.Errorf("paused: %+v", s)
	}
	want := []status.Saved{{Type: "Avatar", Failed: 1}}
	if s := k.stop(2, wire.StopHeld); s.Pending == 0 || !slices.Equal(s.Saved, want) {
		t.Errorf("held: %+v, want one that failed", s)
	}
	k.net.sent = nil
	k.pass(keepAgain)
	m = k.asked(wire.StoreWrite)
	k.answer(&m, wire.StoreAnswer{})
	k.tick()
	if s := k.stop(3, wire.StopHeld); s.Pending != 0 || len(s.Saved) > 0 {
		t.Errorf("the store has it: %+v", s)
	}
}
