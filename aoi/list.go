package aoi

import "math"

// Node is a handle of one point of a [List]. It is checked on use: after [List.Remove] it is dead,
// even when another point uses its slot. The zero Node stands for none.
type Node uint64

// Trigger is a handle of one range trigger of a [List], checked on use as a [Node] is. The zero
// Trigger stands for none.
type Trigger uint64

// A handle holds a slot, counted from one, in its low half, and in its high half the number of
// times that slot was given up before.
func handle(slot int, generation uint32) uint64 { return uint64(generation)<<32 | uint64(slot+1) }

// spot is a position: X, then Z.
type spot [2]float32

// node is a slot for a point.
type node struct {
	key        uint64
	at         spot
	generation uint32
	triggers   uint32 // handle slot of the first trigger that rides on it; 0 is none
	live       bool
}

// axis is what a List keeps for X and for Z.
type axis struct {
	points line // ref: slot of the node
	edges  line // ref: slot of the trigger and which of its edges
}

// List holds the points of one space and the triggers that ride on them. The zero List is empty and
// ready for use. It must not be copied after first use and is not safe for concurrent use.
type List struct {
	nodes     []node
	freeNodes []uint32
	triggers  []trigger
	freeTrigs []uint32
	axes      [2]axis

	// reach is the longest leave range since there was last no trigger: the edge of a trigger that
	// contains a point lies within twice that distance of the point.
	reach float64

	pairs   []pair // changed by the call in progress; empty between calls
	queue   queue
	buffers [][]found // from queries that have ended
}

// Finite reports whether (x, z) may be a position in a List: neither is NaN or infinite.
func Finite(x, z float32) bool {
	return finite(x) && finite(z)
}

func finite(v float32) bool { return math.Abs(float64(v)) <= math.MaxFloat32 }

func newSpot(x, z float32) spot {
	if !Finite(x, z) {
		panic("aoi: position is not finite")
	}
	return spot{x, z}
}

// Len returns how many nodes the List holds.
func (l *List) Len() int { return len(l.nodes) - len(l.freeNodes) }

// Has reports whether n is a node of the List that has not been removed.
func (l *List) Has(n Node) bool {
	slot := uint64(uint32(n))
	return slot != 0 && slot <= uint64(len(l.nodes)) && l.nodes[slot-1].live && l.nodes[slot-1].generation == uint32(n>>32)
}

func (l *List) nodeSlot(n Node) int {
	if !l.Has(n) {
		panic("aoi: no such node")
	}
	return int(uint32(n)) - 1
}

func (l *List) nodeHandle(slot int) Node { return Node(handle(slot, l.nodes[slot].generation)) }

// Insert adds a point at (x, z) metres and reports it to every trigger in whose core it lies.
// Events and queries call it by its key; keys order them and need not be unique. Insert panics if
// the position is not [Finite].
func (l *List) Insert(key uint64, x, z float32) Node {
	at := newSpot(x, z)
	var slot int
	if k := len(l.freeNodes); k > 0 {
		slot, l.freeNodes = int(l.freeNodes[k-1]), l.freeNodes[:k-1]
	} else {
		slot = len(l.nodes)
		l.nodes = append(l.nodes, node{})
	}
	nd := &l.nodes[slot]
	nd.key, nd.at, nd.live = key, at, true
	for a := range l.axes {
		l.axes[a].points.insert(mark{float64(at[a]), uint32(slot)})
	}
	l.stab(slot, at, func(t *trigger) (was, is zone) { return out, t.zoneOf(at) })
	l.settle()
	return l.nodeHandle(slot)
}

// Move puts n at (x, z) metres, along with the triggers that ride on it. The cost is what lies
// between the old and the new place along either axis or, for a jump longer than the triggers are
// wide, two queries. A move to the same place costs nothing. Move panics if n is not in the List or
// the position is not [Finite].
func (l *List) Move(n Node, x, z float32) {
	slot, to := l.nodeSlot(n), newSpot(x, z)
	from := l.nodes[slot].at
	if from == to {
		return
	}
	l.pass(slot, from, to)
	for t := l.nodes[slot].triggers; t != 0; t = l.triggers[t-1].next {
		l.sweep(int(t-1), from, to)
	}
	l.place(slot, from, to)
	l.settle()
}

// place writes the new position down, once everything that depends on the old one has been found.
func (l *List) place(slot int, from, to spot) {
	nd := &l.nodes[slot]
	nd.at = to
	for a := range l.axes {
		if from[a] != to[a] {
			l.axes[a].points.move(mark{float64(from[a]), uint32(slot)}, mark{float64(to[a]), uint32(slot)})
		}
	}
	for t := nd.triggers; t != 0; t = l.triggers[t-1].next {
		tr := &l.triggers[t-1]
		tr.at = to
		for a := range l.axes {
			if from[a] == to[a] {
				continue
			}
			for e := range edgesPerAxis {
				l.axes[a].edges.move(tr.edge(int(t-1), e, from[a]), tr.edge(int(t-1), e, to[a]))
			}
		}
	}
}

// Remove takes n out of the List, along with the triggers that ride on it, which report nothing
// from then on. Every trigger that n was inside reports it as leaving, unless its enter has not
// been delivered yet; then neither event is delivered. Remove panics if n is not in the List.
func (l *List) Remove(n Node) {
	slot := l.nodeSlot(n)
	for l.nodes[slot].triggers != 0 {
		l.dropTrigger(int(l.nodes[slot].triggers - 1))
	}
	at := l.nodes[slot].at
	l.stab(slot, at, func(t *trigger) (was, is zone) { return t.zoneOf(at), out })
	l.settle()
	for a := range l.axes {
		l.axes[a].points.remove(mark{float64(at[a]), uint32(slot)})
	}
	nd := &l.nodes[slot]
	nd.live = false
	nd.generation++
	l.freeNodes = append(l.freeNodes, uint32(slot))
}

// Position returns where n is, in metres. It panics if n is not in the List.
func (l *List) Position(n Node) (x, z float32) {
	at := l.nodes[l.nodeSlot(n)].at
	return at[0], at[1]
}

// Key returns the key that n was inserted with. It panics if n is not in the List.
func (l *List) Key(n Node) uint64 { return l.nodes[l.nodeSlot(n)].key }
