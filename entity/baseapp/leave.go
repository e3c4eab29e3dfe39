package baseapp

import (
	"fmt"
	"slices"
	"time"

	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/internal/app"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/migrate"
)

// # Leaving
//
// A BaseApp that retires leaves as if it died, at a moment when nothing is lost by that: all its bases stand
// still, and their last copies are confirmed. So its bases are found, restored and readdressed as above, and
// nothing else has to know of moves.
//
//	            Retire                  all is ready            all last copies held
//	(serves) ------------> leaving -------------------> still ------------------------> asking
//	                        |  ^                          |       Depart to the manager   |
//	                        |  +--- a death, stillMost ---+                               |
//	  Leaving, each second: |  +--- Departed with a reason: not now ----------------------+
//	  nothing new is made   |                                                             |
//	  here, no copies held  v                             Departed, or Dismissed; AppDead to all
//	                  logs what it waits for                                              |
//	                                               clients: Switch, to the heirs          v
//	                                               the process ends                      gone
//
// All is ready when a rule without those who leave rules, with two holders for each base if there
// are two; when no other app has copies here; when no login waits for its client; and when no
// question to a manager and no message of a destroyed base is open, or quietTime is over.
//
// Invariants:
//
//   - While bases stand still, nothing changes them: no tick, no message of an app or a client is
//     handled. Who sent it says it again, to this app or to the heir. Copies held for others go on.
//   - Bases go on here only as long as the manager has not been asked, or when it has said no. A
//     verdict that comes meanwhile is acted upon then. A manager that dies while it is asked leaves
//     them standing until another one answers, since it may have told the heirs; it is asked as
//     soon as it leads. While none is known to live, none is asked, and the bases go on here.
//   - The manager says no if a holder is gone, or if another app departed whose bases the rule does
//     not cover. So each base has a living heir with its last copy at the moment of the verdict.
//   - What an inherited base does is settled, for its clients and for others, when the rule of its app covers
//     the departure. If the heir dies before, the next holder goes on from the last copy.
//   - A client counts what it has had and said as after a lost channel, so each message comes once
//     and in order. If the bases go on here, a client that was not heard meanwhile has its channel
//     ended, and resumes.
//
// Downloads end before, and scripts are told (entity.DownloadEnd). Clients whose sessions
// do not outlive their channels (Config.ResumeTime) lose them.
//
// An app with more than Config.MoveBatch bases gives them away in parts first, until no more than
// that are left.

const (
	// sayLeavingEvery is how often others are told that this app will leave, and the log what that waits for.
	sayLeavingEvery = time.Second
	logLeavingEvery = 10 * time.Second

	// leaveReplicas is how many BaseApps hold each base at least when the app leaves, if there are so many.
	// So the heir may die before it has had its new bases copied.
	leaveReplicas = 2

	// quietTime is how long the app waits for answers that its bases want of managers, and for what bases
	// that are gone have sent. What is not settled by then is answered as forgotten, or is lost and counted.
	quietTime = 10 * time.Second

	// holdPatience is how long others have, beside two backup periods, to put the copies elsewhere that they
	// have here: as long as a base whose copies find no room keeps a rule from ruling. One that takes longer
	// is stuck, and may not keep this app for ever. It loses no base by that, but copies, and makes others.
	holdPatience = RefusedPatience

	// stillMost is how long all bases stand still until their last copies are held: players notice a
	// second. Then they go on, and the app tries again after leaveAgain.
	stillMost  = time.Second
	leaveAgain = 5 * time.Second

	// lastPerTick bounds the last copies that a tick makes, so that the app is heard of in between.
	lastPerTick = 1024

	// leaveLinger is how long the process stays when it has left, so that its last messages arrive.
	leaveLinger = 2 * time.Second
)

type leaveState uint8

const (
	leaveNone leaveState = iota
	leaveAsked
	leaveStill
	leaveAsking
	leaveGone
)

