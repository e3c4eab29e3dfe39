package cellappmgr

import (
	"errors"
	"testing"
	"time"

	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/space/cluster/status"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestDeathBySilence(t *testing.T) {
	r := newRig(t, nil)
	a, b, first, second := r.split()
	base, login := r.join(wire.BaseApp, 20), r.join(wire.LoginApp, 21)
	for _, p := range r.peers {
		p.ids()
	}
	b.mute, login.mute = true, true
	r.pass(2500 * time.Millisecond)
	none[wire.AppDead](a)
	r.pass(time.Second)

	// The verdict comes before the geometry that follows from it.
	dead, told := wire.AppDead{Role: wire.CellApp, App: at(11)}, wire.AppDead{Role: wire.CellApp, App: at(11), Mourners: []mercury.Address{at(10)}}
	inbox := r.net.inboxes[a.ch]
	if len(inbox) != 3 || wire.ID(inbox[0][0]) != wire.AppDeadID || wire.ID(inbox[1][0]) != wire.GeometryID || wire.ID(inbox[2][0]) != wire.SpaceDataID {
		t.Fatalf("a was sent %x", inbox)
	}
	for p, want := range map[*peer]wire.AppDead{a: dead, base: told} { // only a base waits for those who mourn
		if d := cmp.Diff(want, one[wire.AppDead](p), addresses, cmpopts.EquateEmpty()); d != "" {
			t.Errorf("%v (-want +got):\n%s", p.role, d)
		}
	}
	none[wire.AppDead](login)
	tree := r.tree(one[wire.Geometry](a).Tree)
	if _, _, ok := tree.Leaf(second); ok || tree.Len() != 1 {
		t.Errorf("after the death: %v", tree)
	}
	if _, _, ok := tree.Leaf(first); !ok {
		t.Errorf("the sibling did not take over: %v", tree)
	}
	r.logged("CellApp declared dead", "number=2", "silent for 3s")
	r.logged("cell removed", "cell=1.2")

	// It was only slow: whatever it says, it is told so.
	b.reportCells()
	one[wire.Dismissed](b)
	if d := cmp.Diff([]mercury.ChannelID{b.ch}, r.net.closed); d != "" {
		t.Errorf("closed (-want +got):\n%s", d)
	}
	b.reconnect()
	b.sendJoin()
	one[wire.Dismissed](b)
	none[wire.Welcome](b)
	if n := r.m.Counts().Dismissed; n != 2 {
		t.Errorf("%d dismissed", n)
	}

	// A new start counts as somebody else.
	b.addr.Salt++
	b.reconnect()
	b.sendJoin()
	if w := one[wire.Welcome](b); w.Number != 3 {
		t.Errorf("number %d", w.Number)
	}
	if st := r.m.Status(); st.Deaths != 1 || r.m.Deaths() != 1 || st.Cells != 1 {
		t.Errorf("status: %d and %d deaths, %d cells", st.Deaths, r.m.Deaths(), st.Cells)
	}
}

func TestDeathByChannel(t *testing.T) {
	for _, reason := range []error{mercury.ErrTimeout, mercury.ErrPeerRestarted, mercury.ErrPeerAborted} {
		r := newRig(t, nil)
		a, b, _, _ := r.split()
		a.ids()
		b.drop(reason)
		if d := cmp.Diff([]wire.ID{wire.AppDeadID, wire.GeometryID, wire.SpaceDataID}, a.ids()); d != "" {
			t.Errorf("%v (-want +got):\n%s", reason, d)
		}
		r.logged("CellApp declared dead", reason.Error())
	}
	for _, reason := range []error{mercury.ErrPeerClosed, mercury.ErrFull, errors.New("other")} {
		r := newRig(t, nil)
		a, b, _, _ := r.split()
		a.ids()
		b.drop(reason)
		r.pass(2 * time.Second)
		none[wire.AppDead](a)
		r.pass(2 * time.Second)
		one[wire.AppDead](a)
	}
}

func TestLastCellDies(t *testing.T) {
	r := newRig(t, nil)
	a := r.join(wire.CellApp, 10)
	cell := a.confirm()[0].Cell
	spare := r.join(wire.CellApp, 11)
	a.drop(mercury.ErrPeerRestarted)
	add := one[wire.AddCell](spare)
	if add.First || add.Cell == cell {
		t.Errorf("the space lives on with %+v", add)
	}
	if v := r.tree(add.Tree).Version(); v.N != 3 {
		t.Errorf("version %v", v)
	}
	if ids := spare.ids(); !cmp.Equal(ids, []wire.ID{wire.WelcomeID, wire.AppDeadID, wire.SpaceDataID}) {
		t.Errorf("spare was sent %v", ids)
	}
	r.logged("space has lost its last cell", "space=1")

	// With no CellApp left, the space waits.
	spare.drop(mercury.ErrPeerRestarted)
	if st := r.m.Status(); st.Cells != 0 || len(st.Spaces) != 1 || st.Deaths != 2 {
		t.Errorf("status %+v", st)
	}
	r.pass(5 * time.Second)
	late := r.join(wire.CellApp, 12)
	if add := one[wire.AddCell](late); add.First || r.tree(add.Tree).Version().N != 4 {
		t.Errorf("after a time without CellApps: %+v", add)
	}
}

