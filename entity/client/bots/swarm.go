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
)

// Swarm is the bots of one OS process.
type Swarm struct {
	cfg      Config
	groups   []*group
	trails   trails
	watching atomic.Bool
	epoch    time.Time // when the swarm's clock was 0
}

// Start starts the bots, which log in one after another at the rate of Config.Logins. It does not
// wait for them; Ready does. The error lists all faults of cfg.
func Start(cfg Config) (*Swarm, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	s := &Swarm{cfg: cfg.withDefaults(), epoch: time.Now()}
	per := perGroup / s.cfg.PerSocket * s.cfg.PerSocket // no socket has two owners
	for first := 0; first < s.cfg.Bots; first += per {
		g, err := newGroup(s, first, min(per, s.cfg.Bots-first))
		if err != nil {
			for _, g := range s.groups {
				err = errors.Join(err, g.fleet.Close())
			}
			return nil, err
		}
		s.groups = append(s.groups, g)
	}
	for _, g := range s.groups {
		go g.run()
	}
	return s, nil
}

// clock is the time since the start.
func (s *Swarm) clock() time.Duration { return time.Since(s.epoch) }

// listen is where the sockets are bound. BaseApps may be elsewhere than the LoginApp.
func (s *Swarm) listen() netip.Addr {
	at := s.cfg.LoginApp.Addr().Unmap()
	switch {
	case at.IsLoopback():
		return at
	case at.Is4():
		return netip.IPv4Unspecified()
	}
	return netip.IPv6Unspecified()
}

// loginAt is when a bot logs in for the first time.
func (s *Swarm) loginAt(number int) time.Duration {
	return time.Duration(number) * time.Second / time.Duration(s.cfg.Logins)
}

// Each calls f for every bot, on the goroutine of its group, and waits.
func (s *Swarm) Each(f func(b *Bot)) error {
	return s.inGroups(func(g *group) {
		for i := range g.bots {
			f(&g.bots[i])
		}
	})
}

// inGroups calls f for each group in turn, on its goroutine.
func (s *Swarm) inGroups(f func(g *group)) error {
	var errs []error
	for _, g := range s.groups {
		if err := g.do(func() { f(g) }); err != nil {
			errs = append(errs, fmt.Errorf("%v: %w", g, err))
		}
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

// GiveUp has the bots that are not in the world stay out of it: what they ask for is a load of its own.
func (s *Swarm) GiveUp() error {
	return s.Each(func(b *Bot) {
		if b.Client == nil || !b.Client.InWorld() {
			b.logOut()
		}
	})
}

// Stats sums up what all bots have counted.
func (s *Swarm) Stats() (st Stats, err error) {
	err = s.inGroups(func(g *group) { g.addTo(&st) })
	return st, err
}

// Watch begins or ends the measuring of freshness.
func (s *Swarm) Watch(on bool) error {
	if on {
		return errors.Join(s.Each(func(b *Bot) { b.beginWatch() }), s.setWatching(on))
	}
	return s.setWatching(on)
}

func (s *Swarm) setWatching(on bool) error {
	s.watching.Store(on)
	return nil
}

// Freshness is what all bots found together while they watched.
func (s *Swarm) Freshness() (all Freshness, err error) {
	err = s.inGroups(func(g *group) {
		for i := range g.bots {
			g.bots[i].countLate(g.now)
		}
		all.add(&g.fresh)
	})
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
	for _, g := range s.groups {
		g.stop()
	}
	for _, g := range s.groups {
		<-g.done
		err = errors.Join(err, g.err)
	}
	return err
}

// Stats is what a swarm has counted since its start.
type Stats struct {
	// Playing are the bots whose entity is in the world, Sessions those that are logged in or
	// about to be.
	Playing, Sessions int
	// Waiting are the bots that were refused and will ask again.
	Waiting int
	// InView is how many entities all bots see now.
	InView int
	// Logins counts the sessions that were begun.
	Logins uint64
	// Refusals are the logins that came to nothing and are tried again, by reason.
	Refusals []Refusal
	// Lost counts sessions that ended though no behaviour had asked for it, and logins that were
	// refused for good.
	Lost uint64
	// Refused counts what behaviours could not do.
	Refused uint64
	// Strays counts datagrams from places that no bot has dialled.
	Strays uint64
	// Client is the sum of what the clients counted.
	Client client.Stats
	// Wire is the sum over the sockets: bytes and packets of the datagrams.
	Wire mercury.Stats
}
