package congestion

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
	"unsafe"
)

const mebibyte = 1 << 20

// largestMTU is the longest payload of a UDP datagram over IPv4.
const largestMTU = 65507

func (m *Model) describe() string {
	return fmt.Sprintf("phase %d, window %d packets, pace %d B/s, bottleneck %d B/s, least %v, bound %d packets",
		m.phase, m.Window()/linkMTU, m.Rate(), m.Bottleneck(), m.MinRTT(), m.bound/linkMTU)
}

// span is what a link did in a time.
type span struct {
	rate  uint64        // bytes/s that came for the first time
	queue time.Duration // mean wait before the bottleneck
	loss  int           // per mille, at the bottleneck
}

func (l *rateLink) measure(d time.Duration) span {
	got, queued, sent, dropped := l.gotCount, l.queued, l.sent, l.drop
	l.run(d, nil)
	n := max(l.sent-sent, 1)
	return span{
		rate:  mulDiv(uint64((l.gotCount-got)*linkMTU), uint64(time.Second), uint64(d)),
		queue: (l.queued - queued) / time.Duration(n),
		loss:  (l.drop - dropped) * 1000 / n,
	}
}

// TestRateBlob sends 1 MiB over 50 ms: on a new channel, on one that has just sent one, and on one
// that did seconds ago. The way of the request is part of the figures.
func TestRateBlob(t *testing.T) {
	for _, c := range []struct {
		name             string
		loss             int
		wake             time.Duration
		cold, warm, late time.Duration // at most; 0 for no aim
	}{
		{"clean", 0, 0, 210, 80, 80},
		{"clean, wakes of 1 ms", 0, time.Millisecond, 210, 80, 80},
		{"clean, wakes of 4 ms", 0, 4 * time.Millisecond, 220, 90, 90},
		{"2 % loss", 20, 0, 350, 300, 300},
		{"2 % loss, wakes of 1 ms", 20, time.Millisecond, 350, 300, 300},
	} {
		for seed := range uint64(4) {
			l := newRateLink(seed)
			l.loss, l.wake = c.loss, c.wake
			took := func(what string, most time.Duration) {
				d := l.transfer(mebibyte) + l.delay
				t.Logf("%s, seed %d: %s %v, %d resent; %s", c.name, seed, what, d.Round(100*time.Microsecond), l.resent, l.m.describe())
				if d > most*time.Millisecond {
					t.Errorf("%s, seed %d: %s took %v, want at most %d ms", c.name, seed, what, d, most)
				}
			}
			took("cold", c.cold)
			l.run(100*time.Millisecond, nil)
			took("warm", c.warm)
			l.run(5*time.Second, nil)
			took("after 5 s", c.late)
			if c.loss == 0 && l.resent > 0 {
				t.Errorf("%s: %d packets resent without loss", c.name, l.resent)
			}
		}
	}
}

