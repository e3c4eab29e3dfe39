package cellappmgr

import (
	"strings"
	"testing"
	"time"

	"github.com/cellscape/cellscape/internal/app"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
	"github.com/google/go-cmp/cmp"
)

func TestJoin(t *testing.T) {
	r := newRig(t, func(c *Config) { c.Term, c.RecoveryWindow = 3, -1 })
	r.pass(time.Second)
	tests := []struct {
		role      wire.Role
		number    uint32
		allocator uint32
	}{
		{wire.CellApp, 1, 3<<13 | 1<<1},
		{wire.BaseApp, 1, 3<<13 | 1<<1 | 1},
		{wire.CellApp, 2, 3<<13 | 2<<1},
		{wire.LoginApp, 1, 0},
		{wire.Observer, 1, 0},
		{wire.BaseApp, 2, 3<<13 | 2<<1 | 1},
	}
	for i, tt := range tests {
		p := r.join(tt.role, 10+i)
		got := one[wire.Welcome](p)
		want := wire.Welcome{Number: tt.number, Allocator: tt.allocator, Term: 3, GameTime: time.Second, CellAppMgr: at(1)}
		if d := cmp.Diff(want, got, addresses); d != "" {
			t.Errorf("%v: welcome (-want +got):\n%s", tt.role, d)
		}
		if tt.allocator != 0 {
			if _, err := app.NewAllocator(got.Allocator); err != nil {
				t.Error(err)
			}
		}
		r.logged(tt.role.String()+" joined", p.addr.String())
	}
	if r.net.dialled != 0 {
		t.Error("the manager dialled; everyone is told over the channel that it joined on")
	}
}

var addresses = cmp.Comparer(func(a, b mercury.Address) bool { return a == b })

func TestBaseAppMgrIsTold(t *testing.T) {
	r := newRig(t, nil)
	cell, base, login, watch := r.join(wire.CellApp, 10), r.join(wire.BaseApp, 11), r.join(wire.LoginApp, 12), r.join(wire.Observer, 13)
	for _, p := range r.peers {
		one[wire.Welcome](p)
	}
	mgr := r.join(wire.BaseAppMgr, 20)
	for _, p := range []*peer{cell, base, login, mgr} {
		if got := one[wire.Welcome](p); got.BaseAppMgr != at(20) {
			t.Errorf("%v: BaseAppMgr at %v", p.role, got.BaseAppMgr)
		}
	}
	none[wire.Welcome](watch)

	second := r.join(wire.BaseAppMgr, 21)
	if got := one[wire.Refused](second); !strings.Contains(got.Reason, at(20).String()) {
		t.Errorf("a second BaseAppMgr: %q", got.Reason)
	}

	mgr.drop(mercury.ErrTimeout)
	none[wire.Welcome](base)
	if got := one[wire.Welcome](r.join(wire.BaseApp, 14)); !got.BaseAppMgr.IsZero() {
		t.Errorf("BaseAppMgr still at %v", got.BaseAppMgr)
	}
	r.join(wire.BaseAppMgr, 22)
	if got := one[wire.Welcome](base); got.BaseAppMgr != at(22) || got.Number != 1 || got.Allocator != 1<<13|1<<1|1 {
		t.Errorf("after the BaseAppMgr moved: %+v", got)
	}
}

func TestRefused(t *testing.T) {
	r := newRig(t, nil)
	other := r.connect(wire.CellApp, at(10))
	other.send(&wire.Join{Speaks: wire.Spoken(), Role: wire.CellApp, Digest: [16]byte{9}})
	if got := one[wire.Refused](other); !strings.Contains(got.Reason, "definitions") {
		t.Errorf("reason %q does not name the definitions", got.Reason)
	}
	none[wire.Welcome](other)
	r.logged("refused to join", "definitions", at(10).String())

	for i := range 50 { // a forgotten world is no flood of the log
		x := r.connect(wire.CellApp, at(60+i))
		x.send(&wire.Join{Speaks: wire.Spoken(), Role: wire.CellApp, Digest: [16]byte{9}})
		one[wire.Refused](x)
	}
	if n := strings.Count(r.log.String(), "refused to join"); n != 1 {
		t.Errorf("%d lines in one moment", n)
	}

	manager := r.connect(wire.CellAppMgr, at(11))
	manager.send(&wire.Join{Speaks: wire.Spoken(), Role: wire.CellAppMgr, Digest: digest})
	one[wire.Refused](manager)

	app := r.join(wire.CellApp, 12)
	app.send(&wire.Join{Speaks: wire.Spoken(), Role: wire.BaseApp, Digest: digest})
	if got := one[wire.Refused](app); !strings.Contains(got.Reason, "CellApp 1") {
		t.Errorf("reason %q", got.Reason)
	}

	r.m.starts[wire.BaseApp] = MaxStarts - 1
	one[wire.Welcome](r.join(wire.BaseApp, 13))
	if got := one[wire.Refused](r.join(wire.BaseApp, 14)); !strings.Contains(got.Reason, "higher term") {
		t.Errorf("reason %q", got.Reason)
	}
}

