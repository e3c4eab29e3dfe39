package mercury_test

import (
	"encoding/binary"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/mercurytest"
)

// chaosFlow is what one side of a game sends: burst messages of size bytes every so often. Size 0
// sends nothing.
type chaosFlow struct {
	size  int
	every time.Duration
	burst int
}

// chaosSide is one end of a game with what it has measured.
type chaosSide struct {
	chaosFlow
	e       *mercury.Endpoint
	ch      mercury.ChannelID
	next    time.Duration
	sentAt  []time.Duration
	delays  []time.Duration // of what this side sent, by message
	heard   int             // messages that this side got
	strange string          // what should not have come
	from    mercury.Stats   // when measuring began
	since   int             // messages sent before that
}

// chaosGame is a server (side 0) and a client (side 1) that send each other messages on one
// channel.
type chaosGame struct {
	t     testing.TB
	w     *mercurytest.World
	sides [2]*chaosSide
}

// Opened implements mercury.Handler.
func (s *chaosSide) Opened(_ time.Duration, ch mercury.ChannelID, _ mercury.Address) { s.ch = ch }

// Closed implements mercury.Handler.
func (s *chaosSide) Closed(_ time.Duration, _ mercury.ChannelID, reason error) {
	s.strange = fmt.Sprintf("closed: %v", reason)
}

// chaosEars gives a side's messages to it, with the other side, whose message it is.
type chaosEars struct {
	*chaosSide
	w    *mercurytest.World
	from *chaosSide
}

// Message implements mercury.Handler.
func (h *chaosEars) Message(_ time.Duration, _ mercury.ChannelID, _ bool, msg []byte) {
	n := int(binary.LittleEndian.Uint32(msg))
	if n != h.heard || len(msg) != h.from.size {
		h.strange = fmt.Sprintf("message %d of %d bytes when %d was due", n, len(msg), h.heard)
		return
	}
	h.heard++
	h.from.delays = append(h.from.delays, h.w.Now()-h.from.sentAt[n])
}

// newChaosGame opens the channel; the client dials.
func newChaosGame(t testing.TB, seed uint64, cfg mercury.Config, link mercurytest.Link, down, up chaosFlow) *chaosGame {
	t.Helper()
	g := &chaosGame{t: t, w: mercurytest.NewWorld(seed), sides: [2]*chaosSide{{chaosFlow: down}, {chaosFlow: up}}}
	g.w.Net.SetLink(link)
	for i, s := range g.sides {
		cfg.Salt = uint32(i + 1)
		e, err := mercury.NewEndpoint(cfg, mercurytest.Place(i+1), &chaosEars{s, g.w, g.sides[1-i]})
		if err != nil {
			t.Fatal(err)
		}
		s.e = e
		g.w.Add(e)
	}
	g.sides[1].e.Dial(g.sides[0].e.Self())
	if !g.w.RunUntil(10*time.Second, func() bool { return g.sides[0].ch != 0 && g.sides[1].ch != 0 }) {
		t.Fatal("the channel did not open")
	}
	for _, s := range g.sides {
		s.next = g.w.Now()
	}
	return g
}

// play lets both sides send for d.
func (g *chaosGame) play(d time.Duration) {
	g.t.Helper()
	for end := g.w.Now() + d; ; {
		next := end
		for _, s := range g.sides {
			if s.size > 0 && s.next <= g.w.Now() {
				for range s.burst {
					g.send(s)
				}
				s.next += s.every
			}
			if s.size > 0 {
				next = min(next, s.next)
			}
		}
		g.w.Run(next - g.w.Now())
		if next == end {
			return
		}
	}
}

func (g *chaosGame) send(s *chaosSide) {
	msg := binary.LittleEndian.AppendUint32(make([]byte, 0, s.size), uint32(len(s.sentAt)))
	s.sentAt = append(s.sentAt, g.w.Now())
	if err := s.e.Send(s.ch, msg[:s.size]); err != nil {
		g.t.Fatalf("at %v: %v", g.w.Now(), err)
	}
}

