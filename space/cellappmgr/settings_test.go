package cellappmgr

import (
	"testing"
	"time"

	"github.com/cellscape/cellscape/internal/spacekey"
	"github.com/cellscape/cellscape/internal/trace"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/space/cluster/watch"
)

// What an operator has set of a manager, the next one sets anew: the lines rest, and processes that join it
// trace the same entities. It used to forget both. What cannot be set any more is said, and what the game
// does when a value of its own is set is done once.
func TestSettingsSurvive(t *testing.T) {
	counted := 0
	game := func(c *Config) {
		c.Watch = func(t *watch.Tree) {
			watch.Setting(t, "begun", "events", func() int { return counted }, func(int) error { counted++; return nil })
		}
	}
	r := newRig(t, game)
	eve := r.join(wire.Observer, 20)
	for _, x := range [][2]string{{"balance/lines", "false"}, {trace.Path, "2.1"}, {"balance/lines", "true"}, {"balance/lines", "false"}, {"game/begun", "1"}} {
		if a := eve.set(x[0], x[1]); a.Fault != 0 {
			t.Fatalf("%v: %+v", x, a)
		}
	}
	told := one[wire.SharedData](r.join(wire.BaseApp, 10))
	if len(told.Data) != 2 {
		t.Fatalf("who joins is told %+v", told)
	}

	r = next(t, game)
	p := r.connect(wire.BaseApp, at(10))
	p.send(&wire.Join{Speaks: wire.Spoken(), Role: p.role, Digest: digest, Term: 1})
	p.send(&wire.Rejoin{Number: 1, Allocator: 1})
	told.Data = append(told.Data, wire.SpaceDataEntry{Number: told.Last + 1, Key: spacekey.Setting, Name: "what/was", Value: []byte("1")})
	p.send(&told)
	p.send(&wire.RejoinEnd{})
	r.pass(2100 * time.Millisecond)
	if !r.m.cfg.Balance.NoBalance || counted != 1 {
		t.Errorf("lines rest: %v; the game's is set %d times", r.m.cfg.Balance.NoBalance, counted)
	}
	r.logged("what/was")
	for _, a := range []*peer{p, r.join(wire.CellApp, 11)} {
		if q := take[wire.SetWatch](a); len(q) != 1 || q[0].Path != trace.Path || q[0].Text != "2.1" {
			t.Errorf("%v is to set %+v", a.role, q)
		}
	}
	p.send(&wire.SetSpaceData{Key: spacekey.Setting, Name: "balance/lines", Value: []byte("true"), Said: 1})
	if r.m.Counts().RefusedData != 1 {
		t.Error("an app sets what is the manager's")
	}
}
