package aoi

import (
	"cmp"
	"math"
	"slices"
)

// trigger is a slot for a range trigger.
type trigger struct {
	owner        uint32 // slot of the node that it rides on
	next         uint32 // handle slot of the next trigger on the same node; 0 is none
	generation   uint32
	enter, leave float32
	live         bool
	plain        bool // an appeal counts for nothing
	fresh        bool // it is new, or its range is

	// As the last Update left it. A new trigger's core holds nothing.
	wasEnter float32
	core     box
	stale    bool // core is to be made anew, as the owner has walked

	calm float64 // how far it and others may walk until it has to look again
	thin bool    // it met few nodes when it looked

	// lingering holds the slots of the nodes in the band that are inside. Nodes in the
	// core are inside anyway and are not listed.
	lingering []uint32
}

// rank is a trigger's place in the order of events.
type rank struct {
	owner   uint64 // key
	trigger uint32 // slot
}

func compareRanks(a, b rank) int {
	if a.owner != b.owner {
		return cmp.Compare(a.owner, b.owner)
	}
	return cmp.Compare(a.trigger, b.trigger)
}

// ranges is what the triggers' ranges have in common, so that a node finds the triggers that it
// concerns.
type ranges struct {
	changed                 bool
	shortest, longest, mean float64 // shortest and mean of enter, longest of leave
}

func (ix *Index) measureRanges() {
	if !ix.ranges.changed {
		return
	}
	r := ranges{shortest: math.Inf(1)}
	for _, k := range ix.order {
		t := &ix.triggers[k.trigger]
		r.shortest = min(r.shortest, float64(t.enter))
		r.longest = max(r.longest, float64(t.leave))
		r.mean += float64(t.enter)
	}
	r.mean /= float64(max(len(ix.order), 1))
	ix.ranges = r
}

// HasTrigger reports whether t is a trigger of the Index that has not been removed.
func (ix *Index) HasTrigger(t Trigger) bool {
	slot := uint64(uint32(t))
	if slot == 0 || slot > uint64(len(ix.triggers)) {
		return false
	}
	tr := &ix.triggers[slot-1]
	return tr.live && tr.generation == uint32(t>>32)
}

func (ix *Index) triggerSlot(t Trigger) uint32 {
	if !ix.HasTrigger(t) {
		panic("aoi: no such trigger")
	}
	return uint32(t) - 1
}

func (ix *Index) triggerHandle(slot uint32) Trigger {
	return Trigger(handle(slot, ix.triggers[slot].generation))
}

func (ix *Index) rankOf(slot uint32) (rank, int, bool) {
	r := rank{ix.nodes[ix.triggers[slot].owner].key, slot}
	i, found := slices.BinarySearchFunc(ix.order, r, compareRanks)
	return r, i, found
}

// AddTrigger puts a trigger on a node. The nodes that are in its core at the next [Index.Update]
// enter then. A node enters when it is within enter metres on both axes, and leaves when it is
// farther than leave metres on either axis. A node may carry any number of triggers. AddTrigger
// panics if at is not in the Index or the ranges are not valid ([ValidRange]).
func (ix *Index) AddTrigger(at Node, enter, leave float32) Trigger {
	return ix.addTrigger(at, enter, leave, false)
}

// AddProximity is AddTrigger for what is near, and not for what can be seen: a point with an appeal
// enters and leaves where others do.
func (ix *Index) AddProximity(at Node, enter, leave float32) Trigger {
	return ix.addTrigger(at, enter, leave, true)
}

func (ix *Index) addTrigger(at Node, enter, leave float32, plain bool) Trigger {
	owner := ix.nodeSlot(at)
	checkRange(enter, leave)
	var slot uint32
	if k := len(ix.freeTrigs); k > 0 {
		slot, ix.freeTrigs = ix.freeTrigs[k-1], ix.freeTrigs[:k-1]
	} else {
		slot = uint32(len(ix.triggers))
		ix.triggers = append(ix.triggers, trigger{})
	}
	nd, t := &ix.nodes[owner], &ix.triggers[slot]
	*t = trigger{
		owner: owner, next: nd.triggers, generation: t.generation, enter: enter, leave: leave,
		live: true, plain: plain, fresh: true, core: nothing(), lingering: t.lingering[:0],
	}
	nd.triggers = slot + 1
	r, i, _ := ix.rankOf(slot)
	ix.order = slices.Insert(ix.order, i, r)
	ix.ranges.changed = true
	return ix.triggerHandle(slot)
}

