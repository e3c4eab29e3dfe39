package mercury_test

import (
	"net/netip"
	"testing"
	"time"

	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/mercurytest"
)

// A monitor is told of every packet that the path takes and gives, and of the lost ones; a filter
// turns away what it likes before anything else looks at it.
func TestMonitorAndFilter(t *testing.T) {
	const lossy = 0.1
	r := newRig(t, 1, mercury.Config{Copies: mercury.NoCopies})
	r.w.Net.SetLink(mercurytest.Link{Delay: 5 * time.Millisecond, Loss: lossy})
	log := mercurytest.NewPacketLog(mercurytest.MaxPacketLog)
	r.a.SetMonitor(log)
	ch := r.a.Dial(r.b.Self())
	for range 300 {
		if err := r.a.Send(ch, []byte("step")); err != nil {
			t.Fatal(err)
		}
		r.w.Run(20 * time.Millisecond)
	}
	var in, out, lost uint64
	for p := range log.All() {
		switch {
		case p.Peer != r.b.Self().At:
			t.Fatalf("a packet of nobody: %v", p)
		case p.Way == mercurytest.PacketIn && p.Dropped == "" && p.Channel != 0:
			in++
		case p.Way == mercurytest.PacketOut && p.Channel != 0:
			out++
		case p.Way == mercurytest.PacketLost:
			lost++
		}
	}
	s := r.a.Stats()
	if lost != s.Lost || lost == 0 {
		t.Errorf("%d packets told as lost, %d counted", lost, s.Lost)
	}
	if in < 100 || in > s.PacketsIn || out < 300 || out > s.PacketsOut {
		t.Errorf("%d of %d packets in and %d of %d out are told of", in, s.PacketsIn, out, s.PacketsOut)
	}
	asked := 0
	r.a.SetFilter(mercury.FilterFunc(func(_ time.Duration, from netip.AddrPort, datagram []byte) bool {
		asked++
		return from == r.b.Self().At && len(datagram) > 0
	}))
	before := r.a.Stats()
	if err := r.a.Send(ch, []byte("unheard")); err != nil {
		t.Fatal(err)
	}
	r.w.Run(time.Second)
	after := r.a.Stats()
	if n := after.Filtered - before.Filtered; n == 0 || n != uint64(asked) || after.MessagesIn != before.MessagesIn {
		t.Errorf("the filter was asked %d times and %d datagrams counted as filtered", asked, n)
	}
}
