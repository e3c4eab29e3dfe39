package cellappmgr

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/cellscape/cellscape/balance"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/space/cluster/watch"
)

// set sets a value of the manager as an observer does, and returns what it answers.
func (p *peer) set(path, text string) wire.Watched {
	p.r.t.Helper()
	p.send(&wire.SetWatch{Number: 5, Role: wire.CellAppMgr, Path: path, Text: text})
	return one[wire.Watched](p)
}

// A question goes to the process that it names, and the answer back to who asked, under its number.
func TestQuestions(t *testing.T) {
	r := newRig(t, nil)
	a, b := r.join(wire.CellApp, 10), r.join(wire.CellApp, 11)
	login := r.join(wire.LoginApp, 12)
	eve, bob := r.join(wire.Observer, 20), r.join(wire.Observer, 21)
	eve.send(&wire.ReadWatch{Number: 7, Role: wire.CellApp, App: 2, Path: "cells/reals"})
	bob.send(&wire.ReadWatch{Number: 7, Role: wire.CellApp, App: 2, Path: "cells", After: "cells/a", List: true})
	bob.send(&wire.SetWatch{Number: 8, Role: wire.LoginApp, Path: "logins/queue", Text: "9"})
	none[wire.ReadWatch](a)
	asked := take[wire.ReadWatch](b)
	if len(asked) != 2 || asked[0].Path != "cells/reals" || asked[0].List || asked[1].After != "cells/a" || !asked[1].List {
		t.Fatalf("asked %+v", asked)
	}
	set := one[wire.SetWatch](login)
	if set.Path != "logins/queue" || set.Text != "9" {
		t.Errorf("set %+v", set)
	}
	value := watch.Value{Path: "cells/reals", Text: "3"}
	a.send(&wire.Watched{Number: asked[0].Number}) // not who was asked
	none[wire.Watched](eve)
	b.send(&wire.Watched{Number: asked[1].Number, Fault: watch.NoPath, Reason: "nothing"})
	b.send(&wire.Watched{Number: asked[0].Number, Values: []watch.Value{value}, More: true})
	b.send(&wire.Watched{Number: asked[0].Number, Values: []watch.Value{value}}) // again
	login.send(&wire.Watched{Number: set.Number, Values: []watch.Value{value}})
	if got := one[wire.Watched](eve); got.Number != 7 || len(got.Values) != 1 || got.Values[0] != value || !got.More {
		t.Errorf("eve hears %+v", got)
	}
	if got := take[wire.Watched](bob); len(got) != 2 || got[0].Number != 7 || got[0].Fault != watch.NoPath || got[0].Reason != "nothing" || got[1].Number != 8 {
		t.Errorf("bob hears %+v", got)
	}
}

// What cannot be answered is told with its reason: at once, or when the time is over.
func TestQuestionsWithoutAnswer(t *testing.T) {
	r := newRig(t, nil)
	a := r.join(wire.CellApp, 10)
	r.join(wire.CellApp, 11)
	eve := r.join(wire.Observer, 20)
	want := func(why watch.Fault, say string) {
		t.Helper()
		got := one[wire.Watched](eve)
		if got.Number != 7 || got.Fault != why || !strings.Contains(got.Reason, say) || len(got.Values) > 0 {
			t.Errorf("heard %+v, want %v: %s", got, why, say)
		}
	}
	ask := func(role wire.Role, n uint32) {
		eve.send(&wire.ReadWatch{Number: 7, Role: role, App: n, Path: "cells"})
	}
	ask(wire.CellApp, 9)
	want(watch.NoProcess, "CellApp 9")
	ask(wire.CellApp, 0)
	want(watch.NoProcess, "2 of them")
	ask(wire.DBApp, 0)
	want(watch.NoProcess, "0 of them")
	ask(wire.Observer, 1)
	want(watch.NoProcess, "observer")
	ask(wire.CellAppMgr, 1)
	want(watch.NoPath, "balance, log, logins")
	ask(wire.CellApp, 1)
	none[wire.Watched](eve)
	r.pass(AnswerTime + 200*time.Millisecond)
	want(watch.NoAnswer, "CellApp 1")
	ask(wire.CellApp, 1)
	a.drop(mercury.ErrNoChannel)
	want(watch.NoAnswer, "CellApp 1")
	ask(wire.CellApp, 1)
	want(watch.NoAnswer, "lost its channel")
}

