package baseapp

import (
	"slices"
	"testing"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/migrate"
)

// appV is a third BaseApp.
var appV = address(8, 18)

// baseOfW is a base of appW.
func baseOfW(n uint64) entity.ID { return entity.ID(14<<32 | n) }

func (c *copier) copies(owner mercury.Address) (ids []entity.ID) {
	for o, x := range c.a.Copies() {
		if o == owner {
			ids = append(ids, x.ID)
		}
	}
	return ids
}

func (c *copier) hold(from mercury.Address, id entity.ID, number, cycle uint64) *migrate.BaseCopyHeld {
	c.t.Helper()
	c.net.sent = nil
	c.tell(from, &migrate.BaseCopy{ID: id, Number: number, Cycle: cycle, Parts: c.parts})
	for _, s := range c.net.sent {
		if id, body, _ := wire.Split(s.msg); id == wire.BaseCopyHeldID && s.to == from {
			var m migrate.BaseCopyHeld
			parse(c.t, m.Parse(body))
			return &m
		}
	}
	return nil
}

// The newest copy wins; an older one is not answered.
func TestHolding(t *testing.T) {
	c := newCopier(t)
	if m := c.hold(appW, baseOfW(1), 5, 1); m == nil || m.Number != 5 || m.Refused {
		t.Fatalf("answer %+v", m)
	}
	if m := c.hold(appW, baseOfW(1), 4, 1); m != nil || c.a.report.Refused != 1 {
		t.Errorf("an old copy is answered by %+v", m)
	}
	if m := c.hold(appW, baseOfW(1), 5, 1); m == nil {
		t.Error("a repeated copy is not answered")
	}
	if m := c.hold(appW, baseOfW(1), 6, 2); m == nil || c.a.holding.copies != 1 || c.a.holding.bytes != 5 {
		t.Errorf("%d copies, %d bytes", c.a.holding.copies, c.a.holding.bytes)
	}
	c.tell(appW, &migrate.BaseGone{ID: baseOfW(1)})
	c.tell(appW, &migrate.BaseGone{ID: baseOfW(1)})
	if c.a.holding.copies != 0 || c.a.holding.bytes != 0 {
		t.Errorf("then %d copies, %d bytes", c.a.holding.copies, c.a.holding.bytes)
	}
}

// What has no room is refused, and what is held stays.
func TestHoldingIsBounded(t *testing.T) {
	c := newCopier(t)
	c.a.holding.mostCopies, c.a.holding.mostBytes = 3, 18
	for n := range uint64(3) {
		if m := c.hold(appW, baseOfW(n+1), 1, 1); m == nil || m.Refused {
			t.Fatalf("answer %+v", m)
		}
	}
	if m := c.hold(appW, baseOfW(9), 1, 1); m == nil || !m.Refused {
		t.Errorf("answer %+v", m)
	}
	c.tell(appW, &migrate.BaseCopy{ID: baseOfW(1), Number: 2, Cycle: 1, Parts: make([]byte, 9)})
	if got := c.copies(appW); len(got) != 3 || c.a.holding.bytes != 15 {
		t.Errorf("copies %v, %d bytes", got, c.a.holding.bytes)
	}
}

// basesHeld are two bases of W, from number n on: one whose first holder a rule makes this app, and one of
// which it makes another app.
func basesHeld(rule *migrate.Rule, n uint64) (here, there entity.ID) {
	for ; here == 0 || there == 0; n++ {
		if rule.Holders(nil, appW, baseOfW(n))[0] == self {
			here = baseOfW(n)
		} else {
			there = baseOfW(n)
		}
	}
	return here, there
}

// An app forgets only its own copies: by a mark of its cycle, and by a rule that gives them to others.
func TestMarkForgets(t *testing.T) {
	c := newCopier(t)
	c.baseApp(appV, 15)
	c.hold(appW, baseOfW(1), 1, 1)
	c.hold(appW, baseOfW(2), 1, 2)
	c.tell(appV, &migrate.CopyMark{Cycle: 9})
	c.tell(appV, &migrate.BaseGone{ID: baseOfW(2)})
	if got := c.copies(appW); len(got) != 2 {
		t.Fatalf("another app makes it forget: %v", got)
	}
	c.tell(appW, &migrate.CopyMark{Cycle: 2})
	if got := c.copies(appW); !slices.Equal(got, []entity.ID{baseOfW(2)}) {
		t.Errorf("copies %v", got)
	}
	rule := migrate.Rule{Version: 3, Replicas: 1, List: []mercury.Address{self, appV}}
	here, there := basesHeld(&rule, 10)
	c.hold(appW, here, 1, 2)
	c.hold(appW, there, 1, 2)
	c.tell(appW, &migrate.BaseGone{ID: baseOfW(2)})
	c.tell(appW, &migrate.CopyMark{Cycle: 2, Version: 3})
	if got := c.copies(appW); len(got) != 2 {
		t.Errorf("forgotten by a rule that is not known: %v", got)
	}
	c.tell(appW, &migrate.BackupRule{Rule: rule})
	c.tell(appW, &migrate.CopyMark{Cycle: 2, Version: 3})
	if got := c.copies(appW); !slices.Equal(got, []entity.ID{here}) {
		t.Errorf("copies %v, want %v", got, here)
	}
}

