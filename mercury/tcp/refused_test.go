package tcp_test

import (
	"errors"
	"net"
	"testing"
	"time"

	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/mercurytest"
	"github.com/cellscape/cellscape/mercury/stream"
	"github.com/cellscape/cellscape/mercury/stream/streamtest"
	"github.com/cellscape/cellscape/mercury/tcp"
)

// A closed port ends the dial of a client at once, which has other doors to try. (It took ten seconds.)
// A process that listens dials on until the other one has started.
func TestNobodyListens(t *testing.T) {
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	to := mercury.Address{At: closed.Addr().(*net.TCPAddr).AddrPort()}
	if err := closed.Close(); err != nil {
		t.Fatal(err)
	}
	for _, place := range []string{"", "127.0.0.1:0"} {
		var at mercurytest.Recorder
		x, err := tcp.Listen(place, tcp.Config{Config: stream.Config{Salt: 7, Inactivity: 4 * time.Second, KeepAlive: time.Second}}, &at)
		if err != nil {
			t.Fatal(err)
		}
		s := at.Of(x.Dial(to))
		streamtest.Until(time.Second, func() bool { return len(s.Closed) > 0 }, x.Transport)
		if ended := len(s.Closed) > 0; ended != (place == "") || ended && !errors.Is(s.Closed[0], mercury.ErrPeerAborted) {
			t.Errorf("listening at %q: closed with %v within a second", place, s.Closed)
		}
		streamtest.Stop(t, x.Transport)
	}
}
