package cellappmgr

import (
	"slices"
	"testing"
	"time"

	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/migrate"
	"github.com/google/go-cmp/cmp"
)

func ruleOf(version uint64, list ...mercury.Address) migrate.Rule {
	return migrate.Rule{Version: version, Covers: 4, Replicas: 1, List: list}
}

// The verdict on a BaseApp carries its newest rule, and so do its graves.
func TestVerdictCarriesTheRule(t *testing.T) {
	r := newRig(t, nil)
	cell, base, other := r.join(wire.CellApp, 10), r.join(wire.BaseApp, 20), r.join(wire.BaseApp, 21)
	base.send(&migrate.BackupRule{Rule: ruleOf(2, at(21))})
	base.send(&migrate.BackupRule{Rule: ruleOf(1)})
	if held := take[migrate.BackupRuleHeld](base); len(held) != 2 || held[0].Version != 2 || held[1].Version != 2 {
		t.Fatalf("answered %+v", held)
	}
	cell.send(&migrate.BackupRule{Rule: ruleOf(9)})
	if _, known := r.m.BackupRule(at(10)); known || r.m.Counts().Misplaced != 1 {
		t.Error("a CellApp has a rule")
	}
	allocator := r.m.byAddress(at(20)).allocator
	base.drop(mercury.ErrPeerRestarted)
	want := wire.AppDead{Role: wire.BaseApp, App: at(20), Number: 1<<32 + 1, Allocator: allocator, Rule: ruleOf(2, at(21))}
	late := r.join(wire.BaseApp, 22)
	for _, p := range []*peer{cell, other, late} {
		if d := cmp.Diff(want, one[wire.AppDead](p), addresses); d != "" {
			t.Errorf("%v (-want +got):\n%s", p.role, d)
		}
	}
	other.drop(mercury.ErrPeerRestarted)
	if d := one[wire.AppDead](late); d.Number != 1<<32+2 || d.Rule.Version != 0 {
		t.Errorf("%+v", d)
	}
}

// rejoinWith lets an app come back that tells rules.
func (r *rig) rejoinWith(role wire.Role, host int, told wire.Rejoin, rules ...wire.RejoinRule) *peer {
	p := r.connect(role, at(host))
	p.send(&wire.Join{Speaks: wire.Spoken(), Role: role, Digest: digest, Term: 1})
	p.send(&told)
	for i := range rules {
		p.send(&rules[i])
	}
	p.send(&wire.RejoinEnd{Rules: uint32(len(rules))})
	return p
}

// Another manager learns the rules from those who know them: of one that is there from itself,
// whatever others say, and of another the newest version wins. A BaseApp that died meanwhile is
// healed by it, and the number of a departure stays.
func TestRulesOutliveTheManager(t *testing.T) {
	r := next(t, nil)
	dead := wire.AppRef{Role: wire.BaseApp, App: at(29)}
	gone := wire.RejoinRule{App: at(29), Departed: 1<<32 + 7, Allocator: 5, Rule: ruleOf(3, at(20))}
	a := r.rejoinWith(wire.BaseApp, 20, wire.Rejoin{Number: 1, Allocator: 3, Graves: []wire.AppRef{dead}},
		wire.RejoinRule{App: at(20), Rule: ruleOf(4, at(21))}, wire.RejoinRule{App: at(28), Allocator: 6, Rule: ruleOf(7, at(20))}, gone,
		wire.RejoinRule{App: at(21), Rule: ruleOf(1<<40, at(20))})
	b := r.rejoinWith(wire.BaseApp, 21, wire.Rejoin{Number: 2, Allocator: 7},
		wire.RejoinRule{App: at(20), Rule: ruleOf(5, at(21))}, wire.RejoinRule{App: at(28), Allocator: 6, Rule: ruleOf(8, at(21))})
	r.pass(2100 * time.Millisecond)
	one[wire.Welcome](a)
	one[wire.Welcome](b)
	if rule, _ := r.m.BackupRule(at(20)); rule.Version != 4 {
		t.Errorf("rule %+v", rule)
	}
	if rule, known := r.m.BackupRule(at(21)); known {
		t.Errorf("rule %+v of one that says it has none", rule)
	}
	none[wire.AppDead](a)
	want := wire.AppDead{Role: wire.BaseApp, App: at(29), Number: gone.Departed, Allocator: 5, Rule: gone.Rule}
	if d := cmp.Diff(want, one[wire.AppDead](b), addresses); d != "" {
		t.Error(d)
	}
	r.pass(3500 * time.Millisecond) // at(28) does not come back
	want = wire.AppDead{Role: wire.BaseApp, App: at(28), Number: 2<<32 + 1, Allocator: 6, Rule: ruleOf(8, at(21))}
	for _, p := range []*peer{a, b} {
		if d := cmp.Diff(want, one[wire.AppDead](p), addresses); d != "" {
			t.Error(d)
		}
	}
}

