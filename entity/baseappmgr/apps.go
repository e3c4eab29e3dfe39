package baseappmgr

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/cellscape/cellscape/internal/app"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/migrate"
)

// knownApp is a BaseApp or LoginApp that has joined.
type knownApp struct {
	at mercury.Address
	// ch is the channel of its last Join, over which it is answered.
	ch mercury.ChannelID
	// proxies counts its proxies, and those that it was asked to make.
	proxies int
	// bases is how many it had by its last report, and placed how many it was to make since then,
	// less the proxies that have ended.
	bases, placed int
	// heard is when it last told its load.
	heard time.Duration
	// announced says that it has told its names since it joined.
	announced bool
	// told says that it has done so once, over whichever channel, so that its accounts are known.
	told bool
	// away says that its channel has ended. It may come back, with all its bases, or be declared dead.
	away bool
	// leaving says that it will leave the cluster, so nothing new is made there.
	leaving bool
	// room is how a LoginApp waits for room.
	room waiting
	// inherited are the departures of whose bases it has told all that came there.
	inherited map[migrate.Leave]bool
	// early is what it has told of bases that others have, as far as is known, in the order in
	// which it came; see early.go.
	early []early
	// work is the processor time that its thread uses, in cores, if it is measured. reported says
	// that it has told its load since it was last ordered to shed, or made to take, and shedding by
	// which measures it has more than others; see shed.go.
	busy     app.Busy
	work     float64
	measured bool
	reported bool
	shedding [measures]bool
}

// load is how many bases it has or will have soon, as far as is known.
func (a *knownApp) load() int { return max(a.proxies, a.bases+a.placed) }

// silentTime is how long a BaseApp may be silent until others are chosen before it: two reports are missing.
// One that hangs used to be given its share of the logins until it was declared dead.
const silentTime = 5 * wire.ReportPeriod / 2

func (a *knownApp) silent(now time.Duration) bool { return now-a.heard > silentTime }

// better reports whether a new base is better made on a than on o: not where bases go away, nor where
// nothing has been heard of for a while, and then where the fewest are.
func (a *knownApp) better(now time.Duration, o *knownApp) bool {
	switch {
	case a.leaving != o.leaving:
		return o.leaving
	case a.silent(now) != o.silent(now):
		return o.silent(now)
	case a.shedding[byWork] != o.shedding[byWork]:
		return o.shedding[byWork]
	}
	return a.load() < o.load()
}

func findApp(apps []*knownApp, at mercury.Address) (int, bool) {
	return slices.BinarySearchFunc(apps, at, func(a *knownApp, at mercury.Address) int { return a.at.Compare(at) })
}

func getApp(apps []*knownApp, at mercury.Address) *knownApp {
	if i, ok := findApp(apps, at); ok {
		return apps[i]
	}
	return nil
}

// onJoin takes an app in, or answers one that asks again.
func (m *BaseAppMgr) onJoin(from sender, j *wire.Join) error {
	apps := m.list(j.Role)
	switch {
	case apps == nil:
		return m.refuse(from.ch, fmt.Sprintf("a %v does not join the BaseAppMgr", j.Role))
	case j.Disagreement(m.cfg.Schema.Digest) != "":
		return m.refuse(from.ch, j.Disagreement(m.cfg.Schema.Digest))
	}
	i, ok := findApp(*apps, from.at)
	if !ok {
		*apps = slices.Insert(*apps, i, &knownApp{at: from.at, inherited: make(map[migrate.Leave]bool)})
		m.log.Info("app joined", "role", j.Role, "at", from.at)
	}
	if a := (*apps)[i]; a.ch != from.ch {
		a.ch, a.heard, a.announced, a.away, a.room, a.early = from.ch, from.now, false, false, waiting{}, nil
		m.names.doubt(a.at)
		m.doubt(a)
	}
	m.number++
	return m.links.Reply(from.ch, &wire.Welcome{
		Number: m.number, Term: m.term, GameTime: m.gameTime, CellAppMgr: m.at, BaseAppMgr: m.cfg.Transport.Self(),
	})
}

