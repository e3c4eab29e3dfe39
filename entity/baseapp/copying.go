package baseapp

import (
	"fmt"
	"slices"
	"time"

	"github.com/cellscape/cellscape/internal/app"
	"github.com/cellscape/cellscape/internal/invariant"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/migrate"
)

const (
	// DefaultBackupPeriod bounds what a base may have to do again after the death of its BaseApp. With it a
	// BaseApp of 10,000 bases sends a thousand copies a second.
	DefaultBackupPeriod = 10 * time.Second

	// DefaultBackupReplicas is how many BaseApps hold a copy of each base.
	DefaultBackupReplicas = 1

	// copyPatience is how long an app waits at least for the answer to a copy before it sends another:
	// longer than a channel that goes on takes to resend, also after a pause of a process.
	copyPatience = 3 * time.Second

	// RefusedPatience is how long a base waits for holders that have room for its copies. What others send
	// it is kept by them until it is in a copy, so it must not wait for ever.
	RefusedPatience = 30 * time.Second

	// maxSoonPerTick bounds the bases that a tick backs up because they are new or asked for it: a
	// megabyte of usual bases. The others follow in the next ticks.
	maxSoonPerTick = 1024
)

// copying is how a BaseApp has its bases held by others. What that promises stands in ruling.go.
type copying struct {
	period   time.Duration // 0 for never
	replicas int
	ruling   ruling

	// queue has all bases; the one that was backed up longest ago is first.
	queue baseQueue
	// soon are the bases that are new or asked for a backup, in that order.
	soon []*base
	born uint64 // number of the last base that was made

	// cycle counts the rounds in which each base is backed up once. It began at cycleAt; mark is the
	// newest cycle that all bases are known to have copies of.
	cycle, mark uint64
	cycleAt     time.Duration
	credit      float64 // of a base, from the ticks before

	crowded int  // bases that nobody has room for
	alone   bool // the log has said that nothing protects the bases
	parts   []byte
	to      []mercury.Address
	copy    migrate.BaseCopy
}

// copied is what a base knows of its copies.
type copied struct {
	before, after *base         // in the queue
	turn          time.Duration // when it was put at the end of the queue
	born          uint64
	// number is of the last copy that was sent, in a cycle and at a time, to some apps; those of them
	// that have not answered are in waiting.
	number, cycle uint64
	at            time.Duration
	sent, waiting []mercury.Address
	failed        bool // one of them refused it
	// held is the newest copy that all of them hold which it was sent to, and holders are those that
	// still live. heldCycle is its cycle. confirmed is the newest that is also at all holders by the
	// ruling list.
	held, heldCycle, confirmed uint64
	holders                    []mercury.Address
	// came is the departure that brought the base here, 0 for none. Until the ruling list covers it, a
	// death of this app would be healed from the copies of the app before.
	came          uint64
	queued, again bool // in soon; it must go there after the one under way
	manual        bool // the script wants none (auto.go)
	large         bool // too large to travel, when it was last tried
	// last is the newest copy, from which the base goes on if its script panics. restarts is how many
	// lives it has begun here since the newest copy that is held was made.
	last     []byte
	restarts uint32
	// refused says that no copy was taken since refusedAt, and roomless that this lasted too long.
	refused, roomless bool
	refusedAt         time.Duration
}

// baseQueue is a list of bases linked through them.
type baseQueue struct{ first, last *base }

func (q *baseQueue) push(b *base) {
	b.copied.before, b.copied.after = q.last, nil
	if q.last == nil {
		q.first = b
	} else {
		q.last.copied.after = b
	}
	q.last = b
}

// turn puts a base at the end.
func (q *baseQueue) turn(now time.Duration, b *base) {
	q.remove(b)
	q.push(b)
	b.copied.turn = now
}

func (q *baseQueue) remove(b *base) {
	c := &b.copied
	if c.before == nil {
		q.first = c.after
	} else {
		c.before.copied.after = c.after
	}
	if c.after == nil {
		q.last = c.before
	} else {
		c.after.copied.before = c.before
	}
	c.before, c.after = nil, nil
}

func newCopying(c *Config) copying {
	return copying{period: max(0, c.BackupPeriod), replicas: c.BackupReplicas, cycle: 1}
}

// protected reports whether others hold copies of the bases here, or will soon. While none do, every base
// counts as confirmed at once, so that nothing waits for ever.
func (a *BaseApp) protected() bool {
	return a.copying.period > 0 && len(a.copying.ruling.all) > 0
}