// leaving is where an app is on its way out. Its states are drawn above.
type leaving struct {
	state   leaveState
	reason  string
	since   time.Duration // of standing still, or of having left
	sayAt   time.Duration
	logAt   time.Duration
	tryAt   time.Duration // not before
	quietBy time.Duration // 0 until all else is ready
	holdBy  time.Duration // when it no longer holds copies for others; 0 while it need not, or until all before is ready
	waits   string        // for what; empty for nothing
	asks    app.Errands
	next    int // the first base of the list whose last copy has not been sent

	// These came while all stood still, and count only if the bases go on here.
	deaths []wire.AppDead
	lost   []lostClient
}

// lostClient is a client whose channel has ended.
type lostClient struct {
	c      *client
	reason error
	text   string
}

// Retire asks for this app to leave the cluster without loss: its bases go on on others, with their
// clients. Retired reports when that is done. It cannot be taken back. The reason is for the log.
func (a *BaseApp) Retire(reason string) {
	if a.leave.state != leaveNone || a.dismissed {
		return
	}
	a.log.Info("the BaseApp is to leave the cluster", "reason", reason, "bases", len(a.byID))
	a.leave = leaving{state: leaveAsked, reason: reason, logAt: a.now + logLeavingEvery, asks: app.NewErrands(&a.cellMgr, 1)}
	a.copying.ruling.seen = a.roster.Changes() - 1 // the rule is another one now
	a.copyAll()
}

// Retired reports whether the app has left the cluster after Retire, and all that it had to say is said:
// the process can end.
func (a *BaseApp) Retired() bool {
	return a.leave.state == leaveGone && a.now >= a.leave.since+leaveLinger
}

// RetireWaits says what a retiring app waits for; empty if for nothing.
func (a *BaseApp) RetireWaits() string { return a.leave.waits }

// StandsStill reports whether no base does anything, because they are about to go to others.
func (a *BaseApp) StandsStill() bool { return a.still() }

// still reports whether no base does anything, because the last copies are or will be all that counts.
func (a *BaseApp) still() bool { return a.leave.state >= leaveStill }

// tickLeaving is the end of a tick in which bases live.
func (a *BaseApp) tickLeaving() {
	l := &a.leave
	if l.state != leaveAsked {
		return
	}
	if a.now >= l.sayAt {
		l.sayAt = a.now + sayLeavingEvery
		a.sayLeaving()
	}
	if l.waits = a.whyStay(); l.waits == "" {
		a.standStill()
		return
	}
	if a.now >= l.logAt {
		l.logAt = a.now + logLeavingEvery
		a.log.Warn("the BaseApp cannot leave the cluster yet", "waits for", l.waits, "bases", len(a.byID))
	}
}

func (a *BaseApp) sayLeaving() {
	m := wire.Leaving{Bases: uint32(len(a.byID))}
	for _, x := range a.others() {
		a.send(x, &m)
	}
	a.baseMgr.Send(&m)
}

// takeLeaving gives no more copies to a BaseApp that will leave.
func (a *BaseApp) takeLeaving(from sender, _ *wire.Leaving) {
	if !slices.Contains(a.goers, from.app) && len(a.goers) < wire.MaxMembers {
		a.goers = append(a.goers, from.app)
		a.copying.ruling.seen = a.roster.Changes() - 1
	}
}

// stayers are the other BaseApps that may hold copies. One that leaves itself when nobody stays has its
// copies held by those that leave, too.
func (a *BaseApp) stayers() []mercury.Address {
	r := &a.copying.ruling
	r.stay = append(r.stay[:0], a.others()...)
	stay := slices.DeleteFunc(r.stay, func(x mercury.Address) bool { return slices.Contains(a.goers, x) })
	if len(stay) == 0 && a.leave.state != leaveNone {
		return a.others()
	}
	return stay
}

// replicas is how many others hold a copy of each base.
func (a *BaseApp) replicas() uint8 {
	if a.leave.state != leaveNone {
		return uint8(max(leaveReplicas, a.copying.replicas))
	}
	return uint8(a.copying.replicas)
}

