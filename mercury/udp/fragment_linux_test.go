package udp

import (
	"net/netip"
	"testing"

	"golang.org/x/sys/unix"
)

// Sockets, alone or in a fleet, let nothing cut their datagrams, unless they are told to.
func TestFragment(t *testing.T) {
	plain, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(plain)
	discovers := func(fd int) int {
		t.Helper()
		how, err := unix.GetsockoptInt(fd, unix.IPPROTO_IP, unix.IP_MTU_DISCOVER)
		if err != nil {
			t.Fatal(err)
		}
		return how
	}
	for fragment, want := range map[bool]int{false: unix.IP_PMTUDISC_PROBE, true: discovers(plain)} {
		c := Config{Fragment: fragment}
		s, err := c.Listen("127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		if err := s.raw.Control(func(fd uintptr) {
			if how := discovers(int(fd)); how != want {
				t.Errorf("Fragment %v: a socket has %d, want %d", fragment, how, want)
			}
		}); err != nil {
			t.Fatal(err)
		}
		_ = s.Close()
		f, err := c.Fleet(netip.MustParseAddr("127.0.0.1"), 1)
		if err != nil {
			t.Fatal(err)
		}
		if how := discovers(f.fleet.fds[0]); how != want {
			t.Errorf("Fragment %v: a socket of a fleet has %d, want %d", fragment, how, want)
		}
		_ = f.Close()
	}
}
