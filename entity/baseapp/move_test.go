package baseapp

import (
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/migrate"
)

// crowd is a copier with many bases, all of them copied.
func crowd(t testing.TB, n int) *copier {
	c := newCopier(t, func(c *Config) { c.MoveBatch = 10 })
	c.pass(time.Second)
	for range n {
		c.make()
	}
	c.pass(3 * time.Second)
	return c
}

// moves answers the questions for parts until none has come for a while, and returns them.
func (c *copier) moves(limit time.Duration) (parts []wire.Depart) {
	number := uint64(100)
	for quiet := time.Duration(0); quiet < limit; {
		c.asks = nil
		c.pass(DefaultTick)
		if quiet += DefaultTick; len(c.asks) == 0 || c.asks[0].Part.Turn == 0 {
			continue
		}
		quiet = 0
		m := c.asks[0]
		parts = append(parts, m)
		number++
		c.say(c.managers, &wire.Departed{Request: m.Request, Number: number})
		c.told = m.Part.Turn
	}
	return parts
}

// A BaseApp that leaves with many bases gives them away a part at a time, while the others go on.
func TestLeaveInParts(t *testing.T) {
	c := crowd(t, 60)
	c.a.Retire("test")
	was := map[entity.ID]bool{}
	for _, b := range c.a.list {
		was[b.id] = true
	}
	parts := c.moves(3 * time.Second)
	if len(parts) < 5 || len(c.a.list) > 10 {
		t.Fatalf("%d parts, %d bases are left", len(parts), len(c.a.list))
	}
	if c.a.StandsStill() && c.a.leave.state != leaveAsking {
		t.Error("it stands still")
	}
	left := len(c.a.list)
	for id := range was {
		went := 0
		for _, p := range parts {
			d := migrate.Departure{App: c.a.net.Self(), Allocator: c.a.allocator, Rule: c.a.copying.ruling.rules, Part: p.Part}
			if d.Takes(id) {
				went++
			}
		}
		if here := c.a.byID[id] != nil; went > 1 || here == (went == 1) {
			t.Errorf("%v went %d times, and is here: %v", id, went, here)
		}
		if went == 1 && c.a.homeOf(id).App != appW {
			t.Errorf("%v is on %v", id, c.a.homeOf(id))
		}
	}
	if c.a.report.Moved != uint64(60-left) || c.a.holding.copies != 60-left {
		t.Errorf("%d moved, %d copies are kept", c.a.report.Moved, c.a.holding.copies)
	}
	id := c.make()
	if c.a.homeOf(id).App != c.a.net.Self() {
		t.Errorf("a base that was made later is on %v", c.a.homeOf(id))
	}
	// The copies are kept until those who have the bases hold copies elsewhere.
	c.tell(appW, &migrate.BackupRule{Rule: migrate.Rule{Version: 3, Covers: 1000, Replicas: 1}})
	c.tell(appW, &migrate.CopyMark{Version: 3})
	if c.a.holding.copies != 0 {
		t.Errorf("%d copies are kept", c.a.holding.copies)
	}
}

// If the manager says no, the bases go on here in another life, with other numbers of copies.
func TestMoveBack(t *testing.T) {
	c := crowd(t, 30)
	was := map[entity.ID]uint32{}
	for _, b := range c.a.list {
		was[b.id] = b.life()
	}
	c.say(c.bases, &wire.Shed{To: appW, Bases: 5})
	c.asks = nil
	for range 20 {
		if c.pass(DefaultTick); len(c.asks) > 0 {
			break
		}
	}
	if len(c.asks) == 0 || !c.a.Moves() || len(c.a.list) == 30 {
		t.Fatalf("%d questions, %d bases", len(c.asks), len(c.a.list))
	}
	went := 30 - len(c.a.list)
	c.say(c.managers, &wire.Departed{Request: c.asks[0].Request, Reason: "not now"})
	if len(c.a.list) != 30 || c.a.Moves() || c.a.holding.copies != 0 {
		t.Errorf("%d bases, %d copies", len(c.a.list), c.a.holding.copies)
	}
	c.pass(3 * time.Second)
	later := 0
	for _, b := range c.a.list {
		if b.life() > was[b.id] {
			later++
		}
		if b.copied.confirmed == 0 {
			t.Errorf("%v has no copy", b.id)
		}
	}
	if later != went {
		t.Errorf("%d of %d are in another life", later, went)
	}
}

