package witness

import (
	"slices"
	"testing"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/presence"
	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/property"
)

// An entity that is always detailed is seen in full detail from anywhere, as long as it is.
func TestAlwaysDetailed(t *testing.T) {
	wd, e := scene(t)
	wd.watcher.Position.X = -90 // 140 m
	wd.tell()
	e.Aspect = presence.AlwaysDetailed
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
	if !w.SetHidden(200, true) || !w.SetHidden(5, true) || w.SetHidden(100, false) != true || !w.Hidden(5) || w.Hidden(100) || w.Added(5) || !w.Added(200) {
		t.Error("what is hidden is not told from what is added")
	}
	next := New(Config{})
	r := codec.NewReader(w.Append(nil))
	if next.Read(&r); r.Close() != nil || !equalState(next, w) || !next.Added(100) || !next.Hidden(200) || !next.Hidden(5) {
		t.Error("they do not travel")
	}
	w.SetHidden(200, false)
	w.SetHidden(5, false)
	for _, id := range added() {
		w.SetAdded(id, false)
	}
	if w.HasPairs() {
		t.Error("some are left")
	}
}

// At one distance, turns go by the schemes: that of the type, and that of a single entity, which counts
// on the next cell, too.
func TestUpdateSchemes(t *testing.T) {
	d := *testDefinition(t)
	d.UpdateScheme = property.UpdateScheme{Min: 80, Max: 80}
	wd := crowd(t, Config{BytesPerTick: 50, MaxWait: 100_000}, 50, 0)
	wd.still()
	for i, e := range wd.all {
		if e.Position.X = 100; i%10 == 0 { // five of another type
			e.Def = &d
		}
	}
	if !wd.w.SetScheme(2, property.UpdateScheme{Min: 10, Max: 40, Distance: 100}) || !wd.w.SetScheme(4, property.UpdateScheme{Min: 20, Max: 40, Distance: 50}) {
		t.Fatal("not taken")
	}
	expect := func(when string) {
		t.Helper()
		served, _ := wd.turns(6000)
		for i, want := range map[int]float64{0: 80, 20: 80, 1: 40, 3: 40, 2: 201, 5: 201} {
			mean := float64(served[11]) * 201 / want // of whom nothing is said: a step of 201 at 100 m
			if n := float64(served[i]); n < mean*0.8 || n > mean*1.2 {
				t.Errorf("%s: entity %d has %v turns, want about %v", when, i+1, n, mean)
			}
		}
	}
	expect("at first")
	next := New(wd.w.cfg)
	r := codec.NewReader(wd.w.Append(nil))
	if next.Read(&r); r.Close() != nil {
		t.Fatal(r.Err())
	}
	wd.w = next
	for _, e := range wd.all {
		wd.w.Enter(wd.subject(e))
	}
	wd.still()
	expect("on the next cell")
	wd.w.SweepPairs(func(id entity.ID) bool { return id != 2 }, 0)
	wd.w.SetScheme(4, property.UpdateScheme{})
	if wd.w.HasPairs() || wd.w.entries[1].a.scheme.Min != 0 || wd.w.entries[3].a.scheme.Min != 0 {
		t.Error("a scheme outlives its end")
	}
}