// protected reports whether the app is, and a copy of this base is wanted, can travel and finds room.
func (b *base) protected() bool {
	return b.app.protected() && !b.copied.large && !b.copied.roomless && !b.uncopied()
}

// retain keeps the newest copy, from which the base goes on if its script panics.
func (b *base) retain(parts []byte) {
	if b.copied.lapse(); b.protected() {
		b.copied.last = append(b.copied.last, parts...)
	}
}

// lapse drops the newest copy: from now on what is settled is in no copy, and nobody may go on from it.
func (c *copied) lapse() { c.last = c.last[:0] }

// exposed tells all who keep something for a base that nothing protects it any more.
func (b *base) exposed() {
	b.copied.lapse()
	b.link.in.Owe()
	for _, t := range b.talks {
		t.in.Owe()
		b.app.wake(t)
	}
}

// protect has a new base backed up from now on, the first time at the end of this tick.
func (a *BaseApp) protect(b *base) {
	k := &a.copying
	if k.period == 0 {
		return
	}
	k.born++
	b.copied.born = k.born
	k.queue.push(b)
	b.backupSoon()
}

// unprotect ends the copying of a base that has ended. It reports whether others may have copies,
// or get them.
func (a *BaseApp) unprotect(b *base) bool {
	k, c := &a.copying, &b.copied
	if c.born == 0 {
		return false
	}
	k.queue.remove(b)
	b.foundRoom()
	return c.number > 0 || c.came > 0
}

// backupSoon has the base backed up at the end of this tick, or when the copy that is under way has
// arrived.
func (b *base) backupSoon() {
	c := &b.copied
	switch {
	case c.queued || c.born == 0:
	case len(c.waiting) > 0:
		c.again = true
	default:
		c.queued = true
		b.app.copying.soon = append(b.app.copying.soon, b)
	}
}

// tickCopies does what is due at the end of a tick: first for new bases, then for a new rule, and then
// for those whose copies are oldest.
func (a *BaseApp) tickCopies() {
	k := &a.copying
	if k.period == 0 || a.ids == nil {
		return
	}
	a.tickRuling()
	a.copySoon()
	a.copyForRule()
	a.copyOldest()
	a.endCycle()
	if invariant.On {
		a.assertCopies()
	}
}

// assertCopies checks that no base can go on from a copy that may lack what is settled.
func (a *BaseApp) assertCopies() {
	for _, b := range a.list {
		if !b.removed && !b.protected() && len(b.copied.last) > 0 {
			invariant.Broken("baseapp: nothing protects %v, and it would go on from a copy of %v ago", b.id, a.now-b.copied.at)
		}
	}
}

func (a *BaseApp) copySoon() {
	k := &a.copying
	n := min(len(k.soon), maxSoonPerTick)
	kept := k.soon[:0]
	for i, b := range k.soon {
		if i < n && (b.removed || a.copyNow(b)) {
			b.copied.queued = false
			continue
		}
		kept = append(kept, b)
	}
	clear(k.soon[len(kept):])
	k.soon = kept
}

// copyOldest backs up a share of all bases, so that the load is even, and those whose time is up.
func (a *BaseApp) copyOldest() {
	k := &a.copying
	tick := a.ticks.Period
	k.credit = min(k.credit+float64(len(a.byID))*float64(tick)/float64(k.period), float64(len(a.byID)))
	for b := k.queue.first; b != nil; b = k.queue.first {
		c := &b.copied
		if c.number == 0 || c.turn == a.now || k.credit < 1 && a.now-c.turn+tick < k.period {
			return // the first backup of a new base is under soon
		}
		k.credit = max(0, k.credit-1)
		if len(c.waiting) > 0 && a.now-c.at < copyPatience || !a.copyNow(b) {
			k.queue.turn(a.now, b)
			b.backupSoon() // it comes as soon as it can
		}
	}
}

