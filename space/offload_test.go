package space

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cellscape/cellscape/bsp"
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/ghost"
	"github.com/cellscape/cellscape/migrate"
	"github.com/cellscape/cellscape/property"
)

func TestOffloadBandAndDwell(t *testing.T) {
	r := newRig(t, 2, func(c *Config) { c.Dwell = time.Second })
	r.create(7, -50, 0)
	home := func() int { return int(r.real(7).cell.id.N) }
	r.tick(3)
	r.move(7, 5) // within the band
	r.tick(8)
	if home() != 1 {
		t.Error("offloaded before the dwell is over")
	}
	r.move(7, -5)
	r.tick(3)
	r.move(7, 5)
	r.tick(8)
	if home() != 1 {
		t.Error("the dwell counts on after a return")
	}
	r.tick(6)
	if home() != 2 {
		t.Error("not offloaded after the dwell")
	}
	r.move(7, -11) // beyond the band
	r.tick(3)
	if home() != 1 {
		t.Error("not offloaded at once beyond the band")
	}
	r.diary(7, "created;leaving;entering;entered;leaving;entering;entered;")
	if r.apps[0].count.Migrations != 1 || r.apps[1].count.Migrations != 1 || r.bases[7].app != addr(1) {
		t.Error("migrations are not counted, or the base not told")
	}
	r.calm()
}

// TestSteppingAboutALineHandsNobodyOver also has reals that stay beyond the line, within the band.
func TestSteppingAboutALineHandsNobodyOver(t *testing.T) {
	r := newRig(t, 2)
	for id := range 20 {
		r.create(entity.ID(id+1), -5, 0)
	}
	for step := range 600 {
		for id := range 20 {
			at := float32(9)
			if step%(id+1) < (id+1)/2 {
				at = -9
			}
			r.move(entity.ID(id+1), at)
		}
		r.tick(1)
	}
	if n := r.apps[0].count.Migrations + r.apps[1].count.Migrations; n != 0 {
		t.Errorf("%d were handed over", n)
	}
	r.calm()
}

func TestOffloadBudget(t *testing.T) {
	r := newRig(t, 2, func(c *Config) { c.Border.OffloadRate = 3000; c.CheckPeriod = time.Millisecond })
	for id := range entity.ID(8) {
		r.create(id+1, -50, 0)
	}
	r.tick(1)
	for id := range entity.ID(8) {
		r.move(id+1, 50)
	}
	for _, want := range []int{3, 6, 8} {
		r.tick(1)
		if got := r.apps[1].cell.Reals(); got != want {
			t.Fatalf("%d have moved, want %d", got, want)
		}
	}
}

func TestGhostBudget(t *testing.T) {
	r := newRig(t, 2, func(c *Config) { c.GhostBudget = 3; c.CheckPeriod = time.Millisecond })
	for id := range entity.ID(5) {
		r.create(id+1, -50, 0)
	}
	for _, want := range []int{3, 5} {
		r.tick(1)
		if got := r.apps[1].cell.Ghosts(); got != want {
			t.Fatalf("%d ghosts, want %d", got, want)
		}
	}
}

func TestNotOffloadedTo(t *testing.T) {
	r := newRig(t, 2)
	r.create(7, -50, 0)
	tree := r.apps[0].cell.tree.Clone()
	tree.SetVersion(bsp.Version{Term: 1, N: 2})
	l, _, _ := tree.Leaf(cellID(2))
	l.Created = false
	r.apps[0].cell.SetTree(tree)
	r.move(7, 50)
	r.tick(5)
	if r.real(7).cell.id != cellID(1) || r.apps[1].cell.Ghosts() != 0 {
		t.Error("something was sent to a cell that is not created")
	}
	r.apps[0].cell.SetTree(func() *bsp.Tree { o := tree.Clone(); o.SetVersion(bsp.Version{Term: 1, N: 1}); return o }())
	if r.apps[0].cell.Tree().Version() != (bsp.Version{Term: 1, N: 2}) {
		t.Error("an older geometry was taken")
	}
}

