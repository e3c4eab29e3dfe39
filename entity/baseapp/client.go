package baseapp

import (
	"errors"
	"fmt"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/baseapp/internal/allowance"
	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/download"
)

// client is a channel that speaks the client protocol. Everything on it comes from outside.
type client struct {
	app                     *BaseApp
	ch                      mercury.ChannelID
	base                    *base // nil before Attach
	closed                  bool
	slow                    bool          // it had no room for a message
	slowAt                  time.Duration // when to tell its cell part again that it is slow
	roomAt                  time.Duration // when its cell part may be told the packet size again
	messages, bytes, audits bucket
	sent                    uint64 // bytes
	allowance               allowance.Allowance
}

// send sends one reliable message; msg may be the app's scratch. A client for which
// MaxClientBacklog waits, or for which a message found no room, is closed at the next tick.
func (c *client) send(msg []byte) {
	if c.slow {
		return // nothing may follow a missing message
	}
	c.app.report.BytesDown += uint64(len(msg))
	c.sent += uint64(len(msg))
	if err := c.app.links.ToClient(c.ch, true, msg); errors.Is(err, mercury.ErrFull) {
		c.slow = true
	}
}

// backlog is how many bytes wait for the client, and at how many it is closed.
func (c *client) backlog() (bytes, most int) {
	bytes, limit := c.app.net.Queued(c.ch)
	return bytes, min(MaxClientBacklog, limit/2)
}

// tickClient lets the cell part know if the client is slow or if its path has changed, and ends the session of a client that takes nothing.
func (b *base) tickClient() {
	c := b.client
	if c == nil {
		return
	}
	bytes, most := c.backlog()
	if c.slow || bytes > most {
		b.app.refused("a client does not take what it is sent", "entity", b.id, "waiting", bytes)
		c.refuse(protocol.TooSlow, "")
		b.clientDied(protocol.TooSlow, protocol.TooSlow.String())
		return
	}
	c.survey()
	b.tellPath()
	if bytes < min(SlowClient, most/2) || b.app.now < c.slowAt || !b.link.Live() {
		return
	}
	c.slowAt = b.app.now + SlowClientPeriod
	m := flow.Session{Number: b.session}
	b.passOn("slowness", m.Append(b.app.payload[:0], flow.SlowClientPayload))
}

// close ends the channel without giving a reason.
func (c *client) close() {
	if c.closed {
		return
	}
	c.closed = true
	delete(c.app.clients, c.ch)
	c.app.net.Close(c.ch)
}

// refuse sends the reason and ends the channel.
func (c *client) refuse(code protocol.Code, reason string) {
	if c.closed {
		return
	}
	c.slow = false // the reason may find room by now
	m := protocol.Refused{Code: code, Reason: reason}
	c.send(m.Append(c.app.buf[:0]))
	c.close()
}

// gone is called when the channel has ended.
func (c *client) gone(code protocol.Code, reason string) {
	c.closed = true
	delete(c.app.clients, c.ch)
	if c.base != nil {
		c.base.clientDied(code, reason)
	}
}

// refusal returns a *protocol.Refused, the error with which a message's handler ends the session.
func refusal(code protocol.Code, format string, args ...any) error {
	return &protocol.Refused{Code: code, Reason: fmt.Sprintf(format, args...)}
}

var errClosed = errors.New("baseapp: the channel was closed meanwhile")

// message takes a mercury message of the client. An error ends this client's session and no other.
func (c *client) message(reliable bool, msg []byte) {
	a := c.app
	a.report.BytesUp += uint64(len(msg))
	var err error
	if most := a.cfg.Upload.Bytes; !c.bytes.take(a.now, len(msg), most) {
		err = refusal(protocol.Flooding, "more than %d bytes a second", most)
	} else if reliable && download.Is(msg) {
		err = c.answer(msg)
	} else {
		err = protocol.Messages(msg, func(id protocol.ID, body []byte) error { return c.one(id, reliable, body) })
	}
	if err == nil || c.closed {
		return
	}
	r := &protocol.Refused{}
	if !errors.As(err, &r) {
		r = &protocol.Refused{Code: protocol.Malformed}
	}
	a.refused("dropping a client", "channel", c.ch, "error", err)
	b := c.base
	c.refuse(r.Code, r.Reason)
	if b != nil {
		b.clientDied(r.Code, r.Error())
	}
}

func (c *client) one(id protocol.ID, reliable bool, body []byte) error {
	most := c.app.cfg.Upload.Messages
	switch {
	case c.closed:
		return errClosed
	case !c.messages.take(c.app.now, 1, most):
		return refusal(protocol.Flooding, "more than %d messages a second", most)
	case !reliable && id != protocol.MoveID && id != protocol.MoveOtherID && id != protocol.SightID:
		return refusal(protocol.Malformed, "message %d came unreliably", id)
	case c.base == nil:
		return c.claim(id, body)
	}
	return c.base.handleClient(id, reliable, body)
}

// claim takes the first message of a client, its Attach.
func (c *client) claim(id protocol.ID, body []byte) error {
	if id != protocol.AttachID {
		return refusal(protocol.Malformed, "message %d before an attach", id)
	}
	var m protocol.Attach
	if err := m.Parse(body); err != nil {
		return err
	}
	b := c.app.byToken[m.Token]
	switch {
	case b == nil:
		return refusal(protocol.BadToken, "")
	case m.Digest != protocol.Digest(c.app.cfg.Schema.ClientDigest):
		return refusal(protocol.BadDigest, "")
	}
	b.attach(c)
	return nil
}

