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
		next.Saw(&protocol.Seen{Bundle: next.number - 1})
		next.Enter(wd.subject(newEntity(wd.def, 10, 1, 5, 0)))
		if i, _ := next.find(10); next.entries[i].alias == alias {
			t.Errorf("the client may not have the leave of %v, and who comes is called %d, too", gone, alias)
		}
		next.Saw(&protocol.Seen{Bundle: next.number}) // which has the leave
		next.Enter(wd.subject(newEntity(wd.def, 11, 1, 5, 0)))
		if i, _ := next.find(11); next.entries[i].alias != alias {
			t.Errorf("the client has the leave of %v, and who comes is called %d", gone, next.entries[i].alias)
		}
	}
}

// However often a player is teleported from app to app, its entities are called by no more numbers than
// two views have: those that the client has forgotten are free on the next cell, too. (There all rested
// until its next word, so each teleport took as many new ones as it showed entities, until there were
// none and the player saw nobody walk any more.)
func TestAliasesAreFreeAcrossHandoffs(t *testing.T) {
	const view, teleports = 10, 200
	wd := crowd(t, Config{}, view, 1)
	w, id := wd.w, entity.ID(view)
	for range teleports {
		w.Update(wd.watcher, wd.tick, nil, true)
		wd.tick++
		w.Saw(&protocol.Seen{Bundle: w.number})
		next := New(Config{})
		r := codec.NewReader(w.Append(nil))
		if next.Read(&r); r.Err() != nil {
			t.Fatal(r.Err())
		}
		w = next
		w.Restart()
		for range view {
			id++
			w.Enter(wd.subject(newEntity(wd.def, id, 1, 5, 0)))
		}
	}
	for i := range w.entries {
		if w.entries[i].alias >= 2*view {
			t.Fatalf("after %d teleports somebody is called %d", teleports, w.entries[i].alias)
		}
	}
}

// After a crowd has gone, the next cell begins with small numbers again.
func TestAliasesShrinkAcrossHandoffs(t *testing.T) {
	wd := crowd(t, Config{}, 200, 1)
	wd.w.Update(wd.watcher, wd.tick, nil, true)
	for id := entity.ID(4); id <= 200; id++ {
		wd.w.Leave(id)
	}
	wd.w.Update(wd.watcher, wd.tick+1, nil, true)
	wd.w.Saw(&protocol.Seen{Bundle: wd.w.number})
	next := New(Config{})
	r := codec.NewReader(wd.w.Append(nil))
	if next.Read(&r); r.Err() != nil {
		t.Fatal(r.Err())
	}
	if n := len(next.aliases.used); n > 3 {
		t.Errorf("%d numbers are kept for 3 entities", n)
	}
}
