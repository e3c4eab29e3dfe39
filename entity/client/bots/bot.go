package bots

import (
	"math/rand/v2"
	"time"

	"github.com/cellscape/cellscape/entity/client"
	"github.com/cellscape/cellscape/property"
)

const (
	// retryAfter is how long a bot waits before it asks a world again that did not let it in. It doubles
	// up to maxRetry: thousands that ask each second keep a server from those who are in.
	retryAfter = time.Second
	maxRetry   = 16 * time.Second
)

// Bot is one player. It belongs to the goroutine of its group.
type Bot struct {
	// Client is the bot's client; a new one for each login.
	*client.Client
	// Number tells the bots of a swarm apart, from 0.
	Number int
	// Chance is the bot's own source of decisions.
	Chance *rand.Rand
	// Now is the time of this tick, on the swarm's clock, which is 0 at Start.
	Now time.Duration

	group     *group
	slot      int // in its group
	behaviour Behaviour
	leaving   bool // its session ends because it wants it to
	over      bool // it plays no more
	waiting   bool // it was refused and will ask again
	tries     int  // logins in a row that were refused
	logins    uint64
	lost      uint64
	refused   uint64        // what its behaviour could not do
	earlier   *client.Stats // of sessions that are over; nil before one is

	trail  *trail // of its entity; nil while it has none
	seen   []seen // the others in view while they are watched
	lookAt time.Duration
}

// Every draws whether something that happens every so often, on average, happens in this tick.
func (b *Bot) Every(period time.Duration) bool {
	return b.Chance.Int64N(int64(max(period, 1))) < int64(b.group.swarm.cfg.Tick)
}

// Step is how far the bot goes in one tick at a speed in metres a second.
func (b *Bot) Step(speed float32) float32 { return speed * float32(b.group.swarm.cfg.Tick.Seconds()) }

// Go moves the bot's entity to a place, and remembers that for Freshness, unless it is on a vehicle.
func (b *Bot) Go(place, direction property.Vector3) error {
	if err := b.Client.SetPosition(place, direction); err != nil {
		return err
	}
	if b.trail != nil && b.Player().Vehicle() == 0 { // aboard the vehicle decides where others see it
		b.trail.add(b.group.now, place)
	}
	return nil
}

// Apart has the bot's moves of the next time counted apart as well (Freshness.Apart), for example
// those around a line between two cells.
func (b *Bot) Apart(d time.Duration) {
	if b.trail != nil {
		b.trail.apart.Store(uint32((b.group.now + d) / trailUnit))
	}
}

// LeaveFor logs out, and logs in again after a time; 0 is for ever.
func (b *Bot) LeaveFor(away time.Duration) {
	b.logOut()
	b.over = away == 0
	b.wakeAt(b.Now + away)
}

func (b *Bot) logOut() {
	if b.Client != nil && b.Client.State() != client.Closed {
		b.leaving = true
		b.Client.Logout()
	}
	b.over, b.waiting = true, false
}

// wakeAt sets when the bot's next tick is.
func (b *Bot) wakeAt(at time.Duration) { b.group.due[b.slot] = at }

// tick does what is due.
func (b *Bot) tick(now time.Duration) {
	b.Now = now
	if b.Client == nil || b.Client.State() == client.Closed {
		if b.over {
			b.wakeAt(now + time.Hour)
			return
		}
		b.login()
	}
	b.wakeAt(now + b.group.swarm.cfg.Tick)
	if b.Client == nil {
		return
	}
	if b.behaviour != nil && !b.leaving && b.Client.InWorld() {
		b.behaviour.Act(b)
	}
	b.Client.Tick(now)
	b.look(now)
}

// login begins a session.
func (b *Bot) login() {
	if b.Client != nil {
		if b.earlier == nil {
			b.earlier = new(client.Stats)
		}
		st := b.Client.Stats()
		b.earlier.Add(&st)
	}
	b.leaving, b.waiting = false, false
	g := b.group
	l, s := &line{g.endpoint, b}, g.swarm
	cfg := client.Config{
		Transport: l, Schema: s.cfg.Schema, Scripts: s.cfg.Scripts, PropertyStats: g.changes, Scratch: &g.scratch,
		LoginApp: s.cfg.LoginApp, Tick: s.cfg.Tick, Events: b.events(), Log: s.cfg.Log,
	}
	if g.guard != nil {
		cfg.Tickets = l
	}
	cfg.User, cfg.Password = s.cfg.Account(b.Number)
	c, err := client.New(cfg)
	if err != nil {
		b.fail(err)
		return
	}
	b.Client, b.seen = c, nil
	b.logins++
}

// begins hears that the bot has an entity.
func (b *Bot) begins(own *client.Replica) { b.trail = b.group.swarm.trails.of(own.ID) }

// arrives hears that the bot is in the world.
func (b *Bot) arrives(*client.Replica) { b.tries = 0 }

// closed hears that the session is over.
func (b *Bot) closed(err error) {
	in := b.trail != nil
	if in {
		b.group.swarm.trails.forget(b.Client.Player().ID)
		b.trail = nil
	}
	if b.leaving {
		return
	}
	code, again := passing(err)
	if in || !again {
		b.wakeAt(b.group.now + retryAfter)
		b.fail(err)
		return
	}
	b.waiting = true
	b.group.refusals.note(code, 1, err.Error())
	// Those who were refused together do not come back together.
	wait := min(retryAfter<<min(b.tries, 8), maxRetry)
	b.wakeAt(b.group.now + wait + wait*time.Duration(b.Number%16)/64)
	b.tries++
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
	if b.waiting {
		st.Waiting++
	}
	if b.earlier != nil {
		st.Client.Add(b.earlier)
	}
	if b.Client == nil {
		return
	}
	now := b.Client.Stats()
	st.Client.Add(&now)
	if b.Client.State() == client.Closed {
		return
	}
	st.Sessions++
	if b.Client.InWorld() {
		st.Playing++
		st.InView += b.Client.Len()
	}
}
