package cluster

import (
	"log/slog"
	"testing"
	"time"

	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury/mercurytest"
	"github.com/cellscape/cellscape/space/cluster/status"
)

// An order to stop the world is given until a manager says that the stop is under way: one that has just
// begun to lead hears of it too early.
func TestOrderIsGivenUntilItIsHeard(t *testing.T) {
	net := mercurytest.NewStage(mercurytest.Host(1, 1))
	manager := mercurytest.Host(2, 2)
	w := newWatcher(net, &ObserverConfig{Manager: manager.At}, slog.New(slog.DiscardHandler), func(status.World) {})
	w.Tick(0)
	ch := net.Dials[0]
	net.Answer(ch, manager)
	w.Opened(0, ch, manager)
	net.Take(ch) // its Join
	answer := func(s status.Stop) {
		w.Message(time.Second, ch, true, wire.Encode(nil, &wire.WorldEnding{Stop: s}))
	}
	for i := range 3 {
		w.shutdown("an update")
		if got := net.Take(ch); len(got) != 1 || wire.ID(got[0][0]) != wire.EndWorldID {
			t.Fatalf("try %d: it says %x", i, got)
		}
		answer(status.Stop{})
	}
	answer(status.Stop{Step: "closing"})
	if w.shutdown("an update"); len(net.Take(ch)) > 0 {
		t.Error("it gives an order again that was heard")
	}
}
