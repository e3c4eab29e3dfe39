package witness

import "math/bits"

// wheel holds whose turn comes when, by alias: a list for each slot of virtual time, in which those
// who came first stand first, and each stands in one at most. It takes four bytes for each alias,
// and who takes another turn touches three of them. A heap of times took ten kilobytes in a crowd,
// which a witness had to fetch from far away in each tick.
//
//	           now
//	links  [ ... | s7 | s8 | ... | s6 | alias 0 | alias 1 | ... ]     s7 -> alias 3 -> alias 20 -> s7
//	filled [       1    0    ...   0 ]
type wheel struct {
	links  []link                      // of the slots, then of the aliases
	filled [slots / slotsInWord]uint64 // a bit for each slot in which somebody may stand
	n      int                         // how many stand in all
}

// link has the neighbours in a list that goes round through its slot. Whoever stands in none is its
// own neighbour.
type link struct{ next, prev uint16 }

const (
	// slotBits is how long a slot is: sixteen steps of an entity at 0 m. Those with shorter steps
	// are nearer than a seventeenth of MaxRadius, so that they stand in the circle as a rule; in
	// one slot they take turns.
	slotBits = 4 + step1Bits
	// slots reach over 8192 steps, more than that of who is MaxRadius away. Whose turn is later
	// stands in the last of them.
	slots       = 512
	slotsInWord = 64
	// lastQueued bounds the aliases that a wheel takes, so that they and the slots have numbers of
	// 16 bits. Above it are only those of a client that has not said what it has seen of fifty
	// thousand who went; they have turns as those without one.
	lastQueued = 1<<16 - 1 - slots
)

// slotsUntil is how many slots after that of now a time lies, as far as the wheel reaches.
func slotsUntil(at, now virtual) int {
	return min(max(int(int32(at&^(1<<slotBits-1)-now&^(1<<slotBits-1))>>slotBits), 0), slots-1)
}

func slotOf(at virtual) int { return int(at >> slotBits % slots) }

// reset empties the wheel.
func (l *wheel) reset() {
	for i := range l.links {
		l.links[i] = link{uint16(i), uint16(i)}
	}
	l.filled, l.n = [slots / slotsInWord]uint64{}, 0
	l.reach(0)
}

// reach makes room for an alias, and returns the number of its link.
func (l *wheel) reach(alias uint16) uint16 {
	node := slots + int(alias)
	for i := len(l.links); i <= node; i++ {
		l.links = append(l.links, link{uint16(i), uint16(i)})
	}
	return uint16(node)
}

// put has an alias stand in a slot alone, as the first or the last.
func (l *wheel) put(alias uint16, slot int, first bool) {
	l.drop(alias)
	node, before := l.reach(alias), uint16(slot)
	if !first {
		before = l.links[slot].prev
	}
	after := l.links[before].next
	l.links[node] = link{after, before}
	l.links[before].next, l.links[after].prev = node, node
	l.filled[slot/slotsInWord] |= 1 << (slot % slotsInWord)
	l.n++
}

// drop takes an alias out, if it stands anywhere.
func (l *wheel) drop(alias uint16) {
	node := slots + int(alias)
	if node >= len(l.links) || int(l.links[node].next) == node {
		return
	}
	was := l.links[node]
	l.links[was.prev].next, l.links[was.next].prev = was.next, was.prev
	l.links[node] = link{uint16(node), uint16(node)}
	l.n--
}

// from finds the first slot from one on, counted round, in which somebody stands.
func (l *wheel) from(slot int) (found int, ok bool) {
	for l.n > 0 {
		word := l.filled[slot/slotsInWord] >> (slot % slotsInWord)
		if word == 0 {
			slot = (slot/slotsInWord + 1) * slotsInWord % slots
			continue
		}
		slot += bits.TrailingZeros64(word)
		if int(l.links[slot].next) != slot {
			return slot, true
		}
		l.filled[slot/slotsInWord] &^= 1 << (slot % slotsInWord)
	}
	return 0, false
}

// first is who stands first in a slot in which somebody does.
func (l *wheel) first(slot int) (alias uint16) { return l.links[slot].next - slots }