// Bases go back from last copies that nobody else holds. So what these contain is not settled
// before the holders have a copy of the next life: until then the death of this app would be healed
// from an older one.
func TestMoveBackSettlesNothing(t *testing.T) {
	c := crowd(t, 30)
	was := map[entity.ID]uint32{}
	c.mute[appW] = true
	for _, b := range c.a.list {
		was[b.id] = b.life()
		b.link.in.Accept(1, 1, 1, nil, func([]byte) {})
		if err := b.Backup("OnAlarm", 5); err != nil {
			t.Fatal(err)
		}
	}
	c.say(c.bases, &wire.Shed{To: appW, Bases: 5})
	c.pass(DefaultTick)
	if !c.a.Moves() {
		t.Fatal("no base moves")
	}
	c.pass(stillMost + 2*DefaultTick)
	back := func(each func(b *base)) (n int) {
		for _, b := range c.a.list {
			if b.life() > was[b.id] {
				n++
				each(b)
			}
		}
		return n
	}
	if n := back(func(b *base) {
		if b.link.in.Last() != 1 || b.settled(&b.link.in) != 0 || len(b.commits) != 1 {
			t.Errorf("%v has handled %d and settled %d, waits for %d copies", b.id, b.link.in.Last(), b.settled(&b.link.in), len(b.commits))
		}
	}); n == 0 || c.a.Moves() {
		t.Fatalf("%d bases are back, others move: %v", n, c.a.Moves())
	}
	c.mute[appW] = false
	c.pass(2 * copyPatience)
	back(func(b *base) {
		if b.settled(&b.link.in) != 1 || len(b.commits) != 0 {
			t.Errorf("%v has settled %d, waits for %d copies", b.id, b.settled(&b.link.in), len(b.commits))
		}
	})
}

// Bases that go to an app are those whose first holder it is; no more go than were ordered, or one slice.
func TestShed(t *testing.T) {
	c := crowd(t, 100)
	c.baseApp(appV, 15)
	c.pass(5 * time.Second)
	c.say(c.bases, &wire.Shed{To: appV, Bases: 8})
	parts := c.moves(time.Second)
	if n := 100 - len(c.a.list); len(parts) != 1 || n == 0 || n > 8 {
		t.Fatalf("%d parts, %d bases went", len(parts), n)
	}
	for _, x := range c.a.holding.ward(c.a.net.Self()).copies {
		if c.a.homeOf(x.id).App != appV {
			t.Errorf("%v is on %v", x.id, c.a.homeOf(x.id))
		}
	}
	c.say(c.bases, &wire.Shed{To: address(9, 99), Bases: 8})
	if parts := c.moves(time.Second); len(parts) != 0 {
		t.Errorf("moved to a stranger: %+v", parts)
	}
}

// A base that waits for an answer is not torn away from it at once, but its slice does not stay for ever.
func TestMoveWaitsForAnswers(t *testing.T) {
	c := crowd(t, 1)
	b := c.a.list[0]
	b.await(pending{what: questionName, request: 1, method: "Named", name: "x"})
	c.say(c.bases, &wire.Shed{To: appW, Bases: 1})
	c.asks = nil
	if c.pass(movePatience - time.Second); len(c.asks) != 0 {
		t.Error("it moved")
	}
	if c.pass(2 * time.Second); len(c.asks) == 0 {
		t.Error("it did not move")
	}
}

// loseManager lets the CellAppMgr die without another.
func (c *copier) loseManager() {
	c.net.ended[c.managers] = true
	c.a.Closed(c.now, c.managers, mercury.ErrTimeout)
}

// Bases that are about to move when the manager dies are not asked about, and go on here soon: the
// wait for the next manager may be long.
func TestMoveWithoutManager(t *testing.T) {
	c := crowd(t, 30)
	c.say(c.bases, &wire.Shed{To: appW, Bases: 5})
	for n := 0; n < 20 && !c.a.Moves(); n++ {
		c.answer()
		c.tick()
	}
	if !c.a.Moves() {
		t.Fatal("nothing moves")
	}
	c.loseManager()
	c.asks = nil
	c.pass(stillMost + DefaultTick)
	if c.a.Moves() || len(c.a.list) != 30 || len(c.asks) != 0 {
		t.Errorf("%d bases, %d questions", len(c.a.list), len(c.asks))
	}
}

// So does an app that is about to leave.
func TestLeaveWithoutManager(t *testing.T) {
	c := newCopier(t)
	c.make()
	c.pass(2 * time.Second)
	c.a.Retire("test")
	for n := 0; n < 200 && c.a.leave.state != leaveStill; n++ {
		c.answer()
		c.tick()
	}
	if c.a.leave.state != leaveStill {
		t.Fatalf("it waits for %q", c.a.RetireWaits())
	}
	c.loseManager()
	c.pass(stillMost + DefaultTick)
	if c.a.StandsStill() {
		t.Error("it stands still without a manager")
	}
}
