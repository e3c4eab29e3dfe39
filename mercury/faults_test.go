package mercury

import (
	"bytes"
	"net/netip"
	"testing"
	"time"

	"github.com/cellscape/cellscape/mercury/internal/congestion"
)

type pairFly struct {
	at   time.Duration
	from netip.AddrPort
	to   *Endpoint
	p    []byte
}

// pairLink joins two endpoints by a delay and a drop rule.
type pairLink struct {
	a, b  *Endpoint
	delay time.Duration
	drop  func(from *Endpoint, p []byte) bool
	now   time.Duration
	fly   []pairFly
	sent  map[*Endpoint]int
}

func (l *pairLink) pump(e, o *Endpoint) {
	if d, ok := e.NextDeadline(); ok && d <= l.now {
		e.Advance(l.now)
	}
	e.Flush(l.now, func(to netip.AddrPort, p []byte) {
		l.sent[e]++
		if l.drop != nil && l.drop(e, p) {
			return
		}
		l.fly = append(l.fly, pairFly{l.now + l.delay, e.self.At, o, bytes.Clone(p)})
	})
}

func (l *pairLink) run(d time.Duration, each func(now time.Duration)) {
	for end := l.now + d; l.now < end; l.now += time.Millisecond {
		if each != nil {
			each(l.now)
		}
		for len(l.fly) > 0 && l.fly[0].at <= l.now {
			f := l.fly[0]
			l.fly = l.fly[1:]
			f.to.Receive(l.now, f.from, f.p)
		}
		l.pump(l.a, l.b)
		l.pump(l.b, l.a)
	}
}

type pairEars struct {
	big    []time.Duration
	bulk   []time.Duration
	small  int
	closed []error
}

func (h *pairEars) Opened(time.Duration, ChannelID, Address) {}
func (h *pairEars) Message(now time.Duration, _ ChannelID, rel bool, m []byte) {
	if rel && len(m) > 1500 {
		h.big = append(h.big, now)
	} else {
		h.small++
	}
}
func (h *pairEars) Bulk(now time.Duration, _ ChannelID, m []byte) { h.bulk = append(h.bulk, now) }
func (h *pairEars) Closed(_ time.Duration, _ ChannelID, reason error) {
	h.closed = append(h.closed, reason)
}

func newPairLink(t *testing.T, cfg Config, delay time.Duration) (*pairLink, ChannelID, *pairEars, *pairEars) {
	ha, hb := &pairEars{}, &pairEars{}
	cfg.Salt = 1
	a, err := NewEndpoint(cfg, testPlace(1), ha)
	if err != nil {
		t.Fatal(err)
	}
	cfg.Salt = 2
	b, _ := NewEndpoint(cfg, testPlace(2), hb)
	l := &pairLink{a: a, b: b, delay: delay, sent: map[*Endpoint]int{}}
	ch := a.Dial(b.Self())
	l.run(time.Second, nil)
	return l, ch, ha, hb
}

// A path that stops passing long packets is noticed also while short ones keep every timer from
// running out.
func TestBlackHoleUnderTraffic(t *testing.T) {
	l, ch, _, hb := newPairLink(t, Config{}, 10*time.Millisecond)
	t.Log("mtu", l.a.channels[ch].path.mtu)
	l.drop = func(_ *Endpoint, p []byte) bool { return len(p) > 1300 }
	_ = l.a.SendBulk(ch, make([]byte, 4000))
	start := l.now
	l.run(30*time.Second, func(now time.Duration) {
		if now%(16*time.Millisecond) == 0 {
			_ = l.a.Send(ch, []byte("a tick"))
		}
	})
	s, _ := l.a.ChannelStats(ch)
	t.Logf("bulk %v small %d stats %+v longLost %d", hb.bulk, hb.small, s, l.a.channels[ch].path.longLost)
	if len(hb.bulk) == 0 {
		t.Errorf("4000 bytes not there after %v of a live channel: longLost %d, mtu %d", l.now-start, l.a.channels[ch].path.longLost, s.MTU)
	}
}

// The size to fall back to is the one that is configured.
func TestBlackHoleBelowDefault(t *testing.T) {
	l, ch, _, hb := newPairLink(t, Config{SafeMTU: 600, MTU: 1200}, 10*time.Millisecond)
	l.drop = func(_ *Endpoint, p []byte) bool { return len(p) > 800 }
	_ = l.a.SendBulk(ch, make([]byte, 4000))
	l.run(30*time.Second, func(now time.Duration) {
		if now%(16*time.Millisecond) == 0 {
			_ = l.a.Send(ch, []byte("a tick"))
		}
	})
	c := l.a.channels[ch]
	if len(hb.bulk) == 0 {
		t.Errorf("not there after 30 s: longLost %d mtu %d lost %d", c.path.longLost, c.path.mtu, c.counted().lost)
	}
}