// SetRange changes the ranges of t. What enters or leaves as a result does so in the next
// [Index.Update]; what stays is not reported again. SetRange panics if t is not in the Index or the
// ranges are not valid ([ValidRange]).
func (ix *Index) SetRange(t Trigger, enter, leave float32) {
	tr := &ix.triggers[ix.triggerSlot(t)]
	checkRange(enter, leave)
	if tr.enter == enter && tr.leave == leave {
		return
	}
	tr.enter, tr.leave, tr.fresh = enter, leave, true
	ix.ranges.changed = true
}

// RemoveTrigger takes t away. From then on it reports nothing, not even what the Update in progress
// has found. It panics if t is not in the Index.
func (ix *Index) RemoveTrigger(t Trigger) { ix.dropTrigger(ix.triggerSlot(t)) }

func (ix *Index) dropTrigger(slot uint32) {
	_, i, _ := ix.rankOf(slot)
	ix.order = slices.Delete(ix.order, i, i+1)
	t := &ix.triggers[slot]
	link := &ix.nodes[t.owner].triggers
	for *link != slot+1 {
		link = &ix.triggers[*link-1].next
	}
	*link = t.next
	t.live = false
	ix.queue.doubtful = true
	t.generation++
	ix.freeTrigs = append(ix.freeTrigs, slot)
	ix.ranges.changed = true
}

// Owner returns the node that t rides on. It panics if t is not in the Index.
func (ix *Index) Owner(t Trigger) Node {
	return ix.nodeHandle(ix.triggers[ix.triggerSlot(t)].owner)
}

// Range returns the ranges of t, in metres. It panics if t is not in the Index.
func (ix *Index) Range(t Trigger) (enter, leave float32) {
	tr := &ix.triggers[ix.triggerSlot(t)]
	return tr.enter, tr.leave
}

// Contains reports whether n was inside t at the last [Index.Update], wherever it has gone since. It
// panics if either is not in the Index.
func (ix *Index) Contains(t Trigger, n Node) bool {
	return ix.member(&ix.triggers[ix.triggerSlot(t)], ix.nodeSlot(n))
}

func (ix *Index) member(t *trigger, slot uint32) bool {
	nd := &ix.nodes[slot]
	return t.owner != slot && nd.known && (ix.before(t, nd) || t.lingers(slot))
}

func (t *trigger) lingers(slot uint32) bool { return slices.Contains(t.lingering, slot) }

// coreOf returns the core as the last Update left it.
func (ix *Index) coreOf(t *trigger) *box {
	if t.stale {
		t.core, t.stale = newBox(ix.nodes[t.owner].was, float64(t.wasEnter)), false
	}
	return &t.core
}

// before reports whether a node was in the core at the last Update.
func (ix *Index) before(t *trigger, nd *node) bool {
	b := ix.coreOf(t)
	switch {
	case !nd.known || *b == nothing():
		return false
	case nd.appeal > 0:
		return inSquare(nd.was, ix.nodes[t.owner].was, float64(t.wasEnter)+t.heed(nd))
	}
	return b.holds(placeOf(nd.was))
}

// heed is by how much a node's appeal lengthens the ranges.
func (t *trigger) heed(nd *node) float64 {
	if t.plain {
		return 0
	}
	return float64(nd.appeal)
}

// zoneOf is where a node lies now, as a trigger sees it whose owner is at centre.
func (t *trigger) zoneOf(centre spot, nd *node) zone {
	appeal := t.heed(nd)
	switch {
	case !nd.live || !inSquare(nd.at, centre, float64(t.leave)+appeal):
		return out
	case inSquare(nd.at, centre, float64(t.enter)+appeal):
		return core
	}
	return band
}
