package bots

import (
	"errors"
	"math/rand/v2"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/client"
	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/property"
)

// retryAfter is how long a bot waits when the world is not ready for it.
const retryAfter = time.Second

// Bot is one player. It belongs to the goroutine of its group.
type Bot struct {
	// Client is the bot's client; a new one for each login.
	*client.Client
	// Number tells the bots of a swarm apart, from 0.
	Number int
	// Chance is the bot's own source of decisions.
	Chance *rand.Rand
	// Now is the time of this tick, on the swarm's clock.
	Now time.Duration

	group     *group
	behaviour Behaviour
	due       time.Duration // of the next tick, or login
	leaving   bool          // its session ends because it wants it to
	over      bool          // it plays no more
	logins    uint64
	lost      uint64
	refused   uint64       // what its behaviour could not do
	earlier   client.Stats // of sessions that are over

	trail  *trail
	sees   map[entity.ID]*seen
	fresh  Freshness
	lookAt time.Duration
}

// Every draws whether something that happens every so often, on average, happens in this tick.
func (b *Bot) Every(period time.Duration) bool {
	return b.Chance.Int64N(int64(max(period, 1))) < int64(b.group.swarm.cfg.Tick)
}

// Step is how far the bot goes in one tick at a speed in metres a second.
func (b *Bot) Step(speed float32) float32 { return speed * float32(b.group.swarm.cfg.Tick.Seconds()) }

// Go moves the bot's entity to a place, and remembers that for Freshness.
func (b *Bot) Go(place, direction property.Vector3) error {
	if err := b.Client.SetPosition(place, direction); err != nil {
		return err
	}
	if b.trail != nil {
		b.trail.add(b.group.env.Clock(), place)
	}
	return nil
}

// LeaveFor logs out, and logs in again after a time; 0 is for ever.
func (b *Bot) LeaveFor(away time.Duration) {
	b.logOut()
	b.over = away == 0
	b.due = b.Now + away
}

func (b *Bot) logOut() {
	if b.Client != nil && b.Client.State() != client.Closed {
		b.leaving = true
		b.Client.Logout()
	}
	b.over = true
}

// tick does what is due and says when the next is.
func (b *Bot) tick(now time.Duration) (next time.Duration) {
	if now < b.due {
		return b.due
	}
	b.Now = now
	if b.Client == nil || b.Client.State() == client.Closed {
		if b.over {
			b.due = now + time.Hour
			return b.due
		}
		b.login()
	}
	b.due = now + b.group.swarm.cfg.Tick
	if b.Client == nil {
		return b.due
	}
	if b.behaviour != nil && !b.leaving && b.Client.InWorld() {
		b.behaviour.Act(b)
	}
	b.Client.Tick(now)
	b.look(now)
	return b.due
}

// login begins a session.
func (b *Bot) login() {
	if b.Client != nil {
		addStats(&b.earlier, b.Client.Stats())
	}
	b.leaving = false
	clear(b.sees)
	s, env := b.group.swarm, &b.group.env
	cfg := client.Config{
		Transport: &line{env.Transport, b}, Tickets: env.Guard, Schema: s.cfg.Schema, Scripts: s.cfg.Scripts,
		LoginApp: s.cfg.LoginApp, Tick: s.cfg.Tick, Log: env.Log, Events: b.events(),
	}
	cfg.User, cfg.Password = s.cfg.Account(b.Number)
	c, err := client.New(cfg)
	if err != nil {
		b.fail(err)
		return
	}
	b.Client = c
	b.logins++
}

// closed hears that the session is over.
func (b *Bot) closed(err error) {
	clear(b.sees)
	if b.leaving {
		return
	}
	b.due = b.Now + retryAfter
	var refused *protocol.Refused
	if errors.As(err, &refused) && (refused.Code == protocol.NotReady || refused.Code == protocol.ServerBusy) {
		return
	}
	if b.trail == nil && errors.Is(err, mercury.ErrTimeout) { // nobody was there yet
		return
	}
	b.fail(err)
}

// logged is how many lost sessions of one bot are logged: the others are counted.
const logged = 3

func (b *Bot) fail(err error) {
	b.lost++
	if b.lost <= logged {
		b.group.swarm.cfg.Log.Error("a bot lost its session", "bot", b.Number, "error", err)
	}
}

func (b *Bot) addTo(st *Stats) {
	st.Logins += b.logins
	st.Lost += b.lost
	st.Refused += b.refused
	addStats(&st.Client, b.earlier)
	if b.Client == nil {
		return
	}
	addStats(&st.Client, b.Client.Stats())
	if b.Client.State() == client.Closed {
		return
	}
	st.Sessions++
	if b.Client.InWorld() {
		st.Playing++
		st.InView += b.Client.Len()
	}
}

func addStats(a *client.Stats, b client.Stats) {
	a.CallsSent += b.CallsSent
	a.MovesSent += b.MovesSent
	a.Bundles += b.Bundles
	a.CellBundles += b.CellBundles
	a.Packets += b.Packets
	a.BytesDown += b.BytesDown
	a.BytesUp += b.BytesUp
	a.UnknownEntities += b.UnknownEntities
	a.StalePositions += b.StalePositions
	a.UnknownMessages += b.UnknownMessages
	a.Malformed += b.Malformed
	a.Audits += b.Audits
	a.AuditDiffs += b.AuditDiffs
	a.Unsent += b.Unsent
}
