package baseapp

import (
	"cmp"
	"slices"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/migrate"
)

// # Copies on other BaseApps
//
// Each base has copies on other BaseApps, its holders (package migrate says which they are). It is
// backed up at the end of the tick in which it was made, then once in each Config.BackupPeriod, those
// whose copies are oldest first, a like number in each tick; and sooner if it asks. One copy of a base is
// under way at a time. A copy has a number; when all holders have it, it is confirmed.
//
// The ruling list is the one that a death would be healed by. When BaseApps come or go another one is
// made:
//
//	             members differ            all bases have copies by both
//	settled R ------------------> pending P -----------------------------> announced P
//	   ^                            |   ^                                      |
//	   |                            +---+ members differ again:                |
//	   |                                  another P, from the start            |
//	   +------ the CellAppMgr and all BaseApps know P: it rules, ---------------+
//	           and the holders by R alone are told to forget
//
// Until P rules, copies are sent to the holders by both lists. Changes of the members that come while P
// is announced wait until it rules. So at each moment this holds: the newest confirmed copy of each
// base, or a newer one, is at all its living holders by the ruling list, and it does not matter which of
// both lists a manager knows while one is announced. A base that has grown too large to travel is left
// out of P; the log names it.
//
// A copy carries the number of the cycle in which it was sent; in a cycle each base is backed up once.
// At its end the holders are told the oldest cycle that a base has its newest copy of, and forget what
// is older. After a broken channel a new cycle begins.
//
// A holder keeps copies by owner and id, within MaxCopies and MaxCopyBytes. The sender of a copy is its
// owner, so a lie spoils only what is the liar's. When the owner is declared dead, the holder restores the
// bases whose heir it is. It keeps the copies of which it is the next holder until the heir's ruling list
// covers them, and drops the others. Until then the heir's own death would be healed from these copies, so
// no copy that the heir makes is confirmed. The next holder begins a later life than the heir did.
//
// A base that nobody has room for counts as unprotected after RefusedPatience, as one that is too
// large does at once: nothing waits for its copies any more, until one is taken. The status counts
// such bases. So it is with a base whose script wants no copies (entity.Base.SetAutoBackup,
// auto.go); an app that leaves copies it all the same, or it would not come along.
//
// An app that is alone has nobody to hold copies. It says so once, counts its bases as unprotected, and
// counts every base as confirmed, so that nothing waits for ever. With a Config.BackupPeriod below 0 nobody
// holds copies at all.

const (
	// tellRuleEvery is the time after which a rule is told again to those who have not answered.
	tellRuleEvery = time.Second

	// pendingHurry is how many times faster than usual the bases are backed up that a pending rule
	// lacks, and pendingLeast is how many of them a tick backs up at least.
	pendingHurry, pendingLeast = 4, 16

	// pendingLook bounds the bases that a tick looks at for a pending rule.
	pendingLook = 4096
)

// ruling is which apps hold the copies of the bases here, now and soon. Its states are drawn
// above.
type ruling struct {
	state rulingState
	// rules is the rule that a death would be healed by; next is the pending or announced one.
	rules, next migrate.Rule
	seen        uint64            // changes of the roster that were looked at
	all         []mercury.Address // apps of both rules

	born    uint64    // bases up to this one must have copies by the pending rule
	at      entity.ID // the last that this pass has looked at
	lacking bool      // one of this pass has no such copies

	// heard are the BaseApps that know the newest rule; manager says whether the CellAppMgr does.
	heard   []mercury.Address
	manager bool
	againAt time.Duration
	apps    []mercury.Address // scratch, as stay
	stay    []mercury.Address
}

type rulingState uint8

const (
	ruleSettled rulingState = iota
	rulePending
	ruleAnnounced
)

// newest is the rule that others are to know.
func (r *ruling) newest() *migrate.Rule {
	if r.state == ruleAnnounced {
		return &r.next
	}
	return &r.rules
}

// partners are all apps that may hold copies.
func (r *ruling) partners() []mercury.Address { return r.all }

// holders appends the apps that a copy of a base is to be sent to: those that live by the ruling list,
// and by the next.
func (r *ruling) holders(to []mercury.Address, a *BaseApp, b *base) []mercury.Address {
	self := a.net.Self()
	to = r.rules.Holders(to, self, b.id)
	if r.state != ruleSettled {
		var buf [migrate.MaxReplicas]mercury.Address
		for _, h := range r.next.Holders(buf[:0], self, b.id) {
			if !slices.Contains(to, h) {
				to = append(to, h)
			}
		}
	}
	living := to[:0]
	for _, h := range to {
		if !a.links.Dead(h) {
			living = append(living, h)
		}
	}
	return living
}