// TestRatePaths holds a transfer without end against the path: in the time of startup, and after it.
func TestRatePaths(t *testing.T) {
	const ms = time.Millisecond
	for _, c := range []struct {
		name         string
		delay        time.Duration
		bandwidth    uint64
		buffer, loss int
		wake, jitter time.Duration
		startup      time.Duration
		startupLoss  int           // per mille at the bottleneck, at most
		used         uint64        // per mille of the bandwidth after startup, at least
		queue        time.Duration // mean after startup, at most
		lost         int           // per mille at the bottleneck after startup, at most
	}{
		{"10 Mbit/s, 1 BDP", 20 * ms, 1_250_000, 50_000, 0, 0, 0, time.Second, 100, 970, 10 * ms, 5},
		{"10 Mbit/s, 1/4 BDP", 20 * ms, 1_250_000, 12_500, 0, 0, 0, time.Second, 200, 950, 5 * ms, 40},
		{"10 Mbit/s, 4 packets", 20 * ms, 1_250_000, 6_000, 0, 0, 0, time.Second, 250, 900, 5 * ms, 60},
		{"10 Mbit/s, 4 BDP", 20 * ms, 1_250_000, 200_000, 0, 0, 0, time.Second, 100, 970, 10 * ms, 0},
		{"10 Mbit/s, 1 BDP, 2 % loss", 20 * ms, 1_250_000, 50_000, 20, ms, 0, time.Second, 120, 950, 10 * ms, 10},
		{"10 Mbit/s, 1/4 BDP, 2 % loss", 20 * ms, 1_250_000, 12_500, 20, ms, 0, time.Second, 200, 900, 5 * ms, 60},
		{"10 Mbit/s, 1 BDP, 10 % loss", 20 * ms, 1_250_000, 50_000, 100, ms, 0, time.Second, 200, 750, 10 * ms, 20},
		{"2 Mbit/s", 20 * ms, 250_000, 64_000, 0, ms, 0, 2 * time.Second, 100, 950, 25 * ms, 5},
		{"128 kbit/s", 50 * ms, 16_000, 64_000, 0, ms, 0, 10 * time.Second, 100, 900, 500 * ms, 0},
		{"radio of 40 Mbit/s", 10 * ms, 5_000_000, 256_000, 10, ms, 10 * ms, time.Second, 100, 930, 50 * ms, 10},
		{"mobile", 30 * ms, 1_000_000, 512_000, 10, ms, 30 * ms, 2 * time.Second, 50, 900, 100 * ms, 10},
		{"gigabit, 100 ms, 1/3 BDP", 50 * ms, 125_000_000, 4 << 20, 0, ms, 0, 1500 * ms, 250, 950, 30 * ms, 40},
		{"gigabit, 1 ms", ms / 2, 125_000_000, 256_000, 0, ms, 0, 200 * ms, 150, 950, 5 * ms, 5},
		{"loopback", ms / 20, 400_000_000, 4 << 20, 0, 0, 0, 200 * ms, 150, 970, 6 * ms, 0},
		{"loopback, wakes of 1 ms", ms / 20, 400_000_000, 4 << 20, 0, ms, 0, 200 * ms, 150, 970, 6 * ms, 0},
		{"loopback, wakes of 4 ms", ms / 20, 400_000_000, 4 << 20, 0, 4 * ms, 0, 200 * ms, 300, 970, 6 * ms, 0},
		{"loopback, default socket buffer", ms / 20, 400_000_000, 208 << 10, 0, ms / 10, 0, 200 * ms, 150, 970, 2 * ms, 10},
	} {
		l := newRateLink(7)
		l.delay, l.bandwidth, l.buffer, l.loss, l.wake, l.jitter = c.delay, c.bandwidth, c.buffer, c.loss, c.wake, c.jitter
		l.queue(1_000_000)
		first := l.measure(c.startup)
		then := l.measure(min(16*c.startup, 12*time.Second, 2*time.Hour/time.Duration(c.bandwidth/1e4+1)))
		t.Logf("%s: startup %+v, then %+v; %s", c.name, first, then, l.m.describe())
		if first.loss > c.startupLoss {
			t.Errorf("%s: startup lost %d per mille, want at most %d", c.name, first.loss, c.startupLoss)
		}
		if used := then.rate * 1000 / c.bandwidth; used < c.used {
			t.Errorf("%s: %d per mille of the bandwidth used, want at least %d", c.name, used, c.used)
		}
		if then.queue > c.queue {
			t.Errorf("%s: packets wait %v before the bottleneck, want at most %v", c.name, then.queue, c.queue)
		}
		if then.loss > c.lost {
			t.Errorf("%s: %d per mille lost at the bottleneck, want at most %d", c.name, then.loss, c.lost)
		}
	}
}

// TestRateFollows changes the path under a transfer.
func TestRateFollows(t *testing.T) {
	for _, loss := range []int{0, 20} {
		l := newRateLink(1)
		l.delay, l.bandwidth, l.buffer, l.loss = 20*time.Millisecond, 1_250_000, 50_000, loss
		l.queue(1_000_000)
		l.run(3*time.Second, nil)
		for _, c := range []struct {
			name      string
			bandwidth uint64
			delay     time.Duration
			within    time.Duration
			used      uint64
			queue     time.Duration
		}{
			{"a fifth", 250_000, 20 * time.Millisecond, 2 * time.Second, 900, 30 * time.Millisecond},
			{"five times", 1_250_000, 20 * time.Millisecond, 3 * time.Second, 930, 10 * time.Millisecond},
			{"five times again", 6_250_000, 20 * time.Millisecond, 3 * time.Second, 930, 10 * time.Millisecond},
			{"back at once", 1_250_000, 20 * time.Millisecond, 2 * time.Second, 930, 10 * time.Millisecond},
			{"a longer way", 1_250_000, 60 * time.Millisecond, 4 * time.Second, 900, 30 * time.Millisecond},
			{"a shorter way", 1_250_000, 10 * time.Millisecond, 2 * time.Second, 930, 10 * time.Millisecond},
		} {
			l.freeAt = l.now + timeFor(PerTime(l.bandwidth, max(0, l.freeAt-l.now)), c.bandwidth)
			l.bandwidth, l.delay = c.bandwidth, c.delay
			l.run(c.within, nil)
			s := l.measure(4 * time.Second)
			t.Logf("loss %d, %s: %+v; %s", loss, c.name, s, l.m.describe())
			if used := s.rate * 1000 / c.bandwidth; used < c.used {
				t.Errorf("loss %d, %s: %d per mille of the bandwidth used, want at least %d", loss, c.name, used, c.used)
			}
			if s.queue > c.queue {
				t.Errorf("loss %d, %s: packets wait %v before the bottleneck, want at most %v", loss, c.name, s.queue, c.queue)
			}
		}
	}
}