// handleClient takes a message of an attached client.
func (b *base) handleClient(id protocol.ID, reliable bool, body []byte) error {
	switch id {
	case protocol.BaseCallID:
		var m protocol.BaseCall
		if err := m.Parse(body); err != nil {
			return err
		}
		b.clientBaseCall(&m)
	case protocol.CellCallID:
		var m protocol.CellCall
		if err := m.Parse(body); err != nil {
			return err
		}
		b.clientCellCall(&m)
	case protocol.MoveID:
		var m protocol.Move
		if err := m.Parse(body); err != nil {
			return err
		}
		b.clientMove(&m, reliable)
	case protocol.MoveOtherID:
		var m protocol.MoveOther
		if err := m.Parse(body); err != nil {
			return err
		}
		b.clientMoveOther(&m, reliable)
	case protocol.SightID:
		var m protocol.Sight
		if err := m.Parse(body); err != nil {
			return err
		}
		b.clientSaw(&m)
	case protocol.AuditRequestID:
		if len(body) != 0 {
			return refusal(protocol.Malformed, "audit request with a body")
		}
		if !b.client.audits.take(b.app.now, 1, MaxClientAudits) {
			return refusal(protocol.Flooding, "more than %d audits a second", MaxClientAudits)
		}
		m := flow.Session{Number: b.session}
		b.passOn("audit", m.Append(b.app.payload[:0], flow.AuditPayload))
	case protocol.LogoutID:
		c := b.client
		c.close()
		b.clientDied(protocol.LoggedOut, protocol.LoggedOut.String())
	default:
		return refusal(protocol.Malformed, "message %d is not for a proxy", id)
	}
	return nil
}

// clientBaseCall calls an exposed base method. A call of another method, or with arguments that do
// not fit, is refused and counted. It does not end the session, because an honest client with other
// definitions may make it.
func (b *base) clientBaseCall(m *protocol.BaseCall) {
	r := &b.app.report
	err := entity.ErrNotExposed
	if d := b.props.Definition().ExposedBaseMethod(int(m.Method)); d != nil {
		_, err = b.call(d.Index, b.id, m.Args)
		err = unlessPanicked(err)
	}
	if err != nil {
		b.app.refused("base call of a client", "entity", b.id, "method", m.Method, "error", err)
		return
	}
	r.ClientCallsSent++
	r.ClientCallsHandled++
}

// clientCellCall passes a call to the cell part, which decides. Only calls certain to be refused
// there are refused here.
func (b *base) clientCellCall(m *protocol.CellCall) {
	var err error
	switch {
	case !m.Target.Valid():
		err = entity.ErrNoPart
	case m.Target != b.id: // perhaps another type's method, which the cell knows
	case b.props.Definition().ExposedCellMethod(int(m.Method)) == nil:
		err = entity.ErrNotExposed
	}
	if err != nil {
		b.app.refused("cell call of a client", "entity", b.id, "target", m.Target, "method", m.Method, "error", err)
		return
	}
	call := flow.ClientCall{Target: m.Target, Method: m.Method, Args: m.Args}
	if b.passOn("cell call", call.Append(b.app.payload[:0])) {
		b.app.report.ClientCallsSent++
	}
}

// clientMove passes on a position: at once and unreliably while the client moves, through the flow
// once it rests.
func (b *base) clientMove(m *protocol.Move, reliable bool) {
	rest := flow.ClientRest{
		Session: b.session, Sequence: m.Sequence, Incarnation: m.Incarnation, Forced: m.Forced,
		Seen: m.Seen.Append(b.app.seen[:0]), Position: m.Position, Direction: m.Direction,
	}
	b.app.seen = rest.Seen
	if reliable {
		b.passOn("rest", rest.Append(b.app.payload[:0]))
		return
	}
	b.whisper(rest)
}

// clientMoveOther passes on the position of an entity that the client controls beside its own, like
// that of its own. Whether it does, the cell part knows.
func (b *base) clientMoveOther(m *protocol.MoveOther, reliable bool) {
	x := flow.Steer{
		Target: m.ID, By: b.id, Session: b.session, Sequence: m.Sequence, Incarnation: m.Incarnation, Forced: m.Forced,
		Position: m.Position, Direction: m.Direction,
	}
	switch {
	case reliable:
		b.passOn("rest of another", x.Append(b.app.payload[:0], flow.SteerPayload))
	case b.link.Live():
		b.app.steer = wire.Steer{Steer: x}
		b.app.links.SendUnreliable(b.link.App(), &b.app.steer)
	}
}

// clientSaw passes on what a client that stands still has seen.
func (b *base) clientSaw(m *protocol.Sight) {
	rest := flow.ClientRest{Session: b.session, Incarnation: m.Incarnation, Seen: m.Seen.Append(b.app.seen[:0]), Still: true}
	b.app.seen = rest.Seen
	b.whisper(rest)
}

// whisper tells the cell part, unreliably, what a later message would make good.
func (b *base) whisper(rest flow.ClientRest) {
	if b.link.Live() {
		b.app.move = wire.ClientMove{ID: b.id, ClientRest: rest}
		b.app.links.SendUnreliable(b.link.App(), &b.app.move)
	}
}

// passOn sends the cell part a message of its client. Without a cell part the message is refused
// and counted, since the client may not yet know that the cell part is gone.
func (b *base) passOn(what string, payload []byte) bool {
	if err := b.sendCell(payload); err != nil {
		b.app.refused(what+" of a client", "entity", b.id, "error", err)
		return false
	}
	return true
}
