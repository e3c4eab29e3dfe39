package cellappmgr

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/cellscape/cellscape/internal/app"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
)

// maxWindows is how many windows a recovery takes at most: apps that come back one by one, each
// within the window of the one before, must not hold up the rest of the world for ever.
const maxWindows = 5

// maxNumber is the highest number that is taken over from an earlier manager: far more than there
// have been apps, with as many again before numbers overflow.
const maxNumber = 1 << 30

// recovery is the time in which a manager of a term above 1 hears what the world is, and the apps
// that tell it. The package comment draws its states.
type recovery struct {
	on    bool // the window is open, or waits for the first to join
	begun bool
	// beganAt and heardAt count the time that the manager was awake: when the first app joined, and
	// when an app of an earlier term last did.
	beganAt, heardAt time.Duration

	returning []*returning // in the order of their joining
	waiting   []waiting
	peers     []wire.AppRef // apps that have parts of the entities of others
	timed     bool          // a CellApp has told the game time
	foreign   error         // of an app of an earlier term that cannot share a cluster with this manager
	// known holds the graves and the peers that were named: every app names most of them.
	known map[known]struct{}
}

type known struct {
	ref  wire.AppRef
	dead bool
}

// first reports whether an app is named for the first time.
func (r *recovery) first(ref wire.AppRef, dead bool) bool {
	if r.known == nil {
		r.known = make(map[known]struct{})
	}
	_, was := r.known[known{ref, dead}]
	r.known[known{ref, dead}] = struct{}{}
	return !was
}

// runs reports whether the manager may act: not before it knows the world, nor after another has
// taken its place.
func (m *CellAppMgr) runs() bool { return !m.recovery.on && !m.superseded }

// learn takes from an app what concerns everyone. The graves and peers of an app that comes late
// follow when it is let in (comeLate). Its word that the world stands still no longer counts, since
// this manager has told everyone that the world goes on.
func (m *CellAppMgr) learn(now time.Duration, b *returning) {
	m.learnTime(now, b)
	if !m.recovery.on {
		return
	}
	for _, g := range b.told.Graves {
		if m.recovery.first(g, true) {
			m.bury(g)
		}
	}
	for _, p := range b.told.Peers {
		if m.recovery.first(p, false) {
			m.recovery.peers = append(m.recovery.peers, p)
		}
	}
	m.frozen = m.frozen || b.told.Frozen
}

// recover ends the window when it is time, and makes the world of what was heard.
func (m *CellAppMgr) recover(now time.Duration) {
	r := &m.recovery
	if !r.on || !r.begun || m.superseded || m.fault != nil {
		return
	}
	window := m.cfg.RecoveryWindow
	if m.awake.total-r.heardAt < window && m.awake.total-r.beganAt < maxWindows*window {
		return
	}
	if r.foreign != nil && !slices.ContainsFunc(r.returning, func(b *returning) bool { return b.done }) {
		m.fault = r.foreign
		return
	}
	r.on = false
	var back []*returning
	r.returning = slices.DeleteFunc(r.returning, func(b *returning) bool {
		if b.done {
			back = append(back, b)
		}
		return b.done
	})
	slices.SortStableFunc(back, func(x, y *returning) int {
		return cmp.Or(cmp.Compare(x.join.Role, y.join.Role), cmp.Compare(x.told.Number, y.told.Number))
	})
	m.resume(now, back)
	late := r.waiting
	r.waiting, r.peers, r.known = nil, nil, nil
	for i := range late {
		m.join(now, late[i].ch, late[i].peer, &late[i].join)
	}
	// Reports come first: a balance without them would take every cell for idle.
	m.balanceAt, m.metaAt = now+m.cfg.Balance.Period, now+m.cfg.Balance.MetaPeriod
}

// noteForeign notes that an app of a world that runs was refused, since its build or its definitions
// are not this manager's. If all of that world are like it, this is not their manager: a world of its
// own beside theirs, at their managers' place, would keep the right managers away.
func (m *CellAppMgr) noteForeign(peer mercury.Address, j *wire.Join) {
	why := j.Disagreement(m.cfg.Schema.Digest)
	if !m.recovery.on || m.recovery.foreign != nil || j.Term == 0 || j.Role == wire.Observer || why == "" {
		return
	}
	m.recovery.foreign = fmt.Errorf("%w: a world runs whose processes are not of this manager's build and definitions: of the %v at %v, %s", app.ErrRefused, j.Role, peer, why)
}

