package main

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/client"
	"github.com/cellscape/cellscape/mercury/host"
	"github.com/cellscape/cellscape/mercury/secure"
	"github.com/cellscape/cellscape/property"
)

// loginPause is the time between two bots: 300 are in within three seconds.
const loginPause = 10 * time.Millisecond

// crowd is all the bots of this OS process. They share nothing with the server but the definitions
// and the address of the LoginApp.
type crowd struct {
	host      *host.Host
	bots      []*bot
	processes []*host.Process
	resting   atomic.Bool // the bots stand still
	watching  atomic.Bool // they count how fresh the places that they hold are
	errors    atomic.Int64
	began     time.Duration
	stay      int // how many of the bots have not been dismissed

	mu     sync.Mutex
	guards map[entity.ID]dot    // where a bot last saw them
	trails map[entity.ID]*trail // of bots
}

// startCrowd lets n bots log in, one after the other.
func startCrowd(n int, seed uint64, schema *property.Schema, login netip.AddrPort, key secure.PublicKey, log *slog.Logger) (*crowd, error) {
	h, err := host.New(host.Config{Log: log})
	if err != nil {
		return nil, err
	}
	c := &crowd{host: h, began: h.Clock(), guards: make(map[entity.ID]dot), trails: make(map[entity.ID]*trail)}
	listen := netip.AddrPortFrom(login.Addr(), 0).String()
	opts := []host.Option{host.Shared()}
	if !key.IsZero() {
		opts = append(opts, host.Secure(secure.Config{ServerKey: key}))
	}
	for i := range n {
		b := &bot{
			number: i, crowd: c, log: log, login: login, schema: schema,
			chance: rand.New(rand.NewPCG(seed, uint64(i)<<1|1)), dance: newDancer(i, seed),
		}
		p, err := h.Start(fmt.Sprintf("bot %d", i), listen, func(env host.Env) (host.App, error) {
			b.env = env
			return b, b.newClient()
		}, opts...)
		if err != nil {
			return nil, errors.Join(err, h.Close())
		}
		c.bots = append(c.bots, b)
		c.processes = append(c.processes, p)
		time.Sleep(loginPause)
	}
	c.stay = n
	return c, nil
}

// danced is the time since the dance began.
func (c *crowd) danced(now time.Duration) time.Duration { return now - c.began }

// sums is what the bots have counted together.
type sums struct {
	playing, resting int
	over             int // sessions that have ended
	tally            tally
	bundles          uint64 // received from cells
	malformed        uint64
	down, up         uint64 // bytes of datagrams
	audited          int
	diverged         int // of those audited
	errors           int
	unsent           uint64 // messages that clients could not send
	dismissed        bool   // some were let go
	alarm            string
}

func (c *crowd) sums() (s sums, views []view) {
	for i, b := range c.bots {
		v := b.look()
		views = append(views, v)
		if i < c.stay { // the avatars of the others have gone, and their counts with them
			s.tally.add(v.asked, v.answered)
		}
		s.bundles += v.stats.CellBundles
		s.malformed += v.stats.Malformed
		s.unsent += v.stats.Unsent
		s.down += v.wire.BytesIn
		s.up += v.wire.BytesOut
		s.playing += count(v.playing)
		s.resting += count(v.resting)
		s.over += count(v.over)
		s.audited += count(v.audited)
		s.diverged += count(v.audited && len(v.diff) > 0)
		s.errors += count(v.err != nil)
		if v.alarm != "" {
			s.alarm = v.alarm
		}
	}
	s.errors += int(c.errors.Load())
	s.dismissed = c.stay < len(c.bots)
	return s, views
}

func count(b bool) int {
	if b {
		return 1
	}
	return 0
}

// dots are the places of the bots, and of the guards where a bot last saw them, in the order of
// ids, and the last alarm.
func (c *crowd) dots() (all []dot, alarm string) {
	now, views := c.sums()
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, v := range views {
		if v.at.id != 0 {
			all = append(all, v.at)
		}
		for _, d := range v.sees {
			c.guards[d.id] = d
		}
	}
	for _, d := range c.guards {
		all = append(all, d)
	}
	slices.SortFunc(all, func(a, b dot) int { return cmp.Compare(a.id, b.id) })
	return all, now.alarm
}

// audit makes every bot ask the server what it should hold, and compare.
func (c *crowd) audit() {
	for i, p := range c.processes[:c.stay] {
		_ = p.Do(func(host.App) {
			if err := c.bots[i].client.RequestAudit(); err != nil {
				c.bots[i].log.Error("no audit", "bot", i, "error", err)
			}
		})
	}
}

// leave lets all bots log out and ends them.
func (c *crowd) leave() error {
	for i, p := range c.processes {
		_ = p.Do(func(host.App) { c.bots[i].client.Logout() })
	}
	waitFor(client.LogoutTimeout, func() bool { now, _ := c.sums(); return now.over == len(c.bots) })
	return c.host.Close()
}
