package mercury

import (
	"net/netip"
	"testing"
	"time"
)

func TestPacketKindNames(t *testing.T) {
	seen := map[string]bool{}
	for k := range PacketProbe + 1 {
		if seen[k.String()] {
			t.Errorf("two kinds are called %q", k)
		}
		seen[k.String()] = true
	}
	if got := (PacketProbe + 1).String(); got != "packet(9)" {
		t.Errorf("an unknown kind is called %q", got)
	}
}

func TestFilterFunc(t *testing.T) {
	var f Filter = FilterFunc(func(_ time.Duration, from netip.AddrPort, datagram []byte) bool {
		return from.Port() == 7 && len(datagram) == 1
	})
	if !f.Drop(0, netip.MustParseAddrPort("10.0.0.1:7"), []byte{1}) || f.Drop(0, netip.MustParseAddrPort("10.0.0.1:8"), []byte{1}) {
		t.Error("the function is not asked")
	}
}
