package cellapp

import (
	"testing"

	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
)

// A repeated order to remove a cell may name fewer peers: nobody will ever ask the one that is left
// out for its ack. If it names more peers, the removal does not wait for them.
func TestRemovalOrderNamesFewer(t *testing.T) {
	r := newRig(t)
	r.join()
	r.room(5, true)
	order := &wire.RemoveCell{Space: 5, Cell: roomCell(5), Peers: []mercury.Address{addr(2), addr(4)}}
	r.manage(order)
	r.from(addr(2), &wire.RemovalAck{Space: 5, Cell: roomCell(5)})
	r.tick(3)
	r.manage(order) // the first has acked, and is not waited for again
	r.tick(3)
	if r.app.cell(5) == nil {
		t.Fatal("gone without the ack of the second")
	}
	order.Peers = []mercury.Address{addr(2), addr(6)}
	r.manage(order)
	r.tick(3)
	if got := sentTo[wire.CellRemoved](r, toManager, wire.CellRemovedID); len(got) != 1 || r.app.cell(5) != nil {
		t.Errorf("not gone: %v", got)
	}
}
