package cluster

import (
	"crypto/rand"
	"io"
	"net/netip"
	"time"

	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/host"
	"github.com/cellscape/cellscape/mercury/secure"
)

// sealed reports whether the channels of the world are sealed.
func (c *Config) sealed() bool { return !c.Key.IsZero() }

// publicKey is the key that a dialler of the world's processes must know; zero for an unsealed
// world.
func (c *Config) publicKey() secure.PublicKey {
	if !c.sealed() {
		return secure.PublicKey{}
	}
	return c.Key.Public()
}

// clusterKeys are the keys by which the processes know each other: those of c, or the one that
// follows from its Key.
func (c *Config) clusterKeys() []secure.ClusterKey {
	if len(c.ClusterKeys) == 0 && c.sealed() {
		return []secure.ClusterKey{c.Key.ClusterKey()}
	}
	return c.ClusterKeys
}

// observerKey is the key for an observer of the world; zero if it is not sealed.
func (c *Config) observerKey() (k secure.AccessKey) {
	if keys := c.clusterKeys(); len(keys) > 0 {
		k = keys[0].Observer()
	}
	return k
}

// validateSeal reports faults of Key, TicketKeys and ClusterKeys.
func (c *Config) validateSeal() error {
	if !c.sealed() {
		return nil
	}
	seal := secure.Config{Random: rand.Reader, Key: c.Key, TicketKeys: c.TicketKeys, ID: 1, Epoch: 1, ClusterKeys: c.ClusterKeys}
	return seal.Validate()
}

// drawTicketKey gives a sealed world in one OS process a ticket key of its own, unless it was given
// some.
func (c *Config) drawTicketKey() error {
	if !c.sealed() || len(c.TicketKeys) > 0 {
		return nil
	}
	key, err := secure.GenerateTicketKey(rand.Reader)
	c.TicketKeys = []secure.TicketKey{key}
	return err
}

// seal returns the option that seals a process of the world. least is what a peer must prove to get
// a channel to it. The process also opens tickets sealed with the given keys.
func (c *Config) seal(least mercury.Standing, tickets ...secure.TicketKey) host.Option {
	return sealOption(secure.Config{
		Key: c.Key, ServerKey: c.publicKey(), TicketKeys: tickets, ClusterKeys: c.clusterKeys(), Least: least,
	})
}

// sealOption changes nothing in a world without a key.
func sealOption(cfg secure.Config) host.Option {
	if cfg.ServerKey.IsZero() {
		return nil
	}
	return host.Secure(cfg)
}

// mint makes the tickets for BaseApps. Its Guard belongs to no Endpoint. So the LoginApp's own
// tickets, with which passwords may come, are sealed with keys of their own, which it discards
// after a while.
type mint struct{ guard *secure.Guard }

func (c *Config) newMint(e *host.Env) (*mint, error) {
	g, err := secure.New(secure.Config{Random: random(e.Secrets), TicketKeys: c.TicketKeys, Epoch: e.Epoch})
	return &mint{g}, err
}

// Mint implements loginapp.Tickets.
func (m *mint) Mint(now time.Duration, base mercury.Address, client netip.Addr) []byte {
	ticket, err := m.guard.Mint(nil, now, host.GuardID(base), client)
	if err != nil {
		return nil
	}
	return ticket
}

// random is Env.Secrets as an io.Reader.
type random func([]byte)

// Read implements io.Reader.
func (r random) Read(b []byte) (int, error) {
	r(b)
	return len(b), nil
}

var _ io.Reader = random(nil)
