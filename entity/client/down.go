package client

import (
	"errors"
	"fmt"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/download"
	"github.com/cellscape/cellscape/property"
)

// Message implements mercury.Handler.
func (c *Client) Message(now time.Duration, ch mercury.ChannelID, reliable bool, msg []byte) {
	c.now = now
	if c.isScout(ch) && !c.scoutAnswers(msg) || ch != c.ch || c.state == Closed {
		return
	}
	c.heard()
	c.stats.BytesDown += uint64(len(msg))
	var err error
	if reliable && download.Is(msg) {
		err = c.takeDownload(msg)
	} else if reliable {
		err = c.apply(msg)
	} else {
		err = c.positions(msg)
	}
	if err == nil || err == errOver {
		return
	}
	c.stats.Malformed++
	c.close(fmt.Errorf("client: %v: %w", c.state, err))
}

// errOver stops reading a bundle if the session ended or changed its channel in the middle.
var errOver = errors.New("client: session over")

// malformed returns an error for a message that can be read but makes no sense.
func malformed(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{protocol.ErrMalformed}, args...)...)
}

// apply applies a bundle.
func (c *Client) apply(bundle []byte) error {
	ch := c.ch
	if err := c.count(bundle); err != nil {
		return err
	}
	if c.state == Playing || c.state == Attaching {
		c.stats.Bundles++
	}
	return protocol.Messages(bundle, func(id protocol.ID, body []byte) error {
		if err := c.applyOne(id, body); err != nil {
			return err
		}
		if c.state == Closed || c.ch != ch {
			return errOver
		}
		return nil
	})
}

func (c *Client) applyOne(id protocol.ID, body []byte) error {
	if id == protocol.RefusedID {
		return c.onRefused(body)
	}
	switch c.state {
	case LoggingIn:
		if id == protocol.LoginOKID {
			return c.onLoginOK(body)
		}
		if id == protocol.WaitingID {
			return c.onWaiting(body)
		}
	case Attaching:
		switch id {
		case protocol.AttachedID:
			return c.onAttached(body)
		case protocol.ResumedID:
			return c.onResumed(body)
		case protocol.SwitchID:
			return c.onSwitch(body)
		}
		if known(id) {
			return malformed("message %d before the session began", id)
		}
	case Playing:
		return c.onPlaying(id, body)
	}
	c.stats.UnknownMessages++
	return nil
}

// known reports whether id is of a message to a playing client.
func known(id protocol.ID) bool {
	return id >= protocol.AttachedID && id <= protocol.SpaceDataAnewID || id == protocol.BundleID || id == protocol.AheadID || protocol.IsOwnValue(id)
}

// onPlaying applies a message of the proxy.
func (c *Client) onPlaying(id protocol.ID, body []byte) error {
	switch {
	case !known(id):
		c.stats.UnknownMessages++
		return nil
	case id == protocol.AttachedID:
		return c.onAttached(body)
	case id == protocol.BasePlayerID:
		return c.onBasePlayer(body)
	case c.player == nil && id != protocol.ResumedID && id != protocol.SettledID && id != protocol.FallbackID && id != protocol.NewTokenID:
		return malformed("message %d before the player's entity", id)
	case protocol.IsOwnValue(id):
		return c.onOwnValue(id, body)
	}
	switch id {
	case protocol.BundleID:
		return c.onBundle(body)
	case protocol.AheadID:
		return nil // it only says of which stream the bundle is
	case protocol.BasePropertyID:
		return c.onOwnProperty(body, true)
	case protocol.OwnPropertyID:
		return c.onOwnProperty(body, false)
	case protocol.CellPlayerID:
		return c.onCellPlayer(body)
	case protocol.ForcedID:
		return c.onForced(body)
	case protocol.ControlledID:
		return c.onControlled(body)
	case protocol.CellGoneID:
		return c.onCellGone(body)
	case protocol.EnterID:
		return c.onEnter(body)
	case protocol.LeaveID:
		return c.onLeave(body)
	case protocol.KeepID:
		return c.onKeep(body)
	case protocol.ReturnID:
		return c.onReturn(body)
	case protocol.LeaveSpaceID:
		return c.onLeaveSpace(body)
	case protocol.TransitID:
		return c.onTransit(body)
	case protocol.ArrivedID:
		return c.onArrived(body)
	case protocol.ChangesID:
		return c.onChanges(body)
	case protocol.CallID:
		return c.onCall(body)
	case protocol.RestID:
		return c.onRest(body)
	case protocol.RideID:
		return c.onRide(body)
	}
	return c.onSpace(id, body)
}

// onSpace applies what the cell says of the space, rather than of entities.
func (c *Client) onSpace(id protocol.ID, body []byte) error {
	switch id {
	case protocol.SpaceDataID:
		return c.onSpaceData(body)
	case protocol.SpaceDataGoneID:
		return c.onSpaceDataGone(body)
	case protocol.SpaceDataAnewID:
		return c.onSpaceDataAnew(body)
	case protocol.TimeOfDayID:
		return c.onTimeOfDay(body)
	}
	return c.onSession(id, body)
}