// play sends a packet of a game each 16 ms for d, and fails when one may not leave at once.
func (l *rateLink) play(t *testing.T, d time.Duration) {
	t.Helper()
	size := l.size
	l.size = 200
	for end := l.now + d; l.now < end; {
		l.queue(1)
		l.run(16*time.Millisecond, nil)
		if l.next < l.end {
			t.Fatalf("a packet of a game may not leave: %s", l.m.describe())
		}
	}
	l.size = size
}

// TestRateGame lets a game run for minutes: it is never held back, and a blob after it is as fast
// as on a new channel.
func TestRateGame(t *testing.T) {
	for _, c := range []struct {
		loss int
		most time.Duration // for the blob after it
	}{{0, 220}, {20, 350}, {100, 900}} {
		l := newRateLink(5)
		l.loss = c.loss
		l.play(t, 5*time.Minute)
		took := l.transfer(mebibyte) + l.delay
		t.Logf("loss %d: a blob after the game took %v; %s", c.loss, took, l.m.describe())
		if took > c.most*time.Millisecond {
			t.Errorf("loss %d: a blob after the game took %v, want at most %d ms", c.loss, took, c.most)
		}
		l.play(t, time.Minute)
	}
}

// A peer that reads once in 30 ms gets all of a game's ticks with a floor, and less and less without one.
func TestRateOfBusyPeer(t *testing.T) {
	const ticks, packets, floor = 100, 380, 1 << 20
	got := func(floor int) int {
		l := newRateLink(11)
		l.m.Init(linkMTU, floor)
		l.delay, l.nap = 100*time.Microsecond, 30*time.Millisecond
		for range ticks {
			l.queue(packets)
			l.run(100*time.Millisecond, nil)
		}
		return l.gotCount
	}
	with, without := got(floor), got(0)
	t.Logf("%d packets of %d with a floor, %d without", with, ticks*packets, without)
	if with != ticks*packets || without > with/2 {
		t.Errorf("%d packets of %d with a floor, %d without: the path shows no difference, or a floor does not help", with, ticks*packets, without)
	}
}

// A floor gives way where the path does not carry it.
func TestRateFloorGivesWay(t *testing.T) {
	took := func(floor int) (time.Duration, int) {
		l := newRateLink(12)
		l.m.Init(linkMTU, floor)
		l.bandwidth, l.buffer = 2_000_000, 60_000
		d := l.transfer(8 * mebibyte)
		return d, l.drop * 100 / l.sent
	}
	with, dropped := took(1 << 20)
	without, usual := took(0)
	t.Logf("8 MB take %v with a floor, of whose packets %d %% are lost; %v and %d %% without", with, dropped, without, usual)
	if with > without*5/4 || dropped > usual+35 { // four rounds of a floor that is too high
		t.Errorf("8 MB take %v with a floor, of whose packets %d %% are lost; %v and %d %% without", with, dropped, without, usual)
	}
}

// TestRateGameOverSlowPath knows a slow path from a blob, which must not hold back the game either,
// and forgets it.
func TestRateGameOverSlowPath(t *testing.T) {
	l := newRateLink(6)
	l.bandwidth, l.buffer = 250_000, 30_000
	l.transfer(mebibyte)
	slow := l.m.Bottleneck()
	if slow < 200_000 || slow > 300_000 {
		t.Fatalf("the path's rate is %d after a blob, want 250000: %s", slow, l.m.describe())
	}
	l.play(t, 2*time.Minute)
	l.bandwidth = 0
	if took := l.transfer(mebibyte) + l.delay; took > 220*time.Millisecond {
		t.Errorf("2 minutes later a blob over a free path took %v, want at most 220 ms", took)
	}
}

