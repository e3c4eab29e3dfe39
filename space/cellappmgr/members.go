package cellappmgr

import (
	"fmt"
	"slices"
	"time"

	"github.com/cellscape/cellscape/balance"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
)

// member is a process that has joined, or an observer.
type member struct {
	role      wire.Role
	number    uint32
	allocator uint32
	address   mercury.Address
	channel   mercury.ChannelID // 0 while there is none
	heard     time.Duration     // by the time that the manager was awake
	// welcomedAt is when it was sent the last Welcome.
	welcomedAt time.Duration
	// led is by how much the time of the cluster went on because this member was ahead, less what
	// may be forgotten since ledAt.
	led, ledAt time.Duration

	line    line
	inquiry *inquiry      // nil for none
	lookAt  time.Duration // not before; by the time that the manager was awake
	excuse  excuse        // for its silence
	spared  bool          // it was said that it is silent and excused

	report       wire.Report
	keepsUnknown bool            // of a BaseApp: it may keep spaces that it should not; see keepSpaces
	sinceFreeze  int             // reports since the last Freeze
	load         balance.AppLoad // of a CellApp
	cells        int             // of a CellApp, in all spaces
	retiring     bool            // the whole CellApp is being shut down
	work         work            // of a BaseApp
	savingStep   int             // steps that a CellApp saves
	saves        [3]uint16       // what they amount to
	stop         stopAnswer      // to the orders about the stop of the world
	operates     bool            // an observer that has ordered the stop, and is told of it
	questions    int             // of an observer that wait for answers
	said         uint64          // the newest handled SetSpaceData of a CellApp; see wire.SpaceDataSet
	missing      bool            // known only because others share entities with it; see buryLost
	replaced     bool            // missing, and another process has started at its address
	faultsLogged bool
	// refusalLogged says that a space which it asked for in vain was logged.
	refusalLogged bool
	// nonsenseLogged says that a report which cannot be true was logged, hot that a warning of its
	// load was.
	nonsenseLogged, hot bool
}

// reports tells whether members of a role must be heard regularly.
func (a *member) reports() bool { return a.role == wire.CellApp || a.role == wire.BaseApp }

// String names the member in a log line.
func (a *member) String() string { return fmt.Sprintf("%v %d", a.role, a.number) }

func (m *CellAppMgr) cellApps() int { return m.count(wire.CellApp) }

func (m *CellAppMgr) count(r wire.Role) int {
	n := 0
	for _, a := range m.members {
		if a.role == r {
			n++
		}
	}
	return n
}

func (m *CellAppMgr) byAddress(address mercury.Address) *member {
	for _, a := range m.members {
		if a.address == address {
			return a
		}
	}
	return nil
}

// expects reports whether an app is a member, or is coming back as one.
func (m *CellAppMgr) expects(app mercury.Address) bool {
	return m.byAddress(app) != nil || slices.ContainsFunc(m.recovery.returning, func(b *returning) bool { return b.peer == app })
}

// join answers a Join: a new member, or one that comes back over another channel.
func (m *CellAppMgr) join(now time.Duration, ch mercury.ChannelID, peer mercury.Address, j *wire.Join) {
	if m.buried(peer) { // while its Join waited: an earlier manager had given it a cell, and it did not know
		m.dismiss(ch, peer)
		return
	}
	a := m.byAddress(peer)
	if a == nil {
		m.replaceStart(now, peer)
	}
	if reason := m.whyNot(a, ch, peer, j); reason != "" {
		if unlogged, ok := m.lines.Allow(now, unwelcome(j.Role)); ok { // each app of a forgotten world asks again and again
			m.log.Warn("refused to join", "role", j.Role, "address", peer.String(), "reason", reason, "unlogged", unlogged)
		}
		m.sendOn(ch, m.encode(&wire.Refused{Reason: reason}))
		m.noteForeign(peer, j)
		return
	}
	if a != nil && !a.missing {
		m.rejoin(now, a, ch)
		return
	}
	if j.Term > 0 || m.recovery.on && j.Role != wire.Observer {
		m.await(ch, peer, j)
		return
	}
	if m.wantsNumber(j.Role) {
		m.awaitNumber(ch, peer, j)
		return
	}
	if a != nil {
		// An earlier manager has named it to others, and its Welcome never came. (While it stayed among
		// those that are missing, too, it was declared dead as soon as that one's time was over.)
		m.forget(a)
	}
	m.take(now, m.admit(ch, peer, j.Role))
}

// unwelcome is the cause of a log line: one for each role, since a world of another build comes with
// all of them at once.
func unwelcome(r wire.Role) string {
	if r > wire.Observer {
		return "unwelcome"
	}
	return "unwelcome " + r.String()
}

// take lets a new member in. The member hears of those who died before it came: an entity restored
// on it from a backup may still have something to say to them.
func (m *CellAppMgr) take(now time.Duration, a *member) {
	m.seat(a)
	m.log.Info(a.role.String()+" joined", "number", a.number, "address", a.address.String())
	m.welcome(now, a)
	m.tellGraves(a, nil)
	m.tellMembers(a)
	m.tellOfMember(a)
	m.tellAllShared(a)
	if m.frozen && a.reports() {
		m.send(a, &wire.Freeze{On: true})
	}
	m.tellTraced(a)
	m.tellStop(a)
	switch a.role {
	case wire.BaseAppMgr, wire.DBApp:
		m.tellSeats(now, a)
	case wire.CellApp:
		m.placer = nil
		m.makeSpaces(now)
	}
}

