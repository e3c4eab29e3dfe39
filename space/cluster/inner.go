package cluster

import (
	"bytes"
	"crypto/ed25519"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"math/big"
)

// innerTLS seals TCP between apps. Both sides show a certificate made from Config.Key and accept no
// other. It returns nil for a world without a seal.
func (c *Config) innerTLS() (*tls.Config, error) {
	if !c.sealed() {
		return nil, nil
	}
	seed, err := hkdf.Key(sha256.New, c.Key[:], nil, "cellscape inner TLS", ed25519.SeedSize)
	if err != nil {
		return nil, fmt.Errorf("cluster: certificate of Config.Key: %w", err)
	}
	key := ed25519.NewKeyFromSeed(seed)
	template := &x509.Certificate{SerialNumber: big.NewInt(1)}
	raw, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, fmt.Errorf("cluster: certificate of Config.Key: %w", err)
	}
	return &tls.Config{
		MinVersion:   tls.VersionTLS13,
		Certificates: []tls.Certificate{{Certificate: [][]byte{raw}, PrivateKey: key}},
		ClientAuth:   tls.RequireAnyClientCert,
		// A chain and a name would prove nothing here. VerifyConnection asks for the key, which
		// does.
		InsecureSkipVerify: true,
		VerifyConnection: func(s tls.ConnectionState) error {
			peer, ok := s.PeerCertificates[0].PublicKey.(ed25519.PublicKey)
			if !ok || !bytes.Equal(peer, key.Public().(ed25519.PublicKey)) {
				return errors.New("cluster: the peer has another Config.Key")
			}
			return nil
		},
	}, nil
}