// A check visits all who are near a line: one for each version that only tells loads would be one a second
// more for nothing.
func TestOnlyNewsOfCellsIsChecked(t *testing.T) {
	r := newRig(t, 2)
	c := r.apps[0].cell
	r.tick(1)
	due := c.checkAt
	for i, tt := range []struct {
		name   string
		change func(*bsp.Leaf, *bsp.Tree)
		check  bool
	}{
		{"loads", func(l *bsp.Leaf, _ *bsp.Tree) { l.Load, l.Overloaded = 1e9, true }, false},
		{"created", func(l *bsp.Leaf, _ *bsp.Tree) { l.Created = !l.Created }, true},
		{"retiring", func(l *bsp.Leaf, x *bsp.Tree) { _ = x.Retire(l.Cell) }, true},
		{"a line", func(l *bsp.Leaf, x *bsp.Tree) { p, _ := x.Parent(l.Cell); _ = x.MoveLine(p.ID, p.Line+1) }, true},
		{"loads again", func(l *bsp.Leaf, _ *bsp.Tree) { l.Load = 2e9 }, false},
	} {
		next := c.tree.Clone()
		next.SetVersion(bsp.Version{Term: 1, N: uint32(i + 2)})
		l, _, _ := next.Leaf(cellID(2))
		tt.change(l, next)
		c.checkAt = due
		c.SetTree(next)
		if c.tree != next || (c.checkAt == 0) != tt.check {
			t.Errorf("%s: version %v, check at %v, want a check: %v", tt.name, c.Tree().Version(), c.checkAt, tt.check)
		}
	}
}

func TestGhostBecomesRealAndBack(t *testing.T) {
	r := newRig(t, 3)
	r.create(7, -50, 0)
	r.tick(3)
	r.avatar(7).Hp.Set(1)
	r.avatar(7).Trade.Set(2)
	r.tick(1)
	g := r.ghost(2, 7)
	if g == nil || g.Entity.Props.Get(hpProp).Uint() != 1 || g.Entity.Props.Get(tradeProp).Uint() != 2 || g.Entity.Props.Holds(diaryProp) {
		t.Fatal("the ghost is not as it should be")
	}
	record := g.Entity
	for i, x := range []float32{50, -50, 50, 450, 350, -50} {
		r.move(7, x)
		r.avatar(7).Hp.Set(uint32(i + 10))
		r.tick(4)
		if r.real(7).cell != r.at(x).cell.Cell {
			t.Fatalf("it is not where %g is", x)
		}
		r.calm()
	}
	if rec := r.apps[1].population.find(7); rec == nil || rec.e != record {
		t.Error("watchers' record was replaced on the way")
	}
	r.move(7, -390) // nobody else's affair: its ghost goes after its least life
	r.tick(30)
	if r.apps[1].cell.Ghosts() != 0 {
		t.Error("a ghost out of range is kept")
	}
}

func TestTravels(t *testing.T) {
	r := newRig(t, 2)
	r.create(7, -50, 1)
	r.create(8, 30, 0)
	r.tick(5)
	a := r.avatar(7)
	a.Diary.Set("")
	if _, err := a.AddTimer(2*time.Second, time.Second, "OnTimer", 3); err != nil {
		t.Fatal(err)
	}
	if _, err := a.MoveTo(property.Vector3{X: 50}, 100, "OnArrival", 4); err != nil {
		t.Fatal(err)
	}
	r.bases[7].got = nil
	r.tick(36)
	r.diary(7, "leaving;entering;entered;arrival 4;timer 3;timer 3;")
	if list, _ := r.bundles(7); slices.ContainsFunc(list, func(id protocol.ID) bool { return id != protocol.ForcedID && id != protocol.RestID }) {
		t.Errorf("the client noticed more than the walk: %v", list)
	}
	real := r.real(7)
	if real.session.Number != 1 || real.witness == nil || real.witness.Len() != 1 {
		t.Error("the client did not travel")
	}
	if got := r.real(7).Position(); got != (property.Vector3{X: 50}) {
		t.Errorf("it is at %v", got)
	}
	// The old script is dead.
	if err := a.SetPosition(property.Vector3{}); err != entity.ErrGone {
		t.Errorf("the script that stayed behind can move: %v", err)
	}
	a.Hp.Set(77)
	if _, err := a.AddTimer(0, 0, "OnTimer", 0); err != entity.ErrGone {
		t.Errorf("the script that stayed behind has timers: %v", err)
	}
	r.calm()
}