// onSession applies what the proxy says of the session, rather than of the world.
func (c *Client) onSession(id protocol.ID, body []byte) error {
	switch id {
	case protocol.ResetID:
		return c.onReset(body)
	case protocol.ResumedID:
		return c.onResumed(body)
	case protocol.SettledID:
		return c.onSettled(body)
	case protocol.FallbackID:
		return c.onFallback(body)
	case protocol.PongID:
		return nil // that it came is all
	case protocol.NewTokenID:
		return c.onNewToken(body)
	case protocol.ResetEntitiesID:
		return c.onResetEntities(body)
	case protocol.SwitchID:
		return c.onSwitch(body)
	case protocol.AuditID:
		return c.onAudit(body)
	}
	panic(fmt.Sprintf("client: known message %d is not handled", id))
}

func (c *Client) onRefused(body []byte) error {
	m := new(protocol.Refused)
	if err := m.Parse(body); err != nil {
		return err
	}
	if m.Code == protocol.BadToken && c.life.lost != nil && (len(c.life.fallback) > 0 || c.notYetThere()) {
		c.cfg.Transport.Close(c.ch) // another start of the app there knows of no session, or not yet
		c.failed(m)
		return nil
	}
	c.close(m)
	return nil
}

// onWaiting tells the place in the queue. The LoginApp is there, so its answer may take longer.
func (c *Client) onWaiting(body []byte) error {
	var m protocol.Waiting
	if err := m.Parse(body); err != nil {
		return err
	}
	c.deadline = c.now + LoginTimeout
	if c.cfg.Events.Waiting != nil {
		c.cfg.Events.Waiting(int(m.Position), int(m.Of))
	}
	return nil
}

// onLoginOK goes on to the BaseApp.
func (c *Client) onLoginOK(body []byte) error {
	var m protocol.LoginOK
	if err := m.Parse(body); err != nil {
		return err
	}
	if len(m.Doors) == 0 {
		return malformed("login reply without a BaseApp")
	}
	to, ok := c.choose(m.Doors)
	if !ok {
		c.close(fmt.Errorf("client: %w: the BaseApp's doors are %v, but this client dials over %v", mercury.ErrAddress, m.Doors, c.cfg.Networks))
		return nil
	}
	c.cfg.Transport.Close(c.ch)
	c.token, c.state = m.Token, Attaching
	l := &c.life
	l.token, l.doors, l.fallback, l.scout.patience = m.Token, m.Doors, m.Fallback, attachPatience
	l.use(to)
	c.deadline = c.now + AttachTimeout
	if len(m.Fallback) > 0 {
		c.deadline = c.now + heirTimeout
	}
	if c.cfg.Tickets != nil && len(m.Ticket) > 0 && to.Network == protocol.UDP {
		c.cfg.Tickets.Keep(c.now, to.Address, m.Ticket)
	}
	var err error
	if c.ch, err = c.dial(to); err != nil {
		c.close(fmt.Errorf("client: %v: %w", c.state, err))
	}
	return nil
}

// onAttached begins the session. A session that plays begins once more, in the place of a life of its proxy
// that nobody has a copy of: that comes as the first word there is.
func (c *Client) onAttached(body []byte) error {
	var m protocol.Attached
	if err := m.Parse(body); err != nil {
		return err
	}
	l := &c.life
	if l.time = m.Time; l.token == c.token { // else a Resumed has brought a newer one
		l.former, l.token = l.token, m.Token
	}
	if c.state == Playing {
		if l.anew = l.has[protocol.BaseStream] == 1; !l.anew {
			return malformed("attached twice")
		}
		return nil
	}
	l.scout.patience = 0
	c.state, c.enabled = Playing, !c.cfg.EnableLater
	if c.resumable() {
		c.sayHeard() // so the server knows that the token has come
	}
	c.log.Info("logged in")
	if c.cfg.Events.LoggedIn != nil {
		c.cfg.Events.LoggedIn()
	}
	return nil
}

func (c *Client) onBasePlayer(body []byte) error {
	var m protocol.BasePlayer
	if err := m.Parse(body); err != nil {
		return err
	}
	if !c.enabled {
		return malformed("the player's entity before the client was ready")
	}
	anew := c.life.anew
	c.life.anew = false
	if anew && c.player != nil && c.player.ID != m.ID {
		if c.resetEntities(); c.state == Closed {
			return nil
		}
		c.enabled = true // it has said so
	}
	if p := c.player; p != nil {
		if p.ID != m.ID || p.Def.ClientID != m.Type {
			return malformed("a second player's entity")
		}
		return c.readStream(p, m.Props, property.OwnClientBaseStream)
	}
	r, err := c.newReplica(m.ID, m.Type, property.OwnClientSide)
	if err != nil {
		return err
	}
	if err := c.readStream(r, m.Props, property.OwnClientBaseStream); err != nil {
		return err
	}
	c.player = r
	if c.cfg.Events.BasePlayer != nil {
		c.cfg.Events.BasePlayer(r)
	}
	return nil
}