// TestRateAges halves a large window for each rateLife without a large transfer, game or not.
func TestRateAges(t *testing.T) {
	for _, playing := range []bool{false, true} {
		l := newRateLink(8)
		l.transfer(mebibyte)
		l.run(time.Second, nil)
		before := l.m.Window()
		if playing {
			l.play(t, 25*time.Second)
		} else {
			l.run(25*time.Second, nil)
			l.size = 200
			l.queue(1)
			l.run(time.Second, nil)
		}
		if w := l.m.Window(); w != before/4 {
			t.Errorf("playing %v: a window of %d is %d after 25 s, want a quarter", playing, before, w)
		}
	}
}

// TestRateShares has two transfers over one bottleneck, the second 3 s later than the first.
func TestRateShares(t *testing.T) {
	for _, buffer := range []int{12_500, 50_000, 200_000} {
		a, b := newRateLink(1), newRateLink(2)
		a.bandwidth, a.buffer, a.delay, b.delay = 1_250_000, buffer, 20*time.Millisecond, 20*time.Millisecond
		b.bottleneck = a.bottleneck
		a.queue(1_000_000)
		a.run(3*time.Second, nil)
		b.now = a.now
		b.queue(1_000_000)
		var gotA, gotB int
		for began := a.now; ; {
			next := min(a.nextEvent(), b.nextEvent())
			if next < began+10*time.Second {
				gotA, gotB = a.gotCount, b.gotCount
			}
			if next > began+40*time.Second {
				break
			}
			if a.nextEvent() == next {
				a.step()
			} else {
				b.step()
			}
		}
		shareA, shareB := (a.gotCount-gotA)*linkMTU/30, (b.gotCount-gotB)*linkMTU/30
		t.Logf("buffer %d: %d and %d B/s", buffer, shareA, shareB)
		if shareA+shareB < 1_150_000 || max(shareA, shareB) > 3*min(shareA, shareB) {
			t.Errorf("buffer %d: shares of %d and %d B/s, want 1250000 together and neither more than three times the other", buffer, shareA, shareB)
		}
	}
}

// TestRateOutage cuts the path for seconds: little is sent into the cut, and the rate is found
// again soon after it.
func TestRateOutage(t *testing.T) {
	l := newRateLink(4)
	l.delay, l.bandwidth, l.buffer = 20*time.Millisecond, 1_250_000, 50_000
	l.queue(1_000_000)
	l.run(3*time.Second, nil)
	l.down = true
	l.run(500*time.Millisecond, nil)
	sent := l.sent
	l.run(3*time.Second, nil)
	if n := l.sent - sent; n > 40 {
		t.Errorf("%d packets sent into a cut of 3 s, want at most 40", n)
	}
	if w := l.m.Window(); w != leastRateWindow*linkMTU {
		t.Errorf("the window is %d in a cut, want %d packets", w, leastRateWindow)
	}
	l.down = false
	l.run(3*time.Second, nil)
	if s := l.measure(2 * time.Second); s.rate < 1_150_000 {
		t.Errorf("after the cut %+v, want 1250000 B/s; %s", s, l.m.describe())
	}
}

// TestRateHopeless loses more than a third: the transfer goes on, and recovers with the path.
func TestRateHopeless(t *testing.T) {
	l := newRateLink(2)
	l.delay, l.bandwidth, l.buffer, l.loss = 20*time.Millisecond, 1_250_000, 50_000, 350
	l.queue(1_000_000)
	l.run(5*time.Second, nil)
	if s := l.measure(5 * time.Second); s.rate < 100_000 {
		t.Errorf("35 %% loss: %+v, want 100 KB/s at least; %s", s, l.m.describe())
	}
	l.loss = 0
	l.run(4*time.Second, nil)
	if s := l.measure(2 * time.Second); s.rate < 1_150_000 {
		t.Errorf("after the loss: %+v, want 1250000 B/s; %s", s, l.m.describe())
	}
}

