package sim

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/cellscape/cellscape/mercury"
)

// withSevered has players lose their channels in a third of the seeds. Its draws are of their own, so
// that the kept seeds stay what they were.
func withSevered(o Options) Options {
	o.Sever = rand.New(rand.NewPCG(o.Seed, 0x5e7e)).IntN(3) == 0
	return o
}

// severOne takes a player's channel away: its own machine says that it is broken, or nothing passes any
// more until both ends give up. The session has to go on as if nothing had happened.
func (c *Cluster) severOne() {
	if !c.opts.Sever || c.severing.IntN(2) != 0 {
		return
	}
	pl := c.players[c.severing.IntN(len(c.players))]
	silent, d := c.severing.IntN(2) == 0, time.Duration(1+c.severing.IntN(5000))*time.Millisecond
	switch {
	case !pl.playing() || pl.p.paused() || pl.client.Interrupted() != nil:
	case silent:
		c.partFromBases(pl.p, mercury.DefaultInactivity+d)
	default:
		c.loseChannel(pl)
	}
}

// partFromBases lets nothing pass between a player and the BaseApps.
func (c *Cluster) partFromBases(p *Process, d time.Duration) {
	c.trace.Event(c.now, "sever", "%s for %v", p.Name, d)
	for _, b := range c.baseApps {
		if !slices.ContainsFunc(c.cuts, func(x cut) bool { return x.a == p && x.b == b || x.a == b && x.b == p }) {
			c.cuts = append(c.cuts, cut{p, b, c.now + d})
			c.net.Cut(p.at, b.at, true)
		}
	}
}

// loseChannel ends a player's channel at its own end. Its BaseApp is told once, which may be lost.
func (c *Cluster) loseChannel(pl *player) {
	c.trace.Event(c.now, "break", "%s", pl.name)
	pl.p.ep.Abort(pl.ch)
	pl.p.app.Closed(c.now, pl.ch, mercury.ErrPeerAborted)
	pl.p.flush()
}