// newReplica makes a replica with the default values of its type.
func (c *Client) newReplica(id entity.ID, typ uint16, side property.Side) (*Replica, error) {
	def := c.cfg.Schema.ByClientID(typ)
	if def == nil || !def.HasClient {
		return nil, malformed("entity %v of type %d, which clients do not know", id, typ)
	}
	if !id.Valid() {
		return nil, malformed("entity id %d", uint64(id))
	}
	r := &Replica{ID: id, Def: def, Props: property.NewValues(def, side, nil), client: c}
	c.cfg.Scripts.bind(r)
	return r, nil
}

func (c *Client) readStream(r *Replica, b []byte, dom property.Stream) error {
	if err := c.scratch.compressor.ReadStream(b, r.Props, dom, protocol.MaxProps); err != nil {
		return malformed("%s: %w", r.Def.Name, err)
	}
	return nil
}

func (c *Client) onBundle(body []byte) error {
	n, err := protocol.ParseBundle(body)
	if err != nil {
		return err
	}
	if next := c.bundle + 1; c.bundle > 0 && n != next {
		c.stats.BundlesMissed += max(n, next) - min(n, next)
	}
	c.bundle = n
	c.stats.CellBundles++
	return nil
}

func (c *Client) onReset(body []byte) error {
	if len(body) > 0 {
		return malformed("reset has a body")
	}
	c.forget()
	if c.state != Closed && c.cfg.Events.Reset != nil {
		c.cfg.Events.Reset()
	}
	return nil
}

func (c *Client) onNewToken(body []byte) error {
	var m protocol.NewToken
	if err := m.Parse(body); err != nil {
		return err
	}
	c.life.token, c.life.former = m.Token, protocol.Token{} // the entity of the one before is not the client's
	return nil
}

func (c *Client) onResetEntities(body []byte) error {
	if len(body) > 0 {
		return malformed("reset of entities has a body")
	}
	c.resetEntities()
	c.enableAgain()
	return nil
}

// resetEntities forgets the player's entity with all others.
func (c *Client) resetEntities() {
	c.forget()
	c.player, c.enabled, c.incarnation = nil, false, 0
	if c.state != Closed && c.cfg.Events.EntitiesReset != nil {
		c.cfg.Events.EntitiesReset()
	}
}

// enableAgain says that the client is ready for another entity, unless the game does. If there is
// no room it is said later.
func (c *Client) enableAgain() {
	if c.state == Playing && !c.enabled && !c.leaving && !c.cfg.EnableLater {
		_ = c.EnableEntities() // tried again by the next Tick
	}
}

// forget drops everything that the cell part has shown, and tells the scripts.
func (c *Client) forget() {
	gone := c.entities
	c.entities, c.data, c.day = replicas{}, nil, dayClock{}
	c.aliases.clear()
	c.forgetKept()
	if c.inWorld {
		c.incarnation++ // at the least: the next has not said which it is
	}
	c.inWorld, c.space, c.bundle = false, 0, 0
	c.dirty, c.moving, c.charges = false, false, nil
	c.riders = nil
	rode := c.player != nil && c.player.riding() != nil
	if rode {
		c.player.rare.ride = nil
	}
	for _, k := range gone.order {
		if c.state != Closed { // by one of them
			gone.at[k.at].tellLeft()
		}
	}
	if rode && c.state != Closed {
		c.tellRide(c.player)
	}
}

func (c *Client) onCellPlayer(body []byte) error {
	var m protocol.CellPlayer
	if err := m.Parse(body); err != nil {
		return err
	}
	if m.Space == 0 {
		return malformed("cell player in no space")
	}
	if err := c.readStream(c.player, m.Props, property.OwnClientCellStream); err != nil {
		return err
	}
	rode := c.player.riding() != nil // through a transition
	c.space, c.incarnation, c.inWorld = m.Space, m.Incarnation, true
	c.force(&protocol.Forced{Number: m.Forced, Control: m.Control, Position: m.Position, Direction: m.Direction})
	c.seen, c.toldSeen = protocol.Seen{}, protocol.Seen{}
	if rode {
		c.tellRide(c.player)
	}
	if c.state != Closed && c.cfg.Events.CellPlayer != nil {
		c.cfg.Events.CellPlayer(c.player)
	}
	return nil
}

func (c *Client) onCellGone(body []byte) error {
	if len(body) > 0 {
		return malformed("cell gone has a body")
	}
	c.forget()
	if c.state != Closed && c.cfg.Events.CellGone != nil {
		c.cfg.Events.CellGone(c.player)
	}
	return nil
}
