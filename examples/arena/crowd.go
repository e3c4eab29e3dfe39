package main

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cellscape/cellscape/bsp"
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/client"
	"github.com/cellscape/cellscape/entity/client/bots"
	"github.com/cellscape/cellscape/examples/arena/game"
	"github.com/cellscape/cellscape/mercury/secure"
	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space/cluster/status"
)

const (
	// logins is how many bots log in each second: 300 are in within three seconds.
	logins = 100
	// enterLimit is how long the dance waits for those who are late.
	enterLimit = 5 * time.Second
)

// crowd is all the bots of this OS process. They share nothing with the server but the definitions
// and the address of the LoginApp.
type crowd struct {
	swarm   *bots.Swarm // nil for a crowd of none
	dancers []*dancer   // by number of the bot
	log     *slog.Logger
	resting atomic.Bool // the bots stand still
	errors  atomic.Int64
	visited bool                       // players may come who are none of the bots
	stay    int                        // how many of the bots have not been dismissed
	cells   atomic.Pointer[[]bsp.Rect] // of the arena, as the status has them

	mu     sync.Mutex
	guards map[entity.ID]dot // where a bot last saw them
}

// startCrowd has n bots log in, one after the other, and waits until they are in the world, or for a
// while.
func startCrowd(ctx context.Context, f *flags, schema *property.Schema, login netip.AddrPort, key secure.PublicKey, log *slog.Logger) (c *crowd, err error) {
	c = &crowd{log: log, visited: f.doors != "", stay: f.bots, guards: make(map[entity.ID]dot)}
	for i := range f.bots {
		c.dancers = append(c.dancers, &dancer{crowd: c, dance: newDance(i, f.seed)})
	}
	if f.bots == 0 {
		return c, nil
	}
	c.swarm, err = bots.Start(bots.Config{
		Bots: f.bots, LoginApp: login, ServerKey: key, Schema: schema, PerSocket: 1, Logins: logins, Seed: f.seed, Tick: game.Tick, ViewRadius: game.AoIRadius, Log: log,
		Behave: func(number int) bots.Behaviour { return c.dancers[number] },
		Events: func(b *bots.Bot) client.Events { return client.Events{Audited: c.dancers[b.Number].hear} },
	})
	if err != nil {
		return nil, err
	}
	limit, cancel := context.WithTimeout(ctx, time.Duration(f.bots)*time.Second/logins+enterLimit)
	defer cancel()
	if err := c.swarm.Ready(limit); err != nil && limit.Err() == nil {
		return nil, errors.Join(err, c.swarm.Stop())
	}
	return c, nil
}

// each calls f for each bot, on its goroutine, one after the other.
func (c *crowd) each(f func(b *bots.Bot, d *dancer)) {
	if c.swarm == nil {
		return
	}
	if err := c.swarm.Each(func(b *bots.Bot) { f(b, c.dancers[b.Number]) }); err != nil {
		c.log.Error("bots have ended", "error", err)
		c.errors.Add(1)
	}
}

// sums is what all bots together know.
type sums struct {
	playing, resting int
	tally            tally
	bundles          uint64 // received from cells
	missed           uint64 // of them, by their numbers
	resumed          uint64 // sessions that went on over another channel
	malformed        uint64
	down, up         uint64 // bytes of datagrams
	audited          int
	diverged         int // of those audited
	errors           int
	unsent           uint64 // messages that clients could not send
	partial          bool   // others had messages, too: bots that were let go, or visitors
}

func (c *crowd) sums() (s sums) {
	c.each(func(b *bots.Bot, d *dancer) {
		if b.Client == nil {
			return
		}
		playing := b.State() == client.Playing && b.InWorld()
		if playing && b.Number < c.stay { // the avatars of the others have gone, and their counts with them
			s.tally.add(d.asked, answers(b.Player()))
		}
		s.playing += count(playing)
		s.resting += count(playing && b.AtRest() && c.resting.Load())
		s.audited += count(d.audited)
		s.diverged += count(d.audited && len(d.diff) > 0)
	})
	if c.swarm != nil {
		st, err := c.swarm.Stats()
		if err != nil {
			c.log.Error("bots have ended", "error", err)
			c.errors.Add(1)
		}
		s.missed, s.resumed = st.Client.BundlesMissed, st.Client.Resumed
		s.bundles, s.malformed, s.unsent = st.Client.CellBundles, st.Client.Malformed, st.Client.Unsent
		s.down, s.up = st.Wire.BytesIn, st.Wire.BytesOut
		s.errors = int(st.Lost)
	}
	s.errors += int(c.errors.Load())
	s.partial = c.visited || c.stay < len(c.dancers)
	return s
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
	c.mu.Lock()
	defer c.mu.Unlock()
	c.each(func(b *bots.Bot, _ *dancer) {
		if b.Client == nil || !b.InWorld() {
			return
		}
		all = append(all, see(b.Player()))
		for r := range b.Entities() {
			if d := see(r); d.guard {
				c.guards[d.id] = d
			}
		}
		if text, ok := b.SpaceData(game.AlarmKey); ok {
			alarm = string(text)
		}
	})
	for _, d := range c.guards {
		all = append(all, d)
	}
	slices.SortFunc(all, func(a, b dot) int { return cmp.Compare(a.id, b.id) })
	return all, alarm
}

// learn tells the bots where the lines are.
func (c *crowd) learn(st *status.World) {
	for _, s := range st.Spaces {
		if s.ID != uint32(game.SpaceID) {
			continue
		}
		cells := make([]bsp.Rect, 0, len(s.Cells))
		for _, x := range s.Cells {
			cells = append(cells, bsp.Rect{MinX: x.Rect[0], MinZ: x.Rect[1], MaxX: x.Rect[2], MaxZ: x.Rect[3]})
		}
		c.cells.Store(&cells)
	}
}

// watch begins or ends the counting of how fresh the places are that bots hold.
func (c *crowd) watch(on bool) {
	if c.swarm == nil {
		return
	}
	if err := c.swarm.Watch(on); err != nil {
		c.log.Error("bots have ended", "error", err)
		c.errors.Add(1)
	}
}

// freshness is what all bots together found.
func (c *crowd) freshness() (f bots.Freshness, err error) {
	if c.swarm == nil {
		return f, nil
	}
	return c.swarm.Freshness()
}

// audit makes every bot ask the server what it should hold, and compare.
func (c *crowd) audit() {
	c.each(func(b *bots.Bot, _ *dancer) {
		if b.Number >= c.stay || b.Client == nil {
			return
		}
		if err := b.RequestAudit(); err != nil {
			c.log.Error("no audit", "bot", b.Number, "error", err)
		}
	})
}

// leave lets all bots log out and ends them.
func (c *crowd) leave() error {
	if c.swarm == nil {
		return nil
	}
	return c.swarm.Stop()
}
