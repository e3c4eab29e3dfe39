package baseapp

import (
	"slices"

	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/property"
)

// makeProxy makes the base of an account that has logged in, and the token by which its client will
// claim it.
func (a *BaseApp) makeProxy(m *wire.MakeProxy) *wire.ProxyMade {
	return a.makeProxyWith(m, nil)
}

// whyNoProxy says why there can be no proxy for a login, or 0.
func (a *BaseApp) whyNoProxy(m *wire.MakeProxy) protocol.Code {
	switch {
	case a.stopStep() > wire.StopNone:
		return protocol.ServerClosing
	case a.cfg.PlayerType == "" || a.ids == nil:
		return protocol.NotReady
	case m.Account == "":
		return protocol.BadCredentials
	case a.accounts[m.Account] != nil:
		return protocol.AlreadyLoggedIn
	case len(a.accounts)+len(a.loggingIn) >= MaxProxies:
		return protocol.ServerBusy
	}
	return 0
}

// makeProxyWith is makeProxy for a player who is to be kept from now on; name puts the account into the
// identifier.
func (a *BaseApp) makeProxyWith(m *wire.MakeProxy, name func(*property.Values) error) *wire.ProxyMade {
	made := &wire.ProxyMade{Request: m.Request}
	code := func() protocol.Code {
		if code := a.whyNoProxy(m); code != 0 {
			return code
		}
		d := a.cfg.Schema.Type(a.cfg.PlayerType)
		props := property.NewValues(d, property.BaseSide, nil)
		if name != nil {
			if err := name(props); err != nil {
				a.log.Warn("the account cannot be the identifier", "account", m.Account, "error", err)
				return protocol.BadCredentials
			}
		}
		b, err := a.createWith(d, props, func(b *base) {
			b.becomeProxy(m)
			if name != nil {
				b.want()
			}
		})
		switch {
		case err != nil:
			a.log.Warn("cannot create a proxy", "account", m.Account, "error", err)
			return protocol.ServerBusy
		case b.destroying:
			return protocol.Destroyed
		}
		made.ID = b.id
		return 0
	}()
	made.Code = uint8(code)
	return made
}

// announce tells the BaseAppMgr, right after the Join, which accounts have a proxy here, before a
// login could make it think one of them free.
func (a *BaseApp) announce() {
	var m wire.Proxies
	for b := range a.own() {
		if b.account == "" {
			continue
		}
		m.Entries = append(m.Entries, b.asProxy())
		if len(m.Entries) == wire.MaxProxies {
			a.baseMgr.Send(&m)
			m.Entries = m.Entries[:0]
		}
	}
	if len(m.Entries) > 0 {
		a.baseMgr.Send(&m)
	}
}

func (b *base) becomeProxy(m *wire.MakeProxy) {
	b.account, b.origin, b.loginData = m.Account, b.id, slices.Clone(m.Data)
	b.app.accounts[m.Account] = b
	b.expectClient()
}

// forgetToken makes the token invalid. It admits one client, once.
func (b *base) forgetToken() {
	if b.attachBy != 0 {
		delete(b.app.byToken, b.token)
		b.attachBy = 0
	}
}

// attach gives the proxy its client, in the place of the one that it has. A client that is ready is shown its
// entity at once. One that resumes may have played with a former life of the proxy, of which no copy
// came here: all that it has heard there is told anew.
func (b *base) attach(c *client, ready, resumes bool) error {
	login := b.token
	b.forgetToken()
	if b.seat != nil {
		b.seat.refuse(protocol.Replaced)
		if !b.endSession(protocol.Replaced, protocol.Replaced.String()) {
			return refusal(protocol.Destroyed, "")
		}
	}
	b.seat = &seat{base: b, client: c, heardAt: b.app.now, enabled: ready, restored: resumes}
	c.base = b
	if b.beginSession(); resumes {
		b.told = 0 // it may have a view to forget
	}
	b.room, b.rate = uint32(b.app.net.MaxUnreliable(c.ch)), 0
	var attached protocol.Attached
	if b.app.resumable() {
		b.app.seats[login] = b.seat // good until the client has shown that it got another
		b.seat.newToken(login)
		attached = protocol.Attached{Token: b.seat.token, Time: b.app.cfg.ResumeTime}
	}
	if resumes {
		r := protocol.Resumed{Token: b.seat.token}
		c.control(r.Append(b.app.buf[:0]))
	}
	msg := attached.Append(b.app.buf[:0])
	if ready {
		msg = b.appendPlayer(msg)
	}
	b.seat.add(protocol.BaseStream, msg)
	b.tellFallback()
	b.setCellClient()
	if b.traced() {
		b.step("client attached", "session", b.session)
	}
	b.log.Info("client attached", "account", b.account, "session", b.session, "ready", ready)
	if ready {
		b.enabled()
	}
	return nil
}

// beginSession numbers a session.
func (b *base) beginSession() {
	b.sessions++
	b.session, b.shownTo = b.sessions, 0 // a client that lied of what it was shown harms no other
	b.freshIncarnation()
}

// freshIncarnation is called before a client hears the first of the cell part: what it will be told is of the
// present incarnation.
func (b *base) freshIncarnation() {
	b.told = 0
	if b.link.Live() {
		b.told = b.link.Order().Incarnation
	}
}

