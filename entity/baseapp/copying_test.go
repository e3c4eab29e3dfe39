package baseapp

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/limits"
	"github.com/cellscape/cellscape/entity/store"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/migrate"
)

// copier is a rig whose app has its bases copied; holders answer in answer.
type copier struct {
	*rig
	rules []migrate.BackupRule // that the manager was told
	sent  []sentCopy
	marks []migrate.CopyMark
	gone  []entity.ID
	freed []string // names
	mute  map[mercury.Address]bool
	full  map[mercury.Address]bool
	// mindful says that nobody forgets bases that have ended.
	mindful bool
	asks    []wire.Depart
	told    uint64 // the newest part of which the others say that they know
	parts   []byte // of the copies that others have made
}

type sentCopy struct {
	to mercury.Address
	migrate.BaseCopy
}

func newCopier(t testing.TB, change ...func(*Config)) *copier {
	change = append([]func(*Config){func(c *Config) { c.BackupPeriod = time.Second }}, change...)
	r := joinedRig(t, change...)
	return &copier{rig: r, mute: map[mercury.Address]bool{}, full: map[mercury.Address]bool{}, parts: []byte("parts")}
}

// baseApp names one more BaseApp.
func (c *copier) baseApp(app mercury.Address, allocator uint32) {
	c.say(c.managers, &wire.Members{Apps: []wire.AppRef{{Role: wire.BaseApp, App: app}}, Allocators: []uint32{allocator}})
}

// answer answers all that was sent, and what that leads to.
func (c *copier) answer() {
	for len(c.net.sent) > 0 {
		list := c.net.sent
		c.net.sent = nil
		for _, s := range list {
			id, body, err := wire.Split(s.msg)
			if err != nil || !s.reliable {
				continue
			}
			switch id {
			case wire.BaseCopyID:
				var m migrate.BaseCopy
				parse(c.t, m.Parse(body))
				m.Parts = slices.Clone(m.Parts)
				c.sent = append(c.sent, sentCopy{s.to, m})
				if !c.mute[s.to] {
					c.tell(s.to, &migrate.BaseCopyHeld{ID: m.ID, Number: m.Number, Refused: c.full[s.to]})
				}
			case wire.BackupRuleID:
				var m migrate.BackupRule
				parse(c.t, m.Parse(body))
				switch {
				case c.mute[s.to]:
				case s.to.At == cellAppMgr.At:
					c.rules = append(c.rules, m)
					c.say(c.managers, &migrate.BackupRuleHeld{Version: m.Version})
				default:
					c.tell(s.to, &migrate.BackupRuleHeld{Version: m.Version, Turn: c.told})
				}
			case wire.CopyMarkID:
				var m migrate.CopyMark
				parse(c.t, m.Parse(body))
				c.marks = append(c.marks, m)
			case wire.DepartID:
				var m wire.Depart
				parse(c.t, m.Parse(body))
				c.asks = append(c.asks, m)
			case wire.BaseGoneID:
				var m migrate.BaseGone
				parse(c.t, m.Parse(body))
				c.gone = append(c.gone, m.ID)
				if !c.mute[s.to] && !c.mindful {
					c.tell(s.to, &migrate.BaseForgotten{ID: m.ID})
				}
			case wire.NameGoneID:
				var m wire.NameGone
				parse(c.t, m.Parse(body))
				c.freed = append(c.freed, m.Name)
			}
		}
	}
}

