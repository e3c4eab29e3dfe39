package websocket_test

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/cellscape/cellscape/mercury/stream"
	"github.com/cellscape/cellscape/mercury/stream/streamtest"
	"github.com/cellscape/cellscape/mercury/websocket"
)

// Parts of a frame of RFC 6455.
const (
	final  = 0x80
	masked = 0x80
	text   = 1
	binry  = 2
	closes = 8
	ping   = 9
)

// raw is a frame with its length in the first form, masked with zeros.
func raw(head byte, body string) string {
	return string([]byte{head, masked | byte(len(body))}) + "\x00\x00\x00\x00" + body
}

// TestIllegalFrames sends frames that RFC 6455 forbids, each on a connection of its own whose
// channel is open: it ends, and a channel beside it goes on. One that announces more than ever
// comes is given up like any that is silent.
func TestIllegalFrames(t *testing.T) {
	s := serve(t, websocket.Config{Config: stream.Config{Inactivity: time.Second, KeepAlive: 100 * time.Millisecond}})
	honest := open(t, s)
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-time.After(100 * time.Millisecond):
				_, _ = honest.Write([]byte(raw(final|binry, string(frame(6, "")))))
			case <-stop:
				return
			}
		}
	}()
	long := func(n uint64) string {
		return string(binary.BigEndian.AppendUint64([]byte{final | binry, masked | 127}, n)) + "\x00\x00\x00\x00"
	}
	for i, x := range []struct{ name, frame string }{
		{"text", raw(final|text, "{}")},
		{"not masked", "\x82\x01x"},
		{"reserved bit 1", raw(final|0x40|binry, "x")},
		{"reserved bit 2", raw(final|0x20|binry, "x")},
		{"reserved bit 3", raw(final|0x10|binry, "x")},
		{"reserved data frame", raw(final|3, "x")},
		{"reserved control frame", raw(final|0xb, "x")},
		{"control frame in parts", raw(ping, "x")},
		{"long control frame", string([]byte{final | ping, masked | 126, 0, 126}) + "\x00\x00\x00\x00" + strings.Repeat("x", 126)},
		{"continues nothing", raw(final, "x")},
		{"a message within a message", raw(binry, "\x00") + raw(final|binry, "x")},
		{"longer than all there is", long(1 << 62)},
		{"a negative length", long(1 << 63)},
		{"longer than a message may be", long(1 << 40)},
		{"a reason of one byte", raw(final|closes, "x")},
		{"a reason that is reserved", raw(final|closes, "\x03\xed")},
		{"a reason that is not text", raw(final|closes, "\x03\xe8\xff\xff")},
		{"noise", strings.Repeat("\xff\xfe\xfd", 100)},
	} {
		t.Run(x.name, func(t *testing.T) {
			c := open(t, s)
			if _, err := c.Write([]byte(x.frame)); err != nil {
				t.Fatal(err)
			}
			ch := s.at.Order[i+1]
			s.until(t, "the channel closed", func() bool { return len(s.at.Of(ch).Closed) > 0 })
			if n := len(s.at.Of(ch).Reliable) + len(s.at.Of(ch).Unreliable); n > 0 {
				t.Errorf("%d messages came of it", n)
			}
		})
	}
	close(stop)
	<-stopped
	msg := string(frame(4, "still here"))
	if _, err := honest.Write([]byte(raw(final|binry, msg))); err != nil {
		t.Fatal(err)
	}
	s.until(t, "the honest message", func() bool { return len(s.at.Of(s.at.Order[0]).Reliable) == 1 })
}

// open makes a WebSocket by hand, whose channel is open.
func open(t *testing.T, s *site) net.Conn {
	t.Helper()
	at, _, _ := strings.Cut(strings.TrimPrefix(s.url, "ws://"), "/")
	c, err := net.Dial("tcp", at)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	if _, err := fmt.Fprintf(c, "GET /x HTTP/1.1\r\nHost: %s\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==\r\n\r\n", at); err != nil {
		t.Fatal(err)
	}
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil || resp.StatusCode != http.StatusSwitchingProtocols {
		t.Fatalf("%v, %v", resp, err)
	}
	n := len(s.at.Order)
	if _, err := c.Write([]byte(raw(final|binry, string(frame(1, helloOfAPage))))); err != nil {
		t.Fatal(err)
	}
	s.until(t, "the channel opened", func() bool { return len(s.at.Order) == n+1 })
	return c
}

// TestHalfOpen connects many times and says nothing, before and after the upgrade: few are kept,
// and who is honest comes in.
func TestHalfOpen(t *testing.T) {
	const pending, most = 16, 500
	x, err := websocket.Listen("127.0.0.1:0", websocket.Config{Config: stream.Config{Salt: 1, MaxPending: pending, HelloTimeout: 300 * time.Millisecond}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer streamtest.Stop(t, x.Transport)
	at := x.Self().At.String()
	for i := range most {
		c, err := net.Dial("tcp", at)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = c.Close() }()
		if i%2 == 0 {
			_, _ = fmt.Fprintf(c, "GET /mercury HTTP/1.1\r\nHost: %s\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==\r\n\r\n", at)
		}
		if n := x.Pending(); n > pending {
			t.Fatalf("%d connections without a hello are kept", n)
		}
	}
	honest := listen(t, stream.Config{Salt: 2})
	defer streamtest.Stop(t, honest)
	honest.Dial(x.Self())
	if !streamtest.Until(patience, func() bool { return x.Channels() == 1 && x.Stats().Refused >= most-4*pending }, x.Transport, honest) {
		t.Fatalf("%d channels, %+v", x.Channels(), x.Stats())
	}
}
