package session

import (
	"net/netip"
	"testing"
)

// A page dials the LoginApp by the name that it was given, and BaseApps by the names of their doors.
func TestPagesDialByName(t *testing.T) {
	login, err := parseAddress("wss://play.example.com:443")
	if err != nil {
		t.Fatal(err)
	}
	at := netip.AddrPortFrom(standIn(login.host), 443)
	n := newNames(&login, at)
	named, bare, six := netip.MustParseAddrPort("192.0.2.7:20100"), netip.MustParseAddrPort("192.0.2.8:20100"), netip.MustParseAddrPort("[2001:db8::1]:20100")
	n.put(named, "base1.example.com")
	for to, want := range map[netip.AddrPort]string{
		at:    "wss://play.example.com:443/mercury",
		named: "wss://base1.example.com:20100/mercury",
		bare:  "wss://192.0.2.8:20100/mercury",
		six:   "wss://[2001:db8::1]:20100/mercury",
	} {
		if got := n.url(to); got != want {
			t.Errorf("%v: %s, want %s", to, got, want)
		}
	}
	for i := range 2 * maxNames {
		n.put(netip.AddrPortFrom(bare.Addr(), uint16(i+1)), "base.example.com")
	}
	if len(n.known) > maxNames {
		t.Errorf("%d names are kept", len(n.known))
	}
	// A world that names a door in bad faith gets a URL that does not go where it says, and nothing else.
	n.put(named, "evil/../?#")
	if got := n.url(named); got != "wss://evil%2F..%2F%3F%23:20100/mercury" {
		t.Errorf("%s", got)
	}
}

// Stand-ins are addresses that no session in the clear may go to unasked, but for this machine's.
func TestStandIns(t *testing.T) {
	a, b := standIn("a.example"), standIn("b.example")
	if a == b || a != standIn("a.example") || a.IsLoopback() || a.As4()[0] < 240 {
		t.Errorf("%v and %v", a, b)
	}
	if !standIn("localhost").IsLoopback() || standIn("192.0.2.1").String() != "192.0.2.1" || standIn("::1").String() != "::1" {
		t.Error("addresses do not stand for themselves")
	}
}
