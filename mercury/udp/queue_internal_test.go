package udp

import (
	"bytes"
	"encoding/binary"
	"maps"
	"math/rand/v2"
	"net/netip"
	"slices"
	"syscall"
	"testing"
)

func peer(n int) netip.AddrPort {
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 0, byte(n >> 8), byte(n)}), uint16(1000+n%7))
}

// datagramsOf flattens what is left, run by run.
func datagramsOf(q *queue) (to []netip.AddrPort, datagrams []string) {
	for _, r := range q.runs[q.done:] {
		for at := r.first; at >= 0; at = q.items[at].next {
			to = append(to, r.to)
			datagrams = append(datagrams, string(q.slab[q.items[at].start:q.items[at].end]))
		}
	}
	return to, datagrams
}

// checkRuns checks that the system would cut each run where its datagrams end.
func checkRuns(t *testing.T, q *queue) {
	t.Helper()
	for i, r := range q.runs[q.done:] {
		var sizes []int32
		total := int32(0)
		for at := r.first; at >= 0; at = q.items[at].next {
			sizes = append(sizes, q.items[at].end-q.items[at].start)
			total += sizes[len(sizes)-1]
		}
		last := len(sizes) - 1
		if int(r.count) != len(sizes) || r.bytes != total || r.count > maxRun || total > max(maxRunBytes, r.size) {
			t.Fatalf("run %d: count %d bytes %d, has %d and %d", i, r.count, r.bytes, len(sizes), total)
		}
		for j, size := range sizes {
			if size != r.size && (j < last || size > r.size) {
				t.Fatalf("run %d of size %d: sizes %v", i, r.size, sizes)
			}
		}
	}
}

// TestQueueKeepsOrder compares with a twin that keeps a list for each peer, over any mix of peers
// and sizes.
func TestQueueKeepsOrder(t *testing.T) {
	for seed := range uint64(12) {
		chance := rand.New(rand.NewPCG(seed, 0))
		q := queue{gso: seed%5 != 4}
		for round := range 6 {
			peers := 1 + chance.IntN(1<<chance.IntN(9))
			sizes := []int{1 + chance.IntN(1400), 1 + chance.IntN(1400), 1 + chance.IntN(1400)}
			want := make(map[netip.AddrPort][]string)
			for i := range 1000 {
				to := peer(chance.IntN(peers))
				p := binary.LittleEndian.AppendUint32(make([]byte, sizes[chance.IntN(len(sizes))]), uint32(i))
				if !q.add(to, p) {
					t.Fatalf("seed %d: refused", seed)
				}
				want[to] = append(want[to], string(p))
			}
			if q.left() != 1000 {
				t.Fatalf("seed %d: %d left", seed, q.left())
			}
			checkRuns(t, &q)
			if chance.IntN(2) == 0 {
				q.gsoRefused(seed%7 == 0, seed%3 == 0)
				checkRuns(t, &q)
			}
			to, datagrams := datagramsOf(&q)
			got := make(map[netip.AddrPort][]string)
			for i := range to {
				got[to[i]] = append(got[to[i]], datagrams[i])
			}
			if !maps.EqualFunc(want, got, slices.Equal) {
				t.Fatalf("seed %d round %d: a peer's datagrams are not in order", seed, round)
			}
			if seed%5 == 4 && len(q.runs) != 1000 {
				t.Fatalf("seed %d: %d runs without GSO", seed, len(q.runs))
			}
			q.reset()
		}
	}
}

// TestQueueGroups: datagrams of one size to a peer that follow one another form a run.
func TestQueueGroups(t *testing.T) {
	q := queue{gso: true}
	for round := range 3 {
		for p := range 8 {
			for range 20 {
				q.add(peer(p), make([]byte, 1200))
			}
		}
		if len(q.runs) != 8 {
			t.Errorf("round %d: %d runs, want 8", round, len(q.runs))
		}
		q.reset()
	}
	for range maxRun + 1 {
		q.add(peer(1), make([]byte, 100))
	}
	if len(q.runs) != 2 || q.runs[0].count != maxRun {
		t.Errorf("%d runs, the first of %d; want 2, %d", len(q.runs), q.runs[0].count, maxRun)
	}
}

func TestQueueBounds(t *testing.T) {
	var q queue
	for range maxQueued {
		q.add(peer(1), []byte{1})
	}
	if q.add(peer(1), []byte{1}) {
		t.Error("more than maxQueued")
	}
	q.reset()
	n := 0
	for big := make([]byte, MaxDatagram); q.add(peer(1), big); n++ {
	}
	if n != maxQueuedBytes/MaxDatagram {
		t.Errorf("took %d", n)
	}
	// One burst does not keep its memory for ever.
	q.reset()
	for range idleFlushes + 1 {
		q.add(peer(1), []byte{1})
		q.reset()
	}
	if cap(q.slab) > keepSlab {
		t.Errorf("keeps %d bytes", cap(q.slab))
	}
}

// TestRefused: what the system refuses as a run is tried singly, and a device without GSO is
// believed.
func TestRefused(t *testing.T) {
	fill := func() *Socket {
		s := &Socket{queue: queue{gso: true}}
		for i := range 6 {
			s.Queue(peer(i/3), bytes.Repeat([]byte{byte(i)}, 100))
		}
		return s
	}
	counts := func(q *queue) (c []int32) {
		for _, r := range q.runs[q.done:] {
			c = append(c, r.count)
		}
		return c
	}
	s := fill()
	s.refused(syscall.EMSGSIZE)
	if got := counts(&s.queue); !slices.Equal(got, []int32{1, 1, 1, 3}) || !s.queue.gso {
		t.Errorf("after a run that was too big: %v, gso %v", got, s.queue.gso)
	}
	s.refused(syscall.EMSGSIZE)
	if big, dropped := s.counts.tooBig.Load(), s.counts.dropped.Load(); big != 1 || dropped != 1 {
		t.Errorf("too big %d, dropped %d", big, dropped)
	}
	s = fill()
	s.refused(syscall.EIO)
	if got := counts(&s.queue); !slices.Equal(got, []int32{1, 1, 1, 1, 1, 1}) || s.queue.gso {
		t.Errorf("after EIO: %v, gso %v", got, s.queue.gso)
	}
	s = fill()
	for i := range gsoPatience {
		if !s.queue.gso {
			t.Errorf("gave up after %d", i)
		}
		s.queue.reset()
		s.Queue(peer(1), []byte("a"))
		s.Queue(peer(1), []byte("b"))
		s.refused(syscall.EINVAL)
	}
	if s.queue.gso {
		t.Error("does not give up")
	}
}
