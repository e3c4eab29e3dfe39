package main

import (
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/netip"
	"sync"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/client"
	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/host"
	"github.com/cellscape/cellscape/property"
)

const (
	// A bot says something every ten seconds on average, and so on.
	sayEvery     = 10 * time.Second
	wearEvery    = 15 * time.Second
	waveEvery    = 20 * time.Second
	collectEvery = 30 * time.Second
	// waveTo is the distance, in metres, up to which it waves to others: they will still be in
	// sight when the server hears of it.
	waveTo = aoiRadius / 2
	// lookEvery is how often a bot tells the page what it sees.
	lookEvery = 500 * time.Millisecond
	// retryAfter is how long a bot waits after it found the server not ready.
	retryAfter = time.Second
)

// bot is one player: an app like any other, around a client.
type bot struct {
	number int
	crowd  *crowd
	env    host.Env
	log    *slog.Logger
	chance *rand.Rand
	dance  *dancer
	login  netip.AddrPort
	schema *property.Schema

	client  *client.Client
	retryAt time.Duration
	due     time.Duration
	lookAt  time.Duration
	stats   client.Stats // of earlier sessions
	leaving bool         // it was let go
	trail   trail
	sees    map[entity.ID]*sight
	fresh   freshness
	asked   asked

	mu   sync.Mutex // guards view
	view view
}

// view is what others may read of a bot at any time.
type view struct {
	playing bool // its client says that it is in the world
	resting bool // and the server knows where
	over    bool // the session has ended
	stats   client.Stats
	wire    mercury.Stats
	at      dot
	sees    []dot
	audited bool
	diff    []string
	alarm   string
	err     error

	asked    asked
	answered answered
}

// dot is an entity on the page.
type dot struct {
	id    entity.ID
	guard bool
	x, z  float32
	hat   uint8
}

// newClient begins a session.
func (b *bot) newClient() error {
	c, err := client.New(client.Config{
		Transport: b.env.Transport, Tickets: b.env.Guard, Schema: b.schema, LoginApp: b.login, Log: b.log, Tick: tick,
		User: fmt.Sprintf("bot%03d", b.number), Password: "open sesame",
		Events: client.Events{
			Audited:    func(diff []string) { b.mu.Lock(); b.view.audited, b.view.diff = true, diff; b.mu.Unlock() },
			Closed:     b.closed,
			BasePlayer: func(own *client.Replica) { b.crowd.follow(own.ID, &b.trail) },
			Reset:      func() { clear(b.sees) },
			CellGone:   func(*client.Replica) { clear(b.sees) },
			Entered:    b.enters, Left: b.leaves, Moved: b.moves,
		},
	})
	b.client, b.sees = c, map[entity.ID]*sight{}
	return err
}

// closed hears that the session is over. If the server was not ready, the bot asks again;
// everything else is an error of this run.
func (b *bot) closed(err error) {
	var refused *protocol.Refused
	if errors.As(err, &refused) {
		switch refused.Code {
		case protocol.NotReady, protocol.ServerBusy:
			b.retryAt = b.due + retryAfter
			return
		case protocol.LoggedOut:
			return
		}
	}
	b.log.Error("a bot lost its session", "bot", b.number, "error", err)
	b.mu.Lock()
	b.view.err = err
	b.mu.Unlock()
}

// Tick implements host.App.
func (b *bot) Tick(now time.Duration) time.Duration {
	if now < b.due {
		return b.due
	}
	b.due = now + tick
	if b.retryAt != 0 && now >= b.retryAt {
		b.retryAt = 0
		b.stats = add(b.stats, b.client.Stats())
		if err := b.newClient(); err != nil {
			b.log.Error("no client", "error", err)
		}
	}
	if b.client.InWorld() && !b.leaving {
		if !b.crowd.resting.Load() {
			b.move(now)
			b.act()
		}
	}
	b.client.Tick(now)
	b.show(now)
	return b.due
}

// leave logs out. Nobody answers what a bot asks after that.
func (b *bot) leave() {
	b.leaving = true
	b.client.Logout()
}

