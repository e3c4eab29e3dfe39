package aoi

// event is one enter or leave that waits for delivery.
type event struct {
	trigger Trigger
	node    Node
	key     uint64
	enter   bool
}

// keptEvents is the longest queue, and the largest set of changes of one call, whose memory is kept
// for the next. That is 2 MiB of events, which ten thousand walkers in a dense crowd cause in a few
// ticks. A crowd that appears at once causes millions, but only once.
const keptEvents = 1 << 16

// queue holds the events that have not been delivered yet, oldest first.
type queue struct {
	events   []event
	head     int // index into events while draining; those before it are done
	draining bool

	// withheld holds the pairs whose enter was passed over because the node had been removed; the
	// leave that the removal queued is then passed over as well. It is only looked up, never ranged
	// over.
	withheld map[withheld]struct{}
}

type withheld struct {
	trigger Trigger
	node    Node
}

func (q *queue) push(e event) { q.events = append(q.events, e) }

// Pending returns how many events the next Drain will go through.
func (l *List) Pending() int { return len(l.queue.events) - l.queue.head }

// Drain calls f for every event that was waiting when Drain was called, oldest first, and forgets
// it. When f is called, t is always in the List. n is in the List when enter is true; a leave may
// be due to its removal, and then only key, which Insert was given, says who it was.
//
// f may change the List in any way, even remove t and n. Events of its own changes wait for the
// next Drain, so two triggers whose callbacks undo each other cannot hold up a tick; [List.Pending]
// says whether there are any. If f panics, its event counts as delivered. A Drain within a Drain
// panics.
func (l *List) Drain(f func(t Trigger, n Node, key uint64, enter bool)) {
	q := &l.queue
	if q.draining {
		panic("aoi: Drain called by an event's callback")
	}
	q.draining = true
	defer q.forget()
	for end := len(q.events); q.head < end; {
		e := q.events[q.head]
		q.head++
		if l.due(e) {
			f(e.trigger, e.node, e.key, e.enter)
		}
	}
}

// forget drops what has been delivered and keeps what has come in the meantime.
func (q *queue) forget() {
	rest := q.events[q.head:]
	if cap(q.events) > keptEvents && len(rest) <= keptEvents/2 {
		q.events = append([]event(nil), rest...)
	} else {
		q.events = q.events[:copy(q.events, rest)]
	}
	q.head = 0
	q.draining = false
}

// due reports whether an event is still to be delivered.
func (l *List) due(e event) bool {
	q := &l.queue
	if !e.enter && len(q.withheld) > 0 {
		w := withheld{e.trigger, e.node}
		if _, ok := q.withheld[w]; ok {
			delete(q.withheld, w)
			return false
		}
	}
	if !l.HasTrigger(e.trigger) {
		return false
	}
	if e.enter && !l.Has(e.node) {
		if q.withheld == nil {
			q.withheld = make(map[withheld]struct{})
		}
		q.withheld[withheld{e.trigger, e.node}] = struct{}{}
		return false
	}
	return true
}
