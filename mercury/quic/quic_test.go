package quic_test

import (
	"crypto/tls"
	"crypto/x509"
	"sync"
	"testing"

	"github.com/cellscape/cellscape/mercury/quic"
	"github.com/cellscape/cellscape/mercury/stream"
	"github.com/cellscape/cellscape/mercury/stream/streamtest"
)

// pki is one certificate for all tests, so that all transports believe one another.
var pki = sync.OnceValues(streamtest.MakeCertificate)

func certificate(t testing.TB) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	cert, err := pki()
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(cert.Leaf)
	return cert, pool
}

func listen(t testing.TB, cfg stream.Config) *stream.Transport {
	t.Helper()
	cert, pool := certificate(t)
	x, err := quic.Listen("127.0.0.1:0", quic.Config{
		Config:  cfg,
		TLS:     &tls.Config{Certificates: []tls.Certificate{cert}},
		DialTLS: &tls.Config{RootCAs: pool},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return x.Transport
}

func TestAdapter(t *testing.T) { streamtest.TestAdapter(t, listen) }

func BenchmarkAdapter(b *testing.B) { streamtest.Bench(b, listen) }
