package bots

import (
	"crypto/rand"
	"errors"
	"fmt"
	mrand "math/rand/v2"
	"net/netip"
	"sync"
	"time"

	"github.com/cellscape/cellscape/entity/client"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/secure"
	"github.com/cellscape/cellscape/mercury/udp"
	"github.com/cellscape/cellscape/property"
)

const (
	// perGroup is how many bots share a goroutine. A turn in which all of them are due takes some ten
	// milliseconds; mostly one in twenty is.
	perGroup = 512
	// pace is the time between two turns of a group, far below the round trip that a player has:
	// what came meanwhile is there at once, and nothing wakes the goroutine for a datagram.
	pace = 5 * time.Millisecond
	// goodbye is how long a group that stops waits for the last words of its channels.
	goodbye = 500 * time.Millisecond
)

// errStopped is what is asked of a swarm after Stop.
var errStopped = errors.New("bots: stopped")

// group is the bots of one goroutine. They share one Endpoint, which dials disguised places so that
// it can be told which socket a datagram is for.
type group struct {
	swarm    *Swarm
	bots     []Bot
	due      []time.Duration // when each bot wants its next tick
	fleet    *udp.Fleet
	endpoint *mercury.Endpoint
	guard    *secure.Guard // nil: everything is in the clear
	places   places
	owner    map[mercury.ChannelID]*Bot
	changes  *property.Stats
	scratch  client.Scratch
	fresh    Freshness
	refusals refusals
	// sightings are the places of the datagram at hand. They are looked up together, and all trails
	// are touched before: those lie scattered over memory, and one after the other they would cost
	// more than all else that is done with a place. fetched is for that alone.
	sightings []sighting
	near      []sample // scratch of a look
	fetched   int64
	now       time.Duration
	strays    uint64 // datagrams from where no bot has dialled

	mu      sync.Mutex // guards inbox and leaving
	inbox   []func()
	leaving bool
	busy    []func()
	done    chan struct{}
	err     error // why it ended by itself; read after done
}

// newGroup makes a group that does not run yet.
func newGroup(s *Swarm, first, count int) (*group, error) {
	g := &group{
		swarm: s, bots: make([]Bot, count), due: make([]time.Duration, count),
		owner: make(map[mercury.ChannelID]*Bot), changes: property.NewLoggedStats(s.cfg.Schema, s.cfg.Log), done: make(chan struct{}),
	}
	for i := range g.bots {
		number := first + i
		g.bots[i] = Bot{
			Number: number, Chance: mrand.New(mrand.NewPCG(s.cfg.Seed, uint64(number)<<1|1)), group: g, slot: i,
		}
		g.due[i] = s.loginAt(number)
		if s.cfg.Behave != nil {
			g.bots[i].behaviour = s.cfg.Behave(number)
		}
	}
	sockets := (count + s.cfg.PerSocket - 1) / s.cfg.PerSocket
	var err error
	if g.fleet, err = (udp.Config{}).Fleet(s.listen(), sockets); err != nil {
		return nil, err
	}
	if err := g.begin(); err != nil {
		return nil, errors.Join(err, g.fleet.Close())
	}
	return g, nil
}

// begin makes the Endpoint.
func (g *group) begin() error {
	var cfg mercury.Config
	var salt [4]byte
	_, _ = rand.Read(salt[:]) // it never fails
	_, _ = rand.Read(cfg.Secret[:])
	cfg.Salt = uint32(salt[0]) | uint32(salt[1])<<8 | uint32(salt[2])<<16 | uint32(salt[3])<<24 | 1 // not 0
	if key := g.swarm.cfg.ServerKey; !key.IsZero() {
		var err error
		// A ticket is kept from the answer of the LoginApp to the dial that follows at once.
		if g.guard, err = secure.New(secure.Config{Random: rand.Reader, ServerKey: key, MaxKept: perGroup}); err != nil {
			return err
		}
		cfg.Guard = g.guard
	}
	var err error
	g.endpoint, err = mercury.NewEndpoint(cfg, g.fleet.Addr(0), g)
	return err
}

// run turns the group until it is to stop.
func (g *group) run() {
	defer close(g.done)
	defer func() { g.err = errors.Join(g.err, g.fleet.Close()) }()
	for {
		began := g.swarm.clock()
		leaving := g.runInbox()
		if leaving {
			g.leave()
			return
		}
		if g.err = g.turn(); g.err != nil {
			g.swarm.cfg.Log.Error("bots have ended", "error", g.err)
			return
		}
		time.Sleep(pace - (g.swarm.clock() - began))
	}
}

// turn takes what has come, lets bots act whose time it is, and sends.
func (g *group) turn() error {
	g.now = g.swarm.clock()
	if err := g.fleet.Read(g.receive); err != nil {
		return err
	}
	g.endpoint.Advance(g.swarm.clock())
	g.learn()
	g.now = g.swarm.clock()
	for i, due := range g.due {
		if due <= g.now {
			g.bots[i].tick(g.now)
		}
	}
	g.endpoint.Flush(g.swarm.clock(), g.send)
	return nil
}

