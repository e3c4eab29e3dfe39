package main

import (
	"log/slog"
	"net"
	"net/netip"
	"runtime"
	"testing"
	"time"

	"github.com/cellscape/cellscape/space/cluster"
)

// What goes over a distance and is answered comes back after a round trip, and not before.
func TestDistance(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs a second address of the loopback")
	}
	server, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	go func() {
		p := make([]byte, 100)
		for {
			n, from, err := server.ReadFromUDPAddrPort(p)
			if err != nil {
				return
			}
			if _, err := server.WriteToUDPAddrPort(p[:n], from); err != nil {
				return
			}
		}
	}()
	at := server.LocalAddr().(*net.UDPAddr).AddrPort()
	const rtt = 40 * time.Millisecond
	d, err := startDistance(rtt, at, cluster.Ports{First: 1}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	bot, err := net.DialUDP("udp4", nil, net.UDPAddrFromAddrPort(netip.AddrPortFrom(netip.MustParseAddr(farIP), at.Port())))
	if err != nil {
		t.Fatal(err)
	}
	defer bot.Close()
	begun := time.Now()
	for _, word := range []string{"one", "two"} {
		if _, err := bot.Write([]byte(word)); err != nil {
			t.Fatal(err)
		}
	}
	p := make([]byte, 100)
	for _, want := range []string{"one", "two"} {
		n, err := bot.Read(p)
		if err != nil || string(p[:n]) != want {
			t.Errorf("%q came back as %q, %v", want, p[:n], err)
		}
		if took := time.Since(begun); took < rtt {
			t.Errorf("it came back after %v", took)
		}
	}
	if err := d.close(); err != nil {
		t.Error(err)
	}
}
