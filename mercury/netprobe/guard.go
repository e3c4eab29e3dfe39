package main

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"math/big"
	"time"

	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/secure"
)

// demoSecret is what both ends derive the server's keys from unless -secret says otherwise.
// Everybody knows it: it costs what a real one costs, and protects nothing. In a game the client is
// given the public half alone.
const demoSecret = "netprobe: a secret that everybody knows"

// seed derives 32 bytes for one purpose from the secret.
func (o options) seed(purpose string) [sha256.Size]byte {
	text := o.secret
	if text == "" {
		text = demoSecret
	}
	return sha256.Sum256([]byte(purpose + ":" + text))
}

// guard protects an Endpoint's channels by AEAD; nil with -plain.
func (o options) guard(server bool) (mercury.Guard, error) {
	if o.plain {
		return nil, nil
	}
	key := secure.PrivateKey(o.seed("mercury"))
	cfg := secure.Config{Random: rand.Reader}
	if server {
		cfg.Key = key
	} else {
		cfg.ServerKey = key.Public()
	}
	return secure.New(cfg)
}

const (
	// serverName is the name in the certificate: addresses say nothing about who is behind them.
	serverName = "netprobe"
	// ticketsKept is how many sessions a client may resume; it knows one server.
	ticketsKept = 4
)

// certificates are the two sides of TLS: a certificate of the server's own making, which the client
// knows because it makes the same.
func (o options) certificates() (server, client *tls.Config, err error) {
	seed := o.seed("tls")
	key := ed25519.NewKeyFromSeed(seed[:])
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1),
		DNSNames:     []string{serverName},
		NotBefore:    time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC),
		NotAfter:     time.Date(2120, 1, 1, 0, 0, 0, 0, time.UTC),
		IsCA:         true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	raw, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, nil, fmt.Errorf("making a certificate: %w", err)
	}
	cert, err := x509.ParseCertificate(raw)
	if err != nil {
		return nil, nil, fmt.Errorf("making a certificate: %w", err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(cert)
	server = &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{raw}, PrivateKey: key}}, MinVersion: tls.VersionTLS13}
	client = &tls.Config{
		RootCAs: pool, ServerName: serverName, MinVersion: tls.VersionTLS13, ClientSessionCache: tls.NewLRUClientSessionCache(ticketsKept),
	}
	return server, client, nil
}
