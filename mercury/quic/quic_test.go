package quic_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"math/big"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/cellscape/cellscape/mercury/quic"
	"github.com/cellscape/cellscape/mercury/stream"
	"github.com/cellscape/cellscape/mercury/stream/streamtest"
)

// pki is one certificate for 127.0.0.1 for all tests, and the pool that believes it.
var pki = sync.OnceValues(makeCertificate)

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

func makeCertificate() (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1),
		NotBefore:    time.Now().Add(-time.Hour),
		NotAfter:     time.Now().Add(time.Hour),
		IPAddresses:  []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	raw, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return tls.Certificate{}, err
	}
	leaf, err := x509.ParseCertificate(raw)
	return tls.Certificate{Certificate: [][]byte{raw}, PrivateKey: key, Leaf: leaf}, err
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

// two are Transports for a benchmark.
func two(b *testing.B) (from, to *stream.Transport) {
	from, to = listen(b, stream.Config{Salt: 1}), listen(b, stream.Config{Salt: 2})
	b.Cleanup(func() {
		streamtest.Stop(b, from)
		streamtest.Stop(b, to)
	})
	return from, to
}

func BenchmarkBulk(b *testing.B) {
	from, to := two(b)
	streamtest.Bulk(b, from, to)
}

func BenchmarkEcho(b *testing.B) {
	from, to := two(b)
	streamtest.Echo(b, from, to)
}
