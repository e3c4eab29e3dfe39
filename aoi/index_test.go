package aoi

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
)

// drained returns the events as words: "+2" says that 2 enters, "-2" that it leaves.
func drained(l *Index) string {
	var words []string
	l.Update(func(_ Trigger, _ Node, key uint64, enter bool) {
		sign := "-"
		if enter {
			sign = "+"
		}
		words = append(words, fmt.Sprint(sign, key))
	})
	return strings.Join(words, " ")
}

func TestTriggerEvents(t *testing.T) {
	for _, c := range []struct {
		name string
		do   func(l *Index, me, you Node, tr Trigger, tick func()) // me is 1 at 0,0 with a trigger of 10 and 12; you is 2 at 100,0
		want string
	}{
		{"nothing near", func(l *Index, me, you Node, tr Trigger, tick func()) {}, ""},
		{"the edge belongs to the square", func(l *Index, me, you Node, tr Trigger, tick func()) { l.Move(you, 10, -10) }, "+2"},
		{"one step outside the edge", func(l *Index, me, you Node, tr Trigger, tick func()) { l.Move(you, math.Nextafter32(10, 11), 0) }, ""},
		{"on an edge at zero", func(l *Index, me, you Node, tr Trigger, tick func()) {
			l.Move(me, -10, 10)
			l.Move(you, float32(math.Copysign(0, -1)), float32(math.Copysign(0, -1)))
		}, "+2"},
		{"near on one axis alone", func(l *Index, me, you Node, tr Trigger, tick func()) { l.Move(you, 5, 50) }, ""},
		{"jump across", func(l *Index, me, you Node, tr Trigger, tick func()) { l.Move(you, -100, 0) }, ""},
		{"passes between two updates", func(l *Index, me, you Node, tr Trigger, tick func()) { l.Move(you, 0, 0); l.Move(you, -100, 0) }, ""},
		{"owner comes", func(l *Index, me, you Node, tr Trigger, tick func()) { l.Move(me, 95, 0) }, "+2"},
		{"owner passes", func(l *Index, me, you Node, tr Trigger, tick func()) {
			l.Move(me, 95, 0)
			tick()
			l.Move(me, 200, 0)
		}, "+2 -2"},
		{"stays in the band", func(l *Index, me, you Node, tr Trigger, tick func()) {
			l.Move(you, 9, 0)
			tick()
			l.Move(you, 12, 0)
		}, "+2"},
		{"band first, never in", func(l *Index, me, you Node, tr Trigger, tick func()) {
			l.Move(you, 11, 0)
			tick()
			l.Move(you, 13, 0)
		}, ""},
		{"leaves", func(l *Index, me, you Node, tr Trigger, tick func()) {
			l.Move(you, 9, 0)
			tick()
			l.Move(you, 12.5, 0)
		}, "+2 -2"},
		{"to and fro in the band", func(l *Index, me, you Node, tr Trigger, tick func()) {
			for range 5 {
				l.Move(you, 9, 0)
				tick()
				l.Move(you, 11.5, 0)
				tick()
			}
		}, "+2"},
		{"range grows", func(l *Index, me, you Node, tr Trigger, tick func()) { l.SetRange(tr, 100, 100) }, "+2"},
		{"range grows and shrinks", func(l *Index, me, you Node, tr Trigger, tick func()) {
			l.SetRange(tr, 100, 100)
			tick()
			l.SetRange(tr, 50, 100)
			tick()
			l.SetRange(tr, 50, 99)
		}, "+2 -2"},
		{"same range again", func(l *Index, me, you Node, tr Trigger, tick func()) {
			l.Move(you, 1, 1)
			tick()
			l.SetRange(tr, 10, 12)
		}, "+2"},
		{"inserted inside", func(l *Index, me, you Node, tr Trigger, tick func()) { l.Insert(3, 1, 1) }, "+3"},
		{"removed before its enter was delivered", func(l *Index, me, you Node, tr Trigger, tick func()) { l.Remove(l.Insert(3, 1, 1)) }, ""},
		{"removed outside", func(l *Index, me, you Node, tr Trigger, tick func()) { l.Remove(you) }, ""},
		{"owner removed", func(l *Index, me, you Node, tr Trigger, tick func()) { l.Move(you, 1, 1); l.Remove(me) }, ""},
		{"trigger removed", func(l *Index, me, you Node, tr Trigger, tick func()) { l.Move(you, 1, 1); l.RemoveTrigger(tr) }, ""},
		{"moves away and is removed", func(l *Index, me, you Node, tr Trigger, tick func()) {
			l.Move(you, 1, 1)
			tick()
			l.Move(you, 50, 1)
			l.Remove(you)
		}, "+2 -2"},
		{"two triggers of equal ranges", func(l *Index, me, you Node, tr Trigger, tick func()) {
			l.AddTrigger(me, 10, 12)
			l.Move(you, 10, 10)
			tick()
			l.Move(me, -3, 0)
		}, "+2 +2 -2 -2"},
		{"a trigger of no size", func(l *Index, me, you Node, tr Trigger, tick func()) {
			l.RemoveTrigger(tr)
			l.AddTrigger(me, 0, 0)
			l.Move(you, 0, 0)
			tick()
			l.Move(me, 0, 1)
		}, "+2 -2"},
		{"leaves before enters, by key", func(l *Index, me, you Node, tr Trigger, tick func()) {
			for key := uint64(9); key > 2; key-- {
				l.Insert(key, float32(key%2)*100, 0)
			}
			tick()
			l.Move(me, 100, 0)
		}, "+4 +6 +8 -4 -6 -8 +2 +3 +5 +7 +9"},
		{"by the owner's key, then by the trigger", func(l *Index, me, you Node, tr Trigger, tick func()) {
			l.AddTrigger(l.Insert(0, 200, 0), 9, 9)
			l.AddTrigger(me, 5, 5)
			l.Insert(8, 200, 1)
			l.Insert(7, 0, 1)
			l.Insert(6, 0, 9)
		}, "+8 +6 +7 +7"},
		{"slot of a removed node used again", func(l *Index, me, you Node, tr Trigger, tick func()) {
			l.Move(you, 1, 1)
			tick()
			l.Remove(you)
			tick()
			l.Insert(4, 1, 1)
		}, "+2 -2 +4"},
		{"something big", func(l *Index, me, you Node, tr Trigger, tick func()) {
			tower := l.InsertBig(3, 60, 60, 50)
			tick()
			l.Move(me, -2, -2)
			tick()
			l.Move(me, -2.1, -2)
			tick()
			l.Move(tower, 0, 0)
			tick()
			l.Remove(tower)
		}, "+3 -3 +3 -3"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var l Index
			me, you := l.Insert(1, 0, 0), l.Insert(2, 100, 0)
			tr := l.AddTrigger(me, 10, 12)
			var got []string
			tick := func() { got = append(got, strings.Fields(drained(&l))...) }
			tick()
			c.do(&l, me, you, tr, tick)
			tick()
			if got := strings.Join(got, " "); got != c.want {
				t.Errorf("events %q, want %q", got, c.want)
			}
		})
	}
}

