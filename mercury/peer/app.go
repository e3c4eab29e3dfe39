package peer

import (
	"log/slog"
	"time"

	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/call"
	"github.com/cellscape/cellscape/mercury/host"
)

// app is the host.App that passes what it receives to the events of a Config.
type app struct {
	cfg     Config
	log     *slog.Logger
	net     *host.Net
	calls   call.Calls[[]byte]
	scratch []byte
	channel Channel // of a Conn
	dials   bool
	isOpen  bool       // the channel of a Conn
	opened  chan error // gets the outcome of the dial; nil means open
}

// Tick implements host.App.
func (*app) Tick(now time.Duration) time.Duration { return now + forever }

// of is the Channel of an id.
func (a *app) of(ch mercury.ChannelID) Channel { return Channel{a, ch} }

// Opened implements mercury.Handler.
func (a *app) Opened(_ time.Duration, ch mercury.ChannelID, peer mercury.Address) {
	if a.dials && ch != a.channel.id {
		a.net.Abort(ch) // nobody dials a Conn
		return
	}
	a.log.Debug("channel opened", "channel", ch, "peer", peer.At)
	if a.cfg.Opened != nil {
		a.cfg.Opened(a.of(ch))
	}
	if a.dials {
		a.isOpen = true
		a.opened <- nil
	}
}

// Message implements mercury.Handler.
func (a *app) Message(now time.Duration, ch mercury.ChannelID, reliable bool, msg []byte) {
	if reliable && len(msg) > 0 {
		switch msg[0] {
		case callKind:
			a.takeCall(now, ch, msg)
			return
		case escaped:
			msg = msg[1:]
		}
	}
	a.cfg.Message(a.of(ch), reliable, msg)
}

// Room implements mercury.RoomHandler.
func (a *app) Room(_ time.Duration, ch mercury.ChannelID) {
	if a.cfg.Room != nil {
		a.cfg.Room(a.of(ch))
	}
}

// Closed implements mercury.Handler.
func (a *app) Closed(now time.Duration, ch mercury.ChannelID, reason error) {
	a.calls.Closed(now, ch, reason)
	a.log.Debug("channel closed", "channel", ch, "error", reason)
	if a.dials && !a.isOpen {
		a.opened <- reason
		return
	}
	if a.cfg.Closed != nil {
		a.cfg.Closed(a.of(ch), reason)
	}
}
