package udp

import "net/netip"

const (
	// maxQueued and maxQueuedBytes bound what is queued between two calls of Flush; what is above
	// is dropped. It is more than the windows of a few channels.
	maxQueued      = 65536
	maxQueuedBytes = 96 << 20
	// maxRun bounds the datagrams that go to the system as one: UDP_MAX_SEGMENTS of older Linux
	// kernels.
	maxRun = 64
	// maxRunBytes bounds their bytes, which together must fit in one IP packet.
	maxRunBytes = 65000
	// gsoPatience is how many runs are refused for no stated reason before the socket takes it that
	// its network device cannot cut them. A single one may have been too long for the device.
	gsoPatience = 4
	// spillBytes is how much is queued before some of it is written ahead of Flush: a few runs.
	spillBytes = 128 << 10
	// keepSlab is the capacity that is kept however seldom it is used; above it, a queue that used
	// less than a quarter of its memory in idleFlushes flushes in a row gives it back.
	keepSlab    = 64 << 10
	idleFlushes = 1024
)

// queue holds datagrams until they are flushed. Those to one peer that follow one another and that
// the system can take as one form a run: all of the same size but the last, which may be shorter.
//
//	queued    a1 a2 a3 b1 b2 a4        (b2 longer than b1)
//	runs      a1-a2-a3  b1  b2  a4
//
// An Endpoint gives all datagrams of a channel one after the other. To look for runs further back
// would be to search a table of all peers, which costs a server a cache miss for each of thousands
// of clients that are sent one datagram each.
type queue struct {
	slab  []byte
	items []item
	runs  []run
	done  int // runs that are dealt with
	gso   bool
	// refusals counts runs refused for no stated reason.
	refusals int
	// quiet counts flushes in a row that used little of the memory.
	quiet int
	// stuck is the size of slab when it could not be written ahead of Flush.
	stuck int
}

// item is a queued datagram: its place in the slab and the next of its run, or -1.
type item struct{ start, end, next int32 }

// run is datagrams that go to the system as one.
type run struct {
	to          netip.AddrPort
	first, last int32
	count       int32
	size        int32 // of the first
	bytes       int32 // of all
	closed      bool  // ends with a shorter one
}

// add puts a datagram down and reports whether it could.
func (q *queue) add(to netip.AddrPort, datagram []byte) bool {
	if len(datagram) == 0 || len(datagram) > MaxDatagram || len(q.items) >= maxQueued ||
		len(q.slab)+len(datagram) > maxQueuedBytes || !to.IsValid() {
		return false
	}
	i, start := int32(len(q.items)), int32(len(q.slab))
	q.slab = append(q.slab, datagram...)
	q.items = append(q.items, item{start: start, end: int32(len(q.slab)), next: -1})
	if n := len(q.runs); q.gso && n > 0 && q.runs[n-1].to == to && q.extend(&q.runs[n-1], i) {
		return true
	}
	size := int32(len(datagram))
	q.runs = append(q.runs, run{to: to, first: i, last: i, count: 1, size: size, bytes: size})
	return true
}

// extend appends item i to r if it can go with it.
func (q *queue) extend(r *run, i int32) bool {
	size := q.items[i].end - q.items[i].start
	if r.closed || size > r.size || r.count >= maxRun || r.bytes+size > maxRunBytes {
		return false
	}
	q.items[r.last].next = i
	r.last, r.count, r.bytes, r.closed = i, r.count+1, r.bytes+size, size < r.size
	return true
}

// gsoRefused takes the first run apart that is left. With sure it is the device that cannot take
// runs, and no more are made; with unclear it may be.
func (q *queue) gsoRefused(sure, unclear bool) {
	if unclear {
		q.refusals++
	}
	if sure || q.refusals >= gsoPatience {
		q.gso = false
	}
	var apart []run
	for i, r := range q.runs[q.done:] {
		if i > 0 && q.gso {
			apart = append(apart, r)
			continue
		}
		for at := r.first; at >= 0; at = q.items[at].next {
			size := q.items[at].end - q.items[at].start
			apart = append(apart, run{to: r.to, first: at, last: at, count: 1, size: size, bytes: size})
		}
	}
	for i := range apart {
		if apart[i].count == 1 {
			q.items[apart[i].first].next = -1
		}
	}
	q.runs, q.done = apart, 0
}

// left is the number of datagrams that are not dealt with.
func (q *queue) left() uint64 {
	n := uint64(0)
	for _, r := range q.runs[q.done:] {
		n += uint64(r.count)
	}
	return n
}

// reset empties the queue, and frees memory that it has not needed for long.
func (q *queue) reset() {
	if cap(q.slab) <= keepSlab || len(q.slab) > cap(q.slab)/4 {
		q.quiet = 0
	} else if q.quiet++; q.quiet >= idleFlushes {
		*q = queue{gso: q.gso, refusals: q.refusals}
	}
	q.slab, q.items, q.runs, q.done, q.stuck = q.slab[:0], q.items[:0], q.runs[:0], 0, 0
}