// whyStay says what has to come about before the bases stand still; empty if all has.
func (a *BaseApp) whyStay() string {
	l, k := &a.leave, &a.copying
	switch {
	case a.paused:
		return "the end of the world"
	case a.ids == nil || !a.cellMgr.Heeds() || !a.baseMgr.Open():
		return "the managers"
	case k.period == 0:
		return "copies of the bases, which the configuration has switched off"
	case !a.somebodyStays():
		return "another BaseApp that stays"
	case !a.heldByStayers():
		return "others to hold copies of all bases"
	case a.keepsMoved():
		return "others to have copies of the bases that have gone to them"
	case len(a.list) > a.cfg.MoveBatch && a.roster.Departures().Moves() < migrate.MaxMoves:
		return "most bases to go"
	case a.holdsForOthers() && !a.heldLongEnough():
		return "others to have their copies elsewhere"
	case len(a.byToken) > 0:
		return "players who have logged in and have not come yet"
	case slices.ContainsFunc(a.list, func(b *base) bool { return b.copied.large }):
		return "a base that is too large to travel"
	case len(a.stubs.list) > 0:
		return "others to forget bases that have ended"
	case a.servesStill():
		return "the fragments of its services to end"
	case a.now < l.tryAt:
		return "another try"
	}
	if l.quietBy == 0 {
		l.quietBy = a.now + quietTime
	}
	if a.now < l.quietBy && (a.links.Asked() > 0 || len(a.talking.departed) > 0 || len(a.storing.loads) > 0) {
		return "answers, and messages of bases that are gone"
	}
	return ""
}

func (a *BaseApp) somebodyStays() bool {
	return slices.ContainsFunc(a.others(), func(x mercury.Address) bool { return !slices.Contains(a.goers, x) })
}

// heldByStayers reports whether everyone knows the rule by which those who stay hold the bases.
func (a *BaseApp) heldByStayers() bool {
	r := &a.copying.ruling
	return r.state == ruleSettled && r.manager && r.seen == a.roster.Changes() && r.rules.Replicas == a.replicas() &&
		len(r.rules.List) > 0 && !slices.ContainsFunc(r.rules.List, func(x mercury.Address) bool { return a.links.Dead(x) || slices.Contains(a.goers, x) })
}

// holdsForOthers reports whether the bases of another app would lose copies with this one.
func (a *BaseApp) holdsForOthers() bool {
	return slices.ContainsFunc(a.holding.wards, func(w *ward) bool {
		return !a.links.Dead(w.owner) && slices.Contains(w.rule.List, a.net.Self())
	})
}

// heldLongEnough reports whether others have had time to put their copies elsewhere.
func (a *BaseApp) heldLongEnough() bool {
	l := &a.leave
	if l.holdBy == 0 {
		l.holdBy = a.now + holdPatience + 2*a.copying.period
	}
	return a.now >= l.holdBy
}

// leaveCopies counts the copies that others lose with this app.
func (a *BaseApp) leaveCopies() {
	n := 0
	for _, w := range a.holding.wards {
		if !a.links.Dead(w.owner) && slices.Contains(w.rule.List, a.net.Self()) {
			n += len(w.copies)
		}
	}
	if n > 0 {
		a.report.CopiesLeft += uint64(n)
		a.log.Warn("others have not put their copies elsewhere in time; this BaseApp takes them with it", "copies", n, "waited", holdPatience+2*a.copying.period)
	}
}

// standStill stops all bases, after what they have to hear of while they still can.
func (a *BaseApp) standStill() {
	for i := 0; i < len(a.list); i++ { // scripts may add bases in this loop
		if c := a.list[i].client(); c != nil {
			a.downloads.AbortAll(a.now, c.ch, errNoClient)
		}
	}
	a.sweep()
	a.leave.state, a.leave.since, a.leave.next = leaveStill, a.now, 0
	a.tickStill()
}

// tickStill is a tick in which no base does anything.
func (a *BaseApp) tickStill() {
	l := &a.leave
	switch l.state {
	case leaveStill:
		a.copyLast()
		if a.askToDepart(); l.state == leaveStill && a.now-l.since >= stillMost {
			a.goOn(a.whyStill())
		}
	case leaveAsking:
		l.asks.Tick()
	}
}

// whyStill says for what bases that stand still have waited too long.
func (a *BaseApp) whyStill() string {
	if !a.cellMgr.Heeds() {
		return "there is no manager to ask"
	}
	return "the last copies are not held in time"
}

