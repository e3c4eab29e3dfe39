package mercury

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"
)

// out is a datagram that an impairer gave out.
type out struct {
	at time.Duration
	to netip.AddrPort
	n  int
}

// impairRun sends n numbered datagrams, one a millisecond, and returns what comes out.
func impairRun(imp Impairment, seed uint64, n int) (*impairer, []out) {
	q := &impairer{Impairment: imp, rng: rand.New(rand.NewPCG(seed, 0))}
	var got []out
	at := func(now time.Duration) {
		q.due(now, func(to netip.AddrPort, p []byte) {
			got = append(got, out{now, to, int(binary.LittleEndian.Uint32(p))})
		})
	}
	for i := range n {
		now := time.Duration(i) * time.Millisecond
		for d, ok := q.next(); ok && d <= now; d, ok = q.next() {
			at(d)
		}
		q.pass(now, testPlace(i%3), binary.LittleEndian.AppendUint32(nil, uint32(i)))
	}
	for d, ok := q.next(); ok; d, ok = q.next() {
		at(d)
	}
	return q, got
}

func TestImpairNothing(t *testing.T) {
	q, got := impairRun(Impairment{}, 1, 100)
	for i, o := range got {
		if o.n != i || o.at != time.Duration(i)*time.Millisecond || o.to != testPlace(i%3) {
			t.Fatalf("datagram %d comes out as %+v", i, o)
		}
	}
	if len(got) != 100 || q.bytes != 0 {
		t.Errorf("%d of 100 came out; %d bytes held", len(got), q.bytes)
	}
}

func TestImpairShares(t *testing.T) {
	const n = 20000
	imp := Impairment{Loss: 0.1, Duplicate: 0.05, Reorder: 0.2, Delay: 20 * time.Millisecond, Jitter: 500 * time.Microsecond}
	q, got := impairRun(imp, 1, n)
	near := func(what string, v uint64, want float64) {
		if math.Abs(float64(v)-want) > want/10 {
			t.Errorf("%s: %d of %d, want about %.0f", what, v, n, want)
		}
	}
	near("lost", q.lost, 0.1*n)
	near("doubled", q.doubled, 0.9*0.05*n)
	if len(got) != n-int(q.lost)+int(q.doubled) || q.dropped != 0 {
		t.Errorf("%d came out; %d lost, %d doubled, %d dropped", len(got), q.lost, q.doubled, q.dropped)
	}
	held := uint64(0)
	for _, o := range got {
		delay := o.at - time.Duration(o.n)*time.Millisecond
		if delay < imp.Delay || delay > 5*(imp.Delay+imp.Jitter) {
			t.Fatalf("datagram %d takes %v", o.n, delay)
		}
		if delay > imp.Delay+imp.Jitter {
			held++
		}
	}
	near("held back", held, 0.2*float64(len(got)))
}

// TestImpairTwin compares the order with that of a stable sort by time.
func TestImpairTwin(t *testing.T) {
	for seed := range uint64(20) {
		imp := Impairment{Duplicate: 0.3, Reorder: 0.3, Jitter: 30 * time.Millisecond}
		_, got := impairRun(imp, seed, 300)
		if !slices.IsSortedFunc(got, func(a, b out) int { return int(a.at - b.at) }) {
			t.Fatalf("seed %d: not in the order of time", seed)
		}
		twin := &impairer{Impairment: imp, rng: rand.New(rand.NewPCG(seed, 0))}
		var want []impairedDatagram
		for i := range 300 {
			twin.pass(time.Duration(i)*time.Millisecond, testPlace(i%3), binary.LittleEndian.AppendUint32(nil, uint32(i)))
		}
		want = slices.Clone(twin.heap)
		slices.SortFunc(want, func(a, b impairedDatagram) int {
			if a.before(&b) {
				return -1
			}
			return 1
		})
		for i, d := range want {
			if got[i].at != d.at || got[i].n != int(binary.LittleEndian.Uint32(d.buf)) {
				t.Fatalf("seed %d: place %d is %+v, want number %x at %v", seed, i, got[i], d.buf, d.at)
			}
		}
	}
}

func TestImpairSameChanceSameRun(t *testing.T) {
	imp := Impairment{Loss: 0.2, Duplicate: 0.2, Reorder: 0.2, Delay: time.Millisecond, Jitter: 5 * time.Millisecond}
	_, a := impairRun(imp, 7, 500)
	_, b := impairRun(imp, 7, 500)
	if !slices.Equal(a, b) {
		t.Error("two runs of one seed differ")
	}
}

// TestImpairKeepsOrder wants delay alone to keep the order, also of what is sent in one moment, and after the delay is
// switched off.
func TestImpairKeepsOrder(t *testing.T) {
	q := &impairer{Impairment: Impairment{Delay: 50 * time.Millisecond}, rng: rand.New(rand.NewPCG(1, 1))}
	for i := range byte(100) {
		q.pass(0, testPlace(1), []byte{i})
	}
	q.Impairment = Impairment{}
	q.pass(0, testPlace(1), []byte{200})
	var got []byte
	emit := func(_ netip.AddrPort, p []byte) { got = append(got, p...) }
	q.due(0, emit)
	q.due(50*time.Millisecond-1, emit)
	if len(got) != 1 || got[0] != 200 {
		t.Fatalf("at once: %v", got)
	}
	q.due(50*time.Millisecond, emit)
	if len(got) != 101 || !slices.IsSorted(got[1:]) {
		t.Errorf("later: %v", got)
	}
}

func TestImpairLimits(t *testing.T) {
	for _, test := range []struct{ size, want int }{{1, maxImpaired}, {1 << 16, maxImpairedBytes >> 16}} {
		q := &impairer{Impairment: Impairment{Delay: time.Second}, rng: rand.New(rand.NewPCG(1, 1))}
		p := make([]byte, test.size)
		for range test.want + 10 {
			q.pass(0, testPlace(1), p)
		}
		if len(q.heap) != test.want || q.dropped != 10 {
			t.Errorf("of %d bytes each %d are held and %d dropped, want %d and 10", test.size, len(q.heap), q.dropped, test.want)
		}
		q.due(time.Second, func(netip.AddrPort, []byte) {})
		if q.bytes != 0 || len(q.spare) > maxSpareImpaired {
			t.Errorf("%d bytes counted after all have left, %d buffers kept", q.bytes, len(q.spare))
		}
	}
}

func TestImpairmentValidate(t *testing.T) {
	good := Impairment{Loss: 1, Duplicate: 0.5, Reorder: 0.1, Delay: time.Second, Jitter: time.Second}
	if err := good.Validate(); err != nil {
		t.Error(err)
	}
	bad := Impairment{Loss: -0.1, Duplicate: 1.1, Reorder: math.NaN(), Delay: -1, Jitter: time.Hour}
	err := bad.Validate()
	if err == nil || strings.Count(err.Error(), "\n") != 4 {
		t.Errorf("want five faults, got %v", err)
	}
}

func TestImpairDoesNotAllocate(t *testing.T) {
	q := &impairer{Impairment: Impairment{Delay: time.Millisecond}, rng: rand.New(rand.NewPCG(1, 1))}
	p := make([]byte, 1400)
	emit := func(netip.AddrPort, []byte) {}
	now := time.Duration(0)
	step := func() {
		now += time.Millisecond
		q.due(now, emit)
		for range 50 {
			q.pass(now, testPlace(1), p)
		}
	}
	step()
	step()
	if n := testing.AllocsPerRun(100, step); n > 0 {
		t.Errorf("%v allocations a step", n)
	}
}