// When the owner dies, its heirs take the bases over. The next holder keeps its copies until the heir
// has made its own.
func TestInherit(t *testing.T) {
	c := newCopier(t)
	c.baseApp(appV, 15)
	c.parts = c.a.byID[c.make()].appendParts(nil)
	rule := migrate.Rule{Version: 3, Replicas: 2, List: []mercury.Address{self, appV}}
	mine, next := basesHeld(&rule, 1)
	c.hold(appW, mine, 1, 1)
	c.hold(appW, next, 1, 1)
	c.say(c.managers, &wire.AppDead{Role: wire.BaseApp, App: appW, Number: 4, Allocator: 14, Rule: rule})
	if c.a.report.Inherited != 1 || !slices.Equal(c.copies(appW), []entity.ID{next}) {
		t.Fatalf("%d inherited, copies %v", c.a.report.Inherited, c.copies(appW))
	}
	if v, ok := c.view(mine); !ok || v.Type != "Avatar" {
		t.Error("it is not restored")
	}
	if h := c.a.homeOf(mine); h.App != self || h.Role != wire.BaseApp {
		t.Errorf("it is at home on %v", h)
	}
	c.tell(appV, &migrate.BackupRule{Rule: migrate.Rule{Version: 1, Covers: 3, Replicas: 1, List: []mercury.Address{self}}})
	if len(c.copies(appW)) != 1 {
		t.Error("dropped before the heir has copies")
	}
	c.tell(appV, &migrate.BackupRule{Rule: migrate.Rule{Version: 2, Covers: 4, Replicas: 1, List: []mercury.Address{self}}})
	if len(c.copies(appW)) != 1 {
		t.Error("dropped before the heir's copies are what its death would be healed from")
	}
	c.tell(appV, &migrate.CopyMark{Cycle: 1, Version: 2})
	if len(c.copies(appW)) != 0 || c.a.report.Inherited != 1 {
		t.Error("kept although the heir has copies")
	}
}

// A base that came by way of an app that has died since is restored from the copy of that one, not from the
// older one of its first app.
func TestInheritTheLaterCopy(t *testing.T) {
	c := newCopier(t)
	c.baseApp(appV, 15)
	id := c.make()
	v := c.script(id)
	v.Gold.Set(1)
	older := c.a.byID[id].appendParts(nil)
	v.Gold.Set(2)
	newer := c.a.byID[id].appendParts(nil)
	rule := migrate.Rule{Version: 3, Replicas: 2, List: []mercury.Address{self, appV}}
	base := baseOfW(1)
	for rule.Holders(nil, appW, base)[0] == self {
		base++
	}
	c.parts = older
	c.hold(appW, base, 1, 1)
	c.say(c.managers, &wire.AppDead{Role: wire.BaseApp, App: appW, Number: 4, Allocator: 14, Rule: rule})
	c.parts = newer
	c.hold(appV, base, 1, 1)
	c.say(c.managers, &wire.AppDead{Role: wire.BaseApp, App: appV, Number: 5, Allocator: 15, Rule: migrate.Rule{Version: 2, Covers: 4, Replicas: 1, List: []mercury.Address{self}}})
	if v := c.script(base); v.Gold.Get() != 2 || c.a.report.Inherited != 1 {
		t.Errorf("%d inherited, with %d gold", c.a.report.Inherited, v.Gold.Get())
	}
}

// An heir that dies too soon leaves the bases to the next.
func TestInheritSecondHand(t *testing.T) {
	c := newCopier(t)
	c.baseApp(appV, 15)
	c.parts = c.a.byID[c.make()].appendParts(nil)
	rule := migrate.Rule{Version: 3, Replicas: 2, List: []mercury.Address{self, appV}}
	next := baseOfW(1)
	for rule.Holders(nil, appW, next)[0] == self {
		next++
	}
	c.hold(appW, next, 1, 1)
	c.say(c.managers, &wire.AppDead{Role: wire.BaseApp, App: appW, Number: 4, Allocator: 14, Rule: rule})
	c.say(c.managers, &wire.AppDead{Role: wire.BaseApp, App: appV, Number: 5, Allocator: 15})
	if c.a.report.Inherited != 1 || len(c.copies(appW)) != 0 {
		t.Errorf("%d inherited", c.a.report.Inherited)
	}
	if v, _ := c.view(next); v.Life != 2*lifeGap {
		t.Errorf("life %d, and the heir that was passed over may have begun the first", v.Life)
	}
}

// Without a rule nothing is restored, and nothing is kept.
func TestInheritNothing(t *testing.T) {
	c := newCopier(t)
	c.hold(appW, baseOfW(1), 1, 1)
	c.say(c.managers, &wire.AppDead{Role: wire.BaseApp, App: appW, Number: 4, Allocator: 14})
	if c.a.report.Inherited != 0 || c.a.holding.copies != 0 || len(c.a.holding.wards) != 0 {
		t.Errorf("%d inherited, %d copies", c.a.report.Inherited, c.a.holding.copies)
	}
}
