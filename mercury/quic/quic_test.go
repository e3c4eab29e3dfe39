package quic_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"math/big"
	"net"
	"testing"
	"time"

	"github.com/cellscape/cellscape/mercury/mercurytest"
	"github.com/cellscape/cellscape/mercury/quic"
	"github.com/cellscape/cellscape/mercury/stream"
	"github.com/cellscape/cellscape/mercury/stream/streamtest"
)

// certificate makes a certificate for 127.0.0.1, and the pool that believes it.
func certificate() (tls.Certificate, *x509.CertPool, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, nil, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1),
		NotBefore:    time.Now().Add(-time.Hour),
		NotAfter:     time.Now().Add(time.Hour),
		IPAddresses:  []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	raw, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return tls.Certificate{}, nil, err
	}
	leaf, err := x509.ParseCertificate(raw)
	if err != nil {
		return tls.Certificate{}, nil, err
	}
	pool := x509.NewCertPool()
	pool.AddCert(leaf)
	return tls.Certificate{Certificate: [][]byte{raw}, PrivateKey: key}, pool, nil
}

func config(t testing.TB, salt uint32) quic.Config {
	t.Helper()
	cert, pool, err := certificate()
	if err != nil {
		t.Fatal(err)
	}
	_ = pool
	return quic.Config{
		Config:  stream.Config{Salt: salt, KeepAlive: 100 * time.Millisecond, Inactivity: 2 * time.Second},
		TLS:     &tls.Config{Certificates: []tls.Certificate{cert}},
		DialTLS: &tls.Config{InsecureSkipVerify: true},
	}
}

func listen(t testing.TB, cfg quic.Config) *quic.Transport {
	t.Helper()
	x, err := quic.Listen("127.0.0.1:0", cfg, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { streamtest.Stop(t, x.Transport) })
	return x
}

func TestTransport(t *testing.T) {
	mercurytest.TestTransport(t, func(t *testing.T, _ uint64) *mercurytest.Rig {
		return streamtest.Rig(listen(t, config(t, 1)).Transport, listen(t, config(t, 2)).Transport)
	})
}

func BenchmarkBulk(b *testing.B) {
	streamtest.Bulk(b, listen(b, config(b, 1)).Transport, listen(b, config(b, 2)).Transport)
}