// Copies make no packets of their own where the next message is near, and else one a message.
func TestCopiesAddPackets(t *testing.T) {
	count := func(every time.Duration, copies int8) float64 {
		l, ch, _, _ := newPairLink(t, Config{MTU: 1200, SafeMTU: 1200, Copies: DefaultCopies}, 25*time.Millisecond)
		c := l.a.channels[ch]
		if copies > 0 {
			c.copying.losses = congestion.LossMeter{Decided: 1024, Gone: 1024 * 6 / 100}
			c.copying.without = copyTally{settled: tallyLeast}
		}
		before := l.sent[l.a]
		l.run(time.Second, func(now time.Duration) {
			if now%every == 0 {
				_ = l.a.Send(ch, make([]byte, 398))
			}
		})
		if copied := c.counted().copied; (copied > 20) != (copies > 0) {
			t.Errorf("%d segments rode again", copied)
		}
		return float64(l.sent[l.a]-before) / float64(time.Second/every+1)
	}
	for _, test := range []struct {
		every time.Duration
		most  float64
	}{{16 * time.Millisecond, 0}, {33 * time.Millisecond, 1}} {
		with, without := count(test.every, 2), count(test.every, 0)
		t.Logf("packets a tick: %.2f without copies, %.2f with", without, with)
		if with > without*1.1+test.most {
			t.Errorf("every %v copies add packets: %.2f a tick, %.2f without", test.every, with, without)
		}
	}
}

// What unreliable messages overdraw the pace by is not paid for by reliable ones for seconds.
func TestUnreliableDebt(t *testing.T) {
	l, ch, _, hb := newPairLink(t, Config{}, 25*time.Millisecond)
	c := l.a.channels[ch]
	l.run(2*time.Second, func(now time.Duration) {
		if now%(16*time.Millisecond) == 0 {
			for range 200 {
				_, _ = l.a.SendUnreliable(ch, make([]byte, 1000))
			}
			_ = l.a.Send(ch, []byte("tick"))
		}
	})
	start := l.now
	t.Logf("rate %d", c.out.rate.Rate())
	_ = l.a.Send(ch, make([]byte, 20000))
	l.run(20*time.Second, nil)
	if len(hb.big) == 0 || hb.big[0]-start > 500*time.Millisecond {
		t.Errorf("20 KB on a 50 ms path took %v (started %v)", hb.big, start)
	}
}

// Many channels from one place do not make one packet cost thousands.
func TestSiblings(t *testing.T) {
	b, _ := NewEndpoint(Config{Salt: 2}, testPlace(2), nil)
	out := 0
	open := func(salt uint32) {
		a, _ := NewEndpoint(Config{Salt: salt}, testPlace(1), nil)
		a.Dial(b.Self())
		for range 3 {
			a.Flush(0, func(_ netip.AddrPort, p []byte) { b.Receive(0, testPlace(1), bytes.Clone(p)) })
			out = 0
			b.Flush(0, func(_ netip.AddrPort, p []byte) {
				out++
				if p[0]&handshakeBits == handshakeBits {
					a.Receive(0, testPlace(2), bytes.Clone(p))
				}
			})
			if out > 10 {
				return
			}
		}
	}
	worst := 0
	for i := range uint32(2000) {
		open(100 + i)
		worst = max(worst, out)
	}
	t.Logf("datagrams out for one first packet in: %d; channels %d", worst, b.Stats().Channels)
	if worst > 20 {
		t.Errorf("one first packet is answered by %d datagrams", worst)
	}
}

// However many channels are aborted in one tick, every peer is told.
func TestMassAbort(t *testing.T) {
	b, _ := NewEndpoint(Config{Salt: 2}, testPlace(2), nil)
	for i := range 1500 {
		a, _ := NewEndpoint(Config{Salt: uint32(1000 + i)}, testPlace(10+i), nil)
		a.Dial(b.Self())
		for range 3 {
			a.Flush(0, func(_ netip.AddrPort, p []byte) { b.Receive(0, a.self.At, bytes.Clone(p)) })
			b.Flush(0, func(to netip.AddrPort, p []byte) {
				if to == a.self.At {
					a.Receive(0, testPlace(2), bytes.Clone(p))
				}
			})
		}
	}
	for id := range b.channels {
		b.Abort(id)
	}
	told := 0
	b.Flush(0, func(netip.AddrPort, []byte) { told++ })
	if told < 1500 {
		t.Errorf("of 1500 peers %d were told", told)
	}
}

