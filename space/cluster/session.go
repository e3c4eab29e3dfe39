package cluster

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"

	"github.com/cellscape/cellscape/entity/client"
	"github.com/cellscape/cellscape/entity/client/session"
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
