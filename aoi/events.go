package aoi

import "slices"

// event is one enter or leave that waits for delivery.
type event struct {
	trigger Trigger
	node    Node
	key     uint64
	enter   bool
}

// before is the order of the events of one trigger: leaves first, then by the nodes' keys.
func (e *event) before(o *event) bool {
	if e.enter != o.enter {
		return o.enter
	}
	return e.key < o.key || e.key == o.key && uint32(e.node) < uint32(o.node)
}

// keptEvents is the longest queue whose memory is kept for the next Update. That is 2 MiB, which
// ten thousand walkers in a dense crowd cause in a few ticks. A crowd that appears at once causes
// millions, but only once.
const keptEvents = 1 << 16

// queue holds the events that have not been delivered yet, in their order.
type queue struct {
	events  []event
	head    int // index into events while delivering; those before it are done
	updates bool

	// doubtful says that something has been removed since the events were found, or that some
	// leaves may be withheld.
	doubtful bool

	// withheld holds the pairs whose enter was passed over because the node had been removed; the
	// leave that the removal causes in the next Update is then passed over as well. former is that
	// of the last Update. They are only looked up, never ranged over.
	withheld, former map[withheld]struct{}
}

type withheld struct {
	trigger Trigger
	node    Node
}

func (q *queue) begin() {
	if q.updates {
		panic("aoi: Update called by an event's callback")
	}
	q.updates = true
	q.withheld, q.former = q.former, q.withheld
	clear(q.withheld)
	q.doubtful = len(q.former)+len(q.events) > 0
}

// end drops what has been delivered and keeps what has not.
func (q *queue) end() {
	rest := q.events[q.head:]
	if cap(q.events) > keptEvents && len(rest) <= keptEvents/2 {
		q.events = append([]event(nil), rest...)
	} else {
		q.events = q.events[:copy(q.events, rest)]
	}
	q.head = 0
	q.updates = false
}

// sort puts the events of one trigger, which begin at from, in their order. A node that was found
// twice is told once. There are few at a time, but for a trigger that has just come.
func (q *queue) sort(from int) {
	events := q.events[from:]
	if len(events) < 2 {
		return
	}
	if len(events) > 24 {
		slices.SortFunc(events, func(a, b event) int {
			switch {
			case a.before(&b):
				return -1
			case b.before(&a):
				return 1
			}
			return 0
		})
	} else {
		for i := 1; i < len(events); i++ {
			e, j := events[i], i
			for ; j > 0 && e.before(&events[j-1]); j-- {
				events[j] = events[j-1]
			}
			events[j] = e
		}
	}
	kept := 1
	for i := 1; i < len(events); i++ {
		if events[i] != events[kept-1] {
			events[kept] = events[i]
			kept++
		}
	}
	q.events = q.events[:from+kept]
}

func (ix *Index) deliver(f func(t Trigger, n Node, key uint64, enter bool)) {
	for q := &ix.queue; q.head < len(q.events); {
		e := q.events[q.head]
		q.head++
		if !q.doubtful || ix.due(e) {
			f(e.trigger, e.node, e.key, e.enter)
		}
	}
}

// due reports whether an event is still to be delivered.
func (ix *Index) due(e event) bool {
	q := &ix.queue
	if !ix.HasTrigger(e.trigger) {
		return false
	}
	w := withheld{e.trigger, e.node}
	switch {
	case e.enter && !ix.Has(e.node):
		if q.withheld == nil {
			q.withheld = make(map[withheld]struct{})
		}
		q.withheld[w] = struct{}{}
		return false
	case !e.enter && len(q.withheld)+len(q.former) > 0:
		_, now := q.withheld[w]
		_, before := q.former[w]
		return !now && !before
	}
	return true
}
