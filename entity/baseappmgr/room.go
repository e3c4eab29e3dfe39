package baseappmgr

import (
	"slices"
	"time"

	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
)

// Config.MaxProxies is kept here, where each new proxy is asked for, so that LoginApps cannot exceed it
// together. A CreateProxy for which there is no room is answered with protocol.WorldFull. The LoginApp asks
// again every wire.RoomPeriod, as long as somebody waits there.
//
// Those who come in do so in the order in which their LoginApp asked for them. A LoginApp may ask
// for the next before it knows that one has been refused; so a CreateProxy says how many refusals
// it knows, and is refused, too, if that is not the present number.
//
// LoginApps that wait have turns, in the order in which they were refused first. Room that is left by fewer
// players than there are LoginApps goes to those whose turn is first; who got some has a new turn. Otherwise
// one that happens to ask just after the others would always be too late.

// turnTime is how long a LoginApp that does not ask again keeps its turn: a few periods, since it
// may be late.
const turnTime = 4 * wire.RoomPeriod

// waiting is how a LoginApp waits for room. The zero value does not.
type waiting struct {
	refusals uint32 // how often it was refused on its present channel
	turn     uint64 // 0 for none
	until    time.Duration
}

func (w *waiting) waits(now time.Duration) bool { return w.turn > 0 && now < w.until }

// roomFor returns the BaseApp for a new proxy, or why there is none.
func (m *BaseAppMgr) roomFor(now time.Duration, asker mercury.ChannelID, c *wire.CreateProxy) (*knownApp, protocol.Code) {
	if m.cfg.MaxProxies == 0 {
		on := m.fewest(now)
		if on == nil {
			return nil, protocol.NotReady
		}
		return on, 0
	}
	login := m.loginApp(asker)
	if login == nil || len(m.baseApps) == 0 && !login.room.waits(now) {
		return nil, protocol.NotReady
	}
	if !m.mayCome(now, login, c.Refusals) {
		return nil, protocol.WorldFull
	}
	var best *knownApp
	for _, a := range m.baseApps {
		if m.room(a) > 0 && (best == nil || a.better(now, best)) {
			best = a
		}
	}
	return best, 0
}

// mayCome reports whether one more may come in by a LoginApp, and notes that it waits if not.
func (m *BaseAppMgr) mayCome(now time.Duration, login *knownApp, refusals uint32) bool {
	w := &login.room
	if refusals != w.refusals {
		return false
	}
	if !w.waits(now) {
		w.turn = 0
	}
	room := 0
	for _, a := range m.baseApps {
		room += m.room(a)
	}
	if room > m.before(now, login) {
		w.turn = 0
		return true
	}
	w.refusals++
	if w.turn == 0 {
		m.turns++
		w.turn = m.turns
	}
	w.until = now + turnTime
	return false
}

// before counts the LoginApps that wait and whose turn is before that of another.
func (m *BaseAppMgr) before(now time.Duration, login *knownApp) (n int) {
	for _, l := range m.loginApps {
		if l != login && l.room.waits(now) && (login.room.turn == 0 || l.room.turn < login.room.turn) {
			n++
		}
	}
	return n
}

// room is how many proxies logins may still make on a BaseApp. Until it has told which it has, and when it is
// to leave, these are none.
func (m *BaseAppMgr) room(a *knownApp) int {
	if a.away || a.leaving || !a.announced {
		return 0
	}
	return max(0, m.cfg.MaxProxies-a.proxies)
}

// noRoom reports whether the world is full by the number of proxies. Without a BaseApp it is not,
// but not ready.
func (m *BaseAppMgr) noRoom() bool {
	return m.cfg.MaxProxies > 0 && len(m.baseApps) > 0 && !slices.ContainsFunc(m.baseApps, func(a *knownApp) bool { return m.room(a) > 0 })
}

// loginApp is the LoginApp at the other end of a channel; nil if it is gone.
func (m *BaseAppMgr) loginApp(ch mercury.ChannelID) *knownApp {
	if i := slices.IndexFunc(m.loginApps, func(a *knownApp) bool { return a.ch == ch }); i >= 0 {
		return m.loginApps[i]
	}
	return nil
}

func (m *BaseAppMgr) refusals(asker mercury.ChannelID) uint32 {
	if l := m.loginApp(asker); l != nil {
		return l.room.refusals
	}
	return 0
}
