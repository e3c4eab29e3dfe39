package space

import (
	"testing"

	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/entity/flow"
)

// A client that is away is told nothing, and the sum of what it has missed when it is back, in the same
// session: no second CellPlayer, and nobody enters twice.
func TestAwayClient(t *testing.T) {
	r := newRig(t, 1)
	r.create(7, -50, 1)
	r.create(8, -48, 0)
	r.tick(3)
	set := func(away bool) {
		m := flow.Session{Number: 1, Room: 900, Away: away}
		r.say(7, m.Append(nil, flow.SetClientPayload))
		r.tick(1)
	}
	set(true)
	r.bases[7].got, r.places[7] = nil, nil
	for hp := range uint32(5) {
		r.avatar(8).Hp.Set(hp + 1)
		r.avatar(7).SetPosition(at(-50 + float32(hp)))
		r.tick(1)
	}
	if list, _ := r.bundles(7); len(list) != 0 || len(r.places[7]) != 0 {
		t.Fatalf("the client is away and gets %v, %d packets", list, len(r.places[7]))
	}
	if !r.avatar(7).HasClient() {
		t.Error("the script believes that the client is gone")
	}
	set(false)
	r.tick(2)
	list, _ := r.bundles(7)
	changes := 0
	for _, id := range list {
		switch id {
		case protocol.CellPlayerID, protocol.EnterID, protocol.LeaveID, protocol.ResetID:
			t.Errorf("the client is told anew: %v", list)
		case protocol.ChangesID:
			changes++
		}
	}
	if changes != 1 {
		t.Errorf("the client is told %v", list)
	}
}
