package mercurytest_test

import (
	"bytes"
	"math/bits"
	"net/netip"
	"testing"
	"time"

	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/mercurytest"
)

// arrivals delivers everything in flight and returns it with its times.
type arrival struct {
	at       time.Duration
	from, to netip.AddrPort
	data     []byte
}

func arrivals(n *mercurytest.Network) (all []arrival) {
	for {
		at, some := n.NextArrival()
		if !some {
			return all
		}
		n.Deliver(at, func(from, to netip.AddrPort, p []byte) {
			all = append(all, arrival{at, from, to, bytes.Clone(p)})
		})
	}
}

func TestNetworkCorrupts(t *testing.T) {
	n := mercurytest.New(1)
	n.SetLink(mercurytest.Link{Corrupt: 0.5})
	sent := make([]byte, 100)
	for range 1000 {
		n.Send(0, mercurytest.Place(1), mercurytest.Place(2), sent)
	}
	damaged := 0
	for _, a := range arrivals(n) {
		flipped := 0
		for _, b := range a.data {
			flipped += bits.OnesCount8(b)
		}
		if len(a.data) != len(sent) || flipped > 8 {
			t.Fatalf("%d bytes arrived, %d bits turned", len(a.data), flipped)
		}
		if flipped > 0 {
			damaged++
		}
	}
	if c := n.Counts(); damaged < 400 || damaged > 600 || c.Corrupted < damaged || c.Corrupted > damaged+50 {
		t.Errorf("%d of 1000 damaged, %d counted", damaged, c.Corrupted)
	}
}

func TestNetworkMTU(t *testing.T) {
	n := mercurytest.New(1)
	n.SetLinkBetween(mercurytest.Place(1), mercurytest.Place(2), mercurytest.Link{MTU: 1200})
	for _, size := range []int{1199, 1200, 1201, 1400} {
		n.Send(0, mercurytest.Place(1), mercurytest.Place(2), make([]byte, size))
		n.Send(0, mercurytest.Place(1), mercurytest.Place(3), make([]byte, size))
	}
	if got := len(arrivals(n)); got != 6 || n.Counts().TooBig != 2 {
		t.Errorf("%d of 8 came, %d were too big; want 6 and 2", got, n.Counts().TooBig)
	}
}

func TestNetworkBottleneck(t *testing.T) {
	n := mercurytest.New(1)
	const size = 1000 - mercurytest.PacketOverhead
	n.SetLink(mercurytest.Link{Delay: 10 * time.Millisecond, Rate: 1_000_000, Queue: 5000})
	for range 8 {
		n.Send(0, mercurytest.Place(1), mercurytest.Place(2), make([]byte, size))
	}
	n.Send(0, mercurytest.Place(2), mercurytest.Place(1), make([]byte, size)) // the way back has a bottleneck of its own
	got := arrivals(n)
	if len(got) != 6 || n.Counts().Overrun != 3 {
		t.Fatalf("%d came and %d overran a queue of five; want 6 and 3", len(got), n.Counts().Overrun)
	}
	for i, want := range []int{11, 11, 12, 13, 14, 15} { // 1 ms each at 1 MB/s
		if got[i].at != time.Duration(want)*time.Millisecond {
			t.Errorf("datagram %d came at %v, want %d ms", i, got[i].at, want)
		}
	}
	n.Send(100*time.Millisecond, mercurytest.Place(1), mercurytest.Place(2), make([]byte, size))
	if got := arrivals(n); len(got) != 1 || got[0].at != 111*time.Millisecond {
		t.Errorf("after a pause: %+v", got)
	}
}

func TestNetworkOneWay(t *testing.T) {
	n := mercurytest.New(1)
	a, b := mercurytest.Place(1), mercurytest.Place(2)
	n.SetLink(mercurytest.Link{Delay: time.Second})
	n.SetLinkBetween(a, b, mercurytest.Link{Delay: 2 * time.Millisecond})
	n.SetLinkOneWay(a, b, mercurytest.Link{Delay: 30 * time.Millisecond})
	n.Send(0, a, b, nil)
	n.Send(0, b, a, nil)
	got := arrivals(n)
	if len(got) != 2 || got[0].at != 2*time.Millisecond || got[1].at != 30*time.Millisecond || got[1].to != b {
		t.Errorf("%+v", got)
	}
}

func TestNetworkRebind(t *testing.T) {
	n := mercurytest.New(1)
	a, b, outer, outer2 := mercurytest.Place(1), mercurytest.Place(2), mercurytest.Place(101), mercurytest.Place(102)
	n.Send(0, b, a, []byte("in flight"))
	n.Rebind(a, outer)
	n.Send(0, a, b, []byte("from outer"))
	n.Send(0, b, outer, []byte("to outer"))
	n.Send(0, b, a, []byte("to nobody"))
	got := arrivals(n)
	if len(got) != 2 || got[0].from != outer || got[0].to != b || got[1].to != a || n.Counts().Stray != 2 {
		t.Fatalf("%+v, %+v", got, n.Counts())
	}
	n.Rebind(a, outer2)
	n.Send(0, b, outer, []byte("to an old one"))
	n.Cut(a, b, true)
	n.Send(0, b, outer2, []byte("cut"))
	n.Cut(a, b, false)
	n.Send(0, b, outer2, []byte("to the new one"))
	if got := arrivals(n); len(got) != 2 || got[0].to != outer || got[1].to != a || n.Outer(a) != outer2 {
		t.Fatalf("%+v", got)
	}
	n.Rebind(a, a)
	n.Send(0, a, b, []byte("as before"))
	if got := arrivals(n); len(got) != 1 || got[0].from != a {
		t.Fatalf("%+v", got)
	}
}

func TestNetworkWatchAndInject(t *testing.T) {
	n := mercurytest.New(1)
	n.SetLink(mercurytest.Link{Loss: 1})
	a, b := mercurytest.Place(1), mercurytest.Place(2)
	var seen []arrival
	n.Watch(func(now time.Duration, from, to netip.AddrPort, p []byte) {
		seen = append(seen, arrival{now, from, to, bytes.Clone(p)})
	})
	n.Send(time.Second, a, b, []byte("lost"))
	if got := arrivals(n); len(got) != 0 || len(seen) != 1 || string(seen[0].data) != "lost" || seen[0].at != time.Second {
		t.Fatalf("%+v seen, %+v arrived", seen, got)
	}
	n.Watch(nil)
	n.Send(time.Second, a, b, []byte("unseen"))
	n.Inject(2*time.Second, mercurytest.Place(9), b, seen[0].data)
	got := arrivals(n)
	if len(got) != 1 || len(seen) != 1 || string(got[0].data) != "lost" || got[0].from != mercurytest.Place(9) {
		t.Fatalf("%+v arrived", got)
	}
}

// A clock that jumps ahead is no reason to give up a peer that speaks.
func TestWorldJump(t *testing.T) {
	rig, w := mercurytest.EndpointRigIn(t, 1, mercury.Config{})
	var a, b mercurytest.Recorder
	rig.SetHandlers(&a, &b)
	ch := rig.A.Dial(rig.B.Self())
	w.Run(time.Second)
	for range 20 {
		w.Jump(mercurytest.Place(1), time.Hour)
		if err := rig.A.Send(ch, []byte("still here")); err != nil {
			t.Fatal(err)
		}
		w.Run(300 * time.Millisecond)
	}
	if got := len(b.Of(b.Order[0]).Reliable); got != 20 || len(a.Of(ch).Closed) > 0 {
		t.Errorf("%d of 20 messages came, closed: %v", got, a.Of(ch).Closed)
	}
}