// A BaseApp that comes back after the window brings what it knows.
func TestLateRules(t *testing.T) {
	r := next(t, nil)
	a := r.rejoinWith(wire.BaseApp, 20, wire.Rejoin{Number: 1, Allocator: 3})
	r.pass(2100 * time.Millisecond)
	one[wire.Welcome](a)
	none[wire.AppDead](a)
	gone := wire.RejoinRule{App: at(29), Departed: 1<<32 + 7, Allocator: 5, Rule: ruleOf(3, at(20))}
	b := r.rejoinWith(wire.BaseApp, 21, wire.Rejoin{Number: 2, Allocator: 7, Graves: []wire.AppRef{{Role: wire.BaseApp, App: at(29)}}},
		gone, wire.RejoinRule{App: at(21), Rule: ruleOf(6, at(20))})
	one[wire.Welcome](b)
	want := wire.AppDead{Role: wire.BaseApp, App: at(29), Number: gone.Departed, Allocator: 5, Rule: gone.Rule}
	if d := cmp.Diff(want, one[wire.AppDead](a), addresses); d != "" {
		t.Error(d)
	}
	if rule, _ := r.m.BackupRule(at(21)); rule.Version != 6 {
		t.Errorf("rule %+v", rule)
	}
	// It says nothing of those who are there.
	r.rejoinWith(wire.BaseApp, 22, wire.Rejoin{Number: 3, Allocator: 8}, wire.RejoinRule{App: at(21), Rule: ruleOf(1<<40, at(22))}, wire.RejoinRule{App: at(20), Rule: ruleOf(1, at(22))})
	if rule, _ := r.m.BackupRule(at(21)); rule.Version != 6 {
		t.Errorf("rule %+v", rule)
	}
	if rule, known := r.m.BackupRule(at(20)); known {
		t.Errorf("rule %+v", rule)
	}
}

// A BaseApp whose address has another process by now is dead, but its rule is known to those who have
// not come back yet: the verdict waits for it, or until they are dead as well. It does not wait for
// one that is there, nor for what nobody can bring any more.
func TestVerdictWaitsForTheRule(t *testing.T) {
	gone, holder := wire.AppRef{Role: wire.BaseApp, App: at(41)}, wire.AppRef{Role: wire.BaseApp, App: at(42)}
	start := func(r *rig) {
		another := at(41)
		another.Salt++
		p := r.connect(wire.BaseApp, another)
		p.sendJoin()
		one[wire.Welcome](p)
	}
	rule := wire.RejoinRule{App: gone.App, Allocator: 9, Rule: ruleOf(3, holder.App)}

	r, a := running(t, wire.Rejoin{Peers: []wire.AppRef{gone, holder}})
	take[wire.AppDead](a) // CellApps
	start(r)
	r.pass(time.Second)
	none[wire.AppDead](a)
	r.rejoinWith(wire.BaseApp, 42, wire.Rejoin{Number: 2, Allocator: 7}, rule)
	r.pass(200 * time.Millisecond)
	want := wire.AppDead{Role: wire.BaseApp, App: gone.App, Number: 2<<32 + 1, Allocator: 9, Rule: rule.Rule}
	if d := cmp.Diff(want, one[wire.AppDead](a), addresses); d != "" {
		t.Error(d)
	}

	r, a = running(t, wire.Rejoin{Peers: []wire.AppRef{gone, holder}})
	take[wire.AppDead](a)
	start(r)
	r.pass(2 * time.Second)
	none[wire.AppDead](a)
	r.pass(2 * time.Second)
	if dead := take[wire.AppDead](a); len(dead) != 2 || dead[0].Rule.Version != 0 {
		t.Errorf("dead: %+v", dead)
	}

	r, a = running(t, wire.Rejoin{Peers: []wire.AppRef{gone}})
	take[wire.AppDead](a)
	start(r)
	if d := one[wire.AppDead](a); d.App != gone.App {
		t.Errorf("dead: %+v", d)
	}
}

// A BaseApp that the earlier manager has named to others, and whose Welcome was lost, joins as a new one. It
// is the one that is missing.
func TestMissingOneJoins(t *testing.T) {
	gone := wire.AppRef{Role: wire.BaseApp, App: at(41)}
	r, a := running(t, wire.Rejoin{Peers: []wire.AppRef{gone}})
	take[wire.AppDead](a) // CellApps
	p := r.connect(wire.BaseApp, gone.App)
	p.sendJoin()
	one[wire.Welcome](p)
	for range 50 {
		r.pass(100 * time.Millisecond)
		p.send(&wire.Alive{})
		a.send(&wire.Alive{})
	}
	for _, dead := range take[wire.AppDead](a) {
		t.Errorf("declared dead: %+v", dead)
	}
	if b := r.m.byAddress(gone.App); b == nil || b.missing {
		t.Errorf("the member is %+v", b)
	}
}