func TestRemovedAfterItWasTold(t *testing.T) {
	var l Index
	me := l.Insert(1, 0, 0)
	l.AddTrigger(me, 10, 10)
	you := l.Insert(2, 5, 5)
	if got := drained(&l); got != "+2" {
		t.Fatalf("events %q", got)
	}
	l.Move(you, 50, 5)
	if got := drained(&l); got != "-2" {
		t.Fatalf("events %q", got)
	}
	// The callback of an event removes it before its enter is delivered: what is delivered still
	// alternates.
	l.Move(you, 5, 5)
	l.Insert(1, 6, 6)
	l.Update(func(_ Trigger, n Node, key uint64, _ bool) {
		if key != 1 {
			t.Errorf("event of %d", key)
		}
		l.Remove(you)
	})
	if got := drained(&l); got != "" {
		t.Errorf("events %q, want none", got)
	}
}

func TestCallbackMayChangeTheIndex(t *testing.T) {
	var l Index
	me := l.Insert(1, 0, 0)
	tr := l.AddTrigger(me, 10, 10)
	first, second := l.Insert(2, 1, 0), l.Insert(3, 2, 0)
	var got []string
	l.Update(func(_ Trigger, n Node, key uint64, enter bool) {
		got = append(got, fmt.Sprint(key, enter))
		if n == first {
			l.Remove(second) // its enter waits in the queue
			l.Move(first, 50, 0)
			l.Insert(4, 3, 0)
		}
	})
	if want := []string{"2 true"}; !slices.Equal(got, want) {
		t.Errorf("first Update: %v, want %v", got, want)
	}
	if got := drained(&l); got != "-2 +4" {
		t.Errorf("second Update: %q", got)
	}
	l.Move(first, 0, 0)
	l.Update(func(at Trigger, _ Node, _ uint64, _ bool) {
		l.RemoveTrigger(at)
		l.Remove(me)
	})
	if l.HasTrigger(tr) || l.Has(me) {
		t.Error("the trigger outlived its removal in a callback")
	}
}

func TestDrainSurvivesAPanic(t *testing.T) {
	var l Index
	l.AddTrigger(l.Insert(1, 0, 0), 10, 10)
	l.Insert(2, 0, 0)
	l.Insert(3, 0, 0)
	if panics(func() { l.Update(func(Trigger, Node, uint64, bool) { panic("script") }) }) != "script" {
		t.Fatal("the panic did not pass through")
	}
	if got := drained(&l); got != "+3" {
		t.Errorf("after the panic: %q, want the event behind it", got)
	}
}