// An observer that asks more than is answered is told so. Another one is not concerned, and one
// that leaves leaves nothing behind.
func TestManyQuestions(t *testing.T) {
	r := newRig(t, nil)
	a := r.join(wire.CellApp, 10)
	eve, bob := r.join(wire.Observer, 20), r.join(wire.Observer, 21)
	for i := range MaxQuestions {
		eve.send(&wire.ReadWatch{Number: uint64(i), Role: wire.CellApp, App: 1, Path: "cells", List: true})
	}
	none[wire.Watched](eve)
	eve.send(&wire.ReadWatch{Number: 999, Role: wire.CellApp, App: 1})
	if got := one[wire.Watched](eve); got.Number != 999 || got.Fault != watch.Busy {
		t.Errorf("heard %+v", got)
	}
	if got := eve.set("balance/lines", "true"); got.Fault != 0 { // nobody is asked for that
		t.Errorf("heard %+v", got)
	}
	bob.send(&wire.ReadWatch{Number: 1, Role: wire.CellApp, App: 1})
	if n := len(take[wire.ReadWatch](a)); n != MaxQuestions+1 {
		t.Errorf("%d questions", n)
	}
	eve.drop(mercury.ErrPeerClosed)
	r.pass(AnswerTime + 200*time.Millisecond)
	if one[wire.Watched](bob).Fault != watch.NoAnswer || r.m.links.Asked() != 0 {
		t.Errorf("%d questions are left", r.m.links.Asked())
	}
	if r.m.counts.Unsent != 0 {
		t.Error("it has answered who is gone")
	}
}

// An observer may read whatever its key is. To set takes an operator's; else nothing is passed on.
func TestWhoMaySet(t *testing.T) {
	r := newRig(t, nil)
	a := r.join(wire.CellApp, 10)
	eve := r.connect(wire.Observer, at(20))
	r.net.standings = map[mercury.ChannelID]mercury.Standing{eve.ch: mercury.Observer}
	eve.sendJoin()
	eve.send(&wire.SetWatch{Number: 1, Role: wire.CellAppMgr, Path: "balance/lines", Text: "false"})
	eve.send(&wire.SetWatch{Number: 2, Role: wire.CellApp, App: 1, Path: "log/level", Text: "ERROR"})
	none[wire.Watched](eve)
	none[wire.SetWatch](a)
	if r.m.counts.Unproved != 2 || r.m.cfg.Balance.NoBalance {
		t.Errorf("%d unproved", r.m.counts.Unproved)
	}
	eve.send(&wire.ReadWatch{Number: 3, Role: wire.CellAppMgr, Path: "balance/lines"})
	if got := one[wire.Watched](eve); got.Values[0].Text != "true" || !got.Values[0].Writable {
		t.Errorf("read %+v", got)
	}
	r.net.standings[eve.ch] = mercury.Operator
	if got := eve.set("balance/lines", "false"); got.Values[0].Text != "false" {
		t.Errorf("set %+v", got)
	}
	a.send(&wire.SetWatch{Number: 4, Role: wire.CellAppMgr, Path: "balance/lines", Text: "true"})
	if !r.m.cfg.Balance.NoBalance || r.m.counts.Misplaced != 1 {
		t.Error("a CellApp has set a value")
	}
}

// planning is a policy that only counts how often it is asked, by what settings.
type planning struct {
	balance.PolicyConfig
	balances, metas *int
	by              *balance.Config
}

func (p planning) New(c balance.Config, b balance.Border) (balance.Policy, error) {
	*p.by = c
	inner, err := p.PolicyConfig.New(c, b)
	return counting{inner, p}, err
}

type counting struct {
	balance.Policy
	planning
}

