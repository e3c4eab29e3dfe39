package sim

import (
	"fmt"
	"testing"
	"time"

	"github.com/cellscape/cellscape/balance"
	"github.com/cellscape/cellscape/bsp"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/space"
	"github.com/cellscape/cellscape/space/cellapp"
)

// removalEnds is how long after the last fault every removal has ended: the time of a sweep over
// the whole plane, the half minute for which a cell remembers to whom it handed an entity, and the
// silence after which channels break.
const removalEnds = 90 * time.Second

// changing is a cell that is being added, or retired and removed, with those whom it concerns.
type changing struct {
	*rig
	in    *orders
	app   *Process // of the cell
	heir  *Process // has the cell's part of the plane before and after it
	third *Process // has another cell
	leaf  bsp.CellID
	room  float64 // of the cell when it began to retire
	made  bool    // the manager has heard that the cell was created
	fall  func()  // the fault that befalls the victims
	fell  bool
}

// strike lets the fault fall, once.
func (x *changing) strike() {
	if !x.fell {
		x.fell = true
		x.fall()
	}
}

// cell is the cell on its CellApp, nil if it is not there.
func (x *changing) cell() (cell *space.Hosted) {
	if x.app.alive {
		for c := range x.app.app.(*cellapp.CellApp).Cells() {
			if c.ID() == x.leaf {
				cell = &c
			}
		}
	}
	return cell
}

func (x *changing) removing() bool {
	return x.app.alive && x.app.app.(*cellapp.CellApp).Removing(theSpace)
}

// removals is how many cells the manager has taken out of their spaces that have not been dropped
// yet.
func (r *rig) removals() int {
	if !r.manager.alive {
		return 0
	}
	return r.leader().Removing()
}

// retiresFor reports whether a process knows that the cell retires.
func (x *changing) retiresFor(p *Process) (retires bool) {
	for c := range p.app.(*cellapp.CellApp).Cells() {
		leaf, _, ok := c.Tree().Leaf(x.leaf)
		retires = retires || ok && leaf.Retiring
	}
	return retires
}

// roomOf is the part of a cell's area where entities walk.
func roomOf(t *bsp.Tree, id bsp.CellID) float64 {
	_, r, _ := t.Leaf(id)
	r = r.Intersect(bsp.Rect{MinX: -half, MinZ: -half, MaxX: half, MaxZ: half})
	return max(0, r.MaxX-r.MinX) * max(0, r.MaxZ-r.MinZ)
}

// some picks some of the processes.
type some []func(x *changing) *Process

// step is a moment in the life of a cell. pass says which messages arrive until that moment, and
// for the time after it that after says; it may strike by itself, at the message that it holds. If
// reached is not nil, it says between events whether the moment has come.
type step struct {
	name    string
	pass    func(x *changing, m tampered) bool
	reached func(x *changing) bool
	after   time.Duration
	// parts says that from then on the cell's CellApp and its heir cannot reach each other, until
	// their channel is broken.
	parts bool
	// again says that the CellApp is given another cell while the old one goes.
	again bool
	// known picks those who know what the manager has decided: everyone, if it is nil.
	known some
}

// lost strikes when a message arrives, and loses it.
func lost(id wire.ID, to func(x *changing) *Process) func(x *changing, m tampered) bool {
	return func(x *changing, m tampered) bool {
		if m.id == id && m.p == to(x) {
			x.strike()
			return false
		}
		return true
	}
}

func theApp(x *changing) *Process     { return x.app }
func theHeir(x *changing) *Process    { return x.heir }
func theThird(x *changing) *Process   { return x.third }
func theManager(x *changing) *Process { return x.manager }

const moment = 50 * time.Millisecond

var addSteps = []step{
	{name: "AddCell lost", pass: lost(wire.AddCellID, theApp)},
	{name: "told to no one", known: some{}, after: moment, pass: func(x *changing, m tampered) bool {
		if m.id == wire.AddCellID {
			x.strike()
		}
		return m.id != wire.AddCellID && m.id != wire.GeometryID
	}},
	{name: "CellCreated lost", pass: lost(wire.CellCreatedID, theManager)},
	{name: "created, the old cell not told", after: moment, pass: func(x *changing, m tampered) bool {
		x.made = x.made || m.id == wire.CellCreatedID
		return !x.made || lost(wire.GeometryID, theHeir)(x, m)
	}},
	{name: "first offload in flight", pass: func(x *changing, m tampered) bool {
		lost(wire.OnloadID, theApp)(x, m)
		return true
	}},
}

// knownTo is the moment when only one process knows that the cell retires.
func knownTo(name string, who func(x *changing) *Process) step {
	return step{
		name: name, after: moment, known: some{who},
		pass:    func(x *changing, m tampered) bool { return m.id != wire.GeometryID || m.p == who(x) },
		reached: func(x *changing) bool { return x.retiresFor(who(x)) },
	}
}