// tickRuling follows the members of the cluster.
func (a *BaseApp) tickRuling() {
	r := &a.copying.ruling
	if a.moving.state != moveNone {
		a.tellRule() // by which the part goes that moves; another one waits until all know of that
		return
	}
	if r.seen != a.roster.Changes() && r.state != ruleAnnounced {
		r.seen = a.roster.Changes()
		a.adjustRule()
	}
	if r.state == ruleAnnounced && r.manager && a.allHeard() {
		a.rule()
	}
	a.tellRule()
}

// others are the other BaseApps that are known.
func (a *BaseApp) others() []mercury.Address {
	r := &a.copying.ruling
	r.apps = slices.AppendSeq(r.apps[:0], a.roster.Of(wire.BaseApp))
	r.apps = slices.DeleteFunc(r.apps, func(x mercury.Address) bool { return x == a.net.Self() })
	return r.apps
}

// adjustRule begins a pending rule, or begins it anew, if the members are others than those of the
// newest one.
func (a *BaseApp) adjustRule() {
	k := &a.copying
	r := &k.ruling
	want := migrate.Rule{Covers: a.roster.Departures().Newest(a.net.Self()), Replicas: a.replicas()}
	want.List = migrate.Partners(nil, a.net.Self(), a.stayers())
	r.heard = slices.DeleteFunc(r.heard, func(x mercury.Address) bool { return !slices.Contains(r.apps, x) })
	have := &r.rules
	if r.state == rulePending {
		have = &r.next
	}
	if r.state == rulePending && have.Replicas == want.Replicas && slices.Equal(have.List, want.List) {
		return // what has departed since is for the next one: parts may follow one another quickly
	}
	if have.Covers == want.Covers && have.Replicas == want.Replicas && slices.Equal(have.List, want.List) {
		return
	}
	r.state, r.next = rulePending, want
	r.born, r.at, r.lacking = k.born, 0, false
	a.joinPartners()
}

// joinPartners notes the apps of both rules.
func (a *BaseApp) joinPartners() {
	r := &a.copying.ruling
	r.all = append(r.all[:0], r.rules.List...)
	if r.state != ruleSettled {
		r.all = append(r.all, r.next.List...)
	}
	r.all = slices.DeleteFunc(r.all, a.links.Dead)
	slices.SortFunc(r.all, func(x, y mercury.Address) int { return cmp.Or(x.At.Compare(y.At), cmp.Compare(x.Salt, y.Salt)) })
	r.all = slices.Compact(r.all)
	if !a.protected() {
		for _, b := range a.list {
			b.copied.lapse()
		}
	}
}

// copyForRule backs up what the pending rule lacks, in order of the ids. When a whole pass has found
// nothing more, the rule is announced.
func (a *BaseApp) copyForRule() {
	k := &a.copying
	r := &k.ruling
	if r.state != rulePending {
		return
	}
	quota := max(pendingLeast, pendingHurry*int(time.Duration(len(a.byID))*a.ticks.Period/k.period))
	i, _ := slices.BinarySearchFunc(a.list, r.at+1, func(b *base, id entity.ID) int { return cmp.Compare(b.id, id) })
	for n := 0; n < pendingLook && i < len(a.list) && quota > 0; n++ {
		b := a.list[i]
		if r.lacks(a, b) {
			r.lacking = true
			if b.copied.idle(a) {
				if !a.copyNow(b) {
					return
				}
				quota--
			}
		}
		r.at = b.id
		i++
	}
	if i < len(a.list) {
		return
	}
	r.at = 0
	if !r.lacking {
		a.announceRule()
	}
	r.lacking = false
}

// lacks reports whether the pending rule has to wait for copies of a base. One that has become too
// large to travel, or that nobody has room for, is left out: its last copy is lost with the old rule, and the
// log has said so.
func (r *ruling) lacks(a *BaseApp, b *base) bool {
	c := &b.copied
	switch {
	case b.removed || c.large || c.roomless || b.uncopied() || len(r.next.List) == 0:
		return false
	case c.born > r.born && c.held == 0 && c.confirmed == 0:
		return false // it is sent to all holders from the start, and nobody counts on it yet
	}
	if len(c.waiting) > 0 && !a.allOf(&r.next, b, c.sent) {
		return true // it was sent before this rule began, and would take the place of the one that is held
	}
	return c.held == 0 || !a.copiedBy(&r.next, b)
}