func TestQueries(t *testing.T) {
	var l Index
	for key, at := range [][2]float32{{0, 0}, {3, 4}, {5, 5}, {-5, 5}, {5.1, 0}} {
		l.Insert(uint64(key), at[0], at[1])
	}
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for _, c := range []struct {
		x, z, r float32
		square  []uint64
		circle  []uint64
	}{
		{0, 0, 5, []uint64{0, 1, 2, 3}, []uint64{0, 1}},
		{0, 0, 0, []uint64{0}, []uint64{0}},
		{0, 0, inf, []uint64{0, 1, 2, 3, 4}, []uint64{0, 1, 2, 3, 4}},
		{1000, 0, 5, nil, nil},
		{0, 0, -1, nil, nil},
		{0, 0, nan, nil, nil},
		{nan, 0, 5, nil, nil},
		{0, nan, inf, nil, nil},
	} {
		var square, circle []uint64
		for key := range l.InRange(c.x, c.z, c.r) {
			square = append(square, key)
		}
		for key := range l.InCircle(c.x, c.z, c.r) {
			circle = append(circle, key)
		}
		if !slices.Equal(square, c.square) || !slices.Equal(circle, c.circle) {
			t.Errorf("at %v,%v within %v: %v and %v, want %v and %v", c.x, c.z, c.r, square, circle, c.square, c.circle)
		}
	}
}

func TestQueryBodyMayChangeTheIndex(t *testing.T) {
	var l Index
	for key := range uint64(10) {
		l.Insert(key, 0, 0)
	}
	var got []uint64
	for key, n := range l.InRange(0, 0, 1) {
		got = append(got, key)
		for _, other := range l.InCircle(0, 0, 1) { // queries nest
			if l.Key(other) == key+1 {
				l.Remove(other)
				break
			}
		}
		l.Remove(n)
	}
	if want := []uint64{0, 2, 4, 6, 8}; !slices.Equal(got, want) || l.Len() != 0 {
		t.Errorf("yielded %v, %d left; want %v, none left", got, l.Len(), want)
	}
}

func TestMisuse(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(-1))
	var l Index
	n := l.Insert(1, 0, 0)
	tr := l.AddTrigger(n, 1, 2)
	gone := l.Insert(2, 0, 0)
	goneTrigger := l.AddTrigger(gone, 1, 1)
	l.Remove(gone)
	l.AddTrigger(l.Insert(3, 0, 0), 1, 1) // uses their slots
	for _, c := range []struct {
		name string
		do   func()
	}{
		{"insert NaN", func() { l.Insert(9, nan, 0) }},
		{"insert Inf", func() { l.Insert(9, 0, inf) }},
		{"move to NaN", func() { l.Move(n, 0, nan) }},
		{"move to Inf", func() { l.Move(n, inf, 0) }},
		{"move no node", func() { l.Move(0, 0, 0) }},
		{"move a dead node", func() { l.Move(gone, 0, 0) }},
		{"remove twice", func() { l.Remove(gone) }},
		{"key of a node never given", func() { l.Key(77) }},
		{"trigger on a dead node", func() { l.AddTrigger(gone, 1, 1) }},
		{"negative range", func() { l.AddTrigger(n, -1, 1) }},
		{"leave less than enter", func() { l.SetRange(tr, 2, 1) }},
		{"range NaN", func() { l.SetRange(tr, nan, nan) }},
		{"range infinite", func() { l.SetRange(tr, 1, -inf) }},
		{"dead trigger", func() { l.SetRange(goneTrigger, 1, 1) }},
		{"remove trigger twice", func() { l.RemoveTrigger(goneTrigger) }},
		{"inside a dead trigger", func() {
			for range l.Inside(goneTrigger) {
				continue
			}
		}},
		{"an appeal below 0", func() { l.InsertBig(9, 0, 0, -1) }},
		{"an infinite appeal", func() { l.InsertBig(9, 0, 0, -inf) }},
		{"update in update", func() { l.Update(func(Trigger, Node, uint64, bool) { l.Update(nil) }) }},
	} {
		if panics(c.do) == nil {
			t.Errorf("%s: no panic", c.name)
		}
	}
	if l.Len() != 2 || l.Has(gone) || l.HasTrigger(goneTrigger) || l.Has(0) || l.HasTrigger(0) {
		t.Error("misuse left its mark")
	}
}

// Distances far beyond what a float32 can tell apart must not make a trigger miss its own
// surroundings.
func TestExtremePositions(t *testing.T) {
	var l Index
	far := float32(math.MaxFloat32)
	me := l.Insert(1, far, -far)
	l.AddTrigger(me, far, far)
	you := l.Insert(2, -far, far)
	l.Move(you, far, -far)
	l.Move(me, -far, -far)
	l.Move(me, 0, 0)
	l.Remove(you)
	if got := drained(&l); got != "" {
		t.Errorf("events %q; 2 was removed before any was delivered", got)
	}
	l.Insert(3, far, -far)
	if got := drained(&l); got != "+3" {
		t.Errorf("events %q, want +3", got)
	}
}

func panics(f func()) (reason any) {
	defer func() { reason = recover() }()
	f()
	return nil
}