var retireSteps = []step{
	knownTo("its CellApp alone knows", theApp),
	knownTo("the heir alone knows", theHeir),
	{name: "half swept", reached: func(x *changing) bool {
		c := x.cell()
		return c.Retiring() && roomOf(c.Tree(), x.leaf) < x.room/2
	}},
	{name: "last real handed over, its ack lost", pass: func(x *changing, m tampered) bool {
		c := x.cell()
		return c == nil || !c.Retiring() || c.Reals() > 0 || c.Handoffs() != 1 || lost(wire.OnloadAckID, theApp)(x, m)
	}},
	{name: "swept, ghosts there", reached: func(x *changing) bool {
		c := x.cell()
		return c.Tree().Swept(x.leaf) && c.Reals() == 0 && c.Ghosts() > 0
	}},
}

var removeSteps = []step{
	{name: "told to no one", after: moment, pass: func(x *changing, m tampered) bool {
		of := m.id == wire.GeometryID || m.id == wire.RemoveCellID || m.id == wire.CellGoingID
		if of && x.removals() > 0 {
			x.strike()
		}
		return !of || !x.fell
	}},
	{name: "CellGoing lost", after: moment, reached: (*changing).removing,
		pass: func(x *changing, m tampered) bool { return m.id != wire.CellGoingID }},
	{name: "RemovalAck lost with its channel", after: moment, parts: true, pass: lost(wire.RemovalAckID, theApp)},
	{name: "ack before RemoveCell", pass: func(x *changing, m tampered) bool {
		if m.id == wire.RemovalAckID && m.p == x.app {
			x.strike()
		}
		return m.id != wire.RemoveCellID
	}},
	{name: "CellRemoved lost", pass: lost(wire.CellRemovedID, theManager)},
	{name: "another cell ordered", again: true, pass: func(x *changing, m tampered) bool {
		return m.id != wire.RemovalAckID && lost(wire.AddCellID, theApp)(x, m)
	}},
	{name: "another cell made", again: true, pass: func(x *changing, m tampered) bool {
		return m.id != wire.RemovalAckID && lost(wire.CellCreatedID, theManager)(x, m)
	}},
}

// mishap says what befalls whom.
type mishap struct {
	name  string
	whom  some
	pause time.Duration // their pause, if they do not crash
}

var mishaps = []mishap{
	{name: "its CellApp", whom: some{theApp}},
	{name: "the heir", whom: some{theHeir}},
	{name: "a third", whom: some{theThird}},
	{name: "the manager", whom: some{theManager}},
	{name: "the manager and its CellApp", whom: some{theManager, theApp}},
	{name: "the manager and the heir", whom: some{theManager, theHeir}},
	{name: "its CellApp stalls", whom: some{theApp}, pause: deadAfter - 400*time.Millisecond},
	{name: "its CellApp stalls too long", whom: some{theApp}, pause: deadAfter + 600*time.Millisecond},
}

// deadAfter is the AppTimeout of the CellAppMgr.
const deadAfter = 3 * time.Second

// TestSteps makes a CellApp, the manager, or both fail at every step of the adding, retiring and
// removing of a cell. Whatever fails, the removal ends, and the space has the cells that it should
// have.
func TestSteps(t *testing.T) {
	kinds := []struct {
		name  string
		steps []step
		begin func(x *changing)
	}{
		{"add", addSteps, (*changing).beginAdding},
		{"retire", retireSteps, (*changing).beginRetiring},
		{"remove", removeSteps, (*changing).beginRetiring},
	}
	n := uint64(0)
	for _, k := range kinds {
		for i := range k.steps {
			for j := range mishaps {
				s, f := &k.steps[i], &mishaps[j]
				if n++; n%everyStep != 0 {
					continue
				}
				seed := 1000 + n
				t.Run(fmt.Sprintf("%s/%s/%s", k.name, s.name, f.name), func(t *testing.T) {
					o, in := scripted(seed, 3)
					o.BaseApps, o.Players, o.Rovers = 1, 2, 2
					play(t, o, func(r *rig) {
						x := &changing{rig: r, in: in}
						k.begin(x)
						x.come(s, f)
						x.settle(s, f)
					})
				})
			}
		}
	}
}

// beginAdding orders a cell for the CellApp that has none.
func (x *changing) beginAdding() {
	tree := x.newest()
	for _, p := range x.cellApps {
		switch leaf, _, busy := tree.OfApp(p.at, p.salt); {
		case !busy:
			x.app = p
		case leaf.Cell == tree.At(1, 1).Cell:
			x.heir = p
		default:
			x.third = p
		}
	}
	x.in.give(add)
}