func TestJoinTwice(t *testing.T) {
	r := newRig(t, nil)
	p := r.join(wire.CellApp, 10)
	first := one[wire.Welcome](p)
	p.sendJoin()
	if again := one[wire.Welcome](p); again.Number != first.Number || again.Allocator != first.Allocator {
		t.Errorf("the same start got %+v, then %+v", first, again)
	}
}

// A process whose channel broke is the same member when it comes back in time, and hears what it
// may have missed.
func TestRejoin(t *testing.T) {
	r := newRig(t, nil)
	p, other := r.join(wire.CellApp, 10), r.join(wire.CellApp, 11)
	p.confirm()
	base := r.join(wire.BaseApp, 12)
	base.send(&wire.SetSpaceData{Space: 1, Key: 7, Value: []byte("dusk")})
	first := one[wire.Welcome](p)
	p.drop(mercury.ErrFull)
	r.logged("channel lost", "CellApp 1")
	other.drop(mercury.ErrPeerAborted)

	r.pass(time.Second)
	p.reconnect()
	p.sendJoin()
	if again := one[wire.Welcome](p); again.Number != first.Number {
		t.Errorf("number %d, then %d", first.Number, again.Number)
	}
	if dead := one[wire.AppDead](p); dead.App != at(11) {
		t.Errorf("dead %v", dead.App)
	}
	if tree := r.tree(one[wire.Geometry](p).Tree); tree.Version().N != 2 {
		t.Errorf("geometry %v", tree.Version())
	}
	if d := one[wire.SpaceData](p); string(d.Entry.Value) != "dusk" {
		t.Errorf("space data %q", d.Entry.Value)
	}
	r.pass(10 * time.Second)
	none[wire.Dismissed](p)
}

func TestRejoinWithUnconfirmedCell(t *testing.T) {
	r := newRig(t, nil)
	p := r.join(wire.CellApp, 10)
	one[wire.AddCell](p)
	old := p.ch
	p.reconnect() // before the manager has noticed that the old channel is gone
	p.sendJoin()
	one[wire.AddCell](p)
	if d := cmp.Diff([]mercury.ChannelID{old}, r.net.aborted); d != "" {
		t.Errorf("aborted (-want +got):\n%s", d)
	}
}

func TestConfigFaults(t *testing.T) {
	_, err := New(Config{Term: MaxTerm + 1, MinCellApps: -1, Spaces: []SpaceConfig{{}, {ID: 2, MinCells: -1}, {ID: 2, KeepFor: time.Minute}}})
	if err == nil {
		t.Fatal("no fault found")
	}
	for _, want := range []string{"Transport", "Schema", "Term", "MinCellApps", "Spaces[0].ID", "Spaces[0]: Bounds", "Spaces[2].ID is 2 again", "MinCells is -1", "Spaces[2].KeepFor"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("no fault about %s in:\n%v", want, err)
		}
	}
	_, err = New(Config{AppTimeout: 900 * time.Millisecond, RecoveryWindow: time.Second, MinCellApps: MaxStarts + 1})
	for _, want := range []string{"AppTimeout is 900ms", "RecoveryWindow is 1s", "MinCellApps is 4096"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("no fault about %s in:\n%v", want, err)
		}
	}
	if _, err := New(Config{}); err == nil || !strings.Contains(err.Error(), "0 Spaces") {
		t.Errorf("a manager without spaces: %v", err)
	}
}
