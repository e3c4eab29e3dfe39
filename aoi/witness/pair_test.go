package witness

import (
	"slices"
	"testing"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/internal/codec"
)

// An entity that is always detailed is seen in full detail from anywhere, as long as it is.
func TestAlwaysDetailed(t *testing.T) {
	wd, e := scene(t)
	wd.watcher.Position.X = -90 // 140 m
	wd.tell()
	e.Aspect = entity.AlwaysDetailed
	wd.w.Enter(wd.subject(e)) // as the cell does when it changes
	wd.tell("change 7", "set badge")
	set(t, e, badge, 3)
	set(t, e, weapon, 3)
	wd.tell("change 7", "set badge", "set weapon")
	wd.settle(0)
	e.Aspect = 0
	wd.w.Enter(wd.subject(e))
	wd.tell()
	set(t, e, badge, 4)
	wd.tell()
	wd.settle(0)
}

func TestPairs(t *testing.T) {
	w := New(Config{})
	added := func() []entity.ID { return slices.Collect(w.AllAdded()) }
	for id := entity.ID(MaxPairs); id > 0; id-- {
		if !w.SetAdded(id, true) {
			t.Fatalf("%v is not taken", id)
		}
	}
	if w.SetAdded(MaxPairs+1, true) || !w.SetAdded(5, true) || len(added()) != MaxPairs {
		t.Errorf("%d are added", len(added()))
	}
	for range 3 {
		w.SweepPairs(func(id entity.ID) bool { return id%100 == 0 }, 2)
	}
	if want := MaxPairs / 100; len(added()) != want || !w.Added(100) || w.Added(5) {
		t.Errorf("%d are left, want %d", len(added()), want)
	}
	next := New(Config{})
	r := codec.NewReader(w.Append(nil))
	if next.Read(&r); r.Close() != nil || !equalState(next, w) || !next.Added(100) {
		t.Error("they do not travel")
	}
	for _, id := range added() {
		w.SetAdded(id, false)
	}
	if w.HasPairs() {
		t.Error("some are left")
	}
}