// What a peer makes us hold is in proportion to what it sends.
func TestHeldMemory(t *testing.T) {
	a, b, ch := openPair(t)
	c := a.channels[ch]
	_ = b
	wire, number := 0, uint64(1000)
	for lane := range 2 {
		for seq := uint64(1); seq < uint64(a.cfg.Window); seq++ {
			f := []byte{byte(frameSegment | flagLength | flagPart)}
			if lane == 1 {
				f[0] |= byte(flagBulk)
			}
			f = appendUvarintRv(f, seq)
			f = append(f, 0<<4|2)
			f = appendUvarintRv(f, 8999)
			f = append(f, 1, 'x')
			p := append(appendDataHeader(nil, c.id, number, 0), f...)
			p = plainSealed(p, c.key, number)
			number++
			wire += len(p)
			a.Receive(0, b.self.At, p)
		}
	}
	held := 0
	for i := range c.in.streams {
		for j := range c.in.streams[i].holds() {
			held += cap(c.in.streams[i].held.at(j).buf)
		}
	}
	t.Logf("wire %d bytes, held %d bytes", wire, held)
	if held > 2*a.cfg.Window*a.cfg.MTU {
		t.Errorf("%d bytes on the wire hold %d bytes of memory", wire, held)
	}
}

func appendUvarintRv(b []byte, v uint64) []byte {
	for v >= 0x80 {
		b = append(b, byte(v)|0x80)
		v >>= 7
	}
	return append(b, byte(v))
}

// A dialler whose cookie is too old gets another.
func TestStaleCookie(t *testing.T) {
	g := pairGuard{}
	a, err := NewEndpoint(Config{Salt: 1, Guard: g, Inactivity: time.Minute}, testPlace(1), nil)
	if err != nil {
		t.Fatal(err)
	}
	b, _ := NewEndpoint(Config{Salt: 2, Guard: g, Inactivity: time.Minute}, testPlace(2), nil)
	for b.answers.take(0) {
	}
	l := &pairLink{a: a, b: b, sent: map[*Endpoint]int{}}
	ch := a.Dial(b.Self())
	_, _ = a.SendUnreliable(ch, nil)
	a.channels[ch].cookie = [cookieSize]byte{1} // what another start gave
	l.run(20*time.Second, nil)
	if c := a.channels[ch]; c == nil || c.state != open {
		t.Errorf("20 s of dialling with a stale cookie: BadCookie %d, Challenged %d", b.Stats().BadCookie, b.Stats().Challenged)
	}
}

type pairGuard struct{}

func (pairGuard) Overhead() int                                         { return 4 }
func (pairGuard) Dial(time.Duration, Address, []byte) (Dialling, error) { return pairDial{}, nil }
func (pairGuard) Answer(b []byte, _ time.Duration, _ netip.AddrPort, _, _ []byte) ([]byte, error) {
	return append(b, "pass"...), nil
}
func (pairGuard) Admit(time.Duration, netip.AddrPort, []byte, []byte) (Sealer, error) {
	return pairSeal{}, nil
}
func (pairGuard) Ticket(b []byte, _ time.Duration, _ netip.AddrPort) []byte { return b }
func (pairGuard) Keep(time.Duration, Address, []byte)                       {}

type pairDial struct{}

func (pairDial) Hello() []byte                 { return []byte("hello") }
func (pairDial) Early() ([]byte, Sealer, bool) { return nil, nil, false }
func (pairDial) Issuer() uint32                { return 0 }
func (pairDial) Finish(time.Duration, []byte) ([]byte, Sealer, error) {
	return []byte("pass"), pairSeal{}, nil
}
func (pairDial) Again() {}

type pairSeal struct{}

func (pairSeal) Standing() Standing                                { return Stranger }
func (pairSeal) Seal(p []byte, head int, n uint64) []byte          { return append(p, 1, 2, 3, 4) }
func (pairSeal) Open(p []byte, head int, n uint64) ([]byte, error) { return p[head : len(p)-4], nil }