func TestRestartAtTheSamePlace(t *testing.T) {
	r := newRig(t, nil)
	a, b, _, _ := r.split()
	a.ids()
	fresh := at(11)
	fresh.Salt++
	p := r.connect(wire.CellApp, fresh)
	p.sendJoin()
	if d := one[wire.AppDead](a); d.App != b.addr {
		t.Errorf("dead: %v", d.App)
	}
	if w := one[wire.Welcome](p); w.Number != 3 {
		t.Errorf("number %d", w.Number)
	}
}

func TestBaseAppDies(t *testing.T) {
	r := newRig(t, nil)
	cell, base, other := r.join(wire.CellApp, 10), r.join(wire.BaseApp, 20), r.join(wire.BaseApp, 21)
	base.send(&wire.Report{Ticks: 5, Clients: 3, Pending: 9, Counters: status.Counters{FlowSent: 11}})
	base.drop(mercury.ErrTimeout)
	if d := one[wire.AppDead](cell); d.Role != wire.BaseApp || d.App != at(20) {
		t.Errorf("dead: %+v", d)
	}
	if d := one[wire.AppDead](other); d.App != at(20) {
		t.Errorf("dead: %+v", d)
	}
	st := r.m.Status()
	if st.Clients != 0 || st.Pending != 0 || st.Ticks != 5 || st.Counters.FlowSent != 11 {
		t.Errorf("after the death: %d clients, %d pending, %d ticks, %d sent", st.Clients, st.Pending, st.Ticks, st.Counters.FlowSent)
	}
}

// TestNewcomersAreTold: a newcomer hears of those who died before it came, ahead of its first cell.
func TestNewcomersAreTold(t *testing.T) {
	r := newRig(t, nil)
	a := r.join(wire.CellApp, 10)
	base := r.join(wire.BaseApp, 20)
	for _, p := range r.peers {
		p.ids()
	}
	issued := r.m.byAddress(at(20)).allocator
	base.mute = true
	r.pass(4 * time.Second)
	dead := wire.AppDead{Role: wire.BaseApp, App: at(20), Number: 1<<32 + 1, Allocator: issued}
	if d := cmp.Diff(dead, one[wire.AppDead](a), addresses); d != "" {
		t.Fatal(d)
	}
	for _, role := range []wire.Role{wire.CellApp, wire.BaseApp, wire.LoginApp} {
		p := r.connect(role, at(30+int(role)))
		p.sendJoin()
		switch mourner := mourns(role, wire.BaseApp); {
		case mourner:
			if d := cmp.Diff(dead, one[wire.AppDead](p), addresses); d != "" {
				t.Errorf("a new %v: %s", role, d)
			}
		case !mourner:
			none[wire.AppDead](p)
		}
	}
}

// Apps of other roles are forgotten without a verdict.
func TestOthersLeave(t *testing.T) {
	r := newRig(t, nil)
	cell, login, watch := r.join(wire.CellApp, 10), r.join(wire.LoginApp, 20), r.join(wire.Observer, 21)
	login.drop(mercury.ErrTimeout)
	watch.drop(mercury.ErrPeerClosed)
	none[wire.AppDead](cell)
	if st := r.m.Status(); len(st.Apps) != 2 || st.Deaths != 0 {
		t.Errorf("status %+v", st)
	}
	login.reconnect()
	login.sendJoin()
	if w := one[wire.Welcome](login); w.Number != 2 {
		t.Errorf("number %d", w.Number)
	}
}

// A manager that was stalled does not judge anyone by that time, or by channels that were given up
// during it.
func TestManagerStalls(t *testing.T) {
	r := newRig(t, nil)
	a, b, _, _ := r.split()
	a.ids()
	r.pass(5 * time.Second)
	r.now += time.Minute
	b.drop(mercury.ErrPeerAborted)
	r.m.Tick(r.now)
	none[wire.AppDead](a)
	b.reconnect()
	b.sendJoin()
	one[wire.Welcome](b)
	r.pass(10 * time.Second)
	none[wire.AppDead](a)
	r.logged("the manager was stalled", "stall=1m")
	if n := r.m.Counts().Stalls; n != 1 {
		t.Errorf("%d stalls", n)
	}

	// Whoever does not come back is dead in the end.
	r.now += time.Minute
	b.drop(mercury.ErrTimeout)
	r.pass(2 * time.Second)
	none[wire.AppDead](a)
	r.pass(1500 * time.Millisecond)
	one[wire.AppDead](a)
}
