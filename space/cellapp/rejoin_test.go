package cellapp

import (
	"slices"
	"testing"
	"time"

	"github.com/cellscape/cellscape/bsp"
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/migrate"
)

// dial lets the app dial the manager, and answers as the manager's given start.
func (r *rig) dial(salt uint32) {
	r.t.Helper()
	r.app.Closed(r.now, r.mgr, mercury.ErrPeerRestarted)
	r.net.closed[r.mgr] = true
	r.net.sent = nil
	r.tick(12)
	for i, p := range r.net.peers {
		if p.At == manager && !r.net.closed[mercury.ChannelID(i+1)] {
			r.net.peers[i].Salt = salt
			r.mgr = mercury.ChannelID(i + 1)
		}
	}
	r.app.Opened(r.now, r.mgr, r.net.peers[r.mgr-1])
}

func (r *rig) toManager(salt uint32) []sent {
	return r.net.to(mercury.Address{At: manager, Salt: salt})
}

// TestTellsAnotherManager checks that a CellApp tells a restarted CellAppMgr all that it has, and
// takes no orders before its Welcome.
func TestTellsAnotherManager(t *testing.T) {
	r := newRig(t)
	r.world()
	r.manage(&wire.AppDead{Role: wire.BaseApp, App: addr(5), Number: 7, Allocator: 9, Rule: migrate.Rule{Version: 3}})
	r.manage(&wire.Members{Apps: []wire.AppRef{{Role: wire.BaseApp, App: addr(8)}}}) // of which nothing is here
	r.manage(&wire.Freeze{On: true})
	r.app.Retire("old hardware")
	r.dial(77)
	list := r.toManager(77)
	want := []wire.ID{wire.JoinID, wire.RejoinID, wire.RejoinCellID, wire.RejoinRuleID, wire.RejoinEndID}
	if got := ids(list); !slices.Equal(got, want) {
		t.Fatalf("it said %v, want %v", got, want)
	}
	var j wire.Join
	var m wire.Rejoin
	var c wire.RejoinCell
	var rule wire.RejoinRule
	var end wire.RejoinEnd
	for i, p := range []interface{ Parse([]byte) error }{&j, &m, &c, &rule, &end} {
		if err := p.Parse(list[i].body); err != nil {
			t.Fatal(err)
		}
	}
	if j.Term != 1 || m.Number != 4 || m.Allocator != 6 || m.GameTime < time.Hour || !m.Frozen || !m.Retiring || end.Cells != 1 || end.Rules != 1 {
		t.Errorf("%+v %+v %+v", j, m, end)
	}
	if rule.App != addr(5) || rule.Departed != 7 || rule.Allocator != 9 || rule.Rule.Version != 3 {
		t.Errorf("%+v", rule)
	}
	if len(m.Graves) != 1 || m.Graves[0] != (wire.AppRef{Role: wire.BaseApp, App: addr(5)}) {
		t.Errorf("graves %v", m.Graves)
	}
	if want := []wire.AppRef{{Role: wire.CellApp, App: addr(2)}, {Role: wire.BaseApp, App: addr(3)}, {Role: wire.BaseApp, App: addr(8)}}; !slices.Equal(m.Peers, want) {
		t.Errorf("peers %v", m.Peers)
	}
	told, err := bsp.Parse(c.Tree)
	if err != nil || c.Space != 1 || c.Cell != (bsp.CellID{Term: 1, N: 1}) || c.Version != told.Version() || c.Version.N != 1 {
		t.Errorf("cell %+v: %v", c, err)
	}
	if len(c.Data) != 1 || c.Data[0].Key != 5 || string(c.Info) != "info" {
		t.Errorf("data %v, info %q", c.Data, c.Info)
	}

	// It has not shown its term yet.
	refused := r.app.Counters().Refused
	r.manage(&wire.Freeze{})
	r.manage(&wire.AppDead{Role: wire.CellApp, App: addr(2)})
	r.tick(10)
	if n := r.app.Counters().Refused - refused; n != 2 || !r.app.population.Frozen() || r.app.links.Dead(addr(2)) {
		t.Errorf("%d orders refused", n)
	}
	if got := r.toManager(77); len(got) != 0 {
		t.Errorf("it reports %v", ids(got))
	}
	(*outbox)(r.app).SetSpaceData(1, entity.SpaceDatum{Key: 5, Value: []byte("dusk")})
	r.manage(&wire.Welcome{Number: 4, Allocator: 6, Term: 2, GameTime: time.Minute})
	if got := ids(r.toManager(77)); !slices.Equal(got, []wire.ID{wire.SetSpaceDataID, wire.RetireAppID}) {
		t.Errorf("welcomed, it says %v", got)
	}
	r.manage(&wire.Freeze{})
	if r.app.population.Frozen() {
		t.Error("the new manager is not heeded")
	}
}

// TestOldManagerIsNotHeeded checks that a manager which was only stalled while another took its
// place can give no more orders, not even a verdict of death.
func TestOldManagerIsNotHeeded(t *testing.T) {
	r := newRig(t)
	r.world()
	r.dial(77)
	r.manage(&wire.Welcome{Number: 4, Allocator: 6, Term: 2})
	r.dial(9)
	r.manage(&wire.Dismissed{Term: 1})
	r.manage(&wire.Welcome{Number: 8, Allocator: 8, Term: 1})
	r.manage(&wire.Freeze{On: true})
	if r.app.Dismissed() || r.app.population.Frozen() || r.app.Number() != 4 || len(r.app.cells) != 1 {
		t.Error("it obeys")
	}
	r.net.dialled = nil
	r.tick(12)
	if !slices.Contains(r.net.dialled, mercury.Address{At: manager}) {
		t.Error("it does not look for the other")
	}

	// It need not tell anything to the manager that it knows.
	r.dial(77)
	if got := ids(r.toManager(77)); len(got) != 1 || got[0] != wire.JoinID {
		t.Errorf("it says %v", got)
	}
}
