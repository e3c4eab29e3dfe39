package tcp_test

import (
	"crypto/tls"
	"crypto/x509"
	"net"
	"testing"
	"time"

	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/mercurytest"
	"github.com/cellscape/cellscape/mercury/stream"
	"github.com/cellscape/cellscape/mercury/stream/streamtest"
	"github.com/cellscape/cellscape/mercury/tcp"
)

// TestSealedAdapter is TestAdapter with TLS.
func TestSealedAdapter(t *testing.T) {
	cert, pool := streamtest.Certificate(t)
	streamtest.TestAdapter(t, func(t testing.TB, cfg stream.Config) *stream.Transport {
		x, err := tcp.Listen("127.0.0.1:0", tcp.Config{Config: cfg,
			TLS: &tls.Config{Certificates: []tls.Certificate{cert}}, DialTLS: &tls.Config{RootCAs: pool}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if !x.Sealed() {
			t.Error("not sealed")
		}
		return x.Transport
	})
}

// Whoever gets no channel is counted by the reason: an operator whose certificate nobody trusts reads that
// in the status.
func TestUnopened(t *testing.T) {
	cert, pool := streamtest.Certificate(t)
	hello := string(goodHello())
	says := func(text string) func(c *tls.Conn) { return func(c *tls.Conn) { _, _ = c.Write([]byte(text)) } }
	for _, x := range []struct {
		name  string
		trust *x509.CertPool
		do    func(c *tls.Conn) // nil for who does not speak TLS
		count string
	}{
		{"distrusts", x509.NewCertPool(), says(hello), "Unsealed"},
		{"in the clear", nil, nil, "Strange"},
		{"something else", pool, says("GET / HTTP/1.1\r\n\r\n"), "Strange"},
		{"says nothing", pool, says(""), "Silent"},
		{"hangs up", pool, func(c *tls.Conn) { _ = c.Handshake(); _ = c.Close() }, "HungUp"},
		{"looks for a port", pool, func(c *tls.Conn) { _ = c.NetConn().Close() }, "HungUp"},
		{"another start", pool, says(hello[:13] + "\x07" + hello[14:]), "Elsewhere"},
		{"another version", pool, says(hello[:8] + "\x07" + hello[9:]), "Version"},
		{"no room", pool, says(hello), "Full"},
	} {
		t.Run(x.name, func(t *testing.T) {
			cfg := stream.Config{Salt: 1, HelloTimeout: 300 * time.Millisecond}
			if x.count == "Full" {
				cfg.MaxChannels = 1
			}
			server, err := tcp.Listen("127.0.0.1:0", tcp.Config{Config: cfg, TLS: &tls.Config{Certificates: []tls.Certificate{cert}}}, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer streamtest.Stop(t, server.Transport)
			for range cfg.MaxChannels + 1 { // who fills it first
				c, err := net.Dial("tcp", server.Self().At.String())
				if err != nil {
					t.Fatal(err)
				}
				defer func() { _ = c.Close() }()
				if x.do == nil {
					_, _ = c.Write([]byte(hello))
					continue
				}
				x.do(tls.Client(c, &tls.Config{RootCAs: x.trust, ServerName: "127.0.0.1"}))
			}
			streamtest.WantUnopened(t, server.Transport, x.count, 1)
			if refused := server.Stats().Refused; (refused == 1) == (x.count == "Silent" || x.count == "HungUp") {
				t.Errorf("%d are refused", refused)
			}
		})
	}
}

// TestDialTLS dials a listener with TLS, with configurations that agree with its own and that do
// not.
func TestDialTLS(t *testing.T) {
	cert, pool := streamtest.Certificate(t)
	server, err := tcp.Listen("127.0.0.1:0", tcp.Config{Config: stream.Config{Salt: 1}, TLS: &tls.Config{Certificates: []tls.Certificate{cert}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer streamtest.Stop(t, server.Transport)
	for _, x := range []struct {
		name string
		cfg  *tls.Config
		want error
	}{
		{"believed", &tls.Config{RootCAs: pool}, nil},
		{"not believed", &tls.Config{RootCAs: x509.NewCertPool()}, mercury.ErrKey},
		{"another name", &tls.Config{RootCAs: pool, ServerName: "elsewhere.example"}, mercury.ErrKey},
	} {
		t.Run(x.name, func(t *testing.T) {
			var at mercurytest.Recorder
			client, err := tcp.Listen("", tcp.Config{Config: stream.Config{Salt: 2}, DialTLS: x.cfg}, &at)
			if err != nil {
				t.Fatal(err)
			}
			defer streamtest.Stop(t, client.Transport)
			streamtest.WantDial(t, client.Transport, server.Transport, &at, x.want)
		})
	}
}