// idle reports whether a copy may be sent now: none is under way, and none was refused lately.
func (c *copied) idle(a *BaseApp) bool {
	switch {
	case len(c.waiting) > 0:
		return a.now-c.at >= copyPatience
	case c.failed:
		return a.now-c.at >= a.copying.period
	}
	return true
}

// announceRule tells everyone the rule by which all copies are held now. Until all know it, the copies
// by the old one are kept, so it does not matter which of both a manager knows.
func (a *BaseApp) announceRule() {
	r := &a.copying.ruling
	r.state = ruleAnnounced
	r.next.Version = r.rules.Version + 1
	r.heard, r.manager, r.againAt = r.heard[:0], false, a.now
}

// tellRule tells the newest rule to those who are not known to know it.
func (a *BaseApp) tellRule() {
	r := &a.copying.ruling
	if a.now < r.againAt || r.newest().Version == 0 {
		return
	}
	r.againAt = a.now + tellRuleEvery
	m := migrate.BackupRule{Rule: *r.newest()}
	if !r.manager && a.cellMgr.Heeds() {
		a.cellMgr.Send(&m)
	}
	for _, app := range a.others() {
		if !slices.Contains(r.heard, app) {
			a.send(app, &m)
		}
	}
}

// takeRuleHeld takes the word of the manager or of a BaseApp that it knows the newest rule.
func (a *BaseApp) takeRuleHeld(from sender, m *migrate.BackupRuleHeld) {
	r := &a.copying.ruling
	switch {
	case m.Version != r.newest().Version:
	case from.role == wire.BaseApp && m.Turn < a.roster.Departures().Turn(a.net.Self()): // it is told again
	case from.role == wire.CellAppMgr:
		r.manager = true
	case !slices.Contains(r.heard, from.app):
		r.heard = append(r.heard, from.app)
	}
}

func (a *BaseApp) allHeard() bool {
	for _, app := range a.others() {
		if !slices.Contains(a.copying.ruling.heard, app) {
			return false
		}
	}
	return true
}

// rule puts the announced rule into force. Those who hold copies only by the old one may forget them.
func (a *BaseApp) rule() {
	r := &a.copying.ruling
	r.state, r.rules, r.next = ruleSettled, r.next, migrate.Rule{}
	r.seen = a.roster.Changes() - 1 // whatever has changed meanwhile comes now
	for _, b := range a.list {
		if b.removed {
			continue
		}
		a.holdOnlyBy(&r.rules, b)
		switch {
		case !a.ruled(b):
		case len(r.rules.List) == 0 || b.uncopied():
			b.confirm(b.copied.number)
		default:
			b.confirm(b.copied.held)
		}
	}
	a.tellMark(r.rules.Version)
	a.joinPartners()
	a.tellFallbacks()
	a.log.Info("copies of the bases here are held by other BaseApps", "apps", len(r.rules.List), "replicas", r.rules.Replicas, "version", r.rules.Version)
}

// holdOnlyBy counts no more on those who are about to forget a base because they are not its holders by the
// rule that rules now.
func (a *BaseApp) holdOnlyBy(r *migrate.Rule, b *base) {
	var buf [migrate.MaxReplicas]mercury.Address
	by := r.Holders(buf[:0], a.net.Self(), b.id)
	other := func(x mercury.Address) bool { return !slices.Contains(by, x) }
	c := &b.copied
	waited := len(c.waiting) > 0
	c.holders, c.sent, c.waiting = slices.DeleteFunc(c.holders, other), slices.DeleteFunc(c.sent, other), slices.DeleteFunc(c.waiting, other)
	if waited && len(c.waiting) == 0 {
		b.copyEnded()
	}
}

// rejoinRules tells a new CellAppMgr the newest rules that are known of all BaseApps, and returns how
// many.
func (a *BaseApp) rejoinRules() (n uint32) {
	tell := func(m *wire.RejoinRule) {
		if n < wire.MaxRejoinRules {
			n++
			a.cellMgr.Send(m)
		}
	}
	a.copying.ruling.manager = false
	if own := a.copying.ruling.newest(); own.Version > 0 {
		tell(&wire.RejoinRule{App: a.net.Self(), Allocator: a.cellMgr.Rejoin().Allocator, Rule: *own})
	}
	for _, w := range a.holding.wards {
		if w.rule.Version > 0 && a.roster.Departures().Of(w.owner) == nil {
			tell(&wire.RejoinRule{App: w.owner, Allocator: a.roster.Allocator(w.owner), Rule: w.rule})
		}
	}
	a.roster.RejoinRules(tell)
	return n
}
