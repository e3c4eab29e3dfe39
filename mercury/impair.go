package mercury

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"time"
)

const (
	// maxImpaired and maxImpairedBytes bound what is held back: a second of 8000 packets of 1400 bytes. More is dropped, as a router
	// drops it.
	maxImpaired      = 8192
	maxImpairedBytes = 16 << 20
	// maxSpareImpaired bounds the buffers kept for reuse.
	maxSpareImpaired = 256
	// maxImpairedDelay keeps sums of times from overflowing, and is longer than any peer waits.
	maxImpairedDelay = time.Minute
	// minHeldBack is how long a datagram may be held back for Reorder at least, where there is no delay to go by.
	minHeldBack = time.Millisecond
)

// Impairment is trouble for what an Endpoint sends, to see an app under it without another network: in a test, or in a running
// game with the developers at the table. The zero value is none. Switched on at both ends it works in both directions.
type Impairment struct {
	Loss      float64       // share that never leaves, 0 to 1
	Duplicate float64       // share that leaves twice, the second copy with a delay of its own
	Reorder   float64       // share that is held back by up to four times Delay+Jitter (at least 1 ms), so that later ones overtake it
	Delay     time.Duration // every datagram leaves this much later
	Jitter    time.Duration // and by chance up to this much more; it reorders too
}

// Validate reports all faults of i at once, each with its remedy.
func (i Impairment) Validate() error {
	var faults []error
	share := func(name string, v float64) {
		if !(v >= 0 && v <= 1) { // also for NaN
			faults = append(faults, fmt.Errorf("mercury: Impairment.%s is %v: take a share from 0 to 1", name, v))
		}
	}
	span := func(name string, d time.Duration) {
		if d < 0 || d > maxImpairedDelay {
			faults = append(faults, fmt.Errorf("mercury: Impairment.%s is %v: take 0 to %v", name, d, maxImpairedDelay))
		}
	}
	share("Loss", i.Loss)
	share("Duplicate", i.Duplicate)
	share("Reorder", i.Reorder)
	span("Delay", i.Delay)
	span("Jitter", i.Jitter)
	return errors.Join(faults...)
}

// impairedDatagram is a copy of one that waits for its time.
type impairedDatagram struct {
	at  time.Duration
	seq uint64 // breaks ties by the order of sending
	to  netip.AddrPort
	buf []byte
}

func (d *impairedDatagram) before(o *impairedDatagram) bool {
	return d.at < o.at || d.at == o.at && d.seq < o.seq
}

// impairer stands between an Endpoint and its emit: pass takes datagrams, due gives them out when their time has come.
//
// The same chance and the same calls give the same datagrams. Without Jitter and Reorder those to all places keep their order.
type impairer struct {
	Impairment            // may be changed at any time; what is held back keeps its time
	rng        *rand.Rand // the chance of everything here
	heap       []impairedDatagram
	seq        uint64
	bytes      int // of what is held back
	spare      [][]byte

	lost, doubled, dropped uint64 // by Loss, by Duplicate, above the limits
}

// pass takes a copy of a datagram, or loses it.
func (q *impairer) pass(now time.Duration, to netip.AddrPort, datagram []byte) {
	if q.chance(q.Loss) {
		q.lost++
		return
	}
	q.hold(now, to, datagram)
	if q.chance(q.Duplicate) {
		q.doubled++
		q.hold(now, to, datagram)
	}
}

// due gives out what is due at now, by time, then by the order of sending. datagram is emit's during the call.
func (q *impairer) due(now time.Duration, emit func(to netip.AddrPort, datagram []byte)) {
	for len(q.heap) > 0 && q.heap[0].at <= now {
		d := q.pop()
		q.bytes -= len(d.buf)
		emit(d.to, d.buf)
		if len(q.spare) < maxSpareImpaired {
			q.spare = append(q.spare, d.buf[:0])
		}
	}
}

// next is when due has something to give out; false when nothing is held back.
func (q *impairer) next() (time.Duration, bool) {
	if len(q.heap) == 0 {
		return 0, false
	}
	return q.heap[0].at, true
}

// chance is true in a share p of all cases. It draws nothing when the answer is plain.
func (q *impairer) chance(p float64) bool { return p > 0 && q.rng.Float64() < p }

// upTo draws a time from 0 to d.
func (q *impairer) upTo(d time.Duration) time.Duration {
	if d <= 0 {
		return 0
	}
	return time.Duration(q.rng.Int64N(int64(d) + 1))
}

func (q *impairer) hold(now time.Duration, to netip.AddrPort, datagram []byte) {
	at := now + q.Delay + q.upTo(q.Jitter)
	if q.chance(q.Reorder) {
		at += q.upTo(max(4*(q.Delay+q.Jitter), minHeldBack))
	}
	if len(q.heap) >= maxImpaired || q.bytes+len(datagram) > maxImpairedBytes {
		q.dropped++
		return
	}
	var buf []byte
	if last := len(q.spare) - 1; last >= 0 {
		buf, q.spare = q.spare[last], q.spare[:last]
	}
	q.seq++
	q.bytes += len(datagram)
	q.push(impairedDatagram{at: at, seq: q.seq, to: to, buf: append(buf[:0], datagram...)})
}

func (q *impairer) push(d impairedDatagram) {
	q.heap = append(q.heap, d)
	h := q.heap
	for i := len(h) - 1; i > 0; {
		parent := (i - 1) / 2
		if !h[i].before(&h[parent]) {
			return
		}
		h[i], h[parent] = h[parent], h[i]
		i = parent
	}
}

func (q *impairer) pop() impairedDatagram {
	h := q.heap
	top, last := h[0], len(h)-1
	h[0], h[last] = h[last], impairedDatagram{}
	h = h[:last]
	q.heap = h
	for i := 0; ; {
		child := 2*i + 1
		if child+1 < len(h) && h[child+1].before(&h[child]) {
			child++
		}
		if child >= len(h) || !h[child].before(&h[i]) {
			return top
		}
		h[i], h[child] = h[child], h[i]
		i = child
	}
}
