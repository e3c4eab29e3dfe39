package aoi

import "slices"

// zone is where a point lies as a trigger sees it.
type zone uint8

const (
	out zone = iota
	band
	core
)

// The edges of a trigger along one axis, in ascending order.
const (
	lowLeave = iota
	lowEnter
	highEnter
	highLeave
	edgesPerAxis
)

// trigger is a slot for a range trigger.
type trigger struct {
	owner        uint32 // slot of the node that it rides on
	next         uint32 // handle slot of the next trigger on the same node; 0 is none
	generation   uint32
	live         bool
	at           spot // of the owner; kept here because it is read for every edge that is passed
	enter, leave float32

	// lingering holds the slots of the nodes in the band that are inside, ascending. Nodes in the
	// core are inside anyway and are not listed.
	lingering []uint32
}

// ValidRange reports whether a trigger may have these ranges: 0 <= enter <= leave, both finite.
func ValidRange(enter, leave float32) bool {
	return enter >= 0 && enter <= leave && finite(leave)
}

func checkRange(enter, leave float32) {
	if !ValidRange(enter, leave) {
		panic("aoi: a range is not finite, is negative, or leave is less than enter")
	}
}

// within is the only definition of an edge; see the package comment.
func within(v, centre, r float32) bool {
	return float64(v) >= float64(centre)-float64(r) && float64(v) <= float64(centre)+float64(r)
}

func zoneAround(centre spot, enter, leave float32, p spot) zone {
	switch {
	case !within(p[0], centre[0], leave) || !within(p[1], centre[1], leave):
		return out
	case within(p[0], centre[0], enter) && within(p[1], centre[1], enter):
		return core
	}
	return band
}

func (t *trigger) zoneOf(p spot) zone { return zoneAround(t.at, t.enter, t.leave, p) }

// edge returns the mark of edge e of the trigger in slot, with its owner at v.
func (t *trigger) edge(slot, e int, v float32) mark {
	m := mark{at: float64(v), ref: uint32(slot)<<2 | uint32(e)}
	switch e {
	case lowLeave:
		m.at -= float64(t.leave)
	case lowEnter:
		m.at -= float64(t.enter)
	case highEnter:
		m.at += float64(t.enter)
	case highLeave:
		m.at += float64(t.leave)
	}
	return m
}

// HasTrigger reports whether t is a trigger of the List that has not been removed.
func (l *List) HasTrigger(t Trigger) bool {
	slot := uint64(uint32(t))
	return slot != 0 && slot <= uint64(len(l.triggers)) && l.triggers[slot-1].live && l.triggers[slot-1].generation == uint32(t>>32)
}

func (l *List) triggerSlot(t Trigger) int {
	if !l.HasTrigger(t) {
		panic("aoi: no such trigger")
	}
	return int(uint32(t)) - 1
}

func (l *List) triggerHandle(slot int) Trigger {
	return Trigger(handle(slot, l.triggers[slot].generation))
}

// AddTrigger puts a trigger on a node and reports the nodes that are already in its core. Others
// enter when they are within enter metres on both axes, and leave when they are farther than leave
// metres on either axis. A node may carry any number of triggers. AddTrigger panics if at is not in
// the List or the ranges are not valid ([ValidRange]).
func (l *List) AddTrigger(at Node, enter, leave float32) Trigger {
	owner := l.nodeSlot(at)
	checkRange(enter, leave)
	var slot int
	if k := len(l.freeTrigs); k > 0 {
		slot, l.freeTrigs = int(l.freeTrigs[k-1]), l.freeTrigs[:k-1]
	} else {
		slot = len(l.triggers)
		l.triggers = append(l.triggers, trigger{})
	}
	nd, t := &l.nodes[owner], &l.triggers[slot]
	t.owner, t.at, t.enter, t.leave, t.live = uint32(owner), nd.at, enter, leave, true
	t.next, nd.triggers = nd.triggers, uint32(slot+1)
	l.insertEdges(slot)
	l.around(t.at, t.leave, func(i int, p spot) { l.test(slot, i, out, t.zoneOf(p)) })
	l.settle()
	return l.triggerHandle(slot)
}

// SetRange changes the ranges of t and reports what enters or leaves as a result; what stays is not
// reported again. It panics if t is not in the List or the ranges are not valid ([ValidRange]).
func (l *List) SetRange(t Trigger, enter, leave float32) {
	slot := l.triggerSlot(t)
	checkRange(enter, leave)
	tr := &l.triggers[slot]
	if tr.enter == enter && tr.leave == leave {
		return
	}
	l.around(tr.at, max(tr.leave, leave), func(i int, p spot) {
		l.test(slot, i, tr.zoneOf(p), zoneAround(tr.at, enter, leave, p))
	})
	l.removeEdges(slot)
	tr.enter, tr.leave = enter, leave
	l.insertEdges(slot)
	l.settle()
}

// RemoveTrigger takes t away. From then on it reports nothing, not even what it has not delivered
// yet. It panics if t is not in the List.
func (l *List) RemoveTrigger(t Trigger) { l.dropTrigger(l.triggerSlot(t)) }

func (l *List) dropTrigger(slot int) {
	l.removeEdges(slot)
	t := &l.triggers[slot]
	link := &l.nodes[t.owner].triggers
	for *link != uint32(slot+1) {
		link = &l.triggers[*link-1].next
	}
	*link = t.next
	t.live = false
	t.generation++
	t.lingering = t.lingering[:0]
	l.freeTrigs = append(l.freeTrigs, uint32(slot))
	if len(l.freeTrigs) == len(l.triggers) {
		l.reach = 0
	}
}

func (l *List) insertEdges(slot int) {
	t := &l.triggers[slot]
	l.reach = max(l.reach, float64(t.leave))
	for a := range l.axes {
		for e := range edgesPerAxis {
			l.axes[a].edges.insert(t.edge(slot, e, t.at[a]))
		}
	}
}

func (l *List) removeEdges(slot int) {
	t := &l.triggers[slot]
	for a := range l.axes {
		for e := range edgesPerAxis {
			l.axes[a].edges.remove(t.edge(slot, e, t.at[a]))
		}
	}
}

// Owner returns the node that t rides on. It panics if t is not in the List.
func (l *List) Owner(t Trigger) Node {
	return l.nodeHandle(int(l.triggers[l.triggerSlot(t)].owner))
}

// Range returns the ranges of t, in metres. It panics if t is not in the List.
func (l *List) Range(t Trigger) (enter, leave float32) {
	tr := &l.triggers[l.triggerSlot(t)]
	return tr.enter, tr.leave
}

// Contains reports whether n is inside t as the List stands, whatever has been delivered so far. It
// panics if either is not in the List.
func (l *List) Contains(t Trigger, n Node) bool {
	return l.member(&l.triggers[l.triggerSlot(t)], l.nodeSlot(n))
}

func (l *List) member(t *trigger, slot int) bool {
	if t.owner == uint32(slot) {
		return false
	}
	return t.holds(uint32(slot), t.zoneOf(l.nodes[slot].at))
}

// holds reports whether the node in slot, which lies in z, is inside.
func (t *trigger) holds(slot uint32, z zone) bool {
	if z == band {
		_, lingers := slices.BinarySearch(t.lingering, slot)
		return lingers
	}
	return z == core
}
