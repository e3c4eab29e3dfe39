package baseapp

import (
	"errors"
	"fmt"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/baseapp/internal/allowance"
	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/internal/script"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/download"
)

// client is a channel that speaks the client protocol. Everything on it comes from outside. What outlives
// the channel is in the client's seat.
type client struct {
	app                     *BaseApp
	ch                      mercury.ChannelID
	base                    *base // nil before Attach or Resume
	closed                  bool
	awaited                 bool          // see await.go
	missed                  bool          // it has said something that was not heard; see leave.go
	catching                bool          // it has yet to be sent what its seat kept for it
	slowAt                  time.Duration // when to tell its cell part again that it is slow
	roomAt                  time.Duration // when its cell part may be told the packet size again
	messages, bytes, audits bucket
	sent                    uint64 // bytes
	allowance               allowance.Allowance
}

// give gives the channel a message of the seat's tail, if there is room. A channel that has ended takes
// nothing more: its end is about to be told.
func (c *client) give(msg []byte) bool {
	if c.app.links.ToClient(c.ch, true, msg) != nil {
		return false
	}
	c.app.report.BytesDown += uint64(len(msg))
	c.sent += uint64(len(msg))
	return true
}

// control sends a message that concerns this channel only; msg may be the app's scratch. If there is no
// room the client is closed soon, or it is told a later one.
func (c *client) control(msg []byte) bool { return c.give(msg) }

// backlog is how many bytes wait for the client, and at how many it is closed.
func (c *client) backlog() (bytes, most int) {
	bytes, limit := c.app.net.Queued(c.ch)
	if c.base != nil {
		bytes += c.base.seat.tail.Unsent()
	}
	return bytes, min(MaxClientBacklog, limit/2)
}

// tickClient lets the cell part know if the client is slow or if its path has changed, and ends the
// session of a client that takes nothing, or stays away.
func (b *base) tickClient() {
	s := b.seat
	if s == nil {
		return
	}
	if s.client == nil {
		s.wait()
		return
	}
	c := s.client
	s.pump()
	bytes, most := c.backlog()
	if bytes > most && !c.catching || s.tail.Size() > MaxClientTail {
		b.app.refused("a client does not take what it is sent", "entity", b.id, "waiting", bytes, "kept", s.tail.Size())
		c.refuse(protocol.TooSlow, "")
		b.clientDied(protocol.TooSlow, protocol.TooSlow.String())
		return
	}
	s.tellSettled()
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
	m := protocol.Refused{Code: code, Reason: reason}
	c.control(m.Append(c.app.buf[:0]))
	c.close()
}

// abort ends the channel, because the client has another one.
func (c *client) abort() {
	c.closed = true
	delete(c.app.clients, c.ch)
	c.app.net.Abort(c.ch)
}

// gone is called when the channel has ended.
func (c *client) gone(reason error, text string) {
	c.closed = true
	delete(c.app.clients, c.ch)
	c.lostBy(reason, text)
}

// lostBy keeps the seat of the client, or ends it.
func (c *client) lostBy(reason error, text string) {
	switch b := c.base; {
	case b == nil:
	case c.app.resumable() && lostChannel(reason):
		b.seat.interrupt(text)
	default:
		b.clientDied(codeOf(reason), text)
	}
}

// inherit takes over what the client may do from the channel that it had before.
func (c *client) inherit(old *client) {
	c.messages, c.bytes, c.audits = old.messages, old.bytes, old.audits
}

// credit lets the client send at once what it may have said in a time in which nothing came.
func (c *client) credit(silent time.Duration) {
	for _, b := range [...]*bucket{&c.messages, &c.bytes, &c.audits} {
		b.credit = max(b.credit, silent)
	}
}

// hear notes that something of the client has come. After a stall of the network that its channel
// has outlived comes all that it has said meanwhile. A second of that fits the buckets anyway.
func (c *client) hear() {
	if c.base == nil {
		return
	}
	s, now := c.base.seat, c.app.now
	if silent := now - s.heardAt; silent > bucketDepth {
		c.credit(min(silent, mercury.DefaultInactivity) - bucketDepth)
	}
	s.heardAt = now
}

// refusal returns a *protocol.Refused, the error with which a message's handler ends the session.
func refusal(code protocol.Code, format string, args ...any) error {
	return &protocol.Refused{Code: code, Reason: fmt.Sprintf(format, args...)}
}

// foreign refuses a client whose definitions are not those of the world.
func (c *client) foreign(digest protocol.Digest) error {
	no := protocol.ForeignDigest(digest, protocol.Digest(c.app.cfg.Schema.ClientDigest))
	return &no
}

var errClosed = errors.New("baseapp: the channel was closed meanwhile")