// beginRetiring lets the cell of the first player go.
func (x *changing) beginRetiring() {
	_, cell, _ := x.real(x.id())
	tree := cell.Tree()
	x.leaf, x.room = cell.ID(), roomOf(tree, cell.ID())
	_, r, _ := tree.Leaf(x.leaf)
	after := tree.Clone()
	if err := after.Remove(x.leaf); err != nil {
		x.t.Fatal(err)
	}
	heir := after.At(max(r.MinX, -half)/2+min(r.MaxX, half)/2, max(r.MinZ, -half)/2+min(r.MaxZ, half)/2)
	for _, p := range x.cellApps {
		switch leaf, _, busy := tree.OfApp(p.at, p.salt); {
		case !busy:
		case leaf.Cell == x.leaf:
			x.app = p
		case leaf.Cell == heir.Cell:
			x.heir = p
		default:
			x.third = p
		}
	}
	x.in.give(retire(x.app))
}

// come waits for a step, lets a mishap fall, and lets everyone who is down come back after the
// verdict.
func (x *changing) come(s *step, f *mishap) {
	x.t.Helper()
	x.fall = func() {
		for _, who := range f.whom {
			if p := who(x); f.pause > 0 {
				p.pause(f.pause)
			} else {
				p.kill()
			}
		}
	}
	if s.pass != nil {
		x.on(func(m tampered) (pass, done bool) { return s.pass(x, m), false })
	}
	if s.again {
		x.until("the removal has begun", removalEnds, x.removing)
		x.in.give(addTo(x.app))
	}
	x.until("the step has come", removalEnds, func() bool {
		if s.reached != nil && s.reached(x) {
			x.strike()
		}
		return x.fell
	})
	if s.parts {
		x.part(x.app, x.heir)
	}
	x.wait(s.after + time.Millisecond)
	x.hook = nil
	for _, who := range f.whom {
		if p := who(x); p == x.manager {
			p.restartAt = x.now + 300*time.Millisecond
		} else if !p.alive {
			p.restartAt = x.now + deadAfter + time.Second
		}
	}
	x.wait(2 * deadAfter)
	if s.parts {
		x.wait(2 * deadAfter) // channels are given up after 10 s
		x.join(x.procs...)
	}
}

// addTo is add for a given CellApp.
func addTo(app *Process) func(o *balance.Observation) balance.Plan {
	return func(o *balance.Observation) balance.Plan {
		plan := add(o)
		for _, a := range o.Apps {
			if a.Addr == app.at && a.Salt == app.salt && len(plan.Adds) == 1 {
				plan.Adds[0].App = a.ID
			}
		}
		return plan
	}
}

// settle waits until nothing is on its way any more, and looks at what there is.
func (x *changing) settle(s *step, f *mishap) {
	x.t.Helper()
	want := x.cellsAfter(s, f)
	x.until(fmt.Sprintf("no removal goes on, and there are %d cells", want), removalEnds, func() bool {
		going := x.removals()
		for _, a := range x.liveCellApps() {
			if a.Removing(theSpace) {
				going++
			}
		}
		for _, leaf := range x.newest().Leaves() {
			if !leaf.Created {
				going++
			}
		}
		return x.manager.alive && going == 0 && len(x.cells()) == want
	})
	if x.dead(f, theApp, theHeir, theThird) {
		return
	}
	if d := x.observer.last.Deaths; d > 0 || x.losses > len(f.whom) {
		x.t.Errorf("%d deaths, %d processes and sessions ended", d, x.losses)
	}
	x.nobodyRestored()
}

// dead reports whether the mishap makes the manager declare one of them dead.
func (x *changing) dead(f *mishap, whom ...func(x *changing) *Process) bool {
	for _, a := range f.whom {
		for _, b := range whom {
			if a(x) == b(x) && (f.pause == 0 || f.pause > deadAfter) {
				return true
			}
		}
	}
	return false
}

// forgotten reports whether all who knew what was decided are dead.
func (x *changing) forgotten(s *step, f *mishap) bool {
	if s.known == nil || !x.dead(f, theManager) {
		return false
	}
	for _, who := range s.known {
		if !x.dead(f, who) {
			return false
		}
	}
	return true
}

// cellsAfter is how many cells the space has in the end: a decision holds unless it is forgotten;
// the cells of the dead are not made again.
func (x *changing) cellsAfter(s *step, f *mishap) int {
	n := 3
	if x.dead(f, theHeir) {
		n--
	}
	if x.dead(f, theThird) {
		n--
	}
	there, adding := !x.dead(f, theApp), x.leaf.IsZero()
	switch {
	case adding && there && !x.forgotten(s, f):
		n++
	case !adding && !there, !adding && !s.again && !x.forgotten(s, f):
		n--
	}
	return n
}

// nobodyRestored fails if an entity was brought back from its base. Lodgers are left out, since
// each room is another life for them.
func (r *rig) nobodyRestored() {
	r.t.Helper()
	for b := range r.bases() {
		if _, lodger := b.script().(*lodgerBase); b.Order.Incarnation > 1 && !lodger {
			r.t.Errorf("%s of %s was restored: %v", b.ID, b.p.Name, b.Order)
		}
	}
}
