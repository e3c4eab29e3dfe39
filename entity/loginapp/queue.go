package loginapp

import (
	"slices"
	"time"

	"github.com/cellscape/cellscape/entity/client/protocol"
)

// queue holds the players that Auth has accepted and for whom the world has no room, the first to come
// in first. See the package comment.
type queue struct {
	places  []*place
	account map[string]*place
	tellAt  time.Duration // when all are told their positions again
}

// place is that of one account. The channel that waits for it may change.
type place struct {
	in     *login
	player Player
	since  time.Duration
}

// waits reports whether who comes now has to wait: those in the queue were first.
func (l *LoginApp) waits() bool { return l.full || len(l.queue.places) > 0 }

// hasPlaces reports whether another account may wait.
func (l *LoginApp) hasPlaces() bool { return len(l.queue.places) < l.cfg.Queue }

// wait puts a login at the end of the queue. If its account waits already, it gets that place, and the
// other login is told so: it may be a channel that died unseen.
func (l *LoginApp) wait(now time.Duration, in *login, player Player) {
	p := l.queue.account[player.Account]
	switch {
	case p != nil:
		old := p.in
		p.in, p.player = in, player
		old.place, in.place = nil, p
		l.refuse(now, old, protocol.Replaced)
	case !l.hasPlaces():
		l.refuse(now, in, protocol.WorldFull)
		return
	default:
		in.place = &place{in: in, player: player, since: now}
		l.queue.places = append(l.queue.places, in.place)
		l.queue.account[player.Account] = in.place
	}
	in.state = waiting
	l.log.Info("login waits for room", "user", in.user, "waiting", len(l.queue.places))
	l.tellPosition(in, slices.Index(l.queue.places, in.place))
}

// leaveQueue gives up the place of a login that has one.
func (l *LoginApp) leaveQueue(in *login) {
	if in.place == nil {
		return
	}
	i := slices.Index(l.queue.places, in.place)
	l.queue.places = slices.Delete(l.queue.places, i, i+1)
	delete(l.queue.account, in.place.player.Account)
	in.place = nil
}

// serveQueue ends the waiting of those who have waited for too long, lets the first of the others in if
// there is room, and tells the others where they are. It lets in one in a tick: what they add to the load
// shows only later, and the whole queue at once would close the world at once.
func (l *LoginApp) serveQueue(now time.Duration) {
	for len(l.queue.places) > 0 && now-l.queue.places[0].since >= MaxWait {
		in := l.queue.places[0].in
		l.log.Info("login refused after waiting", "user", in.user)
		l.refuse(now, in, protocol.WorldFull)
	}
	if len(l.queue.places) > 0 && !l.full && l.baseAppMgr.joined && l.pending() < l.cfg.MaxPending {
		first := l.queue.places[0]
		l.leaveQueue(first.in)
		l.place(now, first.in, first.player)
	}
	if now < l.queue.tellAt {
		return
	}
	l.queue.tellAt = now + TellPeriod
	for i, p := range l.queue.places {
		l.tellPosition(p.in, i)
	}
}

func (l *LoginApp) tellPosition(in *login, i int) {
	m := protocol.Waiting{Position: uint32(i + 1), Of: uint32(len(l.queue.places))}
	l.send(in.ch, m.Append(l.buf[:0]))
}
