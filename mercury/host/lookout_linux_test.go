package host_test

import (
	"net"
	"net/netip"
	"syscall"
	"testing"

	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/host"
)

// deaf is a place whose kernel drops what comes: a listener whose queue is full.
func deaf(t *testing.T) netip.AddrPort {
	t.Helper()
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Close(fd) })
	if err := syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Listen(fd, 0); err != nil {
		t.Fatal(err)
	}
	name, err := syscall.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	at := netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), uint16(name.(*syscall.SockaddrInet4).Port))
	c, err := net.Dial("tcp", at.String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return at
}

// A place that does not answer is silent, and that is known in bounded time.
func TestSilentPlace(t *testing.T) {
	at := deaf(t)
	h := newHost(t)
	eye, w := startLined(t, h)
	if err := eye.Do(func(host.App) { w.env.Lookout.Probe(1, at) }); err != nil {
		t.Fatal(err)
	}
	if f := <-w.found; f.reach != mercury.ReachSilent && f.reach != mercury.ReachUnknown { // unknown: this machine is too slow now
		t.Errorf("found %v", f.reach)
	}
}
