package mercury

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"testing"
	"time"
)

// ledger counts what arrives and checks that it comes in order.
type ledger struct {
	t    *testing.T
	next [lanes]uint64
}

func (l *ledger) Opened(time.Duration, ChannelID, Address) {}
func (l *ledger) Closed(_ time.Duration, _ ChannelID, reason error) {
	l.t.Errorf("closed: %v", reason)
}
func (l *ledger) Message(_ time.Duration, _ ChannelID, reliable bool, msg []byte) {
	if reliable {
		l.take(laneGame, msg)
	}
}
func (l *ledger) Bulk(_ time.Duration, _ ChannelID, msg []byte) { l.take(laneBulk, msg) }

func (l *ledger) take(lane int, msg []byte) {
	if n := binary.LittleEndian.Uint64(msg); n != l.next[lane] {
		l.t.Fatalf("stream %d: message %d, want %d", lane, n, l.next[lane])
	}
	l.next[lane]++
}

// setNumbers makes an open and quiet channel go on as if it had sent n packets and n segments.
func setNumbers(from, to *Endpoint, ch ChannelID, n uint64) {
	a := from.channels[ch]
	b := to.channels[a.remote]
	a.out.number, a.out.acked = n, n
	a.out.late.newest = n
	a.out.sent = ring[sentPacket]{}
	a.out.inFlight, a.out.flightBytes = 0, 0
	b.in.numbers = numberSet{floor: n}
	b.in.numbers.runs = append(b.in.numbers.runs, numberRange{n - 1, n - 1})
	for i := range a.out.streams {
		a.out.streams[i].first = n
		b.in.streams[i].next = n
	}
}

// Wherever the bytes of a number on the wire run over, nothing is lost, doubled or reordered, and
// nobody takes notice.
func TestNumbersRunOver(t *testing.T) {
	for _, bits := range []int{7, 8, 14, 16, 21, 24, 28, 31, 32, 35, 40, 47} {
		t.Run(fmt.Sprintf("2^%d", bits), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(1, uint64(bits)))
			a, b, ch := openPair(t)
			l := &ledger{t: t}
			b.SetHandler(l)
			now := 100 * time.Millisecond
			exchange(now, a, b)
			back := a.channels[ch].remote
			setNumbers(a, b, ch, 1<<bits-40)
			setNumbers(b, a, back, 1<<bits-40)
			type flying struct {
				to *Endpoint
				p  []byte
			}
			var air []flying
			var sent [lanes]uint64
			for step := range 600 {
				now += 5 * time.Millisecond
				if step < 400 {
					_ = a.Send(ch, binary.LittleEndian.AppendUint64(nil, sent[laneGame]))
					sent[laneGame]++
				}
				if step < 400 && step%4 == 0 {
					_ = a.SendBulk(ch, append(binary.LittleEndian.AppendUint64(nil, sent[laneBulk]), make([]byte, 2000)...))
					sent[laneBulk]++
				}
				for _, e := range []*Endpoint{a, b} {
					e.Advance(now)
					other := a
					if e == a {
						other = b
					}
					e.Flush(now, func(_ netip.AddrPort, p []byte) {
						if step >= 400 || rng.IntN(10) > 0 {
							air = append(air, flying{other, append([]byte(nil), p...)})
						}
					})
				}
				for len(air) > rng.IntN(6) {
					i := rng.IntN(min(3, len(air)))
					f := air[i]
					air = append(air[:i], air[i+1:]...)
					from := a.self.At
					if f.to == a {
						from = b.self.At
					}
					f.to.Receive(now, from, f.p)
				}
			}
			if l.next != sent {
				t.Errorf("arrived %v of %v", l.next, sent)
			}
			if n := a.channels[ch].out.number; n < 1<<bits {
				t.Errorf("number %d has not run over", n)
			}
		})
	}
}

// A channel whose numbers are used up ends with a reason instead of using one twice.
func TestNumbersRunOut(t *testing.T) {
	a, b, ch := openPair(t)
	exchange(time.Second, a, b)
	a.channels[ch].out.number = maxNumber
	_ = a.Send(ch, []byte("one too many"))
	exchange(2*time.Second, a, b)
	if a.channels[ch] != nil {
		t.Error("the channel goes on")
	}
}
