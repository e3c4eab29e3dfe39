package main

import (
	"time"

	"github.com/cellscape/cellscape/mercury"
)

// bulk is one sender with more small messages than can be sent. Its latencies show the length of
// the backlog, nothing else.
func bulk() spec {
	return spec{
		Scenario: "bulk", Conns: 1, Warmup: time.Second, Duration: 5 * time.Second, Backlog: defaultBacklog, Slice: defaultSlice,
		Up: flow{Size: 100},
	}
}

// flood sends as fast as its messages arrive: what is on its way is bounded by the credit that the
// receiver gives back, on any transport and without a look into its queues.
type flood struct {
	transport mercury.Transport
	ch        mercury.ChannelID
	phases    phases
	room      int // bytes that may be sent
	message   []byte
	clock     func() time.Duration
	number    uint32
	figures
}

func (f *flood) tick(now time.Duration) time.Duration {
	f.fill(now)
	return never(now)
}

// fill sends what there is room for. One reading of the clock stamps all: they are queued within
// the same millisecond.
func (f *flood) fill(now time.Duration) {
	if now < f.phases.start || now >= f.phases.over || f.ch == 0 {
		return
	}
	flags := byte(0)
	if f.phases.within(now) {
		flags = flagMeasured
	}
	stamp := f.clock()
	for ; f.room >= len(f.message); f.room -= len(f.message) {
		putData(f.message, flags, f.number, stamp)
		if f.transport.Send(f.ch, f.message) != nil {
			return // Closed follows
		}
		f.number++
		if flags != 0 {
			f.Measured++
		}
		f.count(&f.phases, now, len(f.message))
	}
}

func (f *flood) credit(now time.Duration, bytes int) {
	f.room += bytes
	f.fill(now)
}

func (f *flood) leave(ch mercury.ChannelID) {
	if ch == f.ch {
		f.ch = 0
	}
}

func (f *flood) sent() figures { return f.figures }

// creditShare is the part of the backlog after which a receiver says that it has arrived.
const creditShare = 8

// creditor tells the sender of a flood what has arrived.
type creditor struct{ share, pending int }

func (c *creditor) take(t mercury.Transport, ch mercury.ChannelID, size int) {
	if c.pending += size; c.pending < c.share {
		return
	}
	if t.Send(ch, withNumber(kindCredit, c.pending)) == nil {
		c.pending = 0
	}
}
