package baseapp

import (
	"slices"
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
)

// copiesOf are the copies of one base that were sent since it was last asked.
func (c *copier) copiesOf(id entity.ID) (n int) {
	for _, s := range c.take() {
		if s.ID == id {
			n++
		}
	}
	return n
}

// A base that wants no copies is not sent to anyone, and keeps nobody waiting: neither its script,
// nor those who send it something, nor a rule, nor those who may forget its old copies. It is
// copied again once it wants to be.
func TestWithoutAutoBackup(t *testing.T) {
	c := newCopier(t)
	c.pass(3 * time.Second)
	id, other := c.make(), c.make()
	c.pass(3 * time.Second)
	b := c.a.byID[id]
	if c.copiesOf(id) == 0 || c.confirmed(id) == 0 {
		t.Fatal("it is not copied at first")
	}
	c.mute[appW], c.mute[appV] = true, true // one is under way
	b.backupSoon()
	c.tick()
	c.answer()
	c.script(id).SetAutoBackup(false)
	c.mute = map[mercury.Address]bool{}
	if err := c.script(id).Backup("OnAlarm", 5); err != nil {
		t.Fatal(err)
	}
	c.take()
	c.pass(200 * time.Millisecond)
	if b.protected() || len(b.commits) != 0 || b.copied.confirmed != b.copied.number {
		t.Fatalf("protected %v, %d commits wait, %d of %d confirmed", b.protected(), len(b.commits), b.copied.confirmed, b.copied.number)
	}
	before := c.marks[len(c.marks)-1].Cycle
	c.pass(3 * c.a.copying.period)
	if n := c.copiesOf(id); n > 0 || c.a.unprotected() != 1 {
		t.Errorf("copied %d times, %d are unprotected", n, c.a.unprotected())
	}
	if after := c.marks[len(c.marks)-1].Cycle; after < before+2 {
		t.Errorf("holders may forget what is older than cycle %d, before it was %d", after, before)
	}
	c.say(c.managers, &wire.AppDead{Role: wire.BaseApp, App: appW})
	c.baseApp(appV, 15)
	c.pass(3 * c.a.copying.period)
	if r := c.rules[len(c.rules)-1]; !slices.Equal(r.List, []mercury.Address{appV}) || c.a.copying.ruling.state != ruleSettled {
		t.Fatalf("state %v, ruled by %v: another rule waits for it", c.a.copying.ruling.state, r)
	}
	if c.confirmed(other) == 0 || c.copiesOf(id) > 0 {
		t.Error("the other is not copied, or it is")
	}
	c.script(id).SetAutoBackup(true)
	c.pass(200 * time.Millisecond)
	if c.copiesOf(id) != 1 || !b.protected() || c.a.unprotected() != 0 {
		t.Error("it is not copied again")
	}
}

// What is not done by itself stays so in a copy: for the heir, and where the base moves.
func TestAutoTravels(t *testing.T) {
	c := newCopier(t)
	c.pass(3 * time.Second)
	id := c.make()
	b := c.a.byID[id]
	b.SetAutoBackup(false)
	b.SetAutoArchive(false)
	parts := b.appendParts(nil)
	delete(c.a.byID, id)
	c.a.list = nil
	c.a.accounts = map[string]*base{}
	if err := c.a.restore(&heritage{id: id, from: appW, lives: 1, parts: parts}); err != nil {
		t.Fatal(err)
	}
	if b := c.a.byID[id]; !b.copied.manual || !b.keep.manual || b.protected() {
		t.Error("the heir copies it, or archives it")
	}
}

// An app that leaves copies such a base like all others, so it goes on elsewhere.
func TestLeavesWithoutAutoBackup(t *testing.T) {
	c := newCopier(t)
	c.baseApp(appV, 15)
	c.pass(3 * time.Second)
	id := c.make()
	c.script(id).SetAutoBackup(false)
	c.pass(3 * time.Second)
	c.take()
	c.a.Retire("")
	c.pass(c.a.copying.period + 2*time.Second)
	if n := c.copiesOf(id); n == 0 {
		t.Fatal("not copied")
	}
	if b := c.a.byID[id]; !b.protected() || b.copied.confirmed == 0 || len(c.asks) == 0 {
		t.Errorf("protected %v, confirmed %d, waits for %q", b.protected(), b.copied.confirmed, c.a.leave.waits)
	}
}
