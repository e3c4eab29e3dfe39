package witness

import (
	"testing"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/client/protocol"
)

// Who comes fills the gaps of those who have gone, and the room shrinks with the crowd.
func TestGaps(t *testing.T) {
	const n, come = 200, 8
	wd := crowd(t, Config{}, n, 0.1)
	tick := func() {
		wd.w.Update(wd.watcher, wd.tick, nil, false)
		wd.tick++
		wd.w.Saw(&protocol.Seen{Bundle: wd.w.number})
	}
	for first := range 200 {
		for k := range come {
			wd.w.Leave(entity.ID(first*come + k + 1))
			wd.w.Enter(wd.subject(newEntity(wd.def, entity.ID(n+first*come+k+1), 1, 5, 0)))
		}
		tick()
	}
	if got := len(wd.w.entries); wd.w.Len() != n || got > n+5*come {
		t.Errorf("%d entries take the room of %d", wd.w.Len(), got)
	}
	for id := range wd.w.Known() {
		wd.w.Leave(id)
	}
	tick()
	tick()
	if got := len(wd.w.entries); wd.w.Len() != 0 || got > minGaps {
		t.Errorf("%d entries take the room of %d", wd.w.Len(), got)
	}
}
