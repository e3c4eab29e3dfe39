package websocket_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	ws "github.com/coder/websocket"

	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/mercurytest"
	"github.com/cellscape/cellscape/mercury/stream"
	"github.com/cellscape/cellscape/mercury/stream/streamtest"
	"github.com/cellscape/cellscape/mercury/websocket"
)

// patience bounds what a test waits for.
const patience = 10 * time.Second

// frame is one as a page writes it.
func frame(kind uint32, body string) []byte {
	return append(binary.LittleEndian.AppendUint32(nil, uint32(len(body))<<4|kind), body...)
}

// helloOfAPage is what a page says first: magic, version, salt, any salt wanted, no port.
const helloOfAPage = "\x0d\x11\xce\x53" + "\x01" + "\x01\x02\x03\x04" + "\x00\x00\x00\x00" + "\x00\x00"

// site is a Transport that is one handler of a server among others.
type site struct {
	*websocket.Transport
	at  mercurytest.Recorder
	url string
}

func serve(t *testing.T, cfg websocket.Config) *site {
	t.Helper()
	cfg.Salt = 1
	s := &site{}
	var err error
	s.Transport, err = websocket.New(netip.AddrPort{}, cfg, &s.at)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(s)
	s.url = "ws" + strings.TrimPrefix(server.URL, "http") + "/wherever/it/is/put"
	t.Cleanup(func() {
		streamtest.Stop(t, s.Transport.Transport)
		server.Close()
	})
	return s
}

func (s *site) until(t *testing.T, what string, done func() bool) {
	t.Helper()
	if !streamtest.Until(patience, done, s.Transport.Transport) {
		t.Fatalf("waited in vain for: %s", what)
	}
}

// visit opens a WebSocket as a page does. The context bounds what the page waits for.
func (s *site) visit(t *testing.T) (context.Context, *ws.Conn) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	c, _, err := ws.Dial(ctx, s.url, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.CloseNow() })
	return ctx, c
}

// TestPage plays a page's script, with nothing of this library: several frames to a message, as it
// likes.
func TestPage(t *testing.T) {
	s := serve(t, websocket.Config{})
	ctx, c := s.visit(t)
	say := func(frames ...[]byte) {
		t.Helper()
		var b []byte
		for _, f := range frames {
			b = append(b, f...)
		}
		if err := c.Write(ctx, ws.MessageBinary, b); err != nil {
			t.Fatal(err)
		}
	}
	say(frame(1, helloOfAPage))
	kind, answer, err := c.Read(ctx)
	if err != nil || kind != ws.MessageBinary || string(answer) != string(frame(2, "\x0d\x11\xce\x53\x01\x01\x00\x00\x00")) {
		t.Fatalf("the hello was answered %x, %v", answer, err)
	}
	s.at.OnMessage = func(ch mercury.ChannelID, _ bool, msg []byte) { _ = s.Send(ch, append([]byte("not "), msg...)) }
	say(frame(4, "one"), frame(6, ""), frame(4, "two"))
	s.until(t, "the messages", func() bool { return len(s.at.Order) == 1 && len(s.at.Of(s.at.Order[0]).Reliable) == 2 })
	if _, answer, err = c.Read(ctx); err != nil || string(answer) != string(append(frame(4, "not one"), frame(4, "not two")...)) {
		t.Fatalf("the messages were answered %q, %v", answer, err)
	}
	say(frame(7, ""))
	s.until(t, "the channel closed", func() bool { return len(s.at.Of(s.at.Order[0]).Closed) > 0 })
	if reason := s.at.Of(s.at.Order[0]).Closed[0]; !errors.Is(reason, mercury.ErrPeerClosed) {
		t.Errorf("closed with %v", reason)
	}
}

// TestText ends a page that sends text.
func TestText(t *testing.T) {
	s := serve(t, websocket.Config{})
	ctx, c := s.visit(t)
	if err := c.Write(ctx, ws.MessageBinary, frame(1, helloOfAPage)); err != nil {
		t.Fatal(err)
	}
	if err := c.Write(ctx, ws.MessageText, []byte("{}")); err != nil {
		t.Fatal(err)
	}
	s.until(t, "the channel closed", func() bool { return len(s.at.Order) == 1 && len(s.at.Of(s.at.Order[0]).Closed) > 0 })
	if reason := s.at.Of(s.at.Order[0]).Closed[0]; !errors.Is(reason, mercury.ErrProtocol) {
		t.Errorf("closed with %v", reason)
	}
}