// copyNow sends a copy of a base to all apps that should have one. It reports false if one of them has
// no room now.
func (a *BaseApp) copyNow(b *base) bool {
	k, c := &a.copying, &b.copied
	to := k.to[:0]
	if !b.uncopied() {
		to = k.ruling.holders(to, a, b)
	}
	k.to = to
	for _, h := range to {
		if a.links.Level(h) == mercury.Packed {
			a.report.BackupsPutOff++
			return false
		}
	}
	c.number++
	c.cycle, c.at = k.cycle, a.now
	c.again, c.failed = false, false
	k.queue.turn(a.now, b)
	b.namesCopied(c.number)
	if len(to) == 0 { // nobody is there: nothing may wait for a copy
		c.lapse()
		c.sent, c.waiting = c.sent[:0], c.waiting[:0]
		b.saved(c.number)
		if a.ruled(b) {
			b.confirm(c.number)
		}
		return true
	}
	k.parts = b.appendParts(k.parts[:0])
	if len(k.parts) > migrate.MaxParts {
		a.tooLarge(b, len(k.parts))
		return true
	}
	c.large = false
	if b.traced() {
		b.step("copy sent", "copy", c.number, "to", fmt.Sprint(to))
	}
	b.retain(k.parts)
	c.sent = append(c.sent[:0], to...)
	c.waiting = append(c.waiting[:0], to...)
	k.copy = migrate.BaseCopy{ID: b.id, Number: c.number, Cycle: c.cycle, Parts: k.parts}
	for _, h := range to {
		a.report.BackupsSent++
		a.send(h, &k.copy)
	}
	b.saved(c.number)
	return true
}

// tooLarge gives up the backup of a base until its next turn. It says so once.
func (a *BaseApp) tooLarge(b *base, size int) {
	a.report.BackupsRefused++
	if !b.copied.large {
		b.copied.large = true
		b.exposed()
		b.log.Error("the base is too large to be backed up: its copy stays the last one", "bytes", size, "most", migrate.MaxParts)
	}
}

// takeCopyHeld takes the answer of a holder.
func (a *BaseApp) takeCopyHeld(from sender, m *migrate.BaseCopyHeld) {
	b := a.byID[m.ID]
	if b == nil {
		a.movingCopyHeld(from.app, m)
		return
	}
	if m.Number != b.copied.number {
		return // of a base that has ended, or of a copy that was overtaken
	}
	c := &b.copied
	i := slices.Index(c.waiting, from.app)
	if i < 0 {
		return
	}
	c.waiting = slices.Delete(c.waiting, i, i+1)
	if m.Refused {
		b.copyRefused(from.app)
	}
	if len(c.waiting) == 0 {
		b.copyEnded()
		a.askToDepart() // players wait, so not at the next tick
	}
}

// copyRefused notes that a holder has no room. After RefusedPatience nothing waits for a copy any
// more, until one is taken. The log says once that there are such bases.
func (b *base) copyRefused(by mercury.Address) {
	a, c := b.app, &b.copied
	c.failed = true
	a.report.BackupsRefused++
	if !c.refused {
		c.refused, c.refusedAt = true, a.now
		b.log.Warn("another BaseApp has no room for a copy of the base; it is tried again", "app", by, "after", a.copying.period)
	}
	if c.roomless || a.now-c.refusedAt < RefusedPatience {
		return
	}
	c.roomless = true
	if a.copying.crowded++; a.copying.crowded == 1 {
		a.log.Error("nothing protects some bases: no other BaseApp has room for their copies; start another one", "first", b.id, "after", RefusedPatience)
	}
	b.exposed()
}

// foundRoom ends what copyRefused began.
func (b *base) foundRoom() {
	c := &b.copied
	if c.roomless {
		b.app.copying.crowded--
	}
	c.refused, c.roomless = false, false
}

// copyEnded takes the last answer to a copy.
func (b *base) copyEnded() {
	c := &b.copied
	b.madeCopied()
	if !c.failed && len(c.sent) > 0 {
		b.foundRoom()
		c.held, c.heldCycle, c.restarts = c.number, c.cycle, 0
		c.sent, c.holders = c.holders[:0], c.sent
		if b.app.ruled(b) {
			b.confirm(c.held)
		}
	}
	if c.again {
		c.again = false
		b.backupSoon()
	}
}

// copiedBy reports whether the newest held copy of a base is at all its holders by a rule, if it has any.
func (a *BaseApp) copiedBy(r *migrate.Rule, b *base) bool {
	return b.uncopied() || a.allOf(r, b, b.copied.holders)
}

// ruled reports whether the death of this app would be healed from the newest held copy of a base, or from a
// newer one.
func (a *BaseApp) ruled(b *base) bool {
	r := &a.copying.ruling.rules
	return r.Covers >= b.copied.came && a.copiedBy(r, b)
}