func (c counting) Balance(o *balance.Observation) balance.Plan {
	*c.balances++
	return c.Policy.Balance(o)
}
func (c counting) Meta(o *balance.Observation) balance.Plan { *c.metas++; return c.Policy.Meta(o) }

// Each setting of the balance acts at once: on how often the policy is asked, and on what it plans
// by.
func TestSetBalance(t *testing.T) {
	p := planning{balance.ProfileConfig{}, new(int), new(int), new(balance.Config)}
	r := newRig(t, func(c *Config) { c.Policy, c.Balance = p, balance.Config{} })
	a := r.join(wire.CellApp, 10)
	a.confirm()
	eve := r.join(wire.Observer, 20)
	asked := func(of *int) int {
		*of = 0
		r.pass(6 * time.Second)
		return *of
	}
	if n, m := asked(p.balances), asked(p.metas); n != 12 || m != 2 {
		t.Fatalf("asked %d and %d times", n, m)
	}
	for _, x := range []struct{ path, text, is, fault string }{
		{"balance/period", "200ms", "200ms", ""},
		{"balance/meta_period", "1s", "1s", ""},
		{"balance/period", "2s", "", "at least Period"},
		{"balance/period", "3", "", "unit"},
		{"balance/lines", "false", "false", ""},
		{"balance/cells", "false", "false", ""},
		{"balance/warning_level", "0.5", "0.5", ""},
		{"balance/warning_level", "NaN", "", "a number"},
		{"balance/warning_level", "-1", "", "more than 0"},
	} {
		got := eve.set(x.path, x.text)
		if x.fault != "" {
			if got.Fault != watch.Refused || !strings.Contains(got.Reason, x.fault) {
				t.Errorf("%s = %s: %+v, want %s", x.path, x.text, got, x.fault)
			}
		} else if got.Fault != 0 || got.Values[0].Text != x.is {
			t.Errorf("%s = %s: %+v", x.path, x.text, got)
		}
	}
	if n, m := asked(p.balances), asked(p.metas); n != 30 || m != 6 {
		t.Errorf("asked %d and %d times afterwards", n, m)
	}
	if !p.by.NoBalance || !p.by.NoMeta {
		t.Errorf("plans by %+v", *p.by)
	}
	r.log.Reset()
	for range 100 {
		a.send(&wire.CellsReport{Load: 6e8})
	}
	if !strings.Contains(r.log.String(), "heavily loaded") {
		t.Error("nobody is warned at the new level")
	}
}

// The bounds of logins act at the next look.
func TestSetLogins(t *testing.T) {
	r := newRig(t, func(c *Config) { c.Logins.Tolerance = time.Hour })
	login, a := r.join(wire.LoginApp, 12), r.join(wire.CellApp, 10)
	eve := r.join(wire.Observer, 20)
	for range 200 {
		a.send(&wire.CellsReport{Load: 5e8})
	}
	r.pass(time.Second)
	none[wire.Logins](login)
	for _, x := range []struct {
		path, text string
		refused    bool
	}{
		{"logins/tolerance", "100ms", false}, {"logins/max_load", "0.3", true}, {"logins/max_load", "0.9", false},
		{"logins/avg_load", "0.3", true}, {"logins/always", "true", false}, {"logins/always", "false", true},
	} {
		if got := eve.set(x.path, x.text); got.Fault != 0 {
			t.Errorf("%s: %+v", x.path, got)
		}
		r.pass(500 * time.Millisecond)
		if r.m.gate.refused != x.refused {
			t.Errorf("%s = %s: refused is %v", x.path, x.text, r.m.gate.refused)
		}
	}
	if got := eve.set("logins/base_load", "0.01"); got.Fault != 0 || r.m.cfg.Logins.BaseLoad != 0.01 {
		t.Errorf("%+v", got)
	}
	for path, text := range map[string]string{"logins/max_load": "-1", "logins/base_load": "x", "logins/tolerance": "-1s"} {
		if got := eve.set(path, text); got.Fault != watch.Refused {
			t.Errorf("%s = %s: %+v", path, text, got)
		}
	}
}