func TestDeathInHandoff(t *testing.T) {
	const grace = 4 * time.Second
	r := newRig(t, 3, func(c *Config) { c.OrphanGrace = grace })
	r.create(7, 390, 0) // on cell 2, ghosts on 3
	r.tick(5)
	if r.ghost(3, 7) == nil {
		t.Fatal("no ghost")
	}
	r.hold = func(p packet) bool { return p.to == addr(1) }
	r.call(7, hitMethod, arg(1)...)
	r.tick(1)
	r.move(7, -20)
	r.tick(3)
	if r.apps[1].cell.Handoffs() != 1 || r.real(7) != nil {
		t.Fatal("no handoff is under way")
	}
	r.queue = nil // app 1 has died with it
	r.hold = nil
	for _, a := range r.apps[1:] {
		a.dead = append(a.dead, addr(1))
		a.population.CellAppDied(addr(1))
	}
	r.pump()
	b := r.bases[7]
	if len(b.offers) != 1 || b.offers[0].Order.Hop != 1 || b.offers[0].Handled != 1 {
		t.Fatalf("offers: %+v", b.offers)
	}
	// The base does not bring it back: all its ghosts go after the grace.
	r.tick(int(grace/tickPeriod) - 5)
	if r.ghost(2, 7) == nil || r.ghost(3, 7) == nil {
		t.Error("ghosts go before the grace is over")
	}
	r.tick(10)
	if r.ghost(2, 7) != nil || r.ghost(3, 7) != nil {
		t.Error("orphaned ghosts stay for ever")
	}
	// It may come back from the offer, though, sent again what the offer does not contain.
	b.out.Settle(r.now, b.offers[0].Handled.Number())
	r.bases[7].order.Hop = 0
	r.call(7, hitMethod, arg(2)...)
	r.apps[1].cell.tree = bsp.New(bsp.Version{Term: 1, N: 9}, leaf(2))
	r.apps[2].cell.tree = r.apps[1].cell.tree
	r.restore(7, -20, b.offers[0].Parts, b.offers[0].Handled)
	r.resend(7)
	r.tick(2)
	r.diary(7, "created;hit 1;leaving;restored;hit 2;")
}

func TestGhostOfDeadApp(t *testing.T) {
	for _, grace := range []time.Duration{DefaultOrphanGrace, 3 * time.Second} {
		r := newRig(t, 2, func(c *Config) { c.OrphanGrace = grace })
		r.create(7, -50, 0)
		r.tick(3)
		dead := r.apps[0]
		r.apps = r.apps[1:]
		a := r.apps[0]
		a.dead = append(a.dead, dead.self)
		a.population.CellAppDied(dead.self)
		r.tick(int(grace/tickPeriod) - 1)
		if a.cell.Ghosts() != 1 {
			t.Errorf("an orphan does not wait for %v", grace)
		}
		r.tick(2)
		if a.cell.Ghosts() != 0 {
			t.Errorf("an orphan is kept longer than %v", grace)
		}
	}
}

