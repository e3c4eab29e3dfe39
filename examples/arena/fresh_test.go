package main

import (
	"testing"
	"time"

	"github.com/cellscape/cellscape/property"
)

func at(x float32) property.Vector3 { return property.Vector3{X: x} }

// A move is known in time or is late; one that was never told by itself becomes known with a later
// one.
func TestTrailCounts(t *testing.T) {
	var tr trail
	for i := range 10 {
		tr.add(time.Duration(i)*tick, at(float32(i)))
	}
	var f freshness
	number, ok := tr.find(at(4.004), -1)
	if !ok || number != 4 {
		t.Fatalf("found move %d, %v", number, ok)
	}
	if _, ok := tr.find(at(4), 4); ok {
		t.Error("a move is found among those after it")
	}
	// At 5.5 ticks: the moves at 0 to 3 ticks are more than two ticks old.
	if next := tr.count(0, number+1, 5*tick+tick/2, true, &f); next != 5 || f.moves != 5 || f.inTime != 1 {
		t.Errorf("next is %d, %d of %d in time", next, f.inTime, f.moves)
	}
	// At 8.5 ticks the moves at 5 and 6 are late, if nobody has heard of them; for those at 7 and 8
	// it is too early to say.
	if next := tr.count(5, 10, 8*tick+tick/2, false, &f); next != 7 || f.moves != 7 || f.inTime != 1 {
		t.Errorf("next is %d, %d of %d in time", next, f.inTime, f.moves)
	}
	if age := tr.age(4, 9*tick); age != 4*tick {
		t.Errorf("the place after move 4 is %v old", age)
	}
	if age := tr.age(4, 4*tick); age != 0 {
		t.Errorf("a place that is outdated by a move still to come is %v old", age)
	}
	if age := tr.age(9, 20*tick); age != 0 {
		t.Errorf("the last place is %v old", age)
	}
}

// A trail that remembers too little counts what it remembers.
func TestTrailForgets(t *testing.T) {
	var tr trail
	for i := range 3 * kept {
		tr.add(time.Duration(i)*tick, at(float32(i)))
	}
	if _, ok := tr.find(at(5), -1); ok {
		t.Error("a forgotten move is found")
	}
	var f freshness
	if next := tr.count(0, 3*kept, time.Hour, false, &f); next != 3*kept || f.moves != kept || f.inTime != 0 {
		t.Errorf("next is %d, %d of %d in time", next, f.inTime, f.moves)
	}
}

func TestAges(t *testing.T) {
	var a, f freshness
	for i := range 100 {
		a.note(10, time.Duration(i)*10*time.Millisecond)
	}
	a.note(90, time.Minute)
	f.add(&a)
	if p50, p99 := f.quantile(.5, 0, 1), f.quantile(.99, 0, 1); p50 != 490*time.Millisecond || p99 != 980*time.Millisecond {
		t.Errorf("p50 %v, p99 %v", p50, p99)
	}
	if x := f.in(0, bands); x.Worst != 60_000 || x.To != aoiRadius || f.in(0, 1).Worst != 990 {
		t.Errorf("%+v", x)
	}
}

// TestLateMoves: which runs fail because of what players saw.
func TestLateMoves(t *testing.T) {
	for name, c := range map[string]struct {
		v     verdict
		fails bool
	}{
		"in time":               {verdict{Sight: Sight{Moves: 1e5, Arrived: 99.2}, arrive: 99}, false},
		"late":                  {verdict{Sight: Sight{Moves: 1e5, Arrived: 0.3}, arrive: 99}, true},
		"late by another limit": {verdict{Sight: Sight{Moves: 1e5, Arrived: 50}, arrive: 40}, false},
		"a machine too slow":    {verdict{Sight: Sight{Moves: 1e5, Arrived: 50}, arrive: 99, Ticks: 100, LateTicks: 20}, false},
		"too little to judge":   {verdict{Sight: Sight{Moves: 10}, arrive: 99}, false},
		"after a death":         {verdict{Sight: Sight{Moves: 1e5, Arrived: 50}, arrive: 99, deaths: 1}, false},
	} {
		if err := c.v.lateMoves(); (err != nil) != c.fails {
			t.Errorf("%s: %v", name, err)
		}
	}
}
