package cluster

import (
	"crypto/ed25519"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"math/big"
	"slices"
	"sync/atomic"

	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/secure"
)

// innerSeal seals TCP between apps by the cluster keys. Each end shows a certificate made from its
// first key, and accepts those of all its keys. So the keys change while the cluster runs as they do
// over UDP: connections stay open with what their opening proved, and new ones take the new keys.
// Safe for concurrent use.
type innerSeal struct{ marks atomic.Pointer[[]innerMark] }

// innerMark is what shows that an app has a cluster key.
type innerMark struct {
	certificate tls.Certificate
	public      ed25519.PublicKey
}

func newInnerMark(k secure.ClusterKey) (m innerMark, err error) {
	seed, err := hkdf.Key(sha256.New, k[:], nil, "cellscape inner TLS", ed25519.SeedSize)
	if err != nil {
		return m, fmt.Errorf("cluster: certificate of a cluster key: %w", err)
	}
	key := ed25519.NewKeyFromSeed(seed)
	template := &x509.Certificate{SerialNumber: big.NewInt(1)}
	raw, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return m, fmt.Errorf("cluster: certificate of a cluster key: %w", err)
	}
	return innerMark{tls.Certificate{Certificate: [][]byte{raw}, PrivateKey: key}, key.Public().(ed25519.PublicKey)}, nil
}

// take changes the keys. On error nothing changes.
func (s *innerSeal) take(keys []secure.ClusterKey) error {
	marks := make([]innerMark, len(keys))
	for i, k := range keys {
		var err error
		if marks[i], err = newInnerMark(k); err != nil {
			return err
		}
	}
	s.marks.Store(&marks)
	return nil
}

// own is the certificate to show now.
func (s *innerSeal) own() (*tls.Certificate, error) { return &(*s.marks.Load())[0].certificate, nil }

// verify accepts a peer that shows the certificate of any of the keys.
func (s *innerSeal) verify(state tls.ConnectionState) error {
	peer, ok := state.PeerCertificates[0].PublicKey.(ed25519.PublicKey)
	if !ok || !slices.ContainsFunc(*s.marks.Load(), func(m innerMark) bool { return m.public.Equal(peer) }) {
		return fmt.Errorf("cluster: the peer has none of the cluster keys: %w", mercury.ErrKey)
	}
	return nil
}

// config is for both ends of a connection.
func (s *innerSeal) config() *tls.Config {
	return &tls.Config{
		MinVersion:           tls.VersionTLS13,
		GetCertificate:       func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return s.own() },
		GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return s.own() },
		ClientAuth:           tls.RequireAnyClientCert,
		// A chain and a name would prove nothing here. VerifyConnection asks for the key, which
		// does.
		InsecureSkipVerify: true,
		VerifyConnection:   s.verify,
	}
}

// innerTLS seals TCP between apps. It returns nil for a world without a seal.
func (c *Config) innerTLS() *tls.Config {
	if c.inner == nil {
		return nil
	}
	return c.inner.config()
}

// sealInner prepares innerTLS.
func (c *Config) sealInner() error {
	if !c.sealed() || c.Inner != TCP {
		return nil
	}
	c.inner = new(innerSeal)
	return c.inner.take(c.clusterKeys())
}
