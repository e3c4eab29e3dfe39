package mercurytest_test

import (
	"testing"
	"time"

	"github.com/cellscape/cellscape/mercury/mercurytest"
)

// Bursts have the share and the mean length that Gilbert's model gives them, each direction its own.
func TestNetworkBursts(t *testing.T) {
	n := mercurytest.New(1)
	n.SetLink(mercurytest.Link{BurstBegin: 0.01, BurstEnd: 0.25})
	const total = 40000
	for i := range total {
		n.Send(time.Duration(i), mercurytest.Place(1), mercurytest.Place(2), []byte{1})
	}
	came := make(map[time.Duration]bool)
	for _, a := range arrivals(n) {
		came[a.at] = true
	}
	bursts, lost := 0, 0
	for i := range total {
		if !came[time.Duration(i)] {
			lost++
			if i == 0 || came[time.Duration(i-1)] {
				bursts++
			}
		}
	}
	// A burst begins after 100 datagrams on average and takes 4.
	if share := float64(lost) / total; share < 0.032 || share > 0.045 {
		t.Errorf("%.3f lost, want about 4/104", share)
	}
	if length := float64(lost) / float64(bursts); length < 3.5 || length > 4.5 {
		t.Errorf("a burst takes %.2f datagrams, want about 4", length)
	}
	n.SetLink(mercurytest.Link{BurstBegin: 1})
	if n.Send(total, mercurytest.Place(3), mercurytest.Place(4), nil); len(arrivals(n)) != 0 {
		t.Error("a burst that begins for certain let a datagram pass")
	}
	if n.Send(total, mercurytest.Place(3), mercurytest.Place(4), nil); len(arrivals(n)) != 1 {
		t.Error("BurstEnd of 0 does not end a burst with the next datagram")
	}
}

func TestNetworkOutages(t *testing.T) {
	n := mercurytest.New(1)
	n.SetLink(mercurytest.Link{Outage: 200 * time.Millisecond, OutageEvery: time.Second})
	for i := range 300 {
		n.Send(time.Duration(i)*10*time.Millisecond, mercurytest.Place(1), mercurytest.Place(2), nil)
	}
	got := arrivals(n)
	for _, a := range got {
		if a.at%time.Second >= 800*time.Millisecond {
			t.Fatalf("a datagram passed at %v", a.at)
		}
	}
	if len(got) != 240 || n.Counts().Lost != 60 {
		t.Errorf("%d passed, want 240", len(got))
	}
}

// What shares a trunk shares its rate and its queue, first in, first out; what goes elsewhere does not.
func TestTrunkIsShared(t *testing.T) {
	n := mercurytest.New(1)
	const size = 1000 - mercurytest.PacketOverhead
	trunk := mercurytest.NewTrunk(1_000_000, 5*time.Millisecond)
	link := mercurytest.Link{Delay: 10 * time.Millisecond, Trunk: trunk}
	n.SetLinkOneWay(mercurytest.Place(1), mercurytest.Place(2), link)
	n.SetLinkOneWay(mercurytest.Place(1), mercurytest.Place(3), link)
	for range 4 {
		n.Send(0, mercurytest.Place(1), mercurytest.Place(2), make([]byte, size))
		n.Send(0, mercurytest.Place(1), mercurytest.Place(3), make([]byte, size))
	}
	n.Send(0, mercurytest.Place(2), mercurytest.Place(1), make([]byte, size))
	got := arrivals(n)
	if len(got) != 6 || n.Counts().Overrun != 3 || got[0].to != mercurytest.Place(1) || got[0].at != 0 {
		t.Fatalf("%d came and %d overran; want 5 through the trunk, 1 beside it, 3", len(got), n.Counts().Overrun)
	}
	for i, a := range got[1:] {
		if want := time.Duration(11+i) * time.Millisecond; a.at != want || a.to != mercurytest.Place(2+i%2) {
			t.Errorf("datagram %d came to %v at %v, want %v", i, a.to, a.at, want)
		}
	}
	if c := trunk.Counts(); c != (mercurytest.TrunkCounts{Passed: 5, Dropped: 3, PassedBytes: 5000, DroppedBytes: 3000}) {
		t.Errorf("the trunk counts %+v", c)
	}
}

// A Cubic alone fills its trunk: it uses the rate, stands in the queue, and loses little.
func TestCubicFillsTrunk(t *testing.T) {
	const rate = 250_000
	w := mercurytest.NewWorld(1)
	trunk := mercurytest.NewTrunk(rate, 100*time.Millisecond)
	w.Net.SetLink(mercurytest.Link{Delay: 25 * time.Millisecond})
	w.Net.SetLinkOneWay(mercurytest.Place(1), mercurytest.Place(2), mercurytest.Link{Delay: 25 * time.Millisecond, Trunk: trunk})
	c := mercurytest.NewCubic(mercurytest.Place(1), mercurytest.Place(2))
	w.Add(c)
	w.Add(&mercurytest.CubicSink{At: mercurytest.Place(2)})
	w.Run(60 * time.Second)
	acked, lost := c.Acked()
	share := float64(lost) / float64(trunk.Counts().Passed)
	t.Logf("%d bytes in 60 s, %.4f lost", acked, share)
	if acked < 60*rate*9/10 || lost == 0 || share > 0.05 {
		t.Errorf("%d bytes in 60 s of a trunk that passes %d, %.4f lost", acked, 60*rate, share)
	}
}
