package aoi

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
)

// drained returns the events as words: "+2" says that 2 enters, "-2" that it leaves.
func drained(l *List) string {
	var words []string
	l.Drain(func(_ Trigger, _ Node, key uint64, enter bool) {
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
		do   func(l *List, me, you Node, tr Trigger) // me is 1 at 0,0 with a trigger of 10 and 12; you is 2 at 100,0
		want string
	}{
		{"nothing near", func(l *List, me, you Node, tr Trigger) {}, ""},
		{"the edge belongs to the square", func(l *List, me, you Node, tr Trigger) { l.Move(you, 10, -10) }, "+2"},
		{"one step outside the edge", func(l *List, me, you Node, tr Trigger) { l.Move(you, math.Nextafter32(10, 11), 0) }, ""},
		{"near on one axis alone", func(l *List, me, you Node, tr Trigger) { l.Move(you, 5, 50) }, ""},
		{"jump across", func(l *List, me, you Node, tr Trigger) { l.Move(you, -100, 0) }, ""},
		{"owner comes", func(l *List, me, you Node, tr Trigger) { l.Move(me, 95, 0) }, "+2"},
		{"owner passes", func(l *List, me, you Node, tr Trigger) { l.Move(me, 95, 0); l.Move(me, 200, 0) }, "+2 -2"},
		{"stays in the band", func(l *List, me, you Node, tr Trigger) { l.Move(you, 9, 0); l.Move(you, 12, 0) }, "+2"},
		{"band first, never in", func(l *List, me, you Node, tr Trigger) { l.Move(you, 11, 0); l.Move(you, 13, 0) }, ""},
		{"leaves", func(l *List, me, you Node, tr Trigger) { l.Move(you, 9, 0); l.Move(you, 12.5, 0) }, "+2 -2"},
		{"to and fro in the band", func(l *List, me, you Node, tr Trigger) {
			for range 5 {
				l.Move(you, 9, 0)
				l.Move(you, 11.5, 0)
			}
		}, "+2"},
		{"range grows", func(l *List, me, you Node, tr Trigger) { l.SetRange(tr, 100, 100) }, "+2"},
		{"range grows and shrinks", func(l *List, me, you Node, tr Trigger) {
			l.SetRange(tr, 100, 100)
			l.SetRange(tr, 50, 100)
			l.SetRange(tr, 50, 99)
		}, "+2 -2"},
		{"same range again", func(l *List, me, you Node, tr Trigger) { l.Move(you, 1, 1); l.SetRange(tr, 10, 12) }, "+2"},
		{"inserted inside", func(l *List, me, you Node, tr Trigger) { l.Insert(3, 1, 1) }, "+3"},
		{"removed before its enter was delivered", func(l *List, me, you Node, tr Trigger) { l.Remove(l.Insert(3, 1, 1)) }, ""},
		{"removed outside", func(l *List, me, you Node, tr Trigger) { l.Remove(you) }, ""},
		{"owner removed", func(l *List, me, you Node, tr Trigger) { l.Move(you, 1, 1); l.Remove(me) }, ""},
		{"trigger removed", func(l *List, me, you Node, tr Trigger) { l.Move(you, 1, 1); l.RemoveTrigger(tr) }, ""},
		{"in, out and removed", func(l *List, me, you Node, tr Trigger) {
			l.Move(you, 1, 1)
			l.Move(you, 50, 1)
			l.Move(you, 2, 1)
			l.Remove(you)
		}, ""},
		{"two triggers of equal ranges", func(l *List, me, you Node, tr Trigger) {
			l.AddTrigger(me, 10, 12)
			l.Move(you, 10, 10)
			l.Move(me, -3, 0)
		}, "+2 +2 -2 -2"},
		{"a trigger of no size", func(l *List, me, you Node, tr Trigger) {
			l.RemoveTrigger(tr)
			l.AddTrigger(me, 0, 0)
			l.Move(you, 0, 0)
			l.Move(me, 0, 1)
		}, "+2 -2"},
		{"leaves before enters, by key", func(l *List, me, you Node, tr Trigger) {
			for key := uint64(9); key > 2; key-- {
				l.Insert(key, float32(key%2)*100, 0)
			}
			drained(l)
			l.Move(me, 100, 0)
		}, "-4 -6 -8 +2 +3 +5 +7 +9"},
		{"slot of a removed node used again", func(l *List, me, you Node, tr Trigger) {
			l.Move(you, 1, 1)
			drained(l)
			l.Remove(you)
			l.Insert(4, 1, 1)
		}, "-2 +4"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var l List
			me, you := l.Insert(1, 0, 0), l.Insert(2, 100, 0)
			c.do(&l, me, you, l.AddTrigger(me, 10, 12))
			if got := drained(&l); got != c.want {
				t.Errorf("events %q, want %q", got, c.want)
			}
		})
	}
}

func TestRemovedAfterItWasTold(t *testing.T) {
	var l List
	me := l.Insert(1, 0, 0)
	l.AddTrigger(me, 10, 10)
	you := l.Insert(2, 5, 5)
	if got := drained(&l); got != "+2" {
		t.Fatalf("events %q", got)
	}
	// First a leave, then an enter that is never delivered, then the removal: what is delivered
	// still alternates.
	l.Move(you, 50, 5)
	l.Move(you, 5, 5)
	l.Remove(you)
	if got := drained(&l); got != "-2" {
		t.Errorf("events %q, want the leave alone", got)
	}
}

func TestCallbackMayChangeTheList(t *testing.T) {
	var l List
	me := l.Insert(1, 0, 0)
	tr := l.AddTrigger(me, 10, 10)
	first, second := l.Insert(2, 1, 0), l.Insert(3, 2, 0)
	var got []string
	l.Drain(func(_ Trigger, n Node, key uint64, enter bool) {
		got = append(got, fmt.Sprint(key, enter))
		if n == first {
			l.Remove(second) // its enter waits in the queue
			l.Move(first, 50, 0)
			l.Insert(4, 3, 0)
		}
	})
	if want := []string{"2 true"}; !slices.Equal(got, want) {
		t.Errorf("first Drain: %v, want %v", got, want)
	}
	if l.Pending() != 3 { // the leave of 3 is among them and will be passed over
		t.Errorf("Pending = %d", l.Pending())
	}
	if got := drained(&l); got != "-2 +4" {
		t.Errorf("second Drain: %q", got)
	}
	l.Move(first, 0, 0)
	l.Drain(func(at Trigger, _ Node, _ uint64, _ bool) {
		l.RemoveTrigger(at)
		l.Remove(me)
	})
	if l.HasTrigger(tr) || l.Has(me) || l.Pending() != 0 {
		t.Error("the trigger outlived its removal in a callback")
	}
}

func TestDrainSurvivesAPanic(t *testing.T) {
	var l List
	l.AddTrigger(l.Insert(1, 0, 0), 10, 10)
	l.Insert(2, 0, 0)
	l.Insert(3, 0, 0)
	if panics(func() { l.Drain(func(Trigger, Node, uint64, bool) { panic("script") }) }) != "script" {
		t.Fatal("the panic did not pass through")
	}
	if got := drained(&l); got != "+3" {
		t.Errorf("after the panic: %q, want the event behind it", got)
	}
}

func TestQueries(t *testing.T) {
	var l List
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

func TestQueryBodyMayChangeTheList(t *testing.T) {
	var l List
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
	var l List
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
		{"drain in drain", func() { l.Drain(func(Trigger, Node, uint64, bool) { l.Drain(nil) }) }},
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
	var l List
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
