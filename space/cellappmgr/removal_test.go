package cellappmgr

import (
	"slices"
	"testing"
	"time"

	"github.com/cellscape/cellscape/balance"
	"github.com/cellscape/cellscape/bsp"
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
)

// given is a policy that plans what a test says, once.
type given struct{ plan balance.Plan }

// givenConfig makes it the policy of a manager.
type givenConfig struct {
	balance.PolicyConfig
	given *given
}

// New implements balance.PolicyConfig.
func (g givenConfig) New(balance.Config, balance.Border) (balance.Policy, error) { return g.given, nil }

// Balance implements balance.Policy.
func (g *given) Balance(*balance.Observation) balance.Plan {
	p := g.plan
	g.plan = balance.Plan{}
	return p
}

// Meta implements balance.Policy.
func (g *given) Meta(*balance.Observation) balance.Plan { return balance.Plan{} }

// Line implements balance.Policy.
func (g *given) Line(uint32, bsp.NodeID) (balance.LineState, bool) { return balance.LineState{}, false }

// fourCells is a manager with cells 1 to 4 of space 1, on the apps 10 to 13.
func fourCells(t *testing.T) (*rig, *given, []*peer) {
	in := &given{}
	r := next(t, func(c *Config) { c.Policy = givenConfig{balance.ProfileConfig{}, in} })
	tree := bsp.New(bsp.Version{Term: 1, N: 7}, leafOf(10, 1, true))
	for i := range 3 {
		if err := tree.Split(old(uint32(1+i)), bsp.AxisX, float64(100*i), leafOf(11+i, uint32(2+i), true), true); err != nil {
			t.Fatal(err)
		}
	}
	r.remember(tree)
	var apps []*peer
	for i := range 4 {
		apps = append(apps, r.comeBack(wire.CellApp, 10+i, uint32(1+i), wire.Rejoin{}, has(uint32(1+i), tree)))
	}
	r.pass(2100 * time.Millisecond)
	for _, p := range apps {
		p.ids()
	}
	return r, in, apps
}

func removalsOf(cells ...uint32) (p balance.Plan) {
	for _, n := range cells {
		p.Removals = append(p.Removals, balance.Ref{Space: 1, Cell: old(n)})
	}
	return p
}

// Two cells that one plan removes owe each other an ack. (The geometry used to be made when the
// first cell was out of the space and the second only out of the tree, which caused a panic.)
func TestTwoCellsGoAtOnce(t *testing.T) {
	r, in, apps := fourCells(t)
	in.plan = removalsOf(2, 4)
	r.pass(time.Second)
	for _, tt := range []struct{ app, other int }{{1, 13}, {3, 11}} {
		order := one[wire.RemoveCell](apps[tt.app])
		want := []mercury.Address{at(10), at(12), at(tt.other)}
		if order.Cell != old(uint32(tt.app+1)) || !slices.Equal(order.Peers, want) {
			t.Errorf("app %d is told to remove %v with the acks of %v, want %v", tt.app, order.Cell, order.Peers, want)
		}
	}
	if st := r.m.Status(); st.Cells != 2 || st.Removing != 2 || r.m.Removing() != 2 {
		t.Errorf("%d cells, %d and %d going", st.Cells, st.Removing, r.m.Removing())
	}
}

// A CellApp that retires is not let go while another one waits for its ack.
func TestRetiredWhenNobodyWaits(t *testing.T) {
	r, in, apps := fourCells(t)
	apps[1].send(&wire.RetireApp{})
	in.plan = removalsOf(2, 4)
	r.pass(time.Second)
	apps[1].send(&wire.CellRemoved{Space: 1, Cell: old(2)})
	r.pass(time.Second)
	none[wire.Retired](apps[1])
	if going := take[wire.CellGoing](apps[1]); len(going) < 2 || going[len(going)-1].Cell != old(4) {
		t.Errorf("it is asked for %+v", going)
	}
	apps[3].send(&wire.CellRemoved{Space: 1, Cell: old(4)})
	r.pass(time.Second)
	one[wire.Retired](apps[1])
}

