package stream

const (
	// writePiece is what is written at once while much is queued: what is queued falls as it
	// leaves, and unreliable messages wait for one piece only. A longer frame is a piece of its
	// own.
	writePiece = 64 << 10
	// pokeAfter is how much a writing goroutine has written when it wakes the owner, who may wait
	// for room to send more.
	pokeAfter = 32 << 10
)

// flush hands what c has pending to its connection.
func (t *Transport) flush(c *channel) {
	if c.state != open {
		return
	}
	if len(c.loose) > 0 {
		t.flushLoose(c)
	}
	if len(c.pending) == 0 {
		return
	}
	l := c.link
	c.lastSent = t.now
	t.stats.BytesOut += uint64(len(c.pending))
	n := 0
	if l.try != nil && l.idle() && !l.broken.Load() {
		t.stats.Writes++
		var err error
		if n, err = l.try.TryWrite(c.pending); err != nil {
			l.broken.Store(true)
		}
	}
	if n == len(c.pending) || l.broken.Load() {
		if c.full {
			t.poke()
		}
		// If broken, the reading goroutine ends the channel, with what the peer still had to say.
		c.pending = c.pending[:0]
		return
	}
	t.queue(c, n)
}

// queue leaves what c has pending, but for the n bytes that have left, to the writing goroutine.
func (t *Transport) queue(c *channel, n int) {
	l := c.link
	l.queued.Add(int64(len(c.pending) - n))
	l.mu.Lock()
	switch {
	case n > 0: // then nothing was queued
		l.partial = cutShort(c.pending, n)
		l.out = append(l.out, c.pending[n:]...)
		c.pending = c.pending[:0]
	case len(l.out) == 0:
		l.out, c.pending = c.pending, l.out[:0]
		if cap(c.pending) == 0 {
			c.pending, l.outSpare = l.outSpare[:0], nil
		}
	default:
		l.out = append(l.out, c.pending...)
		c.pending = c.pending[:0]
	}
	begin := t.begin(l, &l.writing)
	l.mu.Unlock()
	if begin {
		t.stats.Writes++
		go l.write()
	}
}

// begin reports whether a goroutine must be started, and counts it. l.mu is held.
func (t *Transport) begin(l *link, running *bool) bool {
	if l.gone || *running {
		return false
	}
	*running = true
	t.wg.Add(1)
	return true
}

// writeAll is a writing goroutine: it writes until there is nothing left.
func (l *link) writeAll() {
	defer l.t.wg.Done()
	var done []byte
	for {
		l.mu.Lock()
		if done != nil && l.outSpare == nil {
			// It is the owner's from here on. Given away a second time, after a turn in which only
			// unreliable messages were written, one buffer was filled by the owner and written from
			// at once.
			l.outSpare, done = done[:0], nil
		}
		first := l.partial == 0 && len(l.looseOut) > 0 && l.lane == nil
		if l.gone || len(l.out) == 0 && !first {
			l.writing = false
			l.mu.Unlock()
			return
		}
		if first {
			l.mu.Unlock()
			l.overtake()
			continue
		}
		buf, partial := l.out, l.partial
		l.out, l.outSpare, l.partial = l.outSpare[:0], nil, 0
		l.mu.Unlock()
		l.writeOut(buf, partial)
		if done = buf; len(done) >= pokeAfter || l.wanted.Load() {
			l.t.poke()
		}
	}
}

// writeOut writes buf in pieces; the first partial bytes of it end a frame.
func (l *link) writeOut(buf []byte, partial int) {
	for len(buf) > 0 {
		n := partial
		if n == 0 {
			n = cut(buf, writePiece)
		}
		partial = 0
		if _, err := l.conn.Write(buf[:n]); err != nil {
			l.broken.Store(true)
			l.queued.Add(-int64(len(buf)))
			return
		}
		buf = buf[n:]
		l.t.wrote.Store(true)
		if l.lane == nil && l.looseQueued.Load() > 0 {
			l.overtake()
		}
		// Last, for with nothing queued the owner writes itself: messages that overtook after this
		// once came in the middle of a frame of which the owner had just written a part.
		l.queued.Add(-int64(n))
	}
}

// overtake writes the unreliable messages there are.
func (l *link) overtake() {
	l.mu.Lock()
	buf := l.looseOut
	l.looseOut = nil
	l.mu.Unlock()
	for len(buf) > 0 && !l.broken.Load() {
		n := cut(buf, writePiece)
		if _, err := l.conn.Write(buf[:n]); err != nil {
			l.broken.Store(true)
		}
		buf = buf[n:]
	}
	l.mu.Lock()
	l.looseQueued.Store(int64(len(l.looseOut)))
	l.mu.Unlock()
}

// idle reports whether the writing goroutine has nothing to write, so that the owner may.
func (l *link) idle() bool { return l.queued.Load() == 0 && l.looseQueued.Load() == 0 }

// flushLoose hands on unreliable messages: to their own lane, or to go before what is queued, or
// with what is pending. When those of earlier turns have not left yet and are too many, they are
// stale and dropped.
func (t *Transport) flushLoose(c *channel) {
	l := c.link
	if l.lane == nil && l.idle() {
		c.pending = append(c.pending, c.loose...)
		c.loose = c.loose[:0]
		return
	}
	t.stats.BytesOut += uint64(len(c.loose))
	l.mu.Lock()
	if len(l.looseOut)+len(c.loose) > t.cfg.UnreliableQueued {
		stale := count(l.looseOut)
		t.stats.UnreliableDropped += uint64(stale)
		c.stale += stale
		c.dropped += uint64(stale)
		l.looseOut = l.looseOut[:0]
	}
	l.looseOut = append(l.looseOut, c.loose...)
	c.loose = c.loose[:0]
	write, running := l.writeLoose, &l.looseWriting
	if l.lane == nil {
		l.looseQueued.Store(int64(len(l.looseOut)))
		write, running = l.write, &l.writing
	}
	begin := t.begin(l, running)
	l.mu.Unlock()
	if begin {
		go write()
	}
}

// sendLoose is the writing goroutine of an unreliable lane. A message that the lane refuses is
// lost, as such messages may be, and counted.
func (l *link) sendLoose() {
	defer l.t.wg.Done()
	var buf []byte
	for {
		l.mu.Lock()
		if len(l.looseOut) == 0 || l.gone {
			l.looseWriting = false
			l.mu.Unlock()
			return
		}
		buf, l.looseOut = l.looseOut, buf[:0]
		l.mu.Unlock()
		for rest := buf; len(rest) > 0; {
			size := frameSize(rest)
			if l.lane.SendDatagram(rest[headerSize:size]) != nil {
				l.t.laneRefused.Add(1)
			}
			rest = rest[size:]
		}
	}
}
