// Package wheel is a queue of many timers of which most are moved before they fire: a channel sets
// its own with each packet. It reads no clock.
package wheel

import (
	"math"
	"math/bits"
	"time"
)

const (
	// tickShift makes a slot of the lowest level 2^18 ns, about 0.26 ms: below what a socket loop
	// can keep to, so that deadlines that fall together cost one wake.
	tickShift = 18
	// slotBits makes 64 slots a level, whose occupancy is one machine word.
	slotBits      = 6
	slotsPerLevel = 1 << slotBits
	// levels covers every time.Duration: 18 + 8·6 bits. So there is no list of what is too far
	// away.
	levels = 8
	// duePlace is the place of a node that the Advance under way is about to fire.
	duePlace = levels*slotsPerLevel + 1
)

// Node is the place of one T in a wheel, embedded in it. Of is set once, before the first use; the
// rest is the wheel's.
type Node[T any] struct {
	Of         *T            // the owner, which Advance fires
	prev, next *Node[T]      // circular; nil when in no list
	At         time.Duration // set by Set; for the owner to read
	place      uint16        // 0 in no list, 1 + level·64 + slot in the wheel, duePlace when about to be fired
}

// Linked reports whether n waits in the wheel.
func (n *Node[T]) Linked() bool { return n.place != 0 }

// level is one ring of slots.
type level[T any] struct {
	occupied uint64 // bit s: slot s holds nodes
	stale    uint64 // bit s: least[s] may be less than the earliest node of slot s
	first    [slotsPerLevel]*Node[T]
	least    [slotsPerLevel]time.Duration // of the nodes in an occupied slot, the earliest
}

// Wheel is a queue of many things by the time at which each wants to be looked at: a hierarchical
// timing wheel (Varghese and Lauck 1987). Setting, moving and removing cost the same for one and
// for a hundred thousand, where a heap pays the logarithm in cache misses.
//
// Time is cut in ticks of 2^18 ns; tick t holds the times in (t-1, t]·2^18 ns. A node lies at the
// level of the highest group of six bits in which its tick differs from the wheel's, in the slot
// which that group names:
//
//	level 2  │ 1.07 s a slot │ . . . x . . .      cascades into level 1 when time enters the slot
//	level 1  │ 16.8 ms       │ . . x . . x .      cascades into level 0
//	level 0  │ 0.26 ms       │ . x . x x . .      fires
//
// Invariants:
//   - All nodes of a tick are in one slot, in the order in which they were set: cascading keeps
//     that order, since the slots that it fills were empty.
//   - Every occupied slot lies at or after the wheel's tick, and any slot of a lower level before
//     any of a higher one. So the first bit of the lowest occupied level is the earliest slot, and
//     a jump costs the slots that are occupied, not the ticks passed over.
//   - A node whose time has passed when it is set lies in the wheel's own tick.
//
// The zero wheel stands at time 0. It allocates nothing.
type Wheel[T any] struct {
	now    time.Duration // of the last Advance
	tick   uint64        // of now
	count  int           // of nodes that are linked
	due    *Node[T]      // what the Advance under way has not yet fired, circular
	levels [levels]level[T]
}

// tickOf is the tick that at falls in. Times before the start count as the start.
func tickOf(at time.Duration) uint64 {
	return (uint64(max(0, at)) + (1<<tickShift - 1)) >> tickShift
}

// len is the number of nodes that wait.
func (w *Wheel[T]) len() int { return w.count }

// Set has n fire at at, or as soon as Advance is called after that. It replaces what was set
// before, and puts n behind the others of its tick. What is set while Advance fires waits for the
// next one, even when it is due: so a node that sets itself again cannot keep Advance for ever.
func (w *Wheel[T]) Set(n *Node[T], at time.Duration) {
	if n.place != 0 {
		w.unlink(n)
	} else {
		w.count++
	}
	n.At = at
	w.link(n)
}

// Remove takes n out; it may be called for one that is not in.
func (w *Wheel[T]) Remove(n *Node[T]) {
	if n.place != 0 {
		w.unlink(n)
		n.place = 0
		w.count--
	}
}

// Next is when Advance has something to fire: never before the earliest node, and at most one tick
// after it, at the end of its tick. When a node is due already it is a time that has passed. False
// when the wheel is empty.
func (w *Wheel[T]) Next() (time.Duration, bool) {
	level, slot, ok := w.earliest()
	if !ok {
		return 0, false
	}
	l := &w.levels[level]
	if l.stale>>slot&1 != 0 {
		l.renew(slot)
	}
	least := l.least[slot]
	if least <= w.now {
		return least, true
	}
	// In uint64, since the end of the last tick is one more than the last Duration.
	return time.Duration(min(tickOf(least)<<tickShift, math.MaxInt64)), true
}