// TestRateMoved gives the channel another path in the middle of a transfer: what is under way on
// the old one says nothing.
func TestRateMoved(t *testing.T) {
	l := newRateLink(3)
	l.delay, l.bandwidth, l.buffer = 5*time.Millisecond, 125_000_000, 1<<20
	l.queue(1_000_000)
	l.run(2*time.Second, nil)
	l.m.OnMoved()
	if w, rate := l.m.Window(), l.m.Bottleneck(); w != initialRateWindow*linkMTU || rate != 0 || l.m.MinRTT() != 0 {
		t.Fatalf("after a move: %s", l.m.describe())
	}
	l.delay, l.bandwidth, l.buffer, l.freeAt = 40*time.Millisecond, 1_250_000, 100_000, 0
	l.run(9*time.Millisecond, nil) // acks of the old path are still on their way
	if l.m.Bottleneck() != 0 || l.m.MinRTT() != 0 || l.m.Window() != initialRateWindow*linkMTU {
		t.Errorf("acks of before the move count: %s", l.m.describe())
	}
	l.run(3*time.Second, nil)
	if s := l.measure(3 * time.Second); s.rate < 1_150_000 || s.queue > 40*time.Millisecond {
		t.Errorf("after the move %+v, want 1250000 B/s; %s", s, l.m.describe())
	}
}

// TestRateSpurious takes losses back that were none: the bound that they brought goes with them.
func TestRateSpurious(t *testing.T) {
	var m Model
	m.Init(1400, 0)
	stamps := make([]Stamp, 64)
	now := time.Hour
	flight := func(lost int) {
		sentAt := now
		for i := range stamps {
			m.OnSend(now, 1400, i*1400, &stamps[i])
		}
		now += 40 * time.Millisecond
		var f Frame
		for i := range stamps {
			if i >= lost {
				m.OnAcked(now, sentAt, 1400, &stamps[i], &f)
			}
		}
		m.EndAck(now, 40*time.Millisecond, lost*1400, &f)
		for i := range lost {
			m.OnLost(now, 1400, &stamps[i])
		}
	}
	flight(0)
	flight(0)
	flight(40)
	flight(0)
	if !m.gentle {
		t.Fatalf("a round of heavy loss changes nothing: %s", m.describe())
	}
	m.Init(1400, 0)
	flight(0)
	flight(0)
	flight(40)
	for range 40 {
		m.OnSpurious(1400)
	}
	flight(0)
	if m.gentle || m.bound > 0 {
		t.Errorf("packets that came after all count as lost: %s", m.describe())
	}
}

// TestRateHandshake takes a round trip without packets, and paces the first window by it.
func TestRateHandshake(t *testing.T) {
	var m Model
	m.Init(1400, 0)
	m.EndAck(time.Hour, 100*time.Millisecond, 0, new(Frame))
	if m.MinRTT() != 100*time.Millisecond || m.Rate() != 32*1400*40 {
		t.Errorf("after a handshake of 100 ms: %s", m.describe())
	}
}

// TestRateMTU changes the MTU: window and bursts hold the largest packet, and do not grow with that
// of a local path.
func TestRateMTU(t *testing.T) {
	var m Model
	m.Init(1200, 0)
	m.OnSilence(time.Hour)
	now := time.Hour
	for _, c := range []struct{ mtu, window, burst int }{
		{1400, 8 * 1400, 10 * 1400},
		{largestMTU, 8 * maxUnit, 10 * maxUnit},
		{548, 8 * maxUnit, 10 * 548},
	} {
		m.SetMTU(c.mtu)
		now += time.Minute
		burst := max(c.burst, int(PerTime(m.Rate(), wakeSlack)))
		if n := m.Allowed(now); m.Window() != c.window || n != burst || n < c.mtu {
			t.Errorf("MTU %d: window %d and burst %d, want %d and %d", c.mtu, m.Window(), n, c.window, burst)
		}
	}
	m.SetMTU(largestMTU)
	m.gentle = true
	m.derive()
	if n := m.Allowed(now + time.Minute); n < largestMTU || m.Window() < largestMTU {
		t.Errorf("MTU %d: window %d and burst %d are too small for a packet", largestMTU, m.Window(), n)
	}
	m.Init(largestMTU, 0)
	if m.Window() != 32*maxUnit {
		t.Errorf("MTU %d: the first window is %d, want %d", largestMTU, m.Window(), 32*maxUnit)
	}
}

