package baseapp

import (
	"errors"
	"fmt"
	"time"

	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
)

// dialler is a transport that remembers which channels this app dialled. Those lead to apps. Some
// only carry what this app sends, so no first message would tell them from a silent client's
// channel.
type dialler struct {
	mercury.Transport
	dialled map[mercury.ChannelID]struct{}
}

func (d *dialler) Dial(to mercury.Address) mercury.ChannelID {
	ch := d.Transport.Dial(to)
	d.dialled[ch] = struct{}{}
	return ch
}

func (d *dialler) Close(ch mercury.ChannelID) {
	delete(d.dialled, ch)
	d.Transport.Close(ch)
}

func (d *dialler) Abort(ch mercury.ChannelID) {
	delete(d.dialled, ch)
	d.Transport.Abort(ch)
}

func (d *dialler) has(ch mercury.ChannelID) bool {
	_, ok := d.dialled[ch]
	return ok
}

// silentChannel is a channel from outside that has not said anything yet.
type silentChannel struct {
	ch    mercury.ChannelID
	until time.Duration
}

// Opened is part of mercury.Handler.
func (a *BaseApp) Opened(now time.Duration, ch mercury.ChannelID, peer mercury.Address) {
	a.rouse(now)
	a.now, a.speaking = now, sender{}
	if a.baseMgr.Opened(ch) {
		a.announce()
		a.announceNames()
		a.tellAllInherited()
		return
	}
	if a.cellMgr.Opened(ch) {
		a.said.Late()
		if a.cellMgr.Rejoins() {
			a.rejoin()
		}
		return
	}
	if a.dbApp.Opened(ch) {
		return
	}
	if a.net.has(ch) || !a.outside(ch) && a.isApp(ch, peer) {
		return
	}
	a.silent = append(a.silent, silentChannel{ch, now + ClaimTimeout})
}

// Trouble returns the last known reason why this BaseApp is not joined to both managers; nil while
// it is, and once it has left the cluster in order.
func (a *BaseApp) Trouble() error {
	if a.leave.state == leaveGone {
		return nil
	}
	return errors.Join(a.cellMgr.Trouble(), a.baseMgr.Trouble())
}

// StoreTrouble says why this BaseApp cannot write to the store, as far as is known; nil while it
// can.
func (a *BaseApp) StoreTrouble() error {
	switch {
	case a.dbApp.Trouble() != nil:
		return fmt.Errorf("there is no DBApp for this BaseApp: %w", a.dbApp.Trouble())
	case !a.dbApp.Open():
		return errors.New("there is no DBApp for this BaseApp")
	}
	return nil
}

// Closed is part of mercury.Handler.
func (a *BaseApp) Closed(now time.Duration, ch mercury.ChannelID, reason error) {
	a.rouse(now)
	a.now, a.speaking = now, sender{}
	delete(a.net.dialled, ch)
	a.door.Closed(ch)
	a.unsilence(ch)
	if to, ok := a.links.Closed(now, ch, reason); ok {
		a.copyChannelBroke(to)
	}
	if a.cellMgr.Closed(now, ch, reason) {
		if !a.cellMgr.TurnedAway() {
			a.logLost("lost the CellAppMgr", reason)
		}
		return
	}
	if a.baseMgr.Closed(now, ch, reason) {
		a.logLost("lost the BaseAppMgr", reason)
		return
	}
	if a.dbApp.Closed(now, ch, reason) {
		a.logLost("lost the DBApp", reason)
		return
	}
	if c := a.clients[ch]; c != nil {
		text := "the connection ended"
		if reason != nil {
			text = reason.Error()
		}
		if a.still() {
			c.closed = true
			delete(a.clients, ch)
			a.leave.lost = append(a.leave.lost, lostClient{c, reason, text})
			return
		}
		if b := c.base; b != nil && b.aside { // it finds the base where that goes on
			b.seat.client, c.base = nil, nil
		}
		c.gone(reason, text)
	}
}

// logLost logs the end of a channel to a manager or the DBApp. Those end the channels of one that
// has left.
func (a *BaseApp) logLost(what string, reason error) {
	if a.leave.state != leaveGone {
		a.log.Warn(what, "reason", reason)
	}
}

// Message is part of mercury.Handler.
func (a *BaseApp) Message(now time.Duration, ch mercury.ChannelID, reliable bool, msg []byte) {
	a.rouse(now)
	a.now = now
	by := a.speaking
	a.speaking = sender{}
	if a.dismissed || len(msg) == 0 {
		return
	}
	if by.ch == ch {
		a.appMessage(by, msg)
		a.hearLocal()
		return
	}
	if c := a.clients[ch]; c != nil {
		if b := c.base; a.still() || b != nil && (b.aside || b.gives()) {
			c.missed = c.missed || reliable
			return
		}
		c.message(reliable, msg)
		a.hearLocal()
		return
	}
	from, ok := a.links.From(ch)
	if !ok {
		return // a dead app's last words
	}
	outside := a.outside(ch)
	if !outside {
		if role := a.roleOf(ch, from); role != 0 {
			a.appMessage(sender{ch, from, role}, msg)
			a.hearLocal()
			return
		}
	}
	a.unsilence(ch)
	switch {
	case a.mayAttach(ch) && (protocol.ID(msg[0]) == protocol.AttachID || protocol.ID(msg[0]) == protocol.ResumeID):
		if a.paused {
			a.refuseStopped(ch)
			return
		}
		if a.still() {
			a.turnAway(ch, "a client while the bases stand still", from, wire.ID(msg[0]))
			return
		}
		c := &client{app: a, ch: ch}
		a.clients[ch] = c
		c.message(reliable, msg)
	case outside:
		a.turnAway(ch, "first message of a channel from outside", from, wire.ID(msg[0]))
	default:
		a.unnamed(ch, from, reliable, msg)
	}
}

func (a *BaseApp) unsilence(ch mercury.ChannelID) {
	for i := range a.silent {
		if a.silent[i].ch == ch {
			a.silent = append(a.silent[:i], a.silent[i+1:]...)
			return
		}
	}
}

// closeSilent closes channels from outside that have not sent a message in time. The oldest come
// first.
func (a *BaseApp) closeSilent() {
	n := 0
	for n < len(a.silent) && a.now >= a.silent[n].until {
		s := a.silent[n]
		n++
		a.report.Refused++
		m := protocol.Refused{Code: protocol.BadToken, Reason: "no login came"}
		a.buf = m.Append(a.buf[:0])
		a.links.ToClient(s.ch, true, a.buf)
		a.net.Close(s.ch)
	}
	a.silent = append(a.silent[:0], a.silent[n:]...)
}
