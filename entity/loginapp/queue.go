package loginapp

import (
	"cmp"
	"log/slog"
	"slices"
	"time"

	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/internal/wire"
)

// queue holds the players that Auth has accepted and for whom the world has no room, the first to come
// in first. See the package comment.
type queue struct {
	places  []*place // by number
	account map[string]*place
	tellAt  time.Duration // when all are told their positions again
	numbers uint64        // of places so far

	// refusals is how often the BaseAppMgr has said that no BaseApp has room, as it counts, and askAt when
	// it may be asked again.
	refusals uint32
	askAt    time.Duration
}

// place is that of one account, in the order in which Auth accepted them. The channel that waits for it may
// change.
type place struct {
	in     *login
	player Player
	since  time.Duration
	number uint64
	queued bool // it is in the queue, and not a login that needs not wait
	back   bool // the BaseAppMgr is asked whether the account is in the world, and need not wait
	asked  bool // the BaseAppMgr is asked for the proxy
}

// newPlace gives a player that Auth has accepted the place after all others.
func (l *LoginApp) newPlace(now time.Duration, in *login, player Player) *place {
	l.queue.numbers++
	in.place = &place{in: in, player: player, since: now, number: l.queue.numbers}
	return in.place
}

// waits reports whether who comes now has to wait: those in the queue were first.
func (l *LoginApp) waits(now time.Duration) bool {
	return l.full || len(l.queue.places) > 0 || l.crowded(now)
}

// crowded reports whether the BaseAppMgr has just said that no BaseApp has room.
func (l *LoginApp) crowded(now time.Duration) bool { return now < l.queue.askAt }

// hasPlaces reports whether another account may wait.
func (l *LoginApp) hasPlaces() bool { return len(l.queue.places) < l.cfg.Queue }

// wait puts a place into the queue. If its account waits already, both become one, with the place of who came
// first and the channel of who came last. The other login is told so: it may be a channel that died unseen.
func (l *LoginApp) wait(now time.Duration, p *place) {
	p.in.state = waiting
	switch old := l.queue.account[p.player.Account]; {
	case old == nil && !l.hasPlaces():
		l.refuse(now, p.in, protocol.WorldFull)
		return
	case old == nil:
	case old.number < p.number:
		l.takeOver(now, old, p)
		p = old
	default: // p was asked for and has no room; the other came in the meantime
		l.forget(old.in)
		l.unqueue(old)
		l.takeOver(now, p, old)
	}
	l.enqueue(p)
	l.note(now, slog.LevelInfo, "login waits for room", p.in, "waiting", len(l.queue.places))
	l.tellPosition(p.in, slices.Index(l.queue.places, p))
}

// takeOver gives a place to the login of another place of its account.
func (l *LoginApp) takeOver(now time.Duration, p, later *place) {
	was := p.in
	p.in, p.player = later.in, later.player
	p.in.place, was.place = p, nil
	p.in.state, p.in.placed = was.state, was.placed
	was.placed = 0
	l.refuse(now, was, protocol.Replaced)
}

// enqueue puts a place where it belongs by its number, unless it is there.
func (l *LoginApp) enqueue(p *place) {
	if p.queued {
		return
	}
	i, _ := slices.BinarySearchFunc(l.queue.places, p.number, func(q *place, number uint64) int { return cmp.Compare(q.number, number) })
	l.queue.places = slices.Insert(l.queue.places, i, p)
	l.queue.account[p.player.Account] = p
	p.queued = true
}

func (l *LoginApp) unqueue(p *place) {
	if !p.queued {
		return
	}
	i := slices.Index(l.queue.places, p)
	l.queue.places = slices.Delete(l.queue.places, i, i+1)
	delete(l.queue.account, p.player.Account)
	p.queued = false
}

// leaveQueue gives up the place of a login that has one.
func (l *LoginApp) leaveQueue(in *login) {
	if in.place != nil {
		l.unqueue(in.place)
		in.place = nil
	}
}

// serveQueue ends the waiting of those who have waited for too long, asks for the first of the others if
// there may be room, and tells all where they are. It asks for one in a tick: what they add to the load
// shows only later, and the whole queue at once would close the world at once.
func (l *LoginApp) serveQueue(now time.Duration) {
	for len(l.queue.places) > 0 && now-l.queue.places[0].since >= MaxWait {
		in := l.queue.places[0].in
		l.note(now, slog.LevelInfo, "login refused after waiting", in)
		l.refuse(now, in, protocol.WorldFull)
	}
	if !l.full && !l.crowded(now) && l.baseAppMgr.joined && l.pending() < l.cfg.MaxPending {
		if i := slices.IndexFunc(l.queue.places, func(p *place) bool { return !p.asked }); i >= 0 {
			l.place(now, l.queue.places[i])
		}
	}
	if now < l.queue.tellAt {
		return
	}
	l.queue.tellAt = now + TellPeriod
	for i, p := range l.queue.places {
		l.tellPosition(p.in, i)
	}
}

// noRoom has a player wait for whom the BaseAppMgr finds no BaseApp with room. One that comes out of the
// queue has its place there still.
func (l *LoginApp) noRoom(now time.Duration, p *place) {
	l.queue.askAt = now + wire.RoomPeriod
	if p.queued {
		p.in.state = waiting
		return
	}
	l.wait(now, p)
}

func (l *LoginApp) tellPosition(in *login, i int) {
	m := protocol.Waiting{Position: uint32(i + 1), Of: uint32(len(l.queue.places))}
	l.send(in.ch, m.Append(l.buf[:0]))
}