// measure begins to count anew.
func (g *chaosGame) measure() {
	for _, s := range g.sides {
		s.from, s.since = s.e.Stats(), len(s.sentAt)
	}
}

// drain waits for what is under way and checks that all has come.
func (g *chaosGame) drain() {
	g.t.Helper()
	g.w.RunUntil(10*time.Second, func() bool {
		return g.sides[0].heard == len(g.sides[1].sentAt) && g.sides[1].heard == len(g.sides[0].sentAt)
	})
	for i, s := range g.sides {
		if other := g.sides[1-i]; s.heard != len(other.sentAt) || s.strange != "" {
			g.t.Errorf("side %d heard %d of %d messages; %s", i, s.heard, len(other.sentAt), s.strange)
		}
	}
}

// chaosFigures is what measure to now has cost, one side or both.
type chaosFigures struct {
	messages, packets, bytes, payload, resends, lost int
	delays                                           []time.Duration
}

func (s *chaosSide) figures() (f chaosFigures) {
	now := s.e.Stats()
	f.messages = len(s.sentAt) - s.since
	f.packets = int(now.PacketsOut - s.from.PacketsOut)
	f.bytes = int(now.BytesOut-s.from.BytesOut) + f.packets*mercurytest.PacketOverhead
	f.payload = f.messages * s.size
	f.resends, f.lost = int(now.Resends-s.from.Resends), int(now.Lost-s.from.Lost)
	f.delays = slices.Clone(s.delays[min(s.since, len(s.delays)):])
	return f
}

// wire is the bytes on the wire, IP and UDP included, for each byte of payload, both directions
// together.
func (g *chaosGame) wire() float64 {
	a, b := g.sides[0].figures(), g.sides[1].figures()
	return float64(a.bytes+b.bytes) / float64(a.payload+b.payload)
}

// percentile returns the p-th percentile; delays get sorted.
func percentile(delays []time.Duration, p int) time.Duration {
	if len(delays) == 0 {
		return 0
	}
	slices.Sort(delays)
	return delays[min(len(delays)-1, len(delays)*p/100)]
}

var (
	chaosDown = chaosFlow{size: 200, every: 16 * time.Millisecond, burst: 1}
	chaosUp   = chaosFlow{size: 50, every: 33 * time.Millisecond, burst: 1}
)

// On a path that loses nothing, nothing is sent twice, and acks ride on what goes anyway.
func TestChaosCleanPath(t *testing.T) {
	slow := chaosFlow{size: 100, every: 500 * time.Millisecond, burst: 1}
	burst := chaosFlow{size: 200, every: 100 * time.Millisecond, burst: 20}
	wan := mercurytest.Link{Delay: 25 * time.Millisecond}
	loopback := mercurytest.Link{Delay: 50 * time.Microsecond}
	tests := []struct {
		name     string
		link     mercurytest.Link
		down, up chaosFlow
		// Most packets for each message of the busier side: its own, and the other's. Where only
		// one side speaks, the other sends bare acks, at most one for each AckDelay. A bare ack may
		// answer each of two messages a second.
		packets [2]float64
		wire    float64
	}{
		{"game, 50 ms", wan, chaosDown, chaosUp, [2]float64{1.05, 0.51}, 1.40},
		{"game, 50 ms and jitter", mercurytest.Link{Delay: 25 * time.Millisecond, Jitter: 10 * time.Millisecond}, chaosDown, chaosUp, [2]float64{1.05, 0.51}, 1.40},
		{"game, 0.1 ms", loopback, chaosDown, chaosUp, [2]float64{1.05, 0.51}, 1.40},
		{"2 Hz, 50 ms", wan, slow, slow, [2]float64{2.05, 2.05}, 2.5},
		{"2 Hz, 0.1 ms", loopback, slow, slow, [2]float64{2.05, 2.05}, 2.5},
		{"one way, 50 ms", wan, chaosDown, chaosFlow{}, [2]float64{1.05, 0.55}, 1.55},
		{"one way, 0.1 ms", loopback, chaosDown, chaosFlow{}, [2]float64{1.05, 0.55}, 1.55},
		{"bursts, 50 ms", wan, burst, burst, [2]float64{0.30, 0.30}, 1.15},
		{"bursts, 0.1 ms", loopback, burst, burst, [2]float64{0.30, 0.30}, 1.15},
		{"bursts one way, 50 ms", wan, burst, chaosFlow{}, [2]float64{0.25, 0.10}, 1.15},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			g := newChaosGame(t, 1, mercury.Config{}, test.link, test.down, test.up)
			g.measure()
			g.play(60 * time.Second)
			g.drain()
			per := g.sides[0].figures().messages
			wire := g.wire()
			t.Logf("wire %.2f", wire)
			if wire > test.wire {
				t.Errorf("%.2f bytes on the wire for each of payload, want at most %.2f", wire, test.wire)
			}
			for i, s := range g.sides {
				f := s.figures()
				packets := float64(f.packets) / float64(per)
				t.Logf("side %d: %d messages, %d packets (%.3f for each of the server's messages), p50 %v, p99 %v",
					i, f.messages, f.packets, packets, percentile(f.delays, 50), percentile(f.delays, 99))
				if f.resends > 0 || f.lost > 0 {
					t.Errorf("side %d resent %d and took %d packets for lost, though none was", i, f.resends, f.lost)
				}
				if packets > test.packets[i] {
					t.Errorf("side %d: %.3f packets for each of the server's messages, want at most %.2f", i, packets, test.packets[i])
				}
				if worst, most := percentile(f.delays, 100), test.link.Delay+test.link.Jitter; worst > most {
					t.Errorf("side %d: a message took %v over a path of %v", i, worst, most)
				}
			}
		})
	}
}