func (b *bot) move(now time.Duration) {
	at := b.client.Player().Position
	to := b.dance.target(b.crowd.danced(now))
	if at == to {
		return
	}
	next, yaw := step(at, to, runSpeed*tick.Seconds())
	if err := b.client.SetPosition(next, property.Vector3{X: yaw}); err != nil {
		b.log.Error("a bot cannot move", "bot", b.number, "error", err)
		return
	}
	b.trail.add(b.env.Clock(), next)
}

// act does, now and then, what players do.
func (b *bot) act() {
	own := b.client.Player()
	if b.now(sayEvery) {
		b.asked.said++
		b.call(own.Cell().Call("say", fmt.Sprintf("this is my word number %d", b.asked.said)))
	}
	if b.now(wearEvery) {
		b.asked.wore++
		b.call(own.Cell().Call("wear", b.chance.Uint64N(8), b.chance.Uint64N(8)))
	}
	if b.now(collectEvery) {
		b.asked.collected++
		b.call(own.Base().Call("collect"))
	}
	if b.now(waveEvery) {
		for other := range b.client.Entities() {
			if other.Def.Name == "Avatar" && entity.Distance(own.Position, other.Position) < waveTo {
				b.asked.waved++
				b.call(other.Cell().Call("wave"))
				break
			}
		}
	}
}

// now draws whether something with this average period happens in this tick.
func (b *bot) now(every time.Duration) bool { return b.chance.Int64N(int64(every)) < int64(tick) }

func (b *bot) call(err error) {
	if err != nil {
		b.log.Error("a bot cannot call", "bot", b.number, "error", err)
		b.crowd.errors.Add(1)
	}
}

// show updates the view.
func (b *bot) show(now time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	v := &b.view
	v.playing = b.client.State() == client.Playing && b.client.InWorld()
	v.over = b.client.State() == client.Closed
	v.resting = v.playing && b.client.AtRest() && b.crowd.resting.Load()
	v.stats = add(b.stats, b.client.Stats())
	if t, ok := b.env.Net.Carriers()[0].(interface{ Stats() mercury.Stats }); ok {
		v.wire = t.Stats()
	}
	if !v.playing || now < b.lookAt {
		return
	}
	b.lookAt = now + lookEvery
	b.watch()
	v.at = see(b.client.Player())
	v.asked, v.answered = b.asked, answers(b.client.Player())
	v.sees = v.sees[:0]
	for r := range b.client.Entities() {
		if d := see(r); d.guard {
			v.sees = append(v.sees, d)
		}
	}
	if alarm, ok := b.client.SpaceData(alarmKey); ok {
		v.alarm = string(alarm)
	}
}

func see(r *client.Replica) dot {
	d := dot{id: r.ID, guard: r.Def.Name == "Guard", x: r.Position.X, z: r.Position.Z}
	if hat := r.Def.Property("hat"); hat != nil {
		d.hat = uint8(r.Props.Get(hat.Index).Uint())
	}
	return d
}

// look returns a copy of the view.
func (b *bot) look() view {
	b.mu.Lock()
	defer b.mu.Unlock()
	v := b.view
	v.sees = append([]dot(nil), v.sees...)
	return v
}

// Opened, Message and Closed implement host.App.
func (b *bot) Opened(now time.Duration, ch mercury.ChannelID, peer mercury.Address) {
	b.client.Opened(now, ch, peer)
}

func (b *bot) Message(now time.Duration, ch mercury.ChannelID, reliable bool, msg []byte) {
	b.client.Message(now, ch, reliable, msg)
}

func (b *bot) Closed(now time.Duration, ch mercury.ChannelID, reason error) {
	b.client.Closed(now, ch, reason)
}

// add adds what two sessions of a bot counted.
func add(a, b client.Stats) client.Stats {
	a.CallsSent += b.CallsSent
	a.CellBundles += b.CellBundles
	a.Malformed += b.Malformed
	a.BytesDown += b.BytesDown
	a.BytesUp += b.BytesUp
	return a
}