// appendPlayer appends what creates the player's entity at the client.
func (b *base) appendPlayer(msg []byte) []byte {
	player := protocol.BasePlayer{ID: b.id, Type: b.props.Definition().ClientID,
		Props: b.app.compressor.AppendStream(nil, b.props, property.OwnClientBaseStream, protocol.MaxProps)}
	return player.Append(msg)
}

// enable shows the world to a client that has become ready.
func (b *base) enable() error {
	s := b.seat
	if s.enabled {
		return refusal(protocol.Malformed, "it was ready before")
	}
	s.enabled, s.given = true, false
	b.freshIncarnation()
	if b.session != b.sessions {
		// The base was restored from a copy in which the client was not ready. It may have been
		// since, and have been shown something that has not been.
		b.beginSession()
		b.told = 0
	}
	b.tell(b.appendPlayer(b.app.buf[:0]))
	b.backupSoon()
	b.setCellClient()
	b.enabled()
	return nil
}

func (b *base) enabled() {
	callHook(b, "OnEntitiesEnabled", func(s ClientEnabler) { s.OnEntitiesEnabled() })
}

// shown reports whether there is a client that has been shown its entity.
func (b *base) shown() bool { return b.seat != nil && b.seat.enabled }

// client is the client's channel; nil without one, also while the client is away.
func (b *base) client() *client {
	if b.seat == nil {
		return nil
	}
	return b.seat.client
}

// clientSession is what the cell part must know of the present client.
func (b *base) clientSession() flow.Session {
	if !b.shown() {
		return flow.Session{}
	}
	return flow.Session{Number: b.session, Room: b.room, Rate: b.rate, Away: b.seat.client == nil}
}

// setCellClient tells the cell part who its client is. It uses the flow even if the cell part has
// yet to be made and will be told the session then: an older session in the flow must not have the
// last word.
func (b *base) setCellClient() {
	if !b.link.Open() {
		return
	}
	m := b.clientSession()
	if err := b.sendCell(m.Append(b.app.payload[:0], flow.SetClientPayload)); err != nil {
		b.app.fault("cannot tell a cell part its client", "entity", b.id, "error", err)
	}
}

// clientDied tells the script that the client is gone. It ends the entity, unless another client is on its
// way or the script keeps it.
func (b *base) clientDied(code protocol.Code, reason string) {
	if !b.endSession(code, reason) {
		return
	}
	switch keep := b.attachBy != 0 || b.keeps(); {
	case b.destroying || b.removed:
	case keep:
		b.setCellClient()
	default:
		b.Destroy()
	}
}

// endSession takes the proxy its client, and tells the script. It reports false if that was the end of the
// base.
func (b *base) endSession(code protocol.Code, reason string) bool {
	b.endSeat(code, reason) // tells the script of ended downloads, and the script may destroy b
	if b.destroying || b.removed {
		return false
	}
	if b.traced() {
		b.step("client lost", "session", b.session, "reason", reason)
	}
	b.log.Info("client gone", "account", b.account, "session", b.session, "code", uint8(code), "reason", reason)
	callHook(b, "OnClientDeath", func(s ClientDeathHandler) { s.OnClientDeath(code, reason) })
	return !b.destroying && !b.removed
}

// keeps asks the script whether the entity goes on without a client.
func (b *base) keeps() (keep bool) {
	callHook(b, "KeepWithoutClient", func(s Keeper) { keep = s.KeepWithoutClient() })
	return keep
}

// resetClient tells the client once to forget the former incarnation, before it hears anything of
// the current one.
func (b *base) resetClient() {
	current := b.link.Order().Incarnation
	if !b.shown() || b.told == current {
		return
	}
	b.told = current
	b.seat.forgetCell()
	b.tell(protocol.AppendReset(b.app.buf[:0]))
}

// relay passes a bundle of the cell part to the client. It drops one that was made for another
// session.
func (b *base) relay(m *flow.Bundle) {
	if !b.shown() || m.Session != b.session || b.link.Order().Incarnation < b.shownTo {
		return
	}
	b.resetClient()
	b.seat.relayed(m.Bytes)
}

// takePacket passes a Positions packet to the client if it belongs to the incarnation and the
// session that the client knows.
func (a *BaseApp) takePacket(from mercury.Address, m *wire.ClientPacket) {
	b := a.byID[m.ID]
	if b != nil && !b.holds(from) {
		a.refused("a packet from an app that does not hold the entity", "entity", m.ID, "from", from)
		return
	}
	if b == nil || !b.shows(m) {
		a.links.NotPassedOn(wire.ClientPacketID, wire.SendStale)
		return
	}
	c := b.seat.client
	if len(m.Packet) > a.net.MaxUnreliable(c.ch) {
		a.report.PacketsUnsent++
		a.links.NotPassedOn(wire.ClientPacketID, wire.SendCramped)
		b.tellPath()
		return
	}
	if err := a.links.ToClient(c.ch, false, m.Packet); err != nil {
		a.report.PacketsUnsent++ // the links count why
		return
	}
	a.report.BytesDown += uint64(len(m.Packet))
	c.sent += uint64(len(m.Packet))
}

// shows reports whether the client may see a packet: it must be there, and the packet must belong to the
// present session, and to the current incarnation, of which the client has been told.
func (b *base) shows(m *wire.ClientPacket) bool {
	return b.client() != nil && m.Session == b.session && b.link.State() != linkNone &&
		m.Order.Incarnation == b.told && b.told == b.link.Order().Incarnation
}