// Bulk that found the window full, and then the pace in debt, goes on by itself.
func TestBulkStall(t *testing.T) {
	l, ch, _, hb := newPairLink(t, Config{KeepAlive: 5 * time.Second, Inactivity: 20 * time.Second}, 25*time.Millisecond)
	c := l.a.channels[ch]
	_ = l.a.SendBulk(ch, make([]byte, 200000))
	stalled, since := time.Duration(0), time.Duration(-1)
	l.run(20*time.Second, func(now time.Duration) {
		if now < 1500*time.Millisecond && now%(16*time.Millisecond) == 0 {
			for range 20 {
				_, _ = l.a.SendUnreliable(ch, make([]byte, 1000))
			}
		}
		if c.out.streams[laneBulk].waiting(c.out.window) && c.out.flightBytes == 0 && c.paceAt == 0 && !c.dirty {
			if since < 0 {
				since = now
			}
			stalled = max(stalled, now-since)
		} else {
			since = -1
		}
	})
	t.Logf("bulk arrived %v", hb.bulk)
	if stalled > 100*time.Millisecond {
		t.Errorf("bulk waited %v with nothing in flight and no deadline of its own", stalled)
	}
}

// The same, made to happen: the window is full at the flush that makes the debt.
func TestBulkStallForced(t *testing.T) {
	l, ch, _, hb := newPairLink(t, Config{KeepAlive: 5 * time.Second, Inactivity: 20 * time.Second}, 25*time.Millisecond)
	c := l.a.channels[ch]
	_ = l.a.SendBulk(ch, make([]byte, 200000))
	done := false
	start := l.now
	l.run(15*time.Second, func(now time.Duration) {
		if !done && !c.windowOpen(laneBulk) {
			done = true
			for range 8 {
				for range 240 {
					_, _ = l.a.SendUnreliable(ch, make([]byte, 1000))
				}
				l.pump(l.a, l.b)
			}
			t.Logf("paceAt %v flight %d", c.paceAt, c.out.flightBytes)
		}
	})
	if len(hb.bulk) == 0 || hb.bulk[0]-start > time.Second {
		t.Errorf("200 KB of bulk on a 50 ms path took %v from %v (debt made: %v)", hb.bulk, start, done)
	}
}

// A close that went out under a refused pass is sent again.
func TestCloseAfterRefusal(t *testing.T) {
	a, b := testEndpoint(t, 1, nil), testEndpoint(t, 2, nil)
	l := &pairLink{a: a, b: b, sent: map[*Endpoint]int{}, delay: time.Millisecond}
	ch := a.Dial(b.Self())
	for a.channels[ch].state != open {
		l.run(time.Millisecond, nil)
	}
	a.Close(ch)
	l.drop = func(e *Endpoint, p []byte) bool { return e == a }
	l.fly = nil
	l.run(2*time.Millisecond, nil) // the first, with the close, is lost
	c := a.channels[ch]
	r := refusePacket{Dial: c.id, Salt: 1, Self: 2, Why: refusedPass, Pass: passTag(c.pass)}
	a.Receive(l.now, b.self.At, r.append(nil))
	l.drop = nil
	start := l.now
	for a.Stats().Channels > 0 && l.now < time.Minute {
		l.run(10*time.Millisecond, nil)
	}
	if took := l.now - start; took > time.Second {
		t.Errorf("a channel with nothing to bring over took %v to close", took)
	}
}

type pairEarlyGuard struct{ pairGuard }

func (pairEarlyGuard) Dial(time.Duration, Address, []byte) (Dialling, error) {
	return pairEarlyDial{}, nil
}

type pairEarlyDial struct{ pairDial }

func (pairEarlyDial) Issuer() uint32                { return 2 }
func (pairEarlyDial) Early() ([]byte, Sealer, bool) { return []byte("pass"), pairSeal{}, true }

// Abort tells the peer also of a channel that has not heard from it, when it was dialled with a
// ticket.
func TestAbortOfEarly(t *testing.T) {
	ha, hb := &pairEars{}, &pairEars{}
	a, _ := NewEndpoint(Config{Salt: 1, Guard: pairEarlyGuard{}}, testPlace(1), ha)
	b, _ := NewEndpoint(Config{Salt: 2, Guard: pairEarlyGuard{}}, testPlace(2), hb)
	l := &pairLink{a: a, b: b, sent: map[*Endpoint]int{}, delay: 10 * time.Millisecond}
	ch := a.Dial(b.Self())
	_ = a.Send(ch, []byte("hi"))
	l.run(5*time.Millisecond, nil)
	a.Abort(ch)
	l.drop = func(e *Endpoint, _ []byte) bool { return false }
	start := l.now
	sent := l.sent[a]
	l.run(15*time.Millisecond, nil)
	if l.sent[a] == sent {
		t.Errorf("abort sent nothing; acceptor heard %d messages, has %d channels, stats %+v", hb.small, b.Stats().Channels, b.Stats())
	}
	_ = start
}
