package main

import (
	"crypto/x509"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cellscape/cellscape/mercury/secure"
	"github.com/cellscape/cellscape/space/cluster"
)

func TestOpenDoors(t *testing.T) {
	f, err := parseFlags(strings.Fields("-public eth7 -advertise 203.0.113.5 -ports 20100-20199 -inner tcp"))
	if err != nil {
		t.Fatal(err)
	}
	var cfg cluster.Config
	if err := openDoors(&cfg, f); err != nil {
		t.Fatal(err)
	}
	if d := cfg.Doors[0]; cfg.Inner != cluster.TCP || d.Listen != "eth7" || d.Advertise != netip.MustParseAddr("203.0.113.5") || d.Ports != (cluster.Ports{First: 20100, Last: 20199}) || d.Clear {
		t.Errorf("%+v", d)
	}
	for _, bad := range []string{"-advertise here", "-ports many"} {
		f, err := parseFlags(strings.Fields(bad))
		if err != nil {
			t.Fatal(err)
		}
		if err := openDoors(&cfg, f); err == nil || !strings.Contains(err.Error(), bad[:6]) {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

// Each door is told to visitors with what they need to trust it.
func TestInvite(t *testing.T) {
	file := filepath.Join(t.TempDir(), "arena.pem")
	f, err := parseFlags([]string{"-doors", "udp,websocket,quic,tcp", "-cert", file})
	if err != nil {
		t.Fatal(err)
	}
	var cfg cluster.Config
	if err := openDoors(&cfg, f); err != nil {
		t.Fatal(err)
	}
	if len(cfg.Doors) != 4 || cfg.Doors[0].Network != cluster.UDP || cfg.Doors[3].Network != cluster.TCP || len(cfg.TLS.Certificates) != 1 {
		t.Errorf("%+v", cfg)
	}
	if text, err := os.ReadFile(file); err != nil || !x509.NewCertPool().AppendCertsFromPEM(text) {
		t.Errorf("the certificate's file: %q, %v", text, err)
	}
	key, err := secure.ParsePrivateKey(strings.Repeat("5e", 32))
	if err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	invite(&said, f, []string{"udp://a:1", "quic://a:2"}, key)
	if want := "-url udp://a:1 -key " + key.Public().String() + "\n"; !strings.Contains(said.String(), want) || !strings.Contains(said.String(), "-url quic://a:2 -ca "+file+"\n") {
		t.Errorf("%s", said.String())
	}
	for _, bad := range []string{"-doors quic", "-doors udp,quic", "-cert " + file, "-doors udp,tcp -role login -cert " + file} {
		if _, err := parseFlags(strings.Fields(bad)); err == nil || !strings.Contains(err.Error(), "-doors") {
			t.Errorf("%s: %v", bad, err)
		}
	}
}