// What cannot be of an earlier manager is refused.
func TestNonsenseRules(t *testing.T) {
	r := next(t, nil)
	p := r.connect(wire.BaseApp, at(20))
	p.send(&wire.Join{Speaks: wire.Spoken(), Role: wire.BaseApp, Digest: digest, Term: 1})
	p.send(&wire.RejoinRule{App: at(21)}) // before the Rejoin
	if n := r.m.Counts().Malformed; n != 1 {
		t.Errorf("%d malformed", n)
	}
	r.rejoinWith(wire.BaseApp, 22, wire.Rejoin{Number: 2, Allocator: 7}, wire.RejoinRule{App: at(21), Departed: 2 << 32})
	if n := r.m.Counts().Malformed; n < 2 {
		t.Errorf("%d malformed", n)
	}
}

// Who issued the ids of an app is known as soon as one app has told it, whoever else tells of its rule.
func TestAllocatorOfTheRuleIsKept(t *testing.T) {
	r := newRig(t, nil)
	app := at(90)
	r.m.learnRule(migrate.Departure{App: app, Allocator: 11, Rule: ruleOf(1)})
	r.m.learnRule(migrate.Departure{App: app, Rule: ruleOf(2)})
	r.m.backups.depart(app, 0, 1)
	if d := r.m.backups.gone.Of(app); d == nil || d.Allocator != 11 || d.Rule.Version != 2 {
		t.Errorf("departed as %+v", d)
	}
}

// wantVerdict expects what the manager says of a dead BaseApp after it was told something of it.
func wantVerdict(t *testing.T, name string, told []migrate.Departure, want wire.AppDead) {
	t.Helper()
	r := newRig(t, nil)
	for _, d := range told {
		r.m.learnRule(d)
	}
	if d := cmp.Diff(want, *r.m.verdict(wire.AppRef{Role: wire.BaseApp, App: want.App}), addresses); d != "" {
		t.Errorf("%s:\n%s", name, d)
	}
}

// Some know of an app only that it died, others only its rule and who issued its ids. In whatever
// order they tell it, the verdict has it all: an app that has never seen the dead one finds its
// heirs by the ids.
func TestVerdictHasWhatAnyoneKnows(t *testing.T) {
	app := at(90)
	grave := migrate.Departure{App: app, Number: 1<<32 + 7}
	rule := migrate.Departure{App: app, Allocator: 11, Rule: ruleOf(3, at(20))}
	for name, told := range map[string][]migrate.Departure{
		"the rule first":              {rule, grave},
		"the death first":             {grave, rule},
		"the rule without its issuer": {{App: app, Rule: rule.Rule}, grave, rule},
	} {
		wantVerdict(t, name, told, wire.AppDead{Role: wire.BaseApp, App: app, Number: grave.Number, Allocator: 11, Rule: rule.Rule})
	}
}

// A rule that a verdict was told with stays, whatever newer one somebody knows: the heirs by it have begun.
// Of two verdicts the first counts, with its rule.
func TestToldRuleStays(t *testing.T) {
	app := at(90)
	told := migrate.Departure{App: app, Number: 1<<32 + 7, Allocator: 11, Rule: ruleOf(3, at(20))}
	newer := migrate.Departure{App: app, Rule: ruleOf(4, at(20), at(21))}
	again := migrate.Departure{App: app, Number: 2<<32 + 1, Allocator: 11, Rule: ruleOf(4, at(21))}
	for name, list := range map[string][]migrate.Departure{
		"the death first":        {told, newer},
		"the newer rule first":   {newer, told},
		"a second verdict":       {told, again},
		"a second verdict first": {again, newer, told},
	} {
		wantVerdict(t, name, list, wire.AppDead{Role: wire.BaseApp, App: app, Number: told.Number, Allocator: 11, Rule: told.Rule})
	}
}

