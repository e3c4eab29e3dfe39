package witness

import (
	"testing"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/internal/codec"
)

// Whoever comes fills the gaps of those who have gone, and the room shrinks with the crowd.
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

// An alias that the cell before has given up rests here, too, whether it was the highest or not: the
// client may not have heard of the leave yet.
func TestAliasesRestAcrossHandoffs(t *testing.T) {
	for _, gone := range []entity.ID{1, 2, 3} {
		wd := crowd(t, Config{}, 3, 1)
		i, _ := wd.w.find(gone)
		alias := wd.w.entries[i].alias
		wd.w.Leave(gone)
		wd.w.Update(wd.watcher, wd.tick, nil, true)
		next := New(Config{})
		r := codec.NewReader(wd.w.Append(nil))
		if next.Read(&r); r.Err() != nil {
			t.Fatal(r.Err())
		}
		next.Enter(wd.subject(newEntity(wd.def, 9, 1, 5, 0)))
		if i, _ := next.find(9); next.entries[i].alias == alias {
			t.Errorf("who comes after a handoff is called %d, as %v was", alias, gone)
		}
		next.Saw(&protocol.Seen{Bundle: next.number})
		next.Enter(wd.subject(newEntity(wd.def, 10, 1, 5, 0)))
		if i, _ := next.find(10); next.entries[i].alias == alias {
			t.Errorf("the client may not have the leave of %v, and who comes is called %d, too", gone, alias)
		}
	}
}
