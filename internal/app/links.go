package app

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/cellscape/cellscape/internal/logs"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/space/cluster/status"
)

// MaxRoutes bounds the addresses that Links remembers channels of: more apps than
// a cluster has, with some that were started anew.
const MaxRoutes = 4096

// Links sends messages to apps by their address, over one channel in each
// direction, so that what one app sends to another arrives in the order sent.
// It refuses apps that were declared dead.
//
// # When a peer does not keep up
//
// A full channel refuses messages. Links then holds them, in their order, until
// Tick finds room: what must arrive in its turn is not lost for want of room. So
// that what is held stays little, senders ask Level before: who can tell it later
// waits from High on, who keeps it anyway from Packed on. What is held belongs to
// the channel, and is lost with it, as what the channel had queued is; the
// protocols above repair that as they repair any broken channel.
//
// Every message that was not sent is counted in Errors, by its reason and id, and
// logged, at most once a second for each reason. Nobody else needs to.
type Links struct {
	Transport mercury.Transport
	// Log may be nil.
	Log *slog.Logger
	// Carriers tells how the carriers of the app fare. It may be nil.
	Carriers func() []status.Carrier
	// Errors are the messages that were not sent.
	Errors wire.SendErrors

	buf []byte
	now time.Duration
	// dead is asked for each message; burials says which was buried first.
	dead    map[mercury.Address]struct{}
	burials []wire.AppRef
	// routes are the channels that were dialled last, for Level.
	routes map[mercury.Address]mercury.ChannelID
	// targets are the other way round, for Closed.
	targets map[mercury.ChannelID]mercury.Address
	held    []heldQueue // in the order in which they began
	worst   wire.Backlog
	lines   logs.Limit
}

// Send sends m reliably. Messages to a zero or dead address are dropped: the
// verdict has told, or will tell, everyone concerned. An error was counted and
// logged; it is returned for who has another way to go.
func (l *Links) Send(to mercury.Address, m wire.Message) error {
	if to.IsZero() || l.Dead(to) {
		return nil
	}
	return l.Reply(l.dial(to), m)
}

// SendUnreliable sends m; it may be lost.
func (l *Links) SendUnreliable(to mercury.Address, m wire.Message) error {
	if to.IsZero() || l.Dead(to) {
		return nil
	}
	l.buf = wire.Encode(l.buf[:0], m)
	return l.unreliable(l.dial(to), wire.ID(l.buf[0]), l.buf)
}

// unreliable sends and counts what could not be sent, and what had to make room.
func (l *Links) unreliable(ch mercury.ChannelID, id wire.ID, msg []byte) error {
	dropped, err := l.Transport.SendUnreliable(ch, msg)
	if err != nil {
		l.failed(id, err)
	}
	if dropped > 0 {
		l.Errors.Add(wire.SendFull, id, uint64(dropped))
	}
	return err
}

// UnreliableRoom is how many bytes an unreliable message to an app may have now, its id included; 0 for a dead one.
func (l *Links) UnreliableRoom(to mercury.Address) int {
	if to.IsZero() || l.Dead(to) {
		return 0
	}
	return l.Transport.MaxUnreliable(l.dial(to))
}

// Reply sends m back on the channel that something came from.
func (l *Links) Reply(ch mercury.ChannelID, m wire.Message) error {
	l.buf = wire.Encode(l.buf[:0], m)
	return l.SendOn(ch, l.buf)
}

// SendOn sends an encoded message on a channel.
func (l *Links) SendOn(ch mercury.ChannelID, encoded []byte) error {
	err := l.sendOrHold(ch, encoded)
	if err != nil {
		l.failed(wire.ID(encoded[0]), err)
	}
	return err
}

// ClientMessage is the id under which messages to clients are counted.
const ClientMessage wire.ID = 0

// ToClient sends a message of the client protocol. Nothing is held for a client: who
// has no room for it is too slow, and the caller ends its session. An error was
// counted and logged.
func (l *Links) ToClient(ch mercury.ChannelID, reliable bool, msg []byte) error {
	if !reliable {
		return l.unreliable(ch, ClientMessage, msg)
	}
	err := l.Transport.Send(ch, msg)
	switch {
	case err == nil:
	case errors.Is(err, mercury.ErrFull):
		l.count(ClientMessage, wire.SendSlowClient, err)
	default:
		l.failed(ClientMessage, err)
	}
	return err
}

func (l *Links) dial(to mercury.Address) mercury.ChannelID {
	ch := l.Transport.Dial(to)
	if was, ok := l.routes[to]; ok && was == ch {
		return ch
	}
	if l.routes == nil {
		l.routes = make(map[mercury.Address]mercury.ChannelID)
		l.targets = make(map[mercury.ChannelID]mercury.Address)
	}
	if len(l.routes) >= MaxRoutes {
		maps.DeleteFunc(l.routes, func(_ mercury.Address, ch mercury.ChannelID) bool {
			_, open := l.Transport.Peer(ch)
			return !open
		})
		maps.DeleteFunc(l.targets, func(ch mercury.ChannelID, _ mercury.Address) bool {
			_, open := l.Transport.Peer(ch)
			return !open
		})
	}
	l.routes[to], l.targets[ch] = ch, to
	return ch
}