// allOf reports whether all holders of a base by a rule are in a list.
func (a *BaseApp) allOf(r *migrate.Rule, b *base, list []mercury.Address) bool {
	var buf [migrate.MaxReplicas]mercury.Address
	for _, h := range r.Holders(buf[:0], a.net.Self(), b.id) {
		if !slices.Contains(list, h) {
			return false
		}
	}
	return true
}

func (b *base) confirm(number uint64) {
	if number > b.copied.confirmed {
		b.copied.confirmed = number
		b.namesConfirmed(number)
		b.confirmed(number)
	}
}

// endCycle ends a round in which all bases were backed up, and has their holders forget what was not.
func (a *BaseApp) endCycle() {
	k := &a.copying
	if a.moving.state != moveNone {
		return // a holder that has not heard of the move would forget the last copies
	}
	first := k.queue.first
	if first != nil && first.copied.cycle < k.cycle || first == nil && a.now-k.cycleAt < k.period {
		return
	}
	k.mark = k.cycle
	for b := first; b != nil; b = b.copied.after {
		switch c := &b.copied; {
		case c.held > 0:
			k.mark = min(k.mark, c.heldCycle)
		case c.number > 0:
			k.mark = min(k.mark, c.cycle) // its first is under way, and held once a holder that is silent is dead
		}
	}
	k.cycle++
	k.cycleAt = a.now
	if k.ruling.state == ruleSettled {
		a.tellMark(k.ruling.rules.Version) // again: the first time it may have been lost
	} else {
		a.tellMark(0)
	}
	a.sayAlone()
}

// tellMark tells all which copies they should keep. A version is that of the ruling list, when nothing else
// is pending.
func (a *BaseApp) tellMark(version uint64) {
	k := &a.copying
	m := migrate.CopyMark{Cycle: k.mark, Version: version}
	for _, h := range a.others() {
		a.send(h, &m)
	}
}

// sayAlone says once that there is no other BaseApp.
func (a *BaseApp) sayAlone() {
	k := &a.copying
	switch alone := len(k.ruling.partners()) == 0; {
	case !alone:
		k.alone = false
	case !k.alone && len(a.byID) > 0:
		k.alone = true
		a.log.Warn("nothing protects the bases of this BaseApp: there is no other to hold copies of them; start a second one", "bases", len(a.byID))
	}
}

// copyChannelBroke sends again what a holder may not have heard, and begins a new cycle, after which it
// forgets what was to be forgotten.
func (a *BaseApp) copyChannelBroke(to mercury.Address) {
	k := &a.copying
	if k.period == 0 || !slices.Contains(k.ruling.partners(), to) {
		return
	}
	a.moveChannelBroke(to)
	a.stubChannelBroke(to)
	k.cycle++
	k.cycleAt = a.now
	for _, b := range a.list {
		if c := &b.copied; !b.removed && slices.Contains(c.waiting, to) {
			c.waiting = c.waiting[:0]
			b.backupSoon()
		}
	}
}

// holderDied goes on without a holder.
func (a *BaseApp) holderDied(holder mercury.Address) {
	a.stubHolderDied(holder)
	is := func(x mercury.Address) bool { return x == holder }
	for _, b := range a.list {
		c := &b.copied
		if b.removed {
			continue
		}
		c.holders = slices.DeleteFunc(c.holders, is)
		waited := slices.Contains(c.waiting, holder)
		c.sent, c.waiting = slices.DeleteFunc(c.sent, is), slices.DeleteFunc(c.waiting, is)
		if waited && len(c.waiting) == 0 {
			b.copyEnded()
		}
	}
}

// unprotected counts the bases of which nobody holds a copy now, or none that is new enough.
func (a *BaseApp) unprotected() (n uint32) {
	for _, b := range a.list {
		if c := &b.copied; !b.removed && !b.fragment && (len(c.holders) == 0 || c.large || c.roomless) {
			n++
		}
	}
	return n
}

// routeCopies registers the handlers of what is said about copies.
func (a *BaseApp) routeCopies() {
	r := &a.routes
	app.On(r, a.takeCopy)
	app.On(r, a.takeCopyHeld)
	app.On(r, a.takeGone)
	app.On(r, a.takeForgotten)
	app.On(r, a.takeMark)
	app.On(r, a.takeRule)
	app.On(r, a.takeRuleHeld)
	app.On(r, a.takeDoors)
}
