package cluster

import (
	"crypto/tls"
	"net"
	"net/netip"
	"strings"
	"testing"

	"github.com/cellscape/cellscape/mercury/secure"
)

// Faults of doors are found at start-up, all at once, and each names its remedy.
func TestDoorFaults(t *testing.T) {
	key, cert := secure.PrivateKey{1}, &tls.Config{Certificates: make([]tls.Certificate, 1)}
	out := netip.MustParseAddr("203.0.113.5")
	for _, x := range []struct {
		name string
		cfg  Config
		want []string // none for no fault
	}{
		{"on the loopback nothing need be sealed", Config{Doors: []Door{{Network: UDP}, {Network: TCP}, {Network: WebSocket}}}, nil},
		{"sealed", Config{Key: key, TLS: cert, Doors: []Door{{Network: UDP, Listen: "0.0.0.0", Advertise: out}, {Network: QUIC}, {Network: TCP, Listen: "10.0.0.7"}, {Network: WebSocket, Name: "play.example.com"}}}, nil},
		{"in the clear by the owner's word", Config{Listen: "10.0.0.7", Doors: []Door{{Network: UDP, Clear: true}, {Network: TCP, Clear: true}, {Network: WebSocket, Clear: true}}}, nil},
		{"by default nothing goes out in the clear", Config{Listen: "10.0.0.7"}, []string{"Doors[0]: nothing seals it: set Config.Key"}},
		{"neither behind a translation", Config{Doors: []Door{{Network: UDP, Advertise: out}}}, []string{"nothing seals it: set Config.Key"}},
		{"nor beside a key", Config{Key: key, Doors: []Door{{Network: TCP}, {Network: WebSocket}}}, []string{"Doors[0]: nothing seals it: set Config.TLS", "Doors[1]: nothing seals it: set Config.TLS"}},
		{"all at once", Config{Key: key, Inner: "quic", Listen: "0.0.0.0", InnerPorts: Ports{9, 8}, Doors: []Door{
			{Network: "sctp"}, {Network: QUIC}, {Network: UDP, Clear: true, Origins: []string{"x"}}, {Network: UDP, Listen: "127.0.0.1", LoginPort: 7, Ports: Ports{5, 9}},
			{Network: UDP, Listen: "127.0.0.1", LoginPort: 7}, {Network: QUIC, Clear: true, Listen: "::", Ports: Ports{0, 9}, Name: strings.Repeat("x", 300)},
		}}, []string{
			`Inner is "quic": take UDP or TCP`, `Listen is "0.0.0.0"`, "InnerPorts are 9 to 8", `Doors[0]: Network is "sctp"`, "Doors[1]: Listen is all addresses", "QUIC needs a certificate",
			"Clear is set, but Key seals UDP", "Origins are given", "LoginPort 7 lies within Ports", "Doors[4] is at the same place as Doors[3]", "Clear is set, but QUIC", "Ports are 0 to 9", "Name has 300 bytes",
		}},
		{"a certificate for nobody", Config{TLS: new(tls.Config)}, []string{"no door uses it", "has no certificate"}},
		{"too many", Config{Doors: make([]Door, maxDoors+1)}, []string{"Doors has 16: take at most 15"}},
	} {
		t.Run(x.name, func(t *testing.T) {
			text := x.cfg.Validate().Error() // of other faults at least
			for _, want := range x.want {
				if !strings.Contains(text, want) {
					t.Errorf("no %q in: %s", want, text)
				}
			}
			if len(x.want) == 0 && (strings.Contains(text, "Doors") || strings.Contains(text, "TLS")) {
				t.Errorf("faults: %s", text)
			}
		})
	}
}

// A Listen may name a network interface; of a range of ports the first free one is taken.
func TestListenAt(t *testing.T) {
	lo, err := net.InterfaceByIndex(1)
	if err != nil {
		t.Skip("no network interface: ", err)
	}
	if at, err := addressOf(lo.Name); err != nil || at != "127.0.0.1" {
		t.Errorf("%s is at %q, %v", lo.Name, at, err)
	}
	first, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = first.Close() }()
	taken := first.LocalAddr().(*net.UDPAddr).AddrPort().Port()
	if taken > 65000 {
		t.Skip("no ports above it")
	}
	c, err := Ports{taken, taken + 100}.try("127.0.0.1", listenUDP)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Release() }()
	if _, err = one(taken).try("127.0.0.1", listenUDP); err == nil {
		t.Error("a port was taken twice")
	}
}