// message takes a mercury message of the client. An error ends this client's session and no other.
func (c *client) message(reliable bool, msg []byte) {
	a := c.app
	a.report.BytesUp += uint64(len(msg))
	c.hear()
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

// claim takes the first message of a client, its Attach or Resume.
func (c *client) claim(id protocol.ID, body []byte) error {
	if c.awaited {
		return refusal(protocol.Malformed, "message %d before the answer to a resume", id)
	}
	if id == protocol.ResumeID {
		return c.resume(body)
	}
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
		return c.foreign(m.Digest)
	}
	return b.attach(c, m.Ready, false)
}

// resume takes a client that had a channel before.
func (c *client) resume(body []byte) error {
	var m protocol.Resume
	if err := m.Parse(body); err != nil {
		return err
	}
	s, b := c.app.shownBy(&m)
	switch {
	case m.Digest != protocol.Digest(c.app.cfg.Schema.ClientDigest):
		return c.foreign(m.Digest)
	case s != nil && s.base.gives():
		return c.letWait(m)
	case b != nil:
		return b.attach(c, m.Ready, true)
	case s == nil && c.sentElsewhere(m.Token):
		return nil
	case s == nil && c.app.ended.endOf(m.Token) != nil:
		return c.app.ended.endOf(m.Token)
	case s == nil && len(c.app.holding.wards) > 0: // this app may inherit its base
		return c.letWait(m)
	case s == nil:
		return refusal(protocol.BadToken, "")
	case !s.reached(m.Has):
		return refusal(protocol.Malformed, "it has had more than it was sent")
	}
	s.resume(c, &m)
	return nil
}

// shownBy is the seat whose token a client shows, and makes m.Token that one: an older copy of the proxy
// knows only the one before. If there is none, it is the proxy that still waits for its first word after the
// login.
func (a *BaseApp) shownBy(m *protocol.Resume) (*seat, *base) {
	for _, t := range [...]protocol.Token{m.Token, m.Former} {
		s, b := a.seats[t], a.byToken[t]
		if t != (protocol.Token{}) && (s != nil || b != nil) {
			m.Token = t
			return s, b
		}
	}
	return nil, nil
}

// handleClient takes a message of an attached client.
func (b *base) handleClient(id protocol.ID, reliable bool, body []byte) error {
	s := b.seat
	if !s.given || id == protocol.EnableEntitiesID { // before, it may not know the token of this proxy
		s.confirm()
	}
	if reliable && protocol.Uploaded(id) {
		s.uploads++
	}
	if !s.enabled && id != protocol.HeardID && id != protocol.EnableEntitiesID && id != protocol.LogoutID {
		return b.tooEarly(id, reliable)
	}
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
	default:
		return b.handleSession(id, body)
	}
	return nil
}

// handleSession takes what a client says of its session, rather than to an entity.
func (b *base) handleSession(id protocol.ID, body []byte) error {
	s := b.seat
	switch id {
	case protocol.EnableEntitiesID, protocol.PingID, protocol.AuditRequestID, protocol.LogoutID:
		if len(body) != 0 {
			return refusal(protocol.Malformed, "message %d with a body of %d bytes", id, len(body))
		}
	}
	switch id {
	case protocol.EnableEntitiesID:
		return b.enable()
	case protocol.HeardID:
		var m protocol.Heard
		if err := m.Parse(body); err != nil {
			return err
		}
		if !s.hears(m.Has) {
			return refusal(protocol.Malformed, "it has had more than it was sent, or less than before")
		}
	case protocol.PingID:
		s.client.control(protocol.AppendPong(b.app.buf[:0]))
	case protocol.AuditRequestID:
		if !s.client.audits.take(b.app.now, 1, MaxClientAudits) {
			return refusal(protocol.Flooding, "more than %d audits a second", MaxClientAudits)
		}
		m := flow.Session{Number: b.session}
		b.passOn("audit", m.Append(b.app.payload[:0], flow.AuditPayload))
	case protocol.LogoutID:
		s.client.close()
		b.clientDied(protocol.LoggedOut, protocol.LoggedOut.String())
	default:
		return refusal(protocol.Malformed, "message %d is not for a proxy", id)
	}
	return nil
}

// tooEarly takes what a client says before it is ready. A place may overtake that, and much may be for the
// proxy that has given the client away.
func (b *base) tooEarly(id protocol.ID, reliable bool) error {
	if reliable && !b.seat.given {
		return refusal(protocol.Malformed, "message %d before it is ready", id)
	}
	b.app.refused("a message before the client is ready", "entity", b.id, "message", uint8(id))
	return nil
}

// clientBaseCall calls an exposed base method. A call of another method, or with arguments that do
// not fit, is refused and counted. It does not end the session, because an honest client with other
// definitions may make it.
func (b *base) clientBaseCall(m *protocol.BaseCall) {
	r := &b.app.report
	err := entity.ErrNotExposed
	if d := b.props.Definition().ExposedBaseMethod(int(m.Method)); d != nil {
		_, err = b.call(d.Index, script.Asked{}, b.id, m.Args)
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
	call := flow.ClientCall{Target: m.Target, Session: b.session, Number: b.seat.uploads, Method: m.Method, Args: m.Args}
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