// The status tells of how many BaseApps the copies are not where the members of now would have them.
func TestRulesPending(t *testing.T) {
	r := newRig(t, nil)
	pending := func(what string, want int) {
		t.Helper()
		if n := r.m.Status().RulesPending; n != want {
			t.Errorf("%s: %d are pending, want %d", what, n, want)
		}
	}
	one := r.join(wire.BaseApp, 20)
	pending("one alone", 0)
	two := r.join(wire.BaseApp, 21)
	pending("a second came", 2)
	one.send(&migrate.BackupRule{Rule: migrate.Rule{Version: 1, Replicas: 1, List: []mercury.Address{at(21)}}})
	pending("one has told", 1)
	two.send(&migrate.BackupRule{Rule: migrate.Rule{Version: 1, Replicas: 1, List: []mercury.Address{at(20)}}})
	pending("both have told", 0)
	third := r.join(wire.BaseApp, 22)
	pending("a third came", 3)
	third.drop(mercury.ErrPeerRestarted)
	pending("it went, and its bases have no copies yet", 2)
	one.send(&migrate.BackupRule{Rule: migrate.Rule{Version: 2, Covers: r.m.backups.last, Replicas: 1, List: []mercury.Address{at(21)}}})
	pending("one covers it", 1)
}

// The BaseAppMgr is told of a BaseApp that has not come back with all others, at once: else a new one
// would believe that all have told what they have, and give that one's accounts and names away.
func TestMissingOneIsNamed(t *testing.T) {
	gone := wire.AppRef{Role: wire.BaseApp, App: at(41)}
	r := next(t, nil)
	b := r.comeBack(wire.BaseAppMgr, 9, 1, wire.Rejoin{})
	r.comeBack(wire.BaseApp, 40, 1, wire.Rejoin{Allocator: 3, Peers: []wire.AppRef{gone}})
	r.pass(2100 * time.Millisecond)
	list := take[wire.Members](b)
	if len(list) == 0 || !slices.ContainsFunc(list[0].Apps, func(x wire.AppRef) bool { return x == gone }) {
		t.Errorf("first it is told of %+v", list)
	}

	// One that only an app tells of that comes late is named then.
	late := wire.AppRef{Role: wire.BaseApp, App: at(42)}
	r.comeBack(wire.BaseApp, 43, 2, wire.Rejoin{Allocator: 4, Peers: []wire.AppRef{late}})
	named := false
	for _, m := range take[wire.Members](b) {
		named = named || slices.Contains(m.Apps, late)
	}
	if !named {
		t.Error("one that is missing is not named later")
	}
}

// An app that is still telling what it has when the window ends, and dies before it has told all, is missed
// like one that never came (seed 194063).
func TestDiesWhileItTells(t *testing.T) {
	for _, role := range []wire.Role{wire.BaseApp, wire.CellApp} {
		t.Run(role.String(), func(t *testing.T) {
			gone := wire.AppRef{Role: role, App: at(41)}
			r := next(t, nil)
			b := r.comeBack(wire.BaseAppMgr, 9, 1, wire.Rejoin{})
			a := r.comeBack(wire.BaseApp, 40, 1, wire.Rejoin{Allocator: 3, Peers: []wire.AppRef{gone}})
			half := r.connect(role, gone.App)
			half.mute = true
			half.send(&wire.Join{Speaks: wire.Spoken(), Role: role, Digest: digest, Term: 1})
			half.send(&wire.Rejoin{Number: 2, Allocator: 4})
			r.pass(4 * time.Second)
			named := slices.ContainsFunc(take[wire.Members](b), func(m wire.Members) bool { return slices.Contains(m.Apps, gone) })
			if role == wire.BaseApp && !named {
				t.Error("the BaseAppMgr does not know that one has not told all")
			}
			none[wire.AppDead](a)
			half.drop(mercury.ErrPeerRestarted)
			r.pass(r.m.cfg.AppTimeout + time.Second)
			if d := one[wire.AppDead](a); d.App != gone.App {
				t.Errorf("dead: %+v", d)
			}
		})
	}
}

// One that tells on after the window, and comes to the end, is in.
func TestTellsBeyondTheWindow(t *testing.T) {
	slow := wire.AppRef{Role: wire.BaseApp, App: at(41)}
	r := next(t, nil)
	a := r.comeBack(wire.BaseApp, 40, 1, wire.Rejoin{Allocator: 3, Peers: []wire.AppRef{slow}})
	p := r.connect(slow.Role, slow.App)
	p.mute = true
	p.send(&wire.Join{Speaks: wire.Spoken(), Role: slow.Role, Digest: digest, Term: 1})
	p.send(&wire.Rejoin{Number: 2, Allocator: 4})
	for range 2 * int(r.m.cfg.AppTimeout/time.Second) {
		p.send(&wire.RejoinRule{App: at(40)}) // any word shows that it lives
		r.pass(time.Second)
	}
	rules := uint32(2 * int(r.m.cfg.AppTimeout/time.Second))
	p.send(&wire.RejoinEnd{Rules: rules})
	r.pass(time.Second)
	none[wire.AppDead](a)
	one[wire.Welcome](p)
	if b := r.m.byAddress(slow.App); b == nil || b.missing {
		t.Errorf("the member is %+v", b)
	}
}