// Advance moves time to now and fires every node whose time has come, by tick, then in the order in
// which they were set. Each is out of the wheel when fire is called, which may set and remove it
// and any others, but must not call Advance. An earlier now than the last counts as the last.
func (w *Wheel[T]) Advance(now time.Duration, fire func(*T)) {
	w.now = max(w.now, now)
	w.collect()
	for w.due != nil {
		n := w.due
		w.Remove(n)
		fire(n.Of)
	}
}

// collect moves what is due from the slots to w.due, and w.tick to w.now.
func (w *Wheel[T]) collect() {
	target := tickOf(w.now)
	for {
		level, slot, ok := w.earliest()
		if !ok {
			break
		}
		shift := level * slotBits
		start := w.tick>>shift&^(slotsPerLevel-1)<<shift | uint64(slot)<<shift
		if start > target {
			break
		}
		w.tick = max(w.tick, start)
		if level > 0 {
			w.cascade(level, slot)
			continue
		}
		if start == target {
			w.takeDue(slot)
			break
		}
		w.takeAll(slot)
	}
	w.tick = target
}

// earliest finds the slot that comes first.
func (w *Wheel[T]) earliest() (level, slot int, ok bool) {
	for level := range w.levels {
		if occupied := w.levels[level].occupied; occupied != 0 {
			return level, bits.TrailingZeros64(occupied), true
		}
	}
	return 0, 0, false
}

// cascade deals the nodes of a slot that time has entered to the levels below.
func (w *Wheel[T]) cascade(level, slot int) {
	for n := w.levels[level].empty(slot); n != nil; {
		n = w.takeFirst(n)
	}
}

// takeFirst links the first node of a detached list anew and returns the rest of the list.
func (w *Wheel[T]) takeFirst(n *Node[T]) (rest *Node[T]) {
	rest = detach(n, n)
	w.link(n)
	return rest
}

// takeAll moves a whole slot of the lowest level to w.due.
func (w *Wheel[T]) takeAll(slot int) {
	for n := w.levels[0].empty(slot); n != nil; {
		rest := detach(n, n)
		n.place = duePlace
		w.due = attach(w.due, n)
		n = rest
	}
}

// takeDue moves those nodes of the tick that is passing to w.due whose time has come.
func (w *Wheel[T]) takeDue(slot int) {
	if w.levels[0].least[slot] > w.now {
		return // it is not more than the earliest, even when stale
	}
	for n := w.levels[0].empty(slot); n != nil; {
		rest := detach(n, n)
		if n.At <= w.now {
			n.place = duePlace
			w.due = attach(w.due, n)
		} else {
			w.link(n)
		}
		n = rest
	}
}

// link puts n, which is in no list, into its slot.
func (w *Wheel[T]) link(n *Node[T]) {
	tick := max(tickOf(n.At), w.tick)
	level := max(0, bits.Len64(tick^w.tick)-1) / slotBits
	slot := int(tick >> (level * slotBits) & (slotsPerLevel - 1))
	l := &w.levels[level]
	if l.first[slot] == nil {
		l.occupied |= 1 << slot
		l.least[slot] = n.At
	} else if n.At <= l.least[slot] {
		l.least[slot] = n.At
		l.stale &^= 1 << slot
	}
	l.first[slot] = attach(l.first[slot], n)
	n.place = uint16(1 + level*slotsPerLevel + slot)
}

// unlink takes n out of its list. Its place is for the caller to set.
func (w *Wheel[T]) unlink(n *Node[T]) {
	if n.place == duePlace {
		w.due = detach(w.due, n)
		return
	}
	level, slot := int(n.place-1)/slotsPerLevel, int(n.place-1)%slotsPerLevel
	l := &w.levels[level]
	l.first[slot] = detach(l.first[slot], n)
	switch {
	case l.first[slot] == nil:
		l.occupied &^= 1 << slot
		l.stale &^= 1 << slot
	case n.At == l.least[slot]:
		l.stale |= 1 << slot
	}
}

// empty takes the list out of a slot.
func (l *level[T]) empty(slot int) *Node[T] {
	first := l.first[slot]
	l.first[slot] = nil
	l.occupied &^= 1 << slot
	l.stale &^= 1 << slot
	return first
}

// renew finds the earliest node of a slot again, after the one that was it has left.
func (l *level[T]) renew(slot int) {
	first := l.first[slot]
	least := first.At
	for n := first.next; n != first; n = n.next {
		least = min(least, n.At)
	}
	l.least[slot] = least
	l.stale &^= 1 << slot
}

// attach puts n at the end of a circular list and returns the list's first.
func attach[T any](first, n *Node[T]) *Node[T] {
	if first == nil {
		n.prev, n.next = n, n
		return n
	}
	n.prev, n.next = first.prev, first
	n.prev.next, first.prev = n, n
	return first
}

// detach takes n out of a circular list and returns the list's first, nil when it was the last.
func detach[T any](first, n *Node[T]) *Node[T] {
	if n.next == n {
		first = nil
	} else {
		n.prev.next, n.next.prev = n.next, n.prev
		if first == n {
			first = n.next
		}
	}
	n.prev, n.next = nil, nil
	return first
}