// copyLast sends the last copies, as there is room.
func (a *BaseApp) copyLast() {
	l := &a.leave
	for n := 0; l.next < len(a.list) && n < lastPerTick; n++ {
		if !a.copyNow(a.list[l.next]) {
			return
		}
		l.next++
	}
	a.copySoon() // of those whose channel broke
	a.tickStubs()
}

func (a *BaseApp) allHeld() bool {
	return !slices.ContainsFunc(a.list, func(b *base) bool { return b.copied.confirmed != b.copied.number })
}

// askToDepart leaves it to the manager what becomes of the bases, once all last copies are held. Until it has
// answered, the heirs may have begun. Without a manager nobody is asked, and the bases go on in time.
func (a *BaseApp) askToDepart() {
	l := &a.leave
	if l.state != leaveStill || !a.cellMgr.Heeds() || l.next < len(a.list) || !a.allHeld() || len(a.stubs.list) > 0 {
		return
	}
	l.state = leaveAsking
	app.Insist(&l.asks, &wire.Depart{}, func(m *wire.Departed) {
		if m.Reason != "" {
			a.goOn(m.Reason)
			return
		}
		a.depart()
	})
}

// depart drops all bases, since others have them, and sends their clients there.
func (a *BaseApp) depart() {
	bases, stood := len(a.list), a.now-a.leave.since
	a.leaveCopies()
	a.leave.state, a.leave.since, a.leave.waits = leaveGone, a.now, ""
	for _, b := range a.list {
		c := b.client()
		switch {
		case c == nil:
		case !a.resumable():
			c.refuse(protocol.ServerClosing, "")
		default:
			c.sendTo(a.fallbacks(b))
		}
	}
	a.log.Info("the BaseApp has left the cluster; its bases go on on others", "bases", bases, "stood still for", stood)
	a.dropAll()
	a.holding = holding{}
}

// goOn has the bases live on here, and leaves another time.
func (a *BaseApp) goOn(why string) {
	l := &a.leave
	a.log.Warn("the bases cannot go to others now; they go on here", "why", why, "stood still for", a.now-l.since)
	l.asks.Drop()
	deaths, lost := l.deaths, l.lost
	l.state, l.tryAt, l.quietBy, l.waits, l.deaths, l.lost = leaveAsked, a.now+leaveAgain, 0, why, nil, nil
	for _, x := range lost {
		x.c.gone(x.reason, x.text)
	}
	for i := 0; i < len(a.list); i++ { // scripts may add bases in this loop
		b := a.list[i]
		if c := b.client(); c != nil && c.missed {
			c.abort()
			c.lostBy(errStoodStill, errStoodStill.Error())
		}
	}
	for i := range deaths {
		a.appDead(&deaths[i])
	}
}

var errStoodStill = fmt.Errorf("baseapp: it said something while its entity was about to move: %w", mercury.ErrNoChannel)

// missed leaves a message of an app unheard. What matters is said again, here or to the heirs.
func (a *BaseApp) missed(from sender, id wire.ID) {
	a.refused("the bases stand still", "from", from.app, "id", id)
}

// heardStill reports whether an app that stands still takes a message.
func heardStill(id wire.ID) bool {
	switch id {
	case wire.WelcomeID, wire.RefusedID, wire.DismissedID, wire.AppDeadID, wire.MembersID, wire.FreezeID,
		wire.BaseCopyID, wire.BaseCopyHeldID, wire.BaseGoneID, wire.BaseForgottenID, wire.CopyMarkID, wire.BackupRuleID, wire.BackupRuleHeldID,
		wire.BaseDoorsID, wire.LeavingID, wire.DepartedID, wire.LookID, wire.SpaceCopyID, wire.SpaceDataID, wire.SharedDataID, wire.StopID:
		return true
	}
	return false
}

// deathWhileStill takes a verdict. Before the manager is asked, the bases go on, and leave another time;
// then it has to wait for the answer.
func (a *BaseApp) deathWhileStill(m *wire.AppDead) {
	if a.leave.state == leaveStill {
		a.goOn("an app died")
		a.appDead(m)
		return
	}
	if len(a.leave.deaths) < wire.MaxGraves {
		x := *m
		x.Mourners, x.Rule = slices.Clone(m.Mourners), m.Rule.Clone()
		a.leave.deaths = append(a.leave.deaths, x)
	}
}