// onMembers takes the CellAppMgr's list of apps, in which are BaseApps that have yet to join here.
func (m *BaseAppMgr) onMembers(_ sender, l *wire.Members) {
	m.named = m.named || m.manager.Heeds() // the first after the Welcome is of all
	m.roster.Name(l)
	for _, a := range l.Apps {
		if a.Role == wire.BaseApp && len(m.members) < wire.MaxMembers && !m.links.Dead(a.App) && !m.isMember(a.App) {
			m.members = append(m.members, a.App)
		}
	}
	m.admitEarly()
}

// isMember reports whether a BaseApp is of the cluster, as far as the CellAppMgr has said.
func (m *BaseAppMgr) isMember(at mercury.Address) bool { return slices.Contains(m.members, at) }

func (m *BaseAppMgr) list(r wire.Role) *[]*knownApp {
	switch r {
	case wire.BaseApp:
		return &m.baseApps
	case wire.LoginApp:
		return &m.loginApps
	}
	return nil
}

func (m *BaseAppMgr) refuse(ch mercury.ChannelID, reason string) error {
	m.links.Reply(ch, &wire.Refused{Reason: reason})
	return fmt.Errorf("baseappmgr: join refused: %s", reason)
}

// appClosed forgets an app whose channel has ended.
func (m *BaseAppMgr) appClosed(ch mercury.ChannelID, reason error) {
	byChannel := func(a *knownApp) bool { return a.ch == ch }
	if i := slices.IndexFunc(m.loginApps, byChannel); i >= 0 {
		m.log.Info("LoginApp gone", "at", m.loginApps[i].at, "reason", reason)
		m.loginApps = slices.Delete(m.loginApps, i, i+1)
	}
	if i := slices.IndexFunc(m.baseApps, byChannel); i >= 0 {
		if a := m.baseApps[i]; m.isMember(a.at) {
			a.away, a.announced = true, false
			m.log.Warn("lost a BaseApp, its accounts stay until it is back or declared dead", "at", a.at, "reason", reason)
			return
		}
		m.removeBaseApp(i, reason)
	}
}

// appDead takes the CellAppMgr's verdict on an app.
func (m *BaseAppMgr) appDead(d *wire.AppDead) {
	at := d.App
	m.depart(d.Departure())
	m.members = slices.DeleteFunc(m.members, func(x mercury.Address) bool { return x == at })
	// order does not show: each is settled by itself
	for l := range m.untold {
		m.settleUntold(l) // it may have waited for the dead one alone
	}
	if d.Role == wire.BaseApp {
		m.links.Bury(wire.BaseApp, at) // also one that has yet to join
	}
	i, ok := findApp(m.baseApps, at)
	if !ok {
		return
	}
	m.links.Abort(m.baseApps[i].ch)
	m.removeBaseApp(i, errors.New("declared dead"))
}

// basesMoved takes the CellAppMgr's word that some bases of an app are on others.
func (m *BaseAppMgr) basesMoved(d *wire.BasesMoved) {
	m.depart(d.Departure())
}

func (m *BaseAppMgr) removeBaseApp(i int, reason error) {
	a := m.baseApps[i]
	m.baseApps = slices.Delete(m.baseApps, i, i+1)
	freed := m.freeAll(a)
	if a.leaving && freed == 0 {
		// As the verdict says no more than that it is gone, it may have died when it was about to
		// leave. The CellAppMgr logs that.
		m.log.Info("a BaseApp has left", "at", a.at)
		return
	}
	m.log.Warn("BaseApp gone, its accounts are free", "at", a.at, "accounts", freed, "reason", reason)
}

// fewest is the BaseApp for a new base, among equals the one with the lowest address. It is nil
// when none has joined.
func (m *BaseAppMgr) fewest(now time.Duration) *knownApp {
	var best *knownApp
	for _, a := range m.baseApps {
		if !a.away && (best == nil || a.better(now, best)) {
			best = a
		}
	}
	return best
}

// onLeaving makes nothing new on a BaseApp.
func (m *BaseAppMgr) onLeaving(from sender, l *wire.Leaving) {
	if a := getApp(m.baseApps, from.at); a != nil && !a.leaving {
		a.leaving = true
		m.log.Info("a BaseApp will leave; nothing new is made there", "at", a.at, "bases", l.Bases)
	}
}