// whyNot says why a process cannot join, or "". a is the member of that address, if any.
func (m *CellAppMgr) whyNot(a *member, ch mercury.ChannelID, peer mercury.Address, j *wire.Join) string {
	disagreement := j.Disagreement(m.cfg.Schema.Digest)
	switch {
	case !j.Speaks.Has(wire.Version):
		return disagreement
	case j.Role == wire.CellAppMgr:
		return "a CellAppMgr joins no other; start only one"
	case j.Role != wire.Observer && m.cfg.ForObservers != nil && m.cfg.ForObservers(ch):
		return "it came in where observers do, and the others would not reach it: give it the same Config.Inner as the managers"
	case disagreement != "":
		return disagreement
	case m.stopping.step != wire.StopNone && a == nil && j.Term == 0 && (j.Role == wire.CellApp || j.Role == wire.BaseApp):
		return "the world is being stopped: " + m.stopping.reason
	case a != nil && a.role != j.Role:
		return fmt.Sprintf("this process has joined as %v; one address is one process", a)
	case a != nil:
		return ""
	case j.Role == wire.BaseAppMgr && m.count(wire.BaseAppMgr) > 0:
		return fmt.Sprintf("there is a BaseAppMgr at %v; a cluster has one", m.baseMgr)
	case j.Role == wire.DBApp && m.count(wire.DBApp) > 0:
		return fmt.Sprintf("there is a DBApp at %v; a cluster has one", m.dbApp)
	case m.cfg.Numbers == nil && (j.Role == wire.CellApp || j.Role == wire.BaseApp) && j.Term == 0 && m.cfg.Term > maxIDTerm:
		return fmt.Sprintf("ids hold terms up to %d, and this is term %d: stop the whole world and start it anew, or give it a store", maxIDTerm, m.cfg.Term)
	case m.cfg.Numbers == nil && (j.Role == wire.CellApp || j.Role == wire.BaseApp) && j.Term == 0 && m.starts[j.Role] >= MaxStarts:
		return fmt.Sprintf("%v starts in term %d, and entity ids hold no more; restart the manager with a higher term", MaxStarts, m.cfg.Term)
	case len(m.members)+len(m.recovery.returning)+len(m.recovery.waiting)+len(m.unnumbered) >= MaxMembers:
		return fmt.Sprintf("%d processes and observers have joined; that is the limit", MaxMembers)
	}
	return ""
}

func (m *CellAppMgr) admit(ch mercury.ChannelID, peer mercury.Address, role wire.Role) *member {
	m.numbers[role]++
	m.starts[role]++
	a := &member{role: role, number: m.numbers[role], address: peer, channel: ch, heard: m.awake.total}
	a.allocator = m.allocatorFor(role)
	m.add(a)
	return a
}

func (m *CellAppMgr) add(a *member) {
	m.members = append(m.members, a)
	if a.channel != 0 {
		m.byChannel[a.channel] = a
	}
}

func (m *CellAppMgr) welcome(now time.Duration, a *member) {
	a.welcomedAt = now
	m.unkept(a)
	m.send(a, &wire.Welcome{
		Number: a.number, Allocator: a.allocator, Term: m.cfg.Term, GameTime: m.clusterTime(now),
		CellAppMgr: m.cfg.Transport.Self(), BaseAppMgr: m.baseMgr, DBApp: m.dbApp, Stores: m.cfg.Stores,
	})
	if a.role == wire.LoginApp && m.gate.refused {
		m.send(a, m.logins())
	}
}

// rejoin takes back a member that lost its channel, and tells it again whatever it may have missed.
// On the channel that it already has, only the welcome is repeated.
func (m *CellAppMgr) rejoin(now time.Duration, a *member, ch mercury.ChannelID) {
	if a.channel == ch {
		m.welcome(now, a)
		return
	}
	if a.channel != 0 {
		delete(m.byChannel, a.channel)
		m.cfg.Transport.Abort(a.channel)
	}
	a.channel = ch
	m.byChannel[ch] = a
	m.log.Info(a.role.String()+" joined again over a new channel", "number", a.number, "address", a.address.String())
	m.welcome(now, a)
	m.tellAllShared(a)
	m.tellMembers(a)
	if a.reports() {
		m.send(a, &wire.Freeze{On: m.frozen})
	}
	m.tellTraced(a)
	m.tellGraves(a, nil)
	m.tellAgain(now, a)
	m.tellStop(a)
}

// seat notes where a process is of which a cluster has one.
func (m *CellAppMgr) seat(a *member) {
	switch a.role {
	case wire.BaseAppMgr:
		m.baseMgr = a.address
	case wire.DBApp:
		m.dbApp = a.address
	}
}

// tellSeats tells those who need it where the BaseAppMgr and the DBApp are now.
func (m *CellAppMgr) tellSeats(now time.Duration, mgr *member) {
	for _, a := range m.members {
		if a != mgr && a.role != wire.Observer {
			m.welcome(now, a)
		}
	}
}

// forget drops a member. What it reported stays in the sums. The other members are copied to a new
// slice: each tick walks over the members, and some handlers forget one on the way.
func (m *CellAppMgr) forget(a *member) {
	for i, b := range m.members {
		if a == b {
			m.members = append(m.members[:i:i], m.members[i+1:]...)
			break
		}
	}
	delete(m.byChannel, a.channel)
	m.unwatch(a)
	m.unkept(a)
	m.placer = nil
	switch a.role {
	case wire.DBApp:
		m.dbApp = mercury.Address{}
	case wire.BaseAppMgr:
		// Those who have joined it keep trying that address until there is another: it may be only
		// this channel that is lost.
		m.baseMgr = mercury.Address{}
	}
	addTotals(&m.gone, &a.report)
}
