package cellappmgr

import (
	"slices"
	"testing"
	"time"

	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
)

// named is everything that a member was told of the others.
func named(p *peer) (out []wire.AppRef) {
	for _, m := range take[wire.Members](p) {
		out = append(out, m.Apps...)
	}
	return out
}

func ref(p *peer) wire.AppRef { return wire.AppRef{Role: p.role, App: p.addr} }

// Everyone is told of all CellApps and BaseApps, whoever joins first, and is told again when it
// comes back over another channel.
func TestMembersAreNamed(t *testing.T) {
	r := newRig(t, nil)
	a := r.join(wire.CellApp, 10)
	if got := named(a); len(got) != 0 {
		t.Errorf("the first was told of %v", got)
	}
	base := r.join(wire.BaseApp, 20)
	login := r.join(wire.LoginApp, 30)
	b := r.join(wire.CellApp, 11)
	for p, want := range map[*peer][]wire.AppRef{
		a: {ref(base), ref(b)}, base: {ref(a), ref(b)}, b: {ref(a), ref(base)}, login: nil,
	} {
		if got := named(p); !slices.Equal(got, want) {
			t.Errorf("%v %v was told of %v, want %v", p.role, p.addr, got, want)
		}
	}
	base.drop(mercury.ErrUnacked)
	base.reconnect()
	base.sendJoin()
	if got, want := named(base), []wire.AppRef{ref(a), ref(b)}; !slices.Equal(got, want) {
		t.Errorf("told again of %v, want %v", got, want)
	}
	r.pass(2 * time.Second)
	for _, p := range []*peer{a, b, base} {
		if got := named(p); len(got) != 0 {
			t.Errorf("told without a reason of %v", got)
		}
	}
}