// receive hands a datagram to the Endpoint, as if it came from the place that was dialled.
func (g *group) receive(socket int, from netip.AddrPort, datagram []byte) {
	place, ok := g.places.find(from)
	if !ok {
		g.strays++
		return
	}
	g.endpoint.Receive(g.now, disguise(socket, place, from.Port()), datagram)
	g.learn()
}

func (g *group) send(to netip.AddrPort, datagram []byte) {
	socket, place := undisguise(to)
	g.fleet.Write(socket, g.places.at(place), datagram)
}

// dial gives a channel that no other bot of the group has.
func (g *group) dial(b *Bot, to mercury.Address) mercury.ChannelID {
	ch := g.endpoint.DialApart(g.disguised(b, to))
	if ch != 0 {
		g.owner[ch] = b
	}
	return ch
}

// disguised is an address as the Endpoint is told it for a bot.
func (g *group) disguised(b *Bot, to mercury.Address) mercury.Address {
	to.At = disguise(b.slot/g.swarm.cfg.PerSocket, g.places.add(to.At), to.At.Port())
	return to
}

// Opened implements mercury.Handler.
func (g *group) Opened(now time.Duration, ch mercury.ChannelID, peer mercury.Address) {
	if b := g.owner[ch]; b != nil {
		b.Client.Opened(now, ch, peer)
		return
	}
	g.endpoint.Abort(ch) // a bot accepts nobody
}

// Message implements mercury.Handler.
func (g *group) Message(now time.Duration, ch mercury.ChannelID, reliable bool, msg []byte) {
	if b := g.owner[ch]; b != nil {
		b.Client.Message(now, ch, reliable, msg)
	}
}

// Bulk implements mercury.BulkHandler.
func (g *group) Bulk(now time.Duration, ch mercury.ChannelID, msg []byte) {
	if b := g.owner[ch]; b != nil {
		b.Client.Bulk(now, ch, msg)
	}
}

// Closed implements mercury.Handler.
func (g *group) Closed(now time.Duration, ch mercury.ChannelID, reason error) {
	if b := g.owner[ch]; b != nil {
		delete(g.owner, ch)
		b.Client.Closed(now, ch, reason)
	}
}

// do runs f on the group's goroutine and waits for it.
func (g *group) do(f func()) error {
	ran := make(chan struct{})
	g.mu.Lock()
	g.inbox = append(g.inbox, func() { f(); close(ran) })
	g.mu.Unlock()
	select {
	case <-ran:
		return nil
	case <-g.done:
		select {
		case <-ran:
			return nil
		default:
			return errors.Join(errStopped, g.err)
		}
	}
}

// runInbox runs what was asked for, and reports whether the group is to stop.
func (g *group) runInbox() (leaving bool) {
	g.mu.Lock()
	g.busy, g.inbox = g.inbox, g.busy[:0]
	leaving = g.leaving
	g.mu.Unlock()
	for _, f := range g.busy {
		f()
	}
	clear(g.busy)
	return leaving
}

// stop has the group close its channels and end.
func (g *group) stop() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.leaving = true
}

// leave closes all channels, and waits a moment for what was sent to be acked.
func (g *group) leave() {
	g.endpoint.SetHandler(nil)
	g.endpoint.CloseAll()
	for end := g.swarm.clock() + goodbye; ; time.Sleep(pace) {
		g.now = g.swarm.clock()
		g.endpoint.Flush(g.now, g.send)
		if g.endpoint.Stats().Channels == 0 || g.now >= end {
			return
		}
		if g.err = g.fleet.Read(g.receive); g.err != nil {
			return
		}
		g.endpoint.Advance(g.swarm.clock())
	}
}

func (g *group) addTo(st *Stats) {
	for i := range g.bots {
		g.bots[i].addTo(st)
	}
	g.refusals.addTo(st)
	w := g.endpoint.Stats()
	st.Wire.BytesIn += w.BytesIn
	st.Wire.BytesOut += w.BytesOut
	st.Wire.PacketsIn += w.PacketsIn
	st.Wire.PacketsOut += w.PacketsOut
	st.Strays += g.strays
}

// String names the group in errors.
func (g *group) String() string {
	return fmt.Sprintf("bots %d to %d", g.bots[0].Number, g.bots[len(g.bots)-1].Number)
}

// line is the transport of one bot: the group's, with channels of its own.
type line struct {
	*mercury.Endpoint
	bot *Bot
}

// Dial implements mercury.Transport.
func (l *line) Dial(to mercury.Address) mercury.ChannelID { return l.bot.group.dial(l.bot, to) }

// Close implements mercury.Transport.
func (l *line) Close(ch mercury.ChannelID) {
	delete(l.bot.group.owner, ch)
	l.Endpoint.Close(ch)
}

// Abort implements mercury.Transport.
func (l *line) Abort(ch mercury.ChannelID) {
	delete(l.bot.group.owner, ch)
	l.Endpoint.Abort(ch)
}

// Keep implements client.Tickets.
func (l *line) Keep(now time.Duration, to mercury.Address, ticket []byte) {
	if l.bot.group.guard != nil {
		l.bot.group.guard.Keep(now, l.bot.group.disguised(l.bot, to), ticket)
	}
}
