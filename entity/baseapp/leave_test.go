package baseapp

import (
	"slices"
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/migrate"
)

// asked waits until the manager is asked to let the app go, and returns the question.
func (c *copier) asked(d time.Duration) wire.Depart {
	c.t.Helper()
	c.asks = nil
	for end := c.now + d; c.now < end && len(c.asks) == 0; {
		c.pass(DefaultTick)
	}
	if len(c.asks) == 0 {
		c.t.Fatalf("not asked in %v; it waits for %q", d, c.a.RetireWaits())
	}
	return c.asks[0]
}

// A BaseApp that leaves stands still from its last copies on. If the manager says no, its bases go on, and it
// tries again.
func TestRetire(t *testing.T) {
	c := newCopier(t)
	c.pass(time.Second)
	id := c.make()
	b := c.a.byID[id]
	if _, err := b.AddTimer(DefaultTick, DefaultTick, "Tock", 0); err != nil {
		t.Fatal(err)
	}
	c.pass(time.Second)
	c.a.Retire("test")
	m := c.asked(5 * time.Second)
	if !c.a.StandsStill() {
		t.Errorf("asked with %+v", m)
	}
	if v := c.confirmed(id); v != b.copied.number {
		t.Errorf("confirmed %d of %d", v, b.copied.number)
	}
	c.events = nil
	refused := c.a.report.Refused
	c.tell(appX, &wire.Mourned{App: appY})
	c.pass(500 * time.Millisecond)
	if len(c.events) != 0 || c.a.report.Refused == refused {
		t.Errorf("while it stands still: %v, refused %d", c.events, c.a.report.Refused-refused)
	}
	c.say(c.managers, &wire.Departed{Request: m.Request, Reason: "not now"})
	c.pass(time.Second)
	if c.a.StandsStill() || !slices.Contains(c.events, "tock") || c.a.RetireWaits() == "" {
		t.Errorf("after the refusal: %v, waits for %q", c.events, c.a.RetireWaits())
	}
	m = c.asked(2 * leaveAgain)
	c.say(c.managers, &wire.Departed{Request: m.Request})
	if c.a.Retired() || len(c.a.list) != 0 || c.a.Dismissed() {
		t.Error("it has left, and has bases, or has not said its last word")
	}
	c.pass(leaveLinger)
	if !c.a.Retired() {
		t.Error("it has not retired")
	}
}

// Bases whose last copies do not arrive go on. So they do when an app dies; a verdict that comes while the
// manager is asked counts when it has said no.
func TestRetireFails(t *testing.T) {
	c := newCopier(t)
	other := address(8, 18)
	c.baseApp(other, 15)
	c.make()
	c.pass(3 * time.Second)
	c.a.Retire("test")
	for !c.a.copying.ruling.manager || c.a.copying.ruling.rules.Replicas != leaveReplicas {
		c.pass(DefaultTick)
	}
	c.mute[other] = true
	c.failToLeave()
	c.mute[other] = false
	m := c.asked(2*leaveAgain + time.Second)
	c.say(c.managers, &wire.AppDead{Role: wire.BaseApp, App: other, Number: 4, Allocator: 15})
	if c.a.links.Dead(other) || len(c.a.leave.deaths) != 1 {
		t.Error("the verdict counts at once")
	}
	c.say(c.managers, &wire.Departed{Request: m.Request, Reason: "a holder is gone"})
	if !c.a.links.Dead(other) || c.a.StandsStill() {
		t.Error("the verdict does not count")
	}
	c.asked(4 * leaveAgain)
	if c.a.copying.ruling.rules.Covers != 4 {
		t.Errorf("covers %d", c.a.copying.ruling.rules.Covers)
	}
	c.say(c.managers, &wire.Dismissed{Reason: "the answer was lost"})
	c.pass(leaveLinger)
	if !c.a.Retired() || c.a.Dismissed() {
		t.Error("it does not know that it has left")
	}
}

// failToLeave waits until the app stands still, and then until it goes on.
func (c *copier) failToLeave() {
	t, a := c.t, c.a
	t.Helper()
	begun := c.now
	for !a.still() && c.now < begun+5*time.Second {
		c.pass(DefaultTick)
	}
	began := c.now
	for a.still() && c.now < began+5*time.Second {
		c.pass(DefaultTick)
	}
	if stood := c.now - began; stood == 0 || stood > stillMost+DefaultTick {
		t.Errorf("stood still for %v, waits for %q", stood, a.RetireWaits())
	}
}

// Nobody may leave while others count on it, or nobody else stays.
func TestRetireWaits(t *testing.T) {
	c := newCopier(t)
	c.make()
	c.pass(2 * time.Second)
	c.tell(appW, &wire.Leaving{Bases: 1})
	c.a.Retire("test")
	c.pass(15 * time.Second)
	if c.a.StandsStill() || len(c.asks) > 0 || c.a.RetireWaits() != "another BaseApp that stays" {
		t.Errorf("it waits for %q", c.a.RetireWaits())
	}
	if list := c.a.copying.ruling.rules.List; !slices.Equal(list, []mercury.Address{appW}) {
		t.Errorf("copies are on %v", list)
	}
}

// Others that do not put their copies elsewhere keep nobody for ever: they lose them, which is counted.
func TestRetireLeavesCopies(t *testing.T) {
	c := newCopier(t)
	c.make()
	c.pass(time.Second)
	c.tell(appW, &migrate.BackupRule{Rule: migrate.Rule{Version: 1, Replicas: 1, List: []mercury.Address{c.a.net.Self()}}})
	c.tell(appW, &migrate.BaseCopy{ID: entity.ID(77), Number: 1, Cycle: 1, Parts: []byte{1}})
	c.a.Retire("test")
	c.pass(holdPatience)
	if w := c.a.RetireWaits(); w != "others to have their copies elsewhere" {
		t.Errorf("it waits for %q", w)
	}
	c.say(c.managers, &wire.Departed{Request: c.asked(2*DefaultBackupPeriod + 10*time.Second).Request})
	if c.a.leave.state != leaveGone || c.a.report.CopiesLeft != 1 {
		t.Errorf("%d copies were left", c.a.report.CopiesLeft)
	}
}