// Game traffic over a path that loses packets at random, 25 ms each way, after 30 s in which the
// sender learns it.
func TestChaosGameUnderLoss(t *testing.T) {
	for _, test := range []struct {
		loss   float64
		copies int
		p99    [2]time.Duration // to the client, and from it
		wire   float64
	}{
		{0.01, 2, [2]time.Duration{45 * time.Millisecond, 45 * time.Millisecond}, 2.6},
		{0.05, 2, [2]time.Duration{60 * time.Millisecond, 60 * time.Millisecond}, 3.5},
		{0.10, 2, [2]time.Duration{75 * time.Millisecond, 75 * time.Millisecond}, 3.5},
		// Found out by the next packet's ack, a loss costs the client 16 + 50 ms and half a millisecond,
		// the server 33 + 50; the message behind it waits that interval less.
		{0.01, mercury.NoCopies, [2]time.Duration{92 * time.Millisecond, 109 * time.Millisecond}, 1.45},
	} {
		for seed := uint64(1); seed <= 3; seed++ {
			t.Run(fmt.Sprintf("%v %%, %d copies, seed %d", 100*test.loss, test.copies, seed), func(t *testing.T) {
				link := mercurytest.Link{Delay: 25 * time.Millisecond, Loss: test.loss}
				g := newChaosGame(t, seed, mercury.Config{Copies: test.copies}, link, chaosDown, chaosUp)
				g.play(30 * time.Second)
				g.measure()
				g.play(30 * time.Second)
				wire := g.wire()
				g.drain()
				for i, s := range g.sides {
					f, way := s.figures(), [2]string{"S->C", "C->S"}[i]
					t.Logf("%s: p50 %v, p95 %v, p99 %v, max %v, %.2f packets a message, %d resends", way,
						percentile(f.delays, 50), percentile(f.delays, 95), percentile(f.delays, 99), percentile(f.delays, 100),
						float64(f.packets)/float64(f.messages), f.resends)
					if p99 := percentile(f.delays, 99); p99 > test.p99[i] {
						t.Errorf("%s p99 is %v, want at most %v", way, p99, test.p99[i])
					}
				}
				t.Logf("wire %.2f", wire)
				if wire > test.wire {
					t.Errorf("%.2f bytes on the wire for each of payload, want at most %.1f", wire, test.wire)
				}
			})
		}
	}
}