// resume goes on with the world that was heard of. Whoever is told of a death is told so before the
// geometry that follows from it, as at any other time.
func (m *CellAppMgr) resume(now time.Duration, back []*returning) {
	m.deaths = len(m.graves)
	m.bringing.known = m.bringing.known || len(back) > 0 // the world runs
	m.departBuried()
	members := make([]*member, len(back))
	for i, b := range back {
		members[i] = m.reinstate(b)
	}
	m.revive(now)
	lost := m.rebuild()
	m.missBaseApps(now, back)
	for i, a := range members {
		if a != nil {
			m.started = m.started || a.role == wire.CellApp
			m.admitBack(now, a, back[i])
		}
	}
	for i, a := range members {
		if a != nil {
			m.claim(now, a, back[i])
		}
	}
	m.endOver(now)
	m.buryLost(now, lost)
	for i, a := range members {
		if a != nil {
			m.settle(now, a, back[i])
		}
	}
	m.orphanLost(now)
	m.makeSpaces(now)
	m.shutLostGateways()
	m.endServices()
	m.applySettings()
	m.resumeStop(now)
	if len(back) == 0 && len(m.graves) == 0 {
		m.log.Info("nobody knows a world of an earlier manager; a new one begins")
		return
	}
	m.log.Info("the world of an earlier manager goes on", "cell_apps", m.cellApps(), "base_apps", m.count(wire.BaseApp), "graves", len(m.graves))
}

// reinstate makes a member of an app that has told everything; it returns nil if the app cannot be
// one.
func (m *CellAppMgr) reinstate(b *returning) *member {
	if m.buried(b.peer) {
		m.dismiss(b.ch, b.peer)
		return nil
	}
	old := m.byAddress(b.peer)
	if reason := m.whyNot(old, b.ch, b.peer, &b.join); reason != "" {
		m.log.Warn("refused to join again", "role", b.join.Role, "address", b.peer.String(), "reason", reason)
		m.sendOn(b.ch, m.encode(&wire.Refused{Reason: reason}))
		return nil
	}
	if old != nil {
		m.forget(old) // it was missing
	}
	a := &member{
		role: b.join.Role, number: b.told.Number, allocator: b.told.Allocator, address: b.peer, channel: b.ch,
		heard: m.awake.total, retiring: b.told.Retiring,
	}
	if a.number == 0 || a.number > maxNumber || slices.ContainsFunc(m.members, func(x *member) bool { return x.role == a.role && x.number == a.number }) {
		a.number = m.numbers[a.role] + 1
	}
	m.numbers[a.role] = max(m.numbers[a.role], a.number)
	m.takeOwn(b)
	m.seat(a)
	m.add(a)
	return a
}

// admitBack answers the Join of an app that has come back.
func (m *CellAppMgr) admitBack(now time.Duration, a *member, b *returning) {
	m.log.Info(a.role.String()+" came back", "number", a.number, "address", a.address.String(), "cells", len(b.cells))
	m.welcome(now, a)
	m.tellAllShared(a)
	m.tellMembers(a)
	if a.reports() {
		m.send(a, &wire.Freeze{On: m.frozen})
	}
	m.tellGraves(a, b)
	m.tellStop(a)
	m.tellMissed(a, b)
}

// comeLate lets in an app that had more to tell than the window had time for. The cells that it has
// are in no tree: had they been in the one that won, the app would have been declared dead, and
// would be dismissed.
func (m *CellAppMgr) comeLate(now time.Duration, b *returning) {
	a := m.reinstate(b)
	if a == nil {
		return
	}
	m.learnLate(now, b)
	m.admitBack(now, a, b)
	m.tellOfMember(a)
	if a.role == wire.BaseAppMgr || a.role == wire.DBApp {
		m.tellSeats(now, a)
	}
	for _, g := range b.told.Graves {
		m.believe(now, g)
	}
	for _, p := range b.told.Peers {
		m.miss(now, p)
	}
	m.claim(now, a, b)
	m.adoptOrphans(a)
	m.endUnknown(a, b)
	m.endOver(now)
	m.endServices()
	m.makeSpaces(now)
	m.settle(now, a, b)
	m.resumeStop(now)
}

// believe takes a verdict of an earlier manager that only one app has heard: that app has acted on
// it, so there is no way back.
func (m *CellAppMgr) believe(now time.Duration, g wire.AppRef) {
	if m.buried(g.App) {
		return
	}
	if a := m.byAddress(g.App); a != nil {
		ch := a.channel
		m.declareDead(now, a, "an earlier manager declared it dead")
		m.dismiss(ch, g.App)
		return
	}
	m.bury(g)
	if g.Role == wire.BaseApp { // the others must look for its bases where this app does
		m.backups.depart(g.App, 0, m.cfg.Term)
		m.tellDeath(g)
	}
}
