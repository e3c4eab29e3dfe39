package bots

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"sync/atomic"
	"time"

	"github.com/cellscape/cellscape/entity/client"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/host"
	"github.com/cellscape/cellscape/mercury/secure"
)

// Swarm is the bots of one OS process.
type Swarm struct {
	cfg      Config
	host     *host.Host
	groups   []*group
	trails   trails
	watching atomic.Bool
	began    time.Duration
}

// Start starts the bots, which log in one after another at the rate of Config.Logins. It does not
// wait for them; Ready does. The error lists all faults of cfg.
func Start(cfg Config) (*Swarm, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	cfg = cfg.withDefaults()
	h, err := host.New(host.Config{Log: cfg.Log})
	if err != nil {
		return nil, err
	}
	s := &Swarm{cfg: cfg, host: h, began: h.Clock()}
	for first := 0; first < cfg.Bots; first += cfg.PerSocket {
		if err := s.startGroup(first, min(cfg.PerSocket, cfg.Bots-first)); err != nil {
			return nil, errors.Join(err, h.Close())
		}
	}
	return s, nil
}

func (s *Swarm) startGroup(first, count int) error {
	opts := []host.Option{host.Shared()}
	if !s.cfg.ServerKey.IsZero() {
		opts = append(opts, host.Secure(secure.Config{ServerKey: s.cfg.ServerKey}))
	}
	g := &group{swarm: s}
	listen := ":0" // BaseApps may be elsewhere than the LoginApp
	if s.cfg.LoginApp.Addr().IsLoopback() {
		listen = netip.AddrPortFrom(s.cfg.LoginApp.Addr(), 0).String()
	}
	p, err := s.host.Start(fmt.Sprintf("bots %d to %d", first, first+count-1), listen, func(env host.Env) (host.App, error) {
		g.take(env, first, count)
		return g, nil
	}, opts...)
	if err != nil {
		return err
	}
	g.process = p
	s.groups = append(s.groups, g)
	return nil
}

// loginAt is when a bot logs in for the first time.
func (s *Swarm) loginAt(number int) time.Duration {
	return s.began + time.Duration(number)*time.Second/time.Duration(s.cfg.Logins)
}

// Each calls f for every bot, on the goroutine of its group, and waits.
func (s *Swarm) Each(f func(b *Bot)) error {
	var errs []error
	for _, g := range s.groups {
		errs = append(errs, g.process.Do(func(host.App) {
			for _, b := range g.bots {
				f(b)
			}
		}))
	}
	return errors.Join(errs...)
}

// Ready waits until all bots are in the world, or until ctx ends.
func (s *Swarm) Ready(ctx context.Context) error {
	for {
		st, err := s.Stats()
		if err != nil || st.Playing == s.cfg.Bots {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("bots: %d of %d are in the world: %w", st.Playing, s.cfg.Bots, context.Cause(ctx))
		case <-time.After(s.cfg.Tick):
		}
	}
}

// Stats sums up what all bots have counted.
func (s *Swarm) Stats() (st Stats, err error) {
	for _, g := range s.groups {
		err = errors.Join(err, g.process.Do(func(host.App) { g.addTo(&st) }))
	}
	return st, err
}

// Watch begins or ends the measuring of freshness.
func (s *Swarm) Watch(on bool) { s.watching.Store(on) }

// Freshness is what all bots found together while they watched.
func (s *Swarm) Freshness() (all Freshness, err error) {
	err = s.Each(func(b *Bot) { all.add(&b.fresh) })
	return all, err
}

// Stop lets all bots log out, and waits for them for client.LogoutTimeout at most.
func (s *Swarm) Stop() error {
	err := s.Each(func(b *Bot) { b.logOut() })
	deadline := time.Now().Add(client.LogoutTimeout)
	for err == nil && time.Now().Before(deadline) {
		st, e := s.Stats()
		if err = e; st.Sessions == 0 {
			break
		}
		time.Sleep(s.cfg.Tick)
	}
	return errors.Join(err, s.host.Close())
}

// Stats is what a swarm has counted since its start.
type Stats struct {
	// Playing are the bots whose entity is in the world, Sessions those that are logged in or
	// about to be.
	Playing, Sessions int
	// InView is how many entities all bots see now.
	InView int
	// Logins counts the sessions that were begun.
	Logins uint64
	// Lost counts sessions that ended though no behaviour had asked for it.
	Lost uint64
	// Refused counts what behaviours could not do.
	Refused uint64
	// Client is the sum of what the clients counted.
	Client client.Stats
	// Wire is the sum over the sockets: bytes and packets of the datagrams.
	Wire mercury.Stats
}
