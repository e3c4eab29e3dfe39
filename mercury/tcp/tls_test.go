package tcp_test

import (
	"crypto/tls"
	"crypto/x509"
	"testing"

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