func parse(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (c *copier) pass(d time.Duration) {
	for end := c.now + d; c.now < end; {
		c.tick()
		c.answer()
	}
}

func (c *copier) make() entity.ID {
	c.t.Helper()
	b, err := c.start.CreateBase("Avatar", nil)
	parse(c.t, err)
	return b
}

// makeMany makes n bases, and waits until all are backed up.
func (c *copier) makeMany(n int) {
	c.t.Helper()
	for range n {
		c.make()
	}
	c.pass(3 * time.Second)
}

func (c *copier) confirmed(id entity.ID) uint64 { v, _ := c.view(id); return v.Confirmed }

// take returns the copies that were sent since it was last called.
func (c *copier) take() []sentCopy {
	list := c.sent
	c.sent = nil
	return list
}

// A base is backed up in the tick in which it was made, and then once in each period.
func TestBackups(t *testing.T) {
	c := newCopier(t)
	c.pass(2 * time.Second)
	ids := []entity.ID{c.make(), c.make(), c.make()}
	c.tick()
	c.answer()
	if got := c.take(); len(got) != 3 || got[0].ID != ids[0] || got[2].ID != ids[2] || got[0].to != appW || got[0].Number != 1 {
		t.Fatalf("new bases: %+v", got)
	}
	if n := c.confirmed(ids[1]); n != 1 {
		t.Errorf("confirmed %d", n)
	}
	last := map[entity.ID]time.Duration{}
	for range 100 {
		c.tick()
		c.answer()
		got := c.take()
		if len(got) > 1 {
			t.Errorf("%d at once", len(got))
		}
		for _, m := range got {
			if was := last[m.ID]; was > 0 && (c.now-was > time.Second || c.now-was < 700*time.Millisecond) {
				t.Errorf("%v after %v", m.ID, c.now-was)
			}
			last[m.ID] = c.now
		}
	}
	if len(last) != 3 {
		t.Errorf("backed up %v", last)
	}
}

// An app that saves all since it stops has its bases copied once more: if it stops alone, they go on
// elsewhere from their copies, and must not fall back behind what the store has.
func TestSaveAllCopies(t *testing.T) {
	c := newCopier(t)
	c.makeMany(3)
	c.take()
	c.a.SaveAll()
	c.tick()
	c.answer()
	if got := c.take(); len(got) != 3 {
		t.Errorf("%d of 3 bases are copied: %+v", len(got), got)
	}
}

// Bases that come and go do not keep any other from its turn.
func TestBackupsNeverLate(t *testing.T) {
	c := newCopier(t)
	c.pass(2 * time.Second)
	last := map[entity.ID]time.Duration{}
	var ids []entity.ID
	for i := range 100 {
		if i%40 < 20 {
			for range 5 {
				ids = append(ids, c.make())
			}
		} else {
			for range 4 {
				c.a.byID[ids[len(ids)/2]].Destroy()
				delete(last, ids[len(ids)/2])
				ids = slices.Delete(ids, len(ids)/2, len(ids)/2+1)
			}
		}
		c.tick()
		c.answer()
		for _, m := range c.take() {
			last[m.ID] = c.now
		}
		for _, id := range ids {
			if at, ok := last[id]; !ok || c.now-at > time.Second {
				t.Fatalf("at %v, %v was last backed up at %v", c.now, id, at)
			}
		}
	}
	if len(c.gone) != 160 {
		t.Errorf("told of the end of %d", len(c.gone))
	}
}

// One copy of a base is under way at a time; what is asked for meanwhile comes after it, and what gets
// lost comes again.
func TestOneBackupUnderWay(t *testing.T) {
	c := newCopier(t)
	c.pass(2 * time.Second)
	c.mute[appW] = true
	id := c.make()
	c.tick()
	c.answer()
	c.a.byID[id].backupSoon()
	c.a.byID[id].backupSoon()
	c.pass(500 * time.Millisecond)
	if got := c.take(); len(got) != 1 {
		t.Fatalf("%d under way", len(got))
	}
	c.mute[appW] = false
	c.tell(appW, &migrate.BaseCopyHeld{ID: id, Number: 1})
	c.tick()
	c.answer()
	if got := c.take(); len(got) != 1 || got[0].Number != 2 || c.confirmed(id) != 2 {
		t.Fatalf("then %+v, confirmed %d", got, c.confirmed(id))
	}
	c.mute[appW] = true
	c.pass(time.Second)
	c.take()
	c.mute[appW] = false
	c.pass(4 * time.Second)
	if got := c.take(); len(got) < 2 || c.confirmed(id) < 4 {
		t.Errorf("lost copies do not come again: %d, confirmed %d", len(got), c.confirmed(id))
	}
}

// Whoever may not answer for a holder changes nothing, and a full holder is tried in the next period.
func TestBackupRefused(t *testing.T) {
	c := newCopier(t)
	c.baseApp(appV, 15)
	c.pass(3 * time.Second)
	c.full[appW], c.full[appV] = true, true
	id := c.make()
	c.tick()
	c.answer()
	if c.confirmed(id) != 0 || c.a.report.BackupsRefused != 1 || !strings.Contains(c.logs.String(), "no room") {
		t.Fatalf("confirmed %d, refused %d", c.confirmed(id), c.a.report.BackupsRefused)
	}
	to := c.take()[0].to
	other := map[mercury.Address]mercury.Address{appV: appW, appW: appV}[to]
	c.tell(other, &migrate.BaseCopyHeld{ID: id, Number: 1})
	c.tell(to, &migrate.BaseCopyHeld{ID: id, Number: 7})
	if c.confirmed(id) != 0 {
		t.Error("confirmed by one that does not hold it, or before it was sent")
	}
	c.full = nil
	c.pass(time.Second)
	if c.confirmed(id) == 0 {
		t.Error("not tried again")
	}
}

// A base that nobody has room for counts as unprotected after a while: nobody keeps anything for it
// any longer, and its script waits for no copy. The log says so once. It is protected again once
// there is room.
func TestBackupsWithoutRoom(t *testing.T) {
	c := newCopier(t)
	c.pass(3 * time.Second)
	c.full[appW] = true
	id, other := c.make(), c.make()
	if err := c.script(id).Backup("OnAlarm", 5); err != nil {
		t.Fatal(err)
	}
	b := c.a.byID[id]
	c.pass(RefusedPatience - time.Second)
	if !b.protected() || strings.Contains(c.logs.String(), "nothing protects") || len(b.commits) != 1 {
		t.Fatalf("unprotected too early: %s", c.logs.String())
	}
	c.pass(3 * time.Second)
	if err := b.unkept(); !errors.Is(err, errRoomless) {
		t.Errorf("the script is told: %v", err)
	}
	if b.protected() || c.a.byID[other].protected() || len(b.commits) != 0 {
		t.Fatalf("protected, %d commits wait", len(b.commits))
	}
	if n := strings.Count(c.logs.String(), "nothing protects"); n != 1 || c.a.unprotected() != 2 {
		t.Errorf("said %d times; %d are unprotected", n, c.a.unprotected())
	}
	c.full = nil
	c.pass(2 * time.Second)
	if !b.protected() || c.a.unprotected() != 0 || c.a.copying.crowded != 0 {
		t.Errorf("%d are unprotected, %d have no room", c.a.unprotected(), c.a.copying.crowded)
	}
}

// Of a base that is too large to be carried no copy is made, and its script hears so.
func TestCommitOfALargeBase(t *testing.T) {
	c := newCopier(t)
	c.pass(3 * time.Second)
	id := c.make()
	b := c.a.byID[id]
	b.keep.typ, b.keep.loaded = new(store.Type), make([]byte, migrate.MaxParts)
	if err := c.script(id).Backup("OnAlarm", 5); err != nil {
		t.Fatal(err)
	}
	c.pass(time.Second)
	if err := b.unkept(); !errors.Is(err, limits.ErrTooLarge) || len(b.commits) != 0 || c.heard("alarm") != 1 {
		t.Errorf("the script is told: %v, in %q", err, c.events)
	}
}

// An app that is alone says so once, and nothing waits for a copy.
func TestAlone(t *testing.T) {
	c := newCopier(t)
	c.say(c.managers, &wire.AppDead{Role: wire.BaseApp, App: appW})
	c.pass(time.Second)
	id := c.make()
	c.pass(4 * time.Second)
	if c.confirmed(id) == 0 || c.a.protected() || len(c.take()) > 0 {
		t.Errorf("confirmed %d", c.confirmed(id))
	}
	if n := strings.Count(c.logs.String(), "nothing protects"); n != 1 || c.a.unprotected() != 1 {
		t.Errorf("said %d times that nothing protects the bases, %d unprotected", n, c.a.unprotected())
	}
	c.baseApp(appV, 15)
	c.pass(2 * time.Second)
	if got := c.take(); len(got) == 0 || got[0].to != appV || c.a.unprotected() != 0 {
		t.Errorf("then %+v", got)
	}
	if r := c.rules[len(c.rules)-1]; !slices.Equal(r.List, []mercury.Address{appV}) {
		t.Errorf("ruled by %+v", r)
	}
}

// Never means never.
func TestNoBackups(t *testing.T) {
	c := newCopier(t, func(c *Config) { c.BackupPeriod = -1 })
	c.make()
	c.pass(3 * time.Second)
	if len(c.take())+len(c.rules) > 0 || c.a.protected() {
		t.Error("bases are backed up")
	}
}

// Bases are backed up unless somebody says otherwise.
func TestBackupsByDefault(t *testing.T) {
	c := newCopier(t, func(c *Config) { c.BackupPeriod = 0 })
	id := c.make()
	c.pass(DefaultBackupPeriod + time.Second)
	if n := len(c.take()); n < 2 || c.confirmed(id) == 0 {
		t.Errorf("%d copies in a period, confirmed %d", n, c.confirmed(id))
	}
}

// A new rule rules only when all bases have copies by it and everyone knows it. Until then the old
// holders have the newest copies, too; then they are told to forget.
func TestRuleChanges(t *testing.T) {
	c := newCopier(t)
	c.makeMany(40)
	if r := c.rules[len(c.rules)-1]; !slices.Equal(r.List, []mercury.Address{appW}) || r.Version != 1 || r.Replicas != 1 {
		t.Fatalf("ruled by %+v", r)
	}
	c.take()
	c.mute[appV] = true
	c.baseApp(appV, 15)
	c.pass(5 * time.Second)
	if c.a.copying.ruling.state != rulePending || len(c.rules) != 1 {
		t.Fatalf("state %v without copies", c.a.copying.ruling.state)
	}
	both := map[mercury.Address]int{}
	for _, s := range c.take() {
		both[s.to]++
	}
	if both[appV] == 0 || both[appW] < 40 {
		t.Fatalf("copies %v", both)
	}
	c.mute = map[mercury.Address]bool{appV: false, cellAppMgr: true}
	c.pass(5 * time.Second)
	if r := &c.a.copying.ruling; r.state != ruleAnnounced || r.rules.Version != 1 || len(c.rules) > 1 {
		t.Fatalf("state %v, rule %d, without the manager's word", r.state, r.rules.Version)
	}
	for _, m := range c.marks {
		if m.Version > 1 {
			t.Fatal("told to forget too early")
		}
	}
	c.mute = nil
	c.marks = nil
	c.pass(2 * time.Second)
	if r := &c.a.copying.ruling; r.state != ruleSettled || r.rules.Version != 2 || len(r.rules.List) != 2 {
		t.Fatalf("state %v, rule %+v", r.state, r.rules)
	}
	if !slices.ContainsFunc(c.marks, func(m migrate.CopyMark) bool { return m.Version == 2 }) {
		t.Errorf("marks %+v", c.marks)
	}
	c.take()
	c.pass(time.Second)
	for _, s := range c.take() {
		if want := migrate.Holders(nil, self, s.ID, []mercury.Address{appV, appW}, 1); s.to != want[0] {
			t.Errorf("%v goes to %v", s.ID, s.to)
		}
	}
}

// An app that was told to forget a base when another took its place is not counted on when it is the holder
// again: it is sent the copy anew before the rule is told.
func TestForgottenIsNotHeld(t *testing.T) {
	c := newCopier(t)
	ids := make([]entity.ID, 40)
	for i := range ids {
		ids[i] = c.make()
	}
	c.pass(3 * time.Second)
	c.baseApp(appV, 15)
	for r := &c.a.copying.ruling; r.state != ruleSettled || r.rules.Version != 2; {
		c.pass(DefaultTick)
	}
	c.take()
	c.say(c.managers, &wire.AppDead{Role: wire.BaseApp, App: appV, Number: 1, Allocator: 15})
	for c.a.copying.ruling.state != ruleSettled || c.a.copying.ruling.rules.Version != 3 {
		c.pass(DefaultTick)
	}
	again := map[entity.ID]bool{}
	for _, s := range c.take() {
		again[s.ID] = again[s.ID] || s.to == appW
	}
	for _, id := range ids {
		if h := migrate.Holders(nil, self, id, []mercury.Address{appV, appW}, 1)[0]; h == appV && !again[id] {
			t.Errorf("%v is thought to be held by an app that has forgotten it", id)
		}
	}
}

// A member that dies meanwhile begins the pending rule anew.
func TestPendingRuleRestarts(t *testing.T) {
	c := newCopier(t)
	c.makeMany(10)
	c.mute[appV] = true
	c.baseApp(appV, 15)
	c.pass(2 * time.Second)
	c.say(c.managers, &wire.AppDead{Role: wire.BaseApp, App: appV, Number: 9})
	c.pass(3 * time.Second)
	r := &c.a.copying.ruling
	if r.state != ruleSettled || !slices.Equal(r.rules.List, []mercury.Address{appW}) || r.rules.Covers != 9 {
		t.Errorf("state %v, rule %+v", r.state, r.rules)
	}
}

// The mark says which copies may be forgotten: none that is the newest of a base.
func TestMarks(t *testing.T) {
	c := newCopier(t)
	id := c.make()
	c.pass(6 * time.Second)
	if len(c.marks) < 3 {
		t.Fatalf("marks %+v", c.marks)
	}
	newest := uint64(0)
	for _, s := range c.take() {
		newest = max(newest, s.Cycle)
	}
	for i, m := range c.marks {
		if m.Cycle > newest || i > 0 && m.Cycle < c.marks[i-1].Cycle {
			t.Errorf("marks %+v; the newest copy is of cycle %d", c.marks, newest)
		}
	}
	before := c.a.copying.cycle
	c.mute[appW] = true
	c.pass(time.Second)
	for ch, to := range c.net.peers { // order does not show: one channel leads there
		if to == appW && slices.Contains(c.net.dials, ch) {
			c.a.Closed(c.now, ch, mercury.ErrTimeout)
		}
	}
	if c.a.copying.cycle != before+1 && c.a.copying.cycle != before+2 {
		t.Errorf("cycle %d after %d", c.a.copying.cycle, before)
	}
	c.mute[appW] = false
	c.take()
	c.tick()
	c.answer()
	if got := c.take(); len(got) != 1 || got[0].ID != id {
		t.Errorf("after a broken channel: %+v", got)
	}
}

// The mark leaves alone the first copy of a base that one holder has and another has not answered:
// when that one is declared dead, the copy counts as held.
func TestMarkSparesFirstCopies(t *testing.T) {
	c := newCopier(t, func(c *Config) { c.BackupReplicas = 2 })
	c.baseApp(appV, 15)
	c.pass(3 * time.Second)
	c.mute[appV] = true
	c.take()
	id := c.make()
	c.pass(2 * DefaultTick)
	c.make()
	c.marks = nil
	c.pass(1500 * time.Millisecond)
	first := c.take()[0]
	if len(c.marks) == 0 || first.ID != id {
		t.Fatalf("marks %+v, and first a copy of %v", c.marks, first.ID)
	}
	for _, m := range c.marks {
		if m.Cycle > first.Cycle {
			t.Errorf("holders forget what is before cycle %d; the copy is of cycle %d", m.Cycle, first.Cycle)
		}
	}
}

// A new manager hears the rules that are known here.
func TestRejoinTellsRules(t *testing.T) {
	c := newCopier(t)
	c.pass(3 * time.Second)
	c.tell(appW, &migrate.BackupRule{Rule: migrate.Rule{Version: 5, Replicas: 1, List: []mercury.Address{self}}})
	c.baseApp(appV, 15)
	c.pass(3 * time.Second)
	c.say(c.managers, &wire.AppDead{Role: wire.BaseApp, App: appV, Number: 3, Allocator: 15, Rule: migrate.Rule{Version: 2, Replicas: 1, List: []mercury.Address{appW}}})
	c.net.sent = nil
	c.a.rejoin()
	var told []wire.RejoinRule
	for _, s := range c.net.sent {
		if id, body, _ := wire.Split(s.msg); id == wire.RejoinRuleID {
			var m wire.RejoinRule
			parse(t, m.Parse(body))
			told = append(told, m)
		}
	}
	if len(told) != 3 || told[0].App != self || told[1].App != appW || told[1].Rule.Version != 5 || told[1].Allocator != 14 ||
		told[2].App != appV || told[2].Departed != 3 || told[2].Allocator != 15 {
		t.Errorf("told %+v", told)
	}
}

// A steady tick with copies on their way and back allocates nothing but what encoding a base takes.
func TestCopiesDoNotAllocate(t *testing.T) {
	c := newCopier(t)
	c.makeMany(40)
	c.net.forgets = true
	channel := c.from[appW]
	var held []byte
	var m migrate.BaseCopyHeld
	n := testing.AllocsPerRun(200, func() {
		c.a.now += c.a.ticks.Period
		c.a.tickCopies()
		for _, b := range c.a.list {
			if len(b.copied.waiting) > 0 {
				m.ID, m.Number = b.id, b.copied.number
				held = wire.Encode(held[:0], &m)
				c.a.Message(c.a.now, channel, true, held)
			}
		}
	})
	var parts []byte
	encoding := testing.AllocsPerRun(100, func() { parts = c.a.list[0].appendParts(parts[:0]) })
	if n > 4*encoding+1 { // of a tenth of the bases; and the mark of a cycle now and then
		t.Errorf("%v allocations a tick, of which to encode four bases takes %v", n, 4*encoding)
	}
}
