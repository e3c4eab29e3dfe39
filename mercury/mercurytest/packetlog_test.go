package mercurytest

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cellscape/cellscape/mercury"
)

func TestPacketLog(t *testing.T) {
	l := NewPacketLog(3)
	peer := netip.MustParseAddrPort("10.0.0.2:20000")
	l.PacketOut(time.Millisecond, mercury.PacketInfo{Peer: peer, Kind: mercury.PacketOpen, Size: 300})
	l.PacketIn(2*time.Millisecond, mercury.PacketInfo{Peer: peer, Kind: mercury.PacketAccept, Size: 280})
	l.PacketOut(3*time.Millisecond, mercury.PacketInfo{Peer: peer, Kind: mercury.PacketData, Channel: 4, Number: 17, Size: 1200})
	l.PacketLost(90*time.Millisecond, mercury.PacketInfo{Peer: peer, Kind: mercury.PacketData, Channel: 4, Number: 17, Size: 1200})
	l.PacketIn(100*time.Millisecond, mercury.PacketInfo{Peer: peer, Size: 3, Dropped: "too short"})
	want := `2 earlier packets forgotten
           3ms out  10.0.0.2:20000        data      channel 4 #17 1200 bytes
          90ms lost 10.0.0.2:20000        data      channel 4 #17 1200 bytes
         100ms in   10.0.0.2:20000        other     3 bytes, dropped: too short
`
	if diff := cmp.Diff(want, l.String()); diff != "" {
		t.Error(diff)
	}
	if l.Total() != 5 {
		t.Errorf("Total is %d", l.Total())
	}
	for r := range l.All() {
		if r.Way != PacketOut || r.Number != 17 {
			t.Errorf("the oldest is %v", r)
		}
		break
	}
}

func TestPacketLogBounds(t *testing.T) {
	for _, n := range []int{-1, 0, 1} {
		l := NewPacketLog(n)
		for range 10 {
			l.PacketOut(0, mercury.PacketInfo{})
		}
		if got := strings.Count(l.String(), "\n"); got != 2 {
			t.Errorf("NewPacketLog(%d) dumps %d lines, want the last packet and that 9 are forgotten", n, got)
		}
	}
	l := NewPacketLog(100)
	for range 200 {
		l.PacketOut(0, mercury.PacketInfo{})
	}
	if n := testing.AllocsPerRun(100, func() { l.PacketIn(0, mercury.PacketInfo{Number: 1}) }); n > 0 {
		t.Errorf("%v allocations a packet", n)
	}
}
