package cluster

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"

	"github.com/cellscape/cellscape/entity/client"
	"github.com/cellscape/cellscape/entity/client/session"
	"github.com/cellscape/cellscape/mercury"
)

// ErrNoLogin is returned by Connect in an OS process that does not run the LoginApp. Start a client
// there with package session.
var ErrNoLogin = errors.New("cluster: the LoginApp runs elsewhere")

// Connect logs a player in within the OS process of the world, for tests and examples. The player
// comes in by the first of Config.Doors, as any client does. Connect does not wait: events tell the
// client's progress, and Session.Ready waits until the player is in the world. Stop closes the
// session.
func (c *Cluster) Connect(user, password string, events client.Events) (*session.Session, error) {
	if c.loginApp == nil {
		return nil, ErrNoLogin
	}
	d := &c.cfg.Doors[0]
	at := c.carrierAt(0)
	at.Name = "" // this machine may not reach itself by that name
	roots, err := c.cfg.ownRoots(d)
	if err != nil {
		return nil, err
	}
	cfg := session.Config{
		LoginApp: at.URL(), TLS: roots, Clear: d.Clear, Schema: c.cfg.Schema, User: user, Password: password,
		Scripts: c.cfg.ClientScripts, Events: events, Tick: c.cfg.Tick, Host: c.host,
	}
	if d.Network == UDP {
		cfg.ServerKey = c.cfg.publicKey()
	}
	s, err := session.Start(context.Background(), cfg)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sessions = append(c.sessions, s)
	return s, nil
}

// ownRoots returns a configuration that accepts only the certificates of Config.TLS; nil for a door
// without TLS.
func (c *Config) ownRoots(d *Door) (*tls.Config, error) {
	if c.TLS == nil || !d.byTLS() {
		return nil, nil
	}
	own := &tls.Config{RootCAs: x509.NewCertPool()}
	if len(c.TLS.Certificates) == 0 && c.TLS.GetCertificate != nil {
		// Which certificate that gives, and under which name, may change at any time.
		own.ServerName, own.InsecureSkipVerify, own.VerifyConnection = d.Name, true, c.verifyOwn
	}
	for _, chain := range c.TLS.Certificates {
		for i, raw := range chain.Certificate {
			cert, err := x509.ParseCertificate(raw)
			if err != nil {
				return nil, fmt.Errorf("cluster: Config.TLS: %w", err)
			}
			own.RootCAs.AddCert(cert)
			if i == 0 && len(cert.DNSNames) > 0 {
				own.ServerName = cert.DNSNames[0]
			}
		}
	}
	return own, nil
}

// verifyOwn accepts the certificate that Config.TLS gives now.
func (c *Config) verifyOwn(state tls.ConnectionState) error {
	own, err := c.TLS.GetCertificate(&tls.ClientHelloInfo{
		ServerName: state.ServerName, SupportedVersions: []uint16{state.Version}, CipherSuites: []uint16{state.CipherSuite},
		SignatureSchemes: []tls.SignatureScheme{tls.ECDSAWithP256AndSHA256, tls.Ed25519, tls.PSSWithSHA256},
	})
	if err != nil {
		return fmt.Errorf("cluster: Config.TLS.GetCertificate: %w", err)
	}
	if own == nil || len(own.Certificate) == 0 || !bytes.Equal(own.Certificate[0], state.PeerCertificates[0].Raw) {
		return fmt.Errorf("cluster: the certificate is not the one that Config.TLS gives: %w", mercury.ErrKey)
	}
	return nil
}