// TestRateChaos calls everything in any order and with times that leap: the window stays within its
// bounds, packets are let go some time, and nothing panics.
func TestRateChaos(t *testing.T) {
	const seed = 12
	rng := rand.New(rand.NewPCG(seed, 4))
	type packet struct {
		stamp  Stamp
		sentAt time.Duration
	}
	var m Model
	m.Init(1400, 0)
	var flying []packet
	now := time.Hour
	for i := range 200_000 {
		now += time.Duration(rng.Int64N(1 << rng.IntN(28)))
		if rng.IntN(20_000) == 0 {
			now += time.Duration(rng.Int64N(int64(10 * time.Minute)))
		}
		switch rng.IntN(8) {
		default:
			p := packet{sentAt: now}
			m.OnSend(now, 1400, len(flying)*1400, &p.stamp)
			m.Spend(now, 1400)
			flying = append(flying, p)
		case 0, 1:
			var f Frame
			for range rng.IntN(min(len(flying), 12) + 1) {
				k := rng.IntN(min(len(flying), 20))
				m.OnAcked(now, flying[k].sentAt, 1400, &flying[k].stamp, &f)
				flying = slices.Delete(flying, k, k+1)
			}
			m.EndAck(now, time.Duration(rng.Int64N(1<<rng.IntN(33))), len(flying)*1400, &f)
		case 2:
			if len(flying) > 0 && rng.IntN(4) == 0 {
				m.OnLost(now, 1400, &flying[0].stamp)
				flying = flying[1:]
			}
		case 3:
			switch rng.IntN(1000) {
			case 0:
				m.OnMoved()
			case 1:
				m.OnSilence(now)
			case 2:
				m.OnSpurious(1400)
			default:
				m.Limited(len(flying) * 1400)
			}
		}
		if w := m.Window(); w < leastRateWindow*1400 || w > MaxWindow {
			t.Fatalf("seed %d, step %d: %s", seed, i, m.describe())
		}
		if at := m.NextAt(now, 1400); at < now || at > now+time.Hour || m.Rate() < minRate {
			t.Fatalf("seed %d, step %d: the next packet leaves in %v; %s", seed, i, at-now, m.describe())
		}
	}
}

// TestRateReplays runs the same course twice.
func TestRateReplays(t *testing.T) {
	course := func() string {
		l := newRateLink(11)
		l.delay, l.bandwidth, l.buffer, l.loss, l.jitter = 20*time.Millisecond, 1_250_000, 20_000, 30, 10*time.Millisecond
		l.queue(1_000_000)
		l.run(5*time.Second, nil)
		return fmt.Sprint(l.sent, l.gotCount, l.m)
	}
	if a, b := course(), course(); a != b {
		t.Errorf("two courses of the same seed differ:\n%s\n%s", a, b)
	}
}

func TestRateSizes(t *testing.T) {
	if n := unsafe.Sizeof(Model{}); n > 256 {
		t.Errorf("a Model takes %d bytes: there are thousands of channels", n)
	}
	if n := unsafe.Sizeof(Stamp{}); n > 40 {
		t.Errorf("a rateStamp takes %d bytes: there is one for each packet in flight", n)
	}
}

// flights sends and acks n packets, 64 in flight, eight in an ack.
type flights struct {
	m      Model
	stamps [64]Stamp
	sentAt [64]time.Duration
	now    time.Duration
	next   int
	frame  Frame
}

func newFlights() *flights {
	f := &flights{now: time.Hour}
	f.m.Init(1400, 0)
	return f
}

func (f *flights) packet() {
	i := f.next % 64
	if f.next >= 64 {
		f.m.OnAcked(f.now, f.sentAt[i], 1400, &f.stamps[i], &f.frame)
		if f.next%8 == 7 {
			f.m.EndAck(f.now, f.now-f.sentAt[i], 63*1400, &f.frame)
			f.frame = Frame{}
		}
	}
	f.m.Allowed(f.now)
	f.m.Spend(f.now, 1400)
	f.sentAt[i] = f.now
	f.m.OnSend(f.now, 1400, 63*1400, &f.stamps[i])
	f.now += 100 * time.Microsecond
	f.next++
}

func TestRateAllocates(t *testing.T) {
	f := newFlights()
	if n := testing.AllocsPerRun(1000, f.packet); n > 0 {
		t.Errorf("%v allocations a packet", n)
	}
}

// BenchmarkRateModel is one packet: pacing, sending, its ack, and an eighth of an ack frame.
func BenchmarkRateModel(b *testing.B) {
	f := newFlights()
	b.ReportAllocs()
	for b.Loop() {
		f.packet()
	}
}
