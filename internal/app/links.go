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
	"github.com/cellscape/cellscape/mercury/call"
)

// MaxRoutes bounds the addresses whose channels Links remembers: more apps than a cluster has,
// restarted ones included.
const MaxRoutes = 4096

// Links sends messages to apps by their address. It uses one channel in each direction, so messages
// from one app to another arrive in order. It refuses apps that were declared dead.
//
// # When a peer does not keep up
//
// A full channel refuses messages. Links then holds them, in order, until Tick finds room, so
// nothing that must arrive in order is lost for want of room. To keep that little, senders check
// Level first: one that can send later waits from High on, and one that keeps its message anyway
// waits from Packed on. Held messages belong to the channel and are lost with it, like the
// channel's own queue. The protocols above repair that as they repair any broken channel.
//
// Links counts every unsent message in Errors, by reason and id, and logs it, at most once a second
// for each reason. Callers need not do so.
type Links struct {
	Transport mercury.Transport
	// Log may be nil.
	Log *slog.Logger
	// Errors counts the messages that were not sent.
	Errors wire.SendErrors

	buf []byte
	now time.Duration
	// dead is looked up for each message; burials has the order of the burials.
	dead    map[mercury.Address]struct{}
	burials []wire.AppRef
	// routes are the last channels dialled to each address, for Level.
	routes map[mercury.Address]mercury.ChannelID
	// recent is the one that was asked for last, as what a tick has for an app comes in a row.
	recent route
	// targets is the inverse of routes, for Closed.
	targets map[mercury.ChannelID]mercury.Address
	held    []heldQueue // in the order in which they began
	worst   wire.Backlog
	lines   logs.Limit
	calls   call.Calls[wire.Call]
}

// route is a channel to an app.
type route struct {
	to mercury.Address
	ch mercury.ChannelID
}

// Send sends m reliably. It drops messages to a zero or dead address, since everyone concerned
// hears of the verdict. An error has been counted and logged; it is returned for callers that have
// another way.
func (l *Links) Send(to mercury.Address, m wire.Message) error {
	if to.IsZero() || l.Dead(to) {
		return nil
	}
	return l.Reply(l.dial(to), m)
}

// SendWhole is Send for a message that may be longer than any can be on the channel to the app, from
// a caller that keeps what it would have given away. It returns mercury.ErrMessageTooLong for one that
// never fits, and mercury.ErrFull while others wait for room before it: then it is not known whether
// it fits, and nothing of it is on its way. What only has no room now is held, as by Send.
func (l *Links) SendWhole(to mercury.Address, m wire.Message) error {
	if to.IsZero() || l.Dead(to) {
		return nil
	}
	ch := l.dial(to)
	if l.queue(ch) != nil {
		if l.goOn(); l.queue(ch) != nil {
			return mercury.ErrFull
		}
	}
	l.buf = wire.Encode(l.buf[:0], m)
	err := l.sendOrHold(ch, l.buf)
	switch id := wire.ID(l.buf[0]); {
	case errors.Is(err, mercury.ErrMessageTooLong):
		l.count(id, wire.SendKept, err)
		return err
	case err != nil:
		l.failed(id, err) // the channel has ended: it is sent again over the next one
	}
	return nil
}

// SendUnreliable sends m; it may be lost.
func (l *Links) SendUnreliable(to mercury.Address, m wire.Message) error {
	if to.IsZero() || l.Dead(to) {
		return nil
	}
	l.buf = wire.Encode(l.buf[:0], m)
	return l.unreliable(l.dial(to), wire.ID(l.buf[0]), l.buf)
}

// Whisper sends m over a channel; it may be lost.
func (l *Links) Whisper(ch mercury.ChannelID, m wire.Message) {
	l.buf = wire.Encode(l.buf[:0], m)
	_ = l.unreliable(ch, wire.ID(l.buf[0]), l.buf) // which counts what goes wrong
}

// unreliable sends a message, and counts what could not be sent and what had to make room.
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