// A shorter time for silence is how long a process lives without a word from then on.
func TestSetTimes(t *testing.T) {
	r := newRig(t, nil)
	a := r.join(wire.CellApp, 10)
	a.mute = true
	eve := r.join(wire.Observer, 20)
	r.pass(2 * time.Second)
	take[wire.Status](eve)
	for path, text := range map[string]string{"silence/app_timeout": "10s", "silence/hang_timeout": "1s", "status/period": "1ms"} {
		if got := eve.set(path, text); got.Fault != watch.Refused {
			t.Errorf("%s = %s: %+v", path, text, got)
		}
	}
	if got := eve.set("status/period", "200ms"); got.Fault != 0 {
		t.Errorf("%+v", got)
	}
	a.send(&wire.Report{})
	if r.pass(2 * time.Second); len(take[wire.Status](eve)) < 9 {
		t.Error("observers are told no more often")
	}
	if r.m.deaths > 0 {
		r.t.Fatal("it died too early")
	}
	a.send(&wire.Report{})
	if got := eve.set("silence/app_timeout", "1500ms"); got.Fault != 0 {
		t.Errorf("%+v", got)
	}
	if r.pass(1700 * time.Millisecond); r.m.deaths != 1 {
		t.Errorf("%d deaths", r.m.deaths)
	}
	b := r.join(wire.CellApp, 11)
	b.mute = true
	r.m.member(b).excuse = excuse{true, 1 << 62} // whoever looks finds its port open
	if got := eve.set("silence/hang_timeout", "2s"); got.Fault != 0 {
		t.Errorf("%+v", got)
	}
	if r.pass(2200 * time.Millisecond); r.m.deaths != 2 {
		t.Errorf("%d deaths", r.m.deaths)
	}
}

// member is a peer as the manager knows it.
func (m *CellAppMgr) member(p *peer) *member { return m.byAddress(p.addr) }

// What all are to trace is told to those who are there, those who come, and those who come back.
func TestTraceAll(t *testing.T) {
	r := newRig(t, nil)
	a, base, login, eve := r.join(wire.CellApp, 10), r.join(wire.BaseApp, 11), r.join(wire.LoginApp, 12), r.join(wire.Observer, 20)
	none[wire.SetWatch](a)
	if got := eve.set("trace/entities", "2048.1 8796093022210"); got.Fault != 0 || got.Values[0].Text != "2048.1,2048.2" {
		t.Errorf("set %+v", got)
	}
	late := r.join(wire.CellApp, 13)
	a.drop(mercury.ErrNoChannel)
	a.reconnect()
	a.sendJoin()
	for _, p := range []*peer{a, base, late} {
		if got := one[wire.SetWatch](p); got.Path != "trace/entities" || got.Text != "2048.1,2048.2" {
			t.Errorf("%v is told %+v", p.role, got)
		} else {
			p.send(&wire.Watched{Number: got.Number, Fault: watch.Refused, Reason: "no"})
		}
	}
	none[wire.SetWatch](login)
	if n := strings.Count(r.log.String(), "does not trace"); n < 3 {
		t.Errorf("%d refusals are logged", n)
	}
	if got := eve.set("trace/entities", "nobody"); got.Fault != watch.Refused || !strings.Contains(got.Reason, "is no id") {
		t.Errorf("set %+v", got)
	}
	none[wire.SetWatch](base)
	eve.set("trace/entities", "")
	if got := one[wire.SetWatch](base); got.Text != "" {
		t.Errorf("told %+v", got)
	}
}

// A game's values that cannot be are told when the process is made.
func TestGameValues(t *testing.T) {
	two := func(t *watch.Tree) {
		watch.Show(t, "a", "", func() int { return 1 })
		watch.Show(t, "a", "", func() int { return 2 })
		watch.Show(t, "No Name", "", func() int { return 2 })
	}
	_, err := New(Config{Transport: &network{}, Schema: newRig(t, nil).m.cfg.Schema, Spaces: newRig(t, nil).m.cfg.Spaces, Watch: two})
	for _, want := range []string{`"game/a" is there twice`, `"game/No Name" is no path`} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if errors.Is(err, watch.Refused) {
		t.Error("that is about no question")
	}
}