// TestRefused asks in ways that must not become a WebSocket.
func TestRefused(t *testing.T) {
	s := serve(t, websocket.Config{Origins: []string{"good.example"}})
	for _, x := range []struct {
		name, origin string
		upgrade      bool
		status       int
	}{
		{"a plain request", "", false, http.StatusUpgradeRequired},
		{"a page from elsewhere", "https://evil.example", true, http.StatusForbidden},
		{"a page from a named host", "https://good.example", true, http.StatusSwitchingProtocols},
	} {
		t.Run(x.name, func(t *testing.T) {
			r, err := http.NewRequest(http.MethodGet, "http"+strings.TrimPrefix(s.url, "ws"), nil)
			if err != nil {
				t.Fatal(err)
			}
			if x.upgrade {
				r.Header = http.Header{
					"Connection": {"Upgrade"}, "Upgrade": {"websocket"}, "Origin": {x.origin},
					"Sec-Websocket-Version": {"13"}, "Sec-Websocket-Key": {"dGhlIHNhbXBsZSBub25jZQ=="},
				}
			}
			resp, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			if resp.StatusCode != x.status {
				t.Errorf("answered %s, want %d", resp.Status, x.status)
			}
		})
	}
}

// TestWrongPath dials a server that answers elsewhere: to ask again would be no use.
func TestWrongPath(t *testing.T) {
	server, err := websocket.Listen("127.0.0.1:0", websocket.Config{Config: stream.Config{Salt: 1}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var at mercurytest.Recorder
	client, err := websocket.Listen("", websocket.Config{Config: stream.Config{Salt: 2}, Path: "/elsewhere"}, &at)
	if err != nil {
		t.Fatal(err)
	}
	defer streamtest.Stop(t, server.Transport)
	defer streamtest.Stop(t, client.Transport)
	ch := client.Dial(server.Self())
	if !streamtest.Until(patience, func() bool { return len(at.Of(ch).Closed) > 0 }, client.Transport) {
		t.Fatal("the dial was not refused")
	}
	if reason := at.Of(ch).Closed[0]; !errors.Is(reason, mercury.ErrProtocol) || !strings.Contains(reason.Error(), "404") {
		t.Errorf("closed with %v", reason)
	}
}

// TestTLS speaks wss, by a URL with a name.
func TestTLS(t *testing.T) {
	plain := httptest.NewUnstartedServer(nil) // lends its certificate, which is for example.com and 127.0.0.1
	plain.StartTLS()
	defer plain.Close()
	trust := plain.Client().Transport.(*http.Transport).TLSClientConfig
	server, err := websocket.Listen("127.0.0.1:0", websocket.Config{Config: stream.Config{Salt: 1}, TLS: plain.TLS}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer streamtest.Stop(t, server.Transport)
	var at mercurytest.Recorder
	for _, x := range []struct {
		name string
		cfg  websocket.Config
		want error
	}{
		{"believed", websocket.Config{DialTLS: trust}, nil},
		{"not believed", websocket.Config{URL: func(to netip.AddrPort) string { return "wss://" + to.String() + websocket.DefaultPath }}, mercury.ErrKey},
	} {
		t.Run(x.name, func(t *testing.T) {
			x.cfg.Salt = 2
			at = mercurytest.Recorder{}
			client, err := websocket.Listen("", x.cfg, &at)
			if err != nil {
				t.Fatal(err)
			}
			defer streamtest.Stop(t, client.Transport)
			streamtest.WantDial(t, client.Transport, server.Transport, &at, x.want)
		})
	}
}

// Whoever gets no channel is counted by the reason: before the upgrade, and after it.
func TestUnopened(t *testing.T) {
	cert, pool := streamtest.Certificate(t)
	const ask = "GET %s HTTP/1.1\r\nHost: %s\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==\r\n\r\n"
	for _, x := range []struct {
		name  string
		trust *x509.CertPool
		path  string // "" for who says nothing
		gone  bool   // hangs up
		count string
	}{
		{"distrusts", x509.NewCertPool(), websocket.DefaultPath, false, "Unsealed"},
		{"asks for something else", pool, "/favicon.ico", true, "Strange"},
		{"upgrades and says nothing", pool, websocket.DefaultPath, false, "Silent"},
		{"looks for a port", pool, "", true, "HungUp"},
	} {
		t.Run(x.name, func(t *testing.T) {
			cfg := websocket.Config{Config: stream.Config{Salt: 1, HelloTimeout: 300 * time.Millisecond}, TLS: &tls.Config{Certificates: []tls.Certificate{cert}}}
			server, err := websocket.Listen("127.0.0.1:0", cfg, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer streamtest.Stop(t, server.Transport)
			at := server.Self().At.String()
			raw, err := net.Dial("tcp", at)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = raw.Close() }()
			c := tls.Client(raw, &tls.Config{RootCAs: x.trust, ServerName: "127.0.0.1"})
			if x.path != "" {
				_, _ = fmt.Fprintf(c, ask, x.path, at)
				_, _ = c.Read(make([]byte, 1)) // the answer begins
			}
			if x.gone {
				_ = raw.Close()
			}
			streamtest.WantUnopened(t, server.Transport, x.count, 1)
		})
	}
}