// UnreliableRoom is how many bytes an unreliable message to an app may have now, including its id;
// 0 for a dead app.
func (l *Links) UnreliableRoom(to mercury.Address) int {
	if to.IsZero() || l.Dead(to) {
		return 0
	}
	return l.Transport.MaxUnreliable(l.dial(to))
}

// Reply sends m on the channel that a message came from.
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

// ToClient sends a message of the client protocol. Nothing is held for a client. If its channel has
// no room, the client is too slow, and the caller ends its session. An error has been counted and
// logged.
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
	if l.recent.to == to {
		if _, open := l.Transport.Peer(l.recent.ch); open {
			return l.recent.ch
		}
	}
	ch := l.Transport.Dial(to)
	if was, ok := l.routes[to]; !ok || was != ch {
		l.remember(to, ch)
	}
	l.recent = route{to, ch}
	return ch
}

// remember notes a channel that was not known.
func (l *Links) remember(to mercury.Address, ch mercury.ChannelID) {
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
}

// known is the channel that was last dialled to an app; false if none was.
func (l *Links) known(to mercury.Address) (mercury.ChannelID, bool) {
	if l.recent.to == to && !to.IsZero() {
		return l.recent.ch, true
	}
	ch, ok := l.routes[to]
	return ch, ok
}

// NotPassedOn counts a message that should be passed on but is not even tried.
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

// Bury remembers that a start of an app is dead, and drops the channel to it. A start never comes
// back; a new process has another salt.
func (l *Links) Bury(role wire.Role, app mercury.Address) {
	if l.Dead(app) {
		return
	}
	ch := l.Transport.Dial(app)
	l.Abort(ch)
	delete(l.routes, app)
	delete(l.targets, ch)
	l.recent = route{}
	l.held = slices.DeleteFunc(l.held, func(q heldQueue) bool { return q.ch == ch }) // no error: the app is dead
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

// Graves returns the remembered starts of apps that were declared dead, oldest first.
func (l *Links) Graves() []wire.AppRef { return slices.Clone(l.burials) }

// From returns the address of a channel's peer; false if the peer is not to be listened to.
func (l *Links) From(ch mercury.ChannelID) (mercury.Address, bool) {
	a, ok := l.Transport.Peer(ch)
	return a, ok && !l.Dead(a)
}

// Member reports whether the peer of a channel has proved to be a process of the cluster, or counts
// as one because the cluster asks for no proof.
func (l *Links) Member(ch mercury.ChannelID) bool {
	return l.Transport.Standing(ch) >= mercury.Member
}

// Proved reports whether the peer of a channel has proved enough to send a message in a role.
func (l *Links) Proved(ch mercury.ChannelID, role wire.Role, id wire.ID) bool {
	return wire.Proved(l.Transport.Standing(ch), role, id)
}

// Level is how full the channel to an app is, including held messages. It is Free for an app that
// was sent nothing.
func (l *Links) Level(to mercury.Address) mercury.Level {
	ch, ok := l.known(to)
	if !ok {
		return mercury.Free
	}
	return mercury.LevelOf(l.waiting(ch))
}

// Waiting returns how many bytes wait for an app, including held messages, and the limit of its
// channel; both are zero for an app that was sent nothing.
func (l *Links) Waiting(to mercury.Address) (bytes, limit int) {
	ch, ok := l.known(to)
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

// Worst is the fullest channel at the last Tick; the zero Backlog if none is High.
func (l *Links) Worst() wire.Backlog { return l.worst }

// Tick ends questions whose time is up, sends held messages as far as there is room now, and looks
// how full the channels are. Each app calls it when a tick begins.
func (l *Links) Tick(now time.Duration) {
	l.now = now
	l.calls.Advance(now)
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

// Idle reports whether a Tick finds nothing to do: no question waits for its answer, and no channel
// is near its limit.
func (l *Links) Idle() bool {
	return l.calls.Open() == 0 && len(l.held) == 0 && l.worst == wire.Backlog{}
}

func compareAddresses(a, b mercury.Address) int {
	return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Salt, b.Salt))
}