// TestGhostOfDeadAppWithoutBase: nobody restores an entity without a base, so its ghosts go at once. Else
// players saw it beside the one that the game spawns in its place, and scripts took it for alive.
func TestGhostOfDeadAppWithoutBase(t *testing.T) {
	r := newRig(t, 3)
	id, err := r.apps[0].cell.Spawn("Rock", property.Vector3{X: -50}, property.Vector3{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.tick(3)
	if r.ghost(2, id) == nil {
		t.Fatal("no ghost")
	}
	for _, a := range r.apps[1:] {
		a.dead = append(a.dead, addr(1))
		a.population.CellAppDied(addr(1))
	}
	r.apps = r.apps[1:]
	r.tick(1)
	for _, a := range r.apps {
		if a.cell.Ghosts() != 0 {
			t.Errorf("%v has a ghost of what is gone for good", a.self)
		}
	}
}

// TestGhostWithoutBaseMovedOn: an entity without a base that its CellApp had handed on before it died is
// mirrored again when its next CellApp says so.
func TestGhostWithoutBaseMovedOn(t *testing.T) {
	r := newRig(t, 3, func(c *Config) { c.Border.GhostDistance = 450 })
	id, err := r.apps[0].cell.Spawn("Rock", property.Vector3{X: -1}, property.Vector3{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.tick(3)
	if r.ghost(3, id) == nil {
		t.Fatal("no ghost")
	}
	r.hold = func(p packet) bool { return p.from == addr(2) && p.to == addr(3) }
	if err := r.real(id).SetPosition(property.Vector3{X: 50}); err != nil {
		t.Fatal(err)
	}
	r.tick(3)
	if r.at(50).cell.population.find(id).real == nil || r.ghost(3, id).Real != addr(1) {
		t.Fatal("the handoff has not come to where the test wants it")
	}
	for _, a := range r.apps[1:] {
		a.dead = append(a.dead, addr(1))
		a.population.CellAppDied(addr(1))
	}
	r.tick(1)
	r.hold = nil
	r.tick(3)
	if g := r.ghost(3, id); g == nil || g.Real != addr(2) {
		t.Errorf("the ghost is %+v", g)
	}
}

func TestBaseDied(t *testing.T) {
	r := newRig(t, 2)
	a := r.create(7, -50, 0)
	r.tick(3)
	if err := r.avatar(7).SetPosition(property.Vector3{X: 50}); err != nil {
		t.Fatal(err)
	}
	r.hold = func(p packet) bool { return p.to == addr(2) }
	r.tick(3)
	r.hold = nil
	for _, x := range r.apps { // the verdict overtakes the handoff
		x.dead = append(x.dead, r.base)
		x.population.BasesMoved(r.base)
	}
	r.tick(3)
	if r.real(7) != nil || a.cell.Ghosts() != 0 || r.apps[1].cell.Ghosts() != 0 {
		t.Error("an entity outlives its base")
	}
}

func TestOnloadRefused(t *testing.T) {
	r := newRig(t, 2)
	c := r.apps[0].cell
	r.bases[7] = &testBase{}
	core := migrate.AppendPart(nil, migrate.CorePart, (&migrate.Core{}).Append)
	client := func(session byte) []byte {
		return migrate.AppendPart(core[:len(core):len(core)], migrate.ClientPart, func(b []byte) []byte { return append(b, session, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0) })
	}
	for i, m := range []*migrate.Onload{
		{Type: 99, Parts: core}, {}, {Parts: client(1)},
		{Parts: migrate.AppendPart(client(0), migrate.WitnessPart, func(b []byte) []byte { return append(b, 0, 0, 0) })},
	} {
		m.ID, m.Order, m.Base, m.Space = 7, entity.Order{Incarnation: 1, Hop: uint32(i)}, r.base, 1
		c.population.Onload(m, addr(2))
		c.population.Settle()
		r.pump()
		if len(r.bases[7].lost) != i+1 || c.Reals() != 0 {
			t.Errorf("onload %d: %d losses, %d reals", i, len(r.bases[7].lost), c.Reals())
		}
	}
	// Acked for all that, and again when repeated.
	m := &migrate.Onload{ID: 7, Order: entity.Order{Incarnation: 2}, Base: r.base, Space: 1, Parts: core}
	for range 2 {
		c.population.Onload(m, addr(2))
		if ack, ok := r.queue[0].m.(*migrate.OnloadAck); !ok || ack.Order != m.Order || c.Reals() != 1 {
			t.Errorf("%v, %d reals", r.queue[0].m, c.Reals())
		}
		r.queue = nil
	}
	c.population.Onload(&migrate.Onload{ID: 7, Order: entity.Order{Incarnation: 1, Hop: 9}, Space: 1, Parts: core}, addr(2))
	if r.real(7).Order() != m.Order {
		t.Error("an older real took over")
	}
}

// An entity that another cell of the CellApp still has, in another space, is not lost.
func TestNewerInAnotherSpace(t *testing.T) {
	r := newRig(t, 1)
	a := r.create(7, -50, 0)
	other := a.population.NewCell(0, 0, 2, cellID(9), bsp.New(bsp.Version{Term: 1, N: 1}, bsp.Leaf{Cell: cellID(9), App: a.self.At, Salt: a.self.Salt, Created: true}), nil)
	core := migrate.AppendPart(nil, migrate.CorePart, (&migrate.Core{}).Append)
	other.population.Create(&migrate.Create{ID: 7, Order: entity.Order{Incarnation: 2}, Base: r.base, Space: 2, Parts: core}, r.base)
	if other.Reals() != 1 || a.cell.Reals() != 0 {
		t.Errorf("%d reals there, %d here", other.Reals(), a.cell.Reals())
	}
	mirror := func() error {
		return a.population.GhostState(&ghost.State{Head: ghost.Head{ID: 7, Order: entity.Order{Incarnation: 3}, Sequence: 1}, Space: 1,
			Props: make([]byte, 15), History: []byte{0, 0, 0, 0, 0}}, addr(5))
	}
	if err := mirror(); err != nil || other.Reals() != 1 {
		t.Errorf("%d reals there on the word of another CellApp: %v", other.Reals(), err)
	}
	a.population.Refuse(&migrate.Refuse{ID: 7, Order: entity.Order{Incarnation: 2}}, r.base)
	if err := mirror(); err != nil {
		t.Error(err)
	}
	if other.Reals() != 0 || a.cell.Ghosts() != 1 {
		t.Errorf("%d reals there, %d ghosts here, errors %d", other.Reals(), a.cell.Ghosts(), a.count.Errors)
	}
}

func TestBecome(t *testing.T) {
	r := newRig(t, 2)
	r.create(7, -50, 0)
	c := r.apps[0].cell
	tree := bsp.New(bsp.Version{Term: 1, N: 5}, leaf(2))
	l := leaf(1)
	l.Cell = cellID(8)
	if err := tree.Split(cellID(2), bsp.AxisX, 200, l, true); err != nil {
		t.Fatal(err)
	}
	if c.Become(cellID(9), tree) || c.ID() != cellID(1) {
		t.Error("it became a cell that is not there")
	}
	if !c.Become(cellID(8), tree) || c.ID() != cellID(8) || c.Tree().Version() != tree.Version() {
		t.Error("it did not become the new cell")
	}
	r.apps[1].cell.SetTree(tree)
	r.tick(3)
	if r.real(7).cell != r.apps[1].cell.Cell {
		t.Error("a real of the old leaf stays")
	}
	if c.Become(cellID(1), r.apps[1].cell.tree) {
		t.Error("it became what it is not")
	}
}

// An Update carries no more than its receivers take; what is above goes in another one.
func TestManyChangesInOneTick(t *testing.T) {
	r := newRig(t, 2)
	r.create(7, -50, 0)
	r.tick(3)
	a := r.avatar(7)
	for i := range ghost.MaxChanges + 10 {
		a.Hp.Set(uint32(i))
	}
	for range 2 {
		if err := a.OtherClients().Call("show", strings.Repeat("x", 90<<10)); err != nil {
			t.Fatal(err)
		}
	}
	r.calm()
}

func TestTooLargeToTravelStays(t *testing.T) {
	r := newRig(t, 2)
	r.create(7, -50, 0)
	r.tick(3)
	r.bases[7].deaf = true
	a := r.avatar(7)
	for range 4 {
		if err := a.real().sendBase(make([]byte, 300<<10)); err != nil {
			t.Fatal(err)
		}
	}
	r.move(7, 50)
	r.tick(3)
	if r.real(7) == nil || r.real(7).cell.id != cellID(1) || r.apps[0].count.Errors == 0 {
		t.Fatal("it was sent, or nobody heard why not")
	}
	r.bases[7].deaf = false
	r.tick(100)
	r.apps[0].count.Errors = 0
	if r.real(7).cell.id != cellID(2) {
		t.Error("it does not follow when it can")
	}
	r.calm()
}

// One that the way to the other app cannot take whole stays as well, over a border and by a teleport;
// nothing is kept of the handoff, and its ghost there is as it was.
func TestTooLongForTheWayStays(t *testing.T) {
	r := newRig(t, 2)
	r.room(2, 3)
	r.create(7, -50, 0)
	r.move(7, -10)
	r.tick(3)
	a := r.apps[0]
	was := r.real(7).haunt(addr(2))
	if was.App.IsZero() {
		t.Fatal("no ghost")
	}
	a.longest = 10
	r.teleport(7, entity.Destination{Space: 3, Position: at(1)}, 1)
	r.tick(20)
	if s := r.avatar(7).Diary.Get(); !strings.HasSuffix(s, ";stays 1: too large;") || a.unfit != 1 {
		t.Errorf("its diary is %q, and it was tried %d times", s, a.unfit)
	}
	r.move(7, 50)
	r.tick(3)
	if r.real(7).cell.id != cellID(1) || a.population.handoffs.Len() != 0 || a.count.Errors < 2 || r.real(7).haunt(addr(2)) != was {
		t.Errorf("it is on %v, %d handoffs, %d errors, ghost %v", r.real(7).cell.id, a.population.handoffs.Len(), a.count.Errors, r.real(7).haunt(addr(2)))
	}
	tries := a.count.Errors
	r.tick(20)
	if more := a.count.Errors - tries; more > 1 {
		t.Errorf("it was tried %d times more in 20 ticks", more)
	}
	a.longest, a.count.Errors = 0, 0
	r.tick(100)
	if r.real(7).cell.id != cellID(2) {
		t.Error("it does not follow when it can")
	}
	r.calm()
}

// What is too large for one message to a ghost has no ghosts, and nobody asks for one each tick.
func TestTooLargeToMirror(t *testing.T) {
	r := newRig(t, 3)
	r.create(7, 350, 0)
	r.tick(3)
	if r.ghost(3, 7) == nil {
		t.Fatal("the test needs a ghost")
	}
	grow := func() {
		if err := r.avatar(7).Stock.Set(make([]uint32, 65000)); err != nil {
			t.Fatal(err)
		}
		if err := r.avatar(7).Bag.Set(make([]uint32, 15000)); err != nil {
			t.Fatal(err)
		}
	}
	grow()
	r.tick(3)
	if g := r.ghost(3, 7); g == nil || g.Entity.Props.Get(stockProp).Len() != 65000 {
		t.Error("what grows is told in changes")
	}
	r.move(7, 450) // to 3: its ghost on 2 needs a State
	r.tick(3)
	if r.real(7).cell.id != cellID(3) || r.ghost(2, 7) != nil || r.apps[2].count.Errors == 0 {
		t.Fatal("it was mirrored, or nobody heard why not")
	}
	errors := r.apps[2].count.Errors
	for n := range 15 {
		r.avatar(7).Hp.Set(uint32(n))
		r.tick(1)
	}
	if n := r.apps[2].count.Errors - errors; n > uint64(15*tickPeriod/testConfig().CheckPeriod)+1 {
		t.Errorf("tried %d times in 15 ticks", n)
	}
	if err := r.avatar(7).Stock.Set(nil); err != nil {
		t.Fatal(err)
	}
	r.tick(15)
	if r.ghost(2, 7) == nil {
		t.Error("it has no ghost when it can")
	}
	r.apps[2].count.Errors = 0
	r.calm()
}

func (r *Real) real() *Real { return r }

func TestClientConvergesAcrossTheLine(t *testing.T) {
	r := newRig(t, 2)
	r.create(7, -50, 1)
	for id := range entity.ID(6) {
		r.create(20+id, float32(-60+20*int(id)), 0)
	}
	r.tick(5)
	r.move(7, 50)
	r.avatar(7).Mana.Set(5)
	r.avatar(21).Hp.Set(9)
	r.tick(10)
	r.audit(7)
	r.tick(3)
	list, bodies := r.bundles(7)
	var audit protocol.Audit
	if list[len(list)-1] != protocol.AuditID || audit.Parse(bodies[len(bodies)-1]) != nil {
		t.Fatalf("no audit: %v", list)
	}
	want, held := map[entity.ID]bool{}, map[entity.ID]bool{}
	named := map[uint32]entity.ID{}
	for _, e := range audit.Entities {
		want[e.ID] = true
	}
	for i, id := range list {
		switch id {
		case protocol.EnterID:
			var e protocol.Enter
			if err := e.Parse(bodies[i]); err != nil || held[e.ID] {
				t.Errorf("enter %v twice, or %v", e.ID, err)
			}
			held[e.ID], named[e.Alias] = true, e.ID
		case protocol.KeepID:
			var m protocol.Keep
			if err := m.Parse(bodies[i]); err != nil || !held[named[m.Alias]] {
				t.Errorf("keep of %v, %v", named[m.Alias], err)
			}
			delete(held, named[m.Alias])
		case protocol.LeaveID:
			e, err := protocol.ParseLeave(bodies[i])
			if err != nil || !held[e] {
				t.Errorf("leave of %v, %v", e, err)
			}
			delete(held, e)
		}
	}
	if fmt.Sprint(want) != fmt.Sprint(held) || len(want) == 0 {
		t.Errorf("the client holds %v, should hold %v", held, want)
	}
	r.calm()
}

// TestAuditBetweenTicks: a ghost goes while nobody ticks, and a client asks then what it should
// hold. The answer finds it as the answer says.
func TestAuditBetweenTicks(t *testing.T) {
	r := newRig(t, 2)
	r.create(7, -20, 1)
	r.create(8, 20, 0)
	r.tick(5)
	if r.ghost(1, 8) == nil {
		t.Fatal("no ghost")
	}
	r.apps[0].population.GhostDelete(&ghost.Delete{Head: ghost.Head{ID: 8, Order: r.real(8).Order(), Sequence: ghost.Last}}, r.apps[1].self)
	r.audit(7)
	r.audit(7)
	r.tick(3)
	list, bodies := r.bundles(7)
	var got []protocol.ID
	for i, id := range list {
		var m protocol.Audit
		switch {
		case id == protocol.AuditID && m.Parse(bodies[i]) != nil || len(m.Entities) > 0:
			t.Errorf("audit: %+v", m)
		case id == protocol.LeaveID || id == protocol.AuditID:
			got = append(got, id)
		}
	}
	if want := []protocol.ID{protocol.LeaveID, protocol.AuditID}; !slices.Equal(got, want) {
		t.Errorf("the client was told %v, want %v", got, want)
	}
}

// TestAuditBeforeAHandoff: a question does not travel, so its answer does.
func TestAuditBeforeAHandoff(t *testing.T) {
	r := newRig(t, 2)
	r.create(7, -20, 1)
	r.tick(5)
	r.move(7, 60)
	const asked = 10
	for range asked {
		r.audit(7)
		r.tick(1)
	}
	if r.ghost(1, 7) == nil {
		t.Fatal("it was not handed over")
	}
	r.tick(2)
	list, _ := r.bundles(7)
	answers := 0
	for _, id := range list {
		if id == protocol.AuditID {
			answers++
		}
	}
	if answers != asked {
		t.Errorf("%d answers to %d questions", answers, asked)
	}
}

// audit has a client ask what it should hold.
func (r *rig) audit(id entity.ID) {
	m := flow.Session{Number: r.bases[id].session}
	r.say(id, m.Append(nil, flow.AuditPayload))
	r.pump()
}

// reals is how many reals an entity has.
func (r *rig) reals(id entity.ID) (n int) {
	for _, a := range r.apps {
		if rec := a.population.find(id); rec != nil && rec.real != nil {
			n++
		}
	}
	return n
}

// A CellApp that had a tenth of a processor heard for half a minute no answer to a handoff, and
// repeated it. The real had gone on by then, and was forgotten: it came to life again.
func TestLateRepeatOfAHandoff(t *testing.T) {
	for name, made := range map[string]func(*rig) entity.ID{
		"with a base":    func(r *rig) entity.ID { r.create(7, -150, 0); return 7 },
		"without a base": func(r *rig) entity.ID { return r.spawn(-150).ID() },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, 3)
			id := made(r)
			r.tick(2)
			r.hold = func(p packet) bool {
				_, ack := p.m.(*migrate.OnloadAck)
				return ack && p.to == r.apps[0].self
			}
			r.move(id, 60)
			r.tick(20)
			if r.apps[1].population.find(id).real == nil {
				t.Fatal("it is not on the second app")
			}
			r.move(id, 600)
			r.tick(20)
			for range 3 * ghost.TombstoneLease / tickPeriod {
				r.tick(1)
				if n := r.reals(id); n != 1 {
					t.Fatalf("%d reals", n)
				}
			}
			if r.apps[0].population.handoffs.Len() != 1 {
				t.Error("the first handoff was answered")
			}
			// It goes on for minutes, and the real ends meanwhile.
			r.real(id).Destroy()
			r.lose(func(p packet) bool { return true })
			r.tick(int(3 * ghost.TombstoneLease / tickPeriod))
			if n := r.reals(id); n != 0 {
				t.Errorf("%d reals after its end", n)
			}
			// The next handoff says which repeats have ended.
			r.hold = nil
			r.tick(2)
			next := r.spawn(-150).ID()
			r.tick(2)
			r.move(next, 60)
			r.tick(20)
			if n := len(r.apps[1].population.accepted.from[r.apps[0].self].list); n != 1 {
				t.Errorf("%d answers are remembered", n)
			}
		})
	}
}