// NotPassedOn counts a message that was to be passed on, and is not even tried.
func (l *Links) NotPassedOn(id wire.ID, reason wire.SendReason) { l.Errors.Add(reason, id, 1) }

// failed counts and logs a message that was not sent.
func (l *Links) failed(id wire.ID, err error) { l.count(id, wire.ReasonOf(err), err) }

func (l *Links) count(id wire.ID, reason wire.SendReason, err error) {
	l.Errors.Add(reason, id, 1)
	if l.Log == nil {
		return
	}
	if unlogged, ok := l.lines.Allow(l.now, reason.String()); ok {
		level := slog.LevelWarn
		if !reason.Expected() {
			level = slog.LevelError
		}
		l.Log.Log(context.Background(), level, "message not sent", "reason", reason.String(), "message", id.String(), "error", err, "unlogged", unlogged)
	}
}

// Bury remembers that a start of an app is dead and drops the channel to it.
// A start is never revived: a process that comes back has another salt.
func (l *Links) Bury(role wire.Role, app mercury.Address) {
	if l.Dead(app) {
		return
	}
	ch := l.Transport.Dial(app)
	l.Transport.Abort(ch)
	delete(l.routes, app)
	delete(l.targets, ch)
	l.held = slices.DeleteFunc(l.held, func(q heldQueue) bool { return q.ch == ch }) // to the dead: no error
	if len(l.burials) == wire.MaxGraves {
		delete(l.dead, l.burials[0].App)
		l.burials = slices.Delete(l.burials, 0, 1)
	}
	if l.dead == nil {
		l.dead = make(map[mercury.Address]struct{})
	}
	l.dead[app] = struct{}{}
	l.burials = append(l.burials, wire.AppRef{Role: role, App: app})
}

// Dead reports whether a start of an app was declared dead.
func (l *Links) Dead(app mercury.Address) bool {
	_, dead := l.dead[app]
	return dead
}

// Graves are the starts of apps that were declared dead, as far as they are
// remembered, the oldest first.
func (l *Links) Graves() []wire.AppRef { return slices.Clone(l.burials) }

// From is the address of the peer of a channel, if it is one to listen to.
func (l *Links) From(ch mercury.ChannelID) (mercury.Address, bool) {
	a, ok := l.Transport.Peer(ch)
	return a, ok && !l.Dead(a)
}

// Member reports whether the peer of a channel has proved to be a process of the cluster, or
// is taken for one since no proof is asked for.
func (l *Links) Member(ch mercury.ChannelID) bool {
	return l.Transport.Standing(ch) >= mercury.Member
}

// Proved reports whether what the peer of a channel has proved suffices for a message of a role.
func (l *Links) Proved(ch mercury.ChannelID, role wire.Role, id wire.ID) bool {
	return wire.Proved(l.Transport.Standing(ch), role, id)
}

// Level is how full the way to an app is, with what is held for it. The way to one
// that nothing was sent to is free.
func (l *Links) Level(to mercury.Address) mercury.Level {
	ch, ok := l.routes[to]
	if !ok {
		return mercury.Free
	}
	return mercury.LevelOf(l.waiting(ch))
}

// Waiting is how many bytes wait for an app, with what is held for it, and the limit of
// its channel; zeros for one that nothing was sent to.
func (l *Links) Waiting(to mercury.Address) (bytes, limit int) {
	ch, ok := l.routes[to]
	if !ok {
		return 0, 0
	}
	return l.waiting(ch)
}

func (l *Links) waiting(ch mercury.ChannelID) (bytes, limit int) {
	bytes, limit = l.Transport.Queued(ch)
	if len(l.held) > 0 {
		if q := l.queue(ch); q != nil {
			bytes += q.bytes
		}
	}
	return bytes, limit
}

// Worst is the fullest way, as of the last Tick; the zero Backlog if none is High.
func (l *Links) Worst() wire.Backlog { return l.worst }

// Tick goes on with what is held, as far as there is room now, and looks how full
// the ways are. Each app calls it when a tick begins.
func (l *Links) Tick(now time.Duration) {
	l.now = now
	if len(l.held) > 0 {
		l.goOn()
	}
	l.worst = wire.Backlog{}
	// order does not show: of equals the lowest address counts
	for to, ch := range l.routes {
		bytes, limit := l.waiting(ch)
		if mercury.LevelOf(bytes, limit) == mercury.Free {
			continue
		}
		if bytes > l.worst.Bytes || bytes == l.worst.Bytes && compareAddresses(to, l.worst.To) < 0 {
			l.worst = wire.Backlog{To: to, Bytes: bytes, Limit: limit}
			if q := l.queue(ch); q != nil {
				l.worst.Held = q.bytes
			}
		}
	}
}

// Describe puts into a report how the app's messages fare.
func (l *Links) Describe(r *wire.Report) {
	r.Backlog = l.worst
	r.Unsent = append(r.Unsent[:0], l.Errors...)
	if l.Carriers != nil {
		r.Carriers = l.Carriers()
	}
}

func compareAddresses(a, b mercury.Address) int {
	return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Salt, b.Salt))
}
