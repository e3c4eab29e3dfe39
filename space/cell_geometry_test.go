package space

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/cellscape/cellscape/bsp"
)

// next gives all cells a new version of the tree with a change.
func (r *rig) next(change func(*bsp.Tree)) {
	t := r.apps[0].cell.tree.Clone()
	change(t)
	v := t.Version()
	t.SetVersion(bsp.Version{Term: v.Term, N: v.N + 1})
	for _, a := range r.apps {
		a.cell.SetTree(t)
	}
}

// loading marks a cell, or takes the mark away.
func (r *rig) loading(cell int, on bool) {
	r.next(func(t *bsp.Tree) { l, _, _ := t.Leaf(cellID(cell)); l.Loading = on })
}

// TestEveryCellHearsOfItsArea: each cell once when it is made, and whenever its area has changed,
// be it moved, grown by the death of a neighbour or gone; not when only loads or another cell's
// area have.
func TestEveryCellHearsOfItsArea(t *testing.T) {
	r := newRig(t, 3)
	told := map[bsp.CellID][]bsp.Rect{}
	r.scripts.OnArea(func(c *Cell) { told[c.ID()] = append(told[c.ID()], c.Area()) })
	expect := func(what string, n ...int) {
		t.Helper()
		r.tick(2)
		for i, n := range n {
			areas := told[cellID(i+1)]
			if len(areas) != n {
				t.Errorf("%s: cell %d was told %d times, want %d: %v", what, i+1, len(areas), n, areas)
			} else if areas[n-1] != r.apps[i].cell.Area() {
				t.Errorf("%s: cell %d was told %v, has %v", what, i+1, areas[n-1], r.apps[i].cell.Area())
			}
		}
	}
	expect("made", 1, 1, 1)
	r.next(func(t *bsp.Tree) { l, _, _ := t.Leaf(cellID(1)); l.Load, l.Overloaded = 9, true })
	expect("loads", 1, 1, 1)
	r.next(func(t *bsp.Tree) { n, _ := t.Parent(cellID(3)); _ = t.MoveLine(n.ID, 450) })
	expect("a line moved", 1, 2, 2)
	r.next(func(t *bsp.Tree) { _ = t.Remove(cellID(2)) })
	expect("a neighbour died", 1, 3, 3)
	if !r.apps[1].cell.ToLoad().Empty() {
		t.Errorf("a cell without an area is to load %v", r.apps[1].cell.ToLoad())
	}
	if got, want := r.apps[2].cell.ToLoad(), r.apps[2].cell.Area().Grow(130+DefaultLoadAhead); got != want {
		t.Errorf("cell 3 is to load %v, want %v", got, want)
	}
}

// TestNobodyIsHandedToACellThatLoads: a real stays where it is until the cell that it is in has
// loaded its land, whether it walks, the cell retires or both; its ghost is there meanwhile.
func TestNobodyIsHandedToACellThatLoads(t *testing.T) {
	for _, retiring := range []bool{false, true} {
		r := newRig(t, 2)
		r.create(7, -50, 0)
		r.loading(2, true)
		r.tick(3)
		if retiring {
			r.next(func(t *bsp.Tree) { _ = t.Retire(cellID(1)) })
		}
		r.move(7, 100)
		r.tick(20)
		if home := r.real(7).cell.id; home != cellID(1) {
			t.Fatalf("retiring %v: handed to cell %v, which loads", retiring, home)
		}
		if rec := r.apps[1].population.find(7); rec == nil || rec.ghost == nil {
			t.Errorf("retiring %v: it has no ghost in the cell that loads", retiring)
		}
		r.loading(2, false)
		r.tick(5)
		if home := r.real(7).cell.id; home != cellID(2) {
			t.Errorf("retiring %v: not handed over though all is loaded", retiring)
		}
	}
}

// TestGeometryWithoutAHookIsTold: once, by each cell.
func TestGeometryWithoutAHookIsTold(t *testing.T) {
	r := newRig(t, 1)
	r.tick(2)
	if r.apps[0].count.Errors != 0 || r.scripts.HasOnArea() {
		t.Error("a space without geometry is told of")
	}
	for range 3 {
		r.loading(1, true)
		r.tick(2)
	}
	if n := r.apps[0].count.Errors; n != 1 {
		t.Errorf("%d errors, want 1", n)
	}
}

// TestLoadingByJobs plays a game that has loaded what a cell lacks, one job at a time.
func TestLoadingByJobs(t *testing.T) {
	r := newRig(t, 1)
	c := r.apps[0].cell
	type work struct {
		run  func(context.Context) any
		done func(any)
	}
	var jobs []work
	c.population.env.Do = func(run func(context.Context) any, done func(any)) error {
		jobs = append(jobs, work{run, done})
		return nil
	}
	asked := 0
	r.scripts.OnArea(func(c *Cell) {
		if asked++; asked > 1 {
			panic("boom")
		}
		c.SetLocal("its own")
		_ = c.Do(func(context.Context) any { return bsp.Around(0, 0, 100) }, func(result any) { c.SetGeometryLoaded(result.(bsp.Rect)) })
	})
	r.tick(1)
	if len(jobs) != 1 || c.HasLoaded(0, 0) || c.Local() != "its own" {
		t.Fatalf("%d jobs, %v loaded, %v kept", len(jobs), c.GeometryLoaded(), c.Local())
	}
	jobs[0].done(jobs[0].run(context.Background()))
	if !c.HasLoaded(0, 0) || !c.HasLoaded(100, -100) || c.HasLoaded(101, 0) {
		t.Errorf("loaded %v", c.GeometryLoaded())
	}
	jobs[0].done(errors.New("no disk")) // which the game takes for a Rect
	if n := r.apps[0].count.Errors; n != 1 {
		t.Errorf("%d errors after a panic in done, want 1", n)
	}
	r.next(func(t *bsp.Tree) { _ = t.Split(cellID(1), bsp.AxisX, 0, leaf(2), true) })
	r.tick(1)
	if n := r.apps[0].count.Errors; asked != 2 || n != 2 {
		t.Errorf("asked %d times, %d errors, want 2 and 2", asked, n)
	}
	c.population.env.Do = nil
	if err := c.Do(nil, nil); !errors.Is(err, ErrNoJobs) {
		t.Errorf("without a runner of jobs: %v", err)
	}
	r.scripts.OnArea(func(*Cell) {})
	if err := r.scripts.Err(); err == nil || !strings.Contains(err.Error(), "OnArea was given a function twice") {
		t.Errorf("a second hook: %v", err)
	}
}
