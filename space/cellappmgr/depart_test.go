package cellappmgr

import (
	"testing"

	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/migrate"
)

// A BaseApp may leave when all is where everyone will look for it, and only then.
func TestDepart(t *testing.T) {
	r := newRig(t, nil)
	cell, base, other, third := r.join(wire.CellApp, 10), r.join(wire.BaseApp, 20), r.join(wire.BaseApp, 21), r.join(wire.BaseApp, 22)
	refused := func(what string) {
		t.Helper()
		base.send(&wire.Depart{Request: 5})
		if d := one[wire.Departed](base); d.Request != 5 || d.Reason == "" {
			t.Errorf("%s: %+v", what, d)
		}
	}
	refused("no rule")
	rule := migrate.Rule{Version: 1, Replicas: 1, List: []mercury.Address{at(21)}}
	base.send(&migrate.BackupRule{Rule: rule})
	third.drop(mercury.ErrPeerRestarted)
	number := one[wire.AppDead](cell).Number
	refused("a departure that is not covered")
	rule.Version, rule.Covers, rule.List = 3, number, []mercury.Address{at(21), at(22)}
	base.send(&migrate.BackupRule{Rule: rule})
	base.send(&wire.Depart{Request: 6})
	if d := one[wire.Departed](base); d.Reason == "" {
		t.Error("one of the holders is dead")
	}
	rule.Version, rule.List = 4, []mercury.Address{at(21)}
	base.send(&migrate.BackupRule{Rule: rule})
	take[wire.AppDead](other)
	deaths := r.m.deaths
	base.send(&wire.Depart{Request: 7})
	if d := one[wire.Departed](base); d.Request != 7 || d.Reason != "" {
		t.Errorf("%+v", d)
	}
	for _, p := range []*peer{cell, other} {
		if d := one[wire.AppDead](p); d.App != at(20) || d.Number <= number || d.Rule.Version != 4 {
			t.Errorf("%v heard %+v", p.role, d)
		}
	}
	if r.m.byAddress(at(20)) != nil || r.m.deaths != deaths {
		t.Error("it is still a member, or counts as dead")
	}
}