// Whoever asks about a CellApp that was let go is told that it has left; about one that is a
// member, or is coming back as one, nothing is said.
func TestAppSilent(t *testing.T) {
	r, in, apps := fourCells(t)
	base := r.join(wire.BaseApp, 20)
	late := r.connect(wire.CellApp, at(21))
	late.send(&wire.Join{Speaks: wire.Spoken(), Role: wire.CellApp, Digest: digest, Term: 1})
	ask := func(n int) []wire.AppLeft {
		base.send(&wire.AppSilent{App: at(n)})
		return take[wire.AppLeft](base)
	}
	for _, n := range []int{11, 21} {
		if got := ask(n); len(got) != 0 {
			t.Errorf("of app %d: %+v", n, got)
		}
	}
	apps[1].send(&wire.RetireApp{})
	in.plan = removalsOf(2)
	r.pass(time.Second)
	if got := ask(11); len(got) != 0 {
		t.Errorf("while it retires: %+v", got)
	}
	apps[1].send(&wire.CellRemoved{Space: 1, Cell: old(2)})
	r.pass(time.Second)
	one[wire.Retired](apps[1])
	for range 2 {
		if got := ask(11); len(got) != 1 || got[0].App != at(11) {
			t.Errorf("of one that has retired: %+v", got)
		}
	}
	before := r.m.Counts().Misplaced
	apps[0].send(&wire.AppSilent{App: at(11)})
	none[wire.AppLeft](apps[0])
	if n := r.m.Counts().Misplaced - before; n != 1 {
		t.Errorf("%d misplaced, want 1: a CellApp has no bases", n)
	}
}

// A CellApp that is to be shut down gets the first cell of a space only if there is no other
// CellApp. (While all were to be shut down, no space used to get one, neither a new one nor one
// that had lost its last, and the bases of its entities waited.)
func TestRetiringAppIsTheLastChoice(t *testing.T) {
	r, a, base := roomRig(t, nil)
	a.confirm()
	idle := r.join(wire.CellApp, 11)
	idle.ids()
	a.send(&wire.RetireApp{})
	idle.send(&wire.CellsReport{Load: 9e8})
	id := base.ask(1, aRoom()).Space
	if add := idle.confirm(); len(add) != 1 || add[0].Space != id {
		t.Fatalf("a CellApp stays, and is given %+v", add)
	}

	idle.drop(mercury.ErrPeerRestarted)
	add := one[wire.AddCell](a)
	if add.Space != id || add.First {
		t.Errorf("the room has a cell again by %+v", add)
	}
	a.send(&wire.CellCreated{Space: id, Cell: add.Cell})
	fresh := base.ask(2, aRoom()).Space
	if add := a.confirm(); len(add) != 1 || add[0].Space != fresh {
		t.Errorf("for a new room it is given %+v", add)
	}
	for _, room := range []entity.SpaceID{id, fresh} {
		base.send(&wire.Locate{ID: 5, Space: room})
		if l := one[wire.Located](base); l.App != at(10) {
			t.Errorf("in space %d entities are made on %v", room, l.App)
		}
	}
	r.pass(time.Second)
	none[wire.Retired](a)
}

// A space that some app was told has ended ends for the next manager, on all its cells, whoever
// else thinks that it goes on. A space of the Config cannot have ended.
func TestEndedForTheNextManager(t *testing.T) {
	r := next(t, nil)
	id := entity.SpaceID(1<<24 | 1)
	tree := bsp.New(bsp.Version{Term: 1, N: 3}, leafOf(10, 1, true))
	if err := tree.Split(old(1), bsp.AxisX, 0, leafOf(11, 2, true), true); err != nil {
		t.Fatal(err)
	}
	cell := func(n uint32, ended bool) wire.RejoinCell {
		return wire.RejoinCell{
			Space: id, Cell: old(n), Version: tree.Version(), Tree: tree.Append(nil), Ended: ended,
			Info: appendSpaceInfo(nil, &origin{info: aRoom(), owner: at(20), request: 1}),
		}
	}
	kept := has(3, r.remember(bsp.New(bsp.Version{Term: 1, N: 4}, leafOf(12, 3, true))))
	kept.Ended = true
	a := r.comeBack(wire.CellApp, 10, 1, wire.Rejoin{}, cell(1, true))
	b := r.comeBack(wire.CellApp, 11, 2, wire.Rejoin{}, cell(2, false))
	c := r.comeBack(wire.CellApp, 12, 3, wire.Rejoin{}, kept)
	r.pass(2100 * time.Millisecond)
	for i, p := range []*peer{a, b} {
		orders := take[wire.RemoveCell](p)
		if len(orders) == 0 || !orders[0].Ended || orders[0].Space != id {
			t.Fatalf("app %d is ordered %+v", i, orders)
		}
		p.send(&wire.CellRemoved{Space: id, Cell: old(uint32(i + 1))})
	}
	none[wire.RemoveCell](c)
	if r.m.space(id) != nil || r.m.Status().Cells != 1 {
		t.Errorf("the space is still there: %+v", r.m.Status())
	}
}
