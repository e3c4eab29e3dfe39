package udp

import (
	"net/netip"
	"sync/atomic"
)

// watch is the reader of a Carrier whose owner waits elsewhere. Its goroutine reads one batch,
// tells, and reads on when the owner has taken that and all that came behind it: so the socket has
// one reader at a time, and a busy one is read by its owner.
//
//	goroutine   ReadBatch -> slab ── tell ──┐           ┌──> ReadBatch
//	owner                                   collect ── again
type watch struct {
	tell  func()
	slab  []byte
	items []mail
	err   error       // why the reading ended
	full  atomic.Bool // slab and the socket are the owner's
	again chan struct{}
	ended chan struct{}
}

// mail is a datagram in a slab.
type mail struct {
	from netip.AddrPort
	end  int
}

// Watch implements mercury.Carrier. It costs a goroutine, and a copy of the first datagrams of each
// turn.
func (c *Carrier) Watch(f func()) {
	w := &watch{tell: f, again: make(chan struct{}), ended: make(chan struct{})}
	c.watch = w
	go w.read(c.socket)
}

// read is the goroutine. A closed socket ends it.
func (w *watch) read(s *Socket) {
	for {
		w.slab, w.items = w.slab[:0], w.items[:0]
		w.err = s.ReadBatch(func(from netip.AddrPort, datagram []byte) {
			w.slab = append(w.slab, datagram...)
			w.items = append(w.items, mail{from: from, end: len(w.slab)})
		})
		failed := w.err != nil
		if len(w.items) == 0 && !failed {
			continue
		}
		w.full.Store(true)
		w.tell()
		if failed {
			return
		}
		select {
		case <-w.again:
		case <-w.ended:
			return
		}
	}
}

// end lets the goroutine go, whose socket is closed.
func (w *watch) end() { close(w.ended) }

// collect takes what the watch has read, and what has come behind it, up to a bound.
func (c *Carrier) collect() (heard bool, err error) {
	w := c.watch
	if !w.full.Load() {
		return false, nil
	}
	c.got = 0
	start := 0
	for _, m := range w.items {
		c.received(m.from, w.slab[start:m.end:m.end])
		start = m.end
	}
	heard, w.items = len(w.items) > 0, w.items[:0]
	if err = w.err; err == nil {
		for total := c.got; total < maxRead && c.socket.More(); total += c.got {
			c.got = 0
			if err = c.socket.TryRead(c.take); err != nil || c.got == 0 {
				break
			}
		}
	}
	if err != nil {
		return heard, err // full stays, so that the next turn tells the same
	}
	w.full.Store(false)
	select {
	case w.again <- struct{}{}:
	case <-w.ended:
	}
	return heard, nil
}
