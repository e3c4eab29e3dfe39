package bots

import (
	"math/rand/v2"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/host"
)

// group is the bots of one socket and one goroutine: one app to the runner, which leads what
// comes over a channel to the bot that has dialled it.
type group struct {
	swarm   *Swarm
	process *host.Process
	env     host.Env
	bots    []*Bot
	owner   map[mercury.ChannelID]*Bot
}

func (g *group) take(env host.Env, first, count int) {
	g.env, g.owner = env, make(map[mercury.ChannelID]*Bot)
	for number := first; number < first+count; number++ {
		b := &Bot{
			Number: number, Chance: rand.New(rand.NewPCG(g.swarm.cfg.Seed, uint64(number)<<1|1)),
			group: g, due: g.swarm.loginAt(number), sees: make(map[entity.ID]*seen),
		}
		if g.swarm.cfg.Behave != nil {
			b.behaviour = g.swarm.cfg.Behave(number)
		}
		g.bots = append(g.bots, b)
	}
}

// Tick implements host.App.
func (g *group) Tick(now time.Duration) (next time.Duration) {
	next = now + g.swarm.cfg.Tick
	for _, b := range g.bots {
		next = min(next, b.tick(now))
	}
	return next
}

// Opened implements host.App.
func (g *group) Opened(now time.Duration, ch mercury.ChannelID, peer mercury.Address) {
	if b := g.owner[ch]; b != nil {
		b.Client.Opened(now, ch, peer)
		return
	}
	g.env.Transport.Abort(ch) // a bot accepts nobody
}

// Message implements host.App.
func (g *group) Message(now time.Duration, ch mercury.ChannelID, reliable bool, msg []byte) {
	if b := g.owner[ch]; b != nil {
		b.Client.Message(now, ch, reliable, msg)
	}
}

// Closed implements host.App.
func (g *group) Closed(now time.Duration, ch mercury.ChannelID, reason error) {
	if b := g.owner[ch]; b != nil {
		delete(g.owner, ch)
		b.Client.Closed(now, ch, reason)
	}
}

func (g *group) addTo(st *Stats) {
	for _, b := range g.bots {
		b.addTo(st)
	}
	for _, c := range g.env.Net.Carriers() {
		if t, ok := c.(interface{ Stats() mercury.Stats }); ok {
			w := t.Stats()
			st.Wire.BytesIn += w.BytesIn
			st.Wire.BytesOut += w.BytesOut
			st.Wire.PacketsIn += w.PacketsIn
			st.Wire.PacketsOut += w.PacketsOut
		}
	}
}

// line is the transport of one bot: the group's, with channels of its own.
type line struct {
	mercury.Transport
	bot *Bot
}

// Dial gives a channel that no other bot of the group has.
func (l *line) Dial(to mercury.Address) mercury.ChannelID {
	g := l.bot.group
	ch := g.env.Net.DialApart(to)
	if ch != 0 {
		g.owner[ch] = l.bot
	}
	return ch
}

// Close implements mercury.Transport.
func (l *line) Close(ch mercury.ChannelID) {
	delete(l.bot.group.owner, ch)
	l.Transport.Close(ch)
}

// Abort implements mercury.Transport.
func (l *line) Abort(ch mercury.ChannelID) {
	delete(l.bot.group.owner, ch)
	l.Transport.Abort(ch)
}
