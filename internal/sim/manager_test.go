package sim

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/cellscape/cellscape/balance"
	"github.com/cellscape/cellscape/bsp"
	"github.com/cellscape/cellscape/internal/wire"
)

// The CellAppMgr dies, and another start of it makes its picture of the world from what the apps
// tell it. Like all scenarios, each ends with every promise kept.

// TestManagerDies: the cells stay as they are, nobody dies, nobody is thrown out, lines go on
// moving, and players log in.
func TestManagerDies(t *testing.T) {
	for name, away := range map[string]time.Duration{"a moment": 50 * time.Millisecond, "long": 14 * time.Second} {
		t.Run(name, func(t *testing.T) {
			play(t, Options{Seed: 3}, func(r *rig) {
				r.wait(8 * time.Second)
				cells, game := r.cells(), r.observer.last.GameTime
				if len(cells) < 2 {
					t.Fatalf("%d cells", len(cells))
				}
				r.manager.crash()
				r.wait(away)
				sameCells(t, cells, r.cells())
				r.nextTerm()
				sameCells(t, cells, r.cells())
				v := r.newest().Version()
				r.until("lines move again", 20*time.Second, func() bool { // a CellApp may hear of it after the observer
					return r.observer.last.LinesMoved > 0 && v.Less(r.newest().Version())
				})
				if r.observer.last.Deaths != 0 {
					t.Errorf("%d deaths", r.observer.last.Deaths)
				}
				if g := r.observer.last.GameTime; g < game+away.Seconds() || g > r.now.Seconds()+1 {
					t.Errorf("game time %v, was %v", g, game)
				}
				g := r.visit("late.1", r.world.schema)
				r.until("a guest plays", 10*time.Second, func() bool { return g.Client.InWorld() })
				g.Client.Close()
				r.wait(2 * time.Second)
			})
		})
	}
}

// TestManagerDiesAddingACell: the order to make a cell was sent and never arrived. What becomes of
// the cell depends on what the other CellApps were told of it.
func TestManagerDiesAddingACell(t *testing.T) {
	for name, told := range map[string]bool{"the others know": true, "nobody knows": false} {
		t.Run(name, func(t *testing.T) {
			o, in := scripted(31, 3)
			play(t, o, func(r *rig) {
				cells := r.cells()
				in.give(add)
				ordered := false
				r.on(func(m tampered) (pass, done bool) {
					switch m.id {
					case wire.AddCellID:
						ordered = true
						r.manager.kill()
						return false, false
					case wire.GeometryID:
						return told, false
					}
					return true, false
				})
				r.until("a cell is ordered", 5*time.Second, func() bool { return ordered })
				r.wait(200 * time.Millisecond)
				r.nextTerm()
				want := len(cells)
				if told {
					want++
				}
				r.until("the cell is there, or forgotten", 5*time.Second, func() bool {
					n := 0
					for _, leaf := range r.newest().Leaves() {
						if leaf.Created {
							n++
						}
					}
					return n == want && len(r.cells()) == want
				})
			})
		})
	}
}

// TestManagerDiesHavingACell: the cell was made, and nobody else has heard of it.
func TestManagerDiesHavingACell(t *testing.T) {
	o, in := scripted(32, 3)
	play(t, o, func(r *rig) {
		in.give(add)
		var id bsp.CellID
		r.on(func(m tampered) (pass, done bool) {
			var c wire.CellCreated
			if m.id != wire.CellCreatedID || c.Parse(m.msg[1:]) != nil {
				return true, false
			}
			id = c.Cell
			r.manager.kill()
			return false, true
		})
		r.until("the cell is made", 5*time.Second, func() bool { return !id.IsZero() })
		if leaf, _, ok := r.newest().Leaf(id); !ok || leaf.Created {
			t.Fatalf("leaf %+v before", leaf)
		}
		r.nextTerm()
		if leaf, _, ok := r.newest().Leaf(id); !ok || !leaf.Created || r.cells()[id] == nil {
			t.Errorf("the cell that was made is %+v", leaf)
		}
		r.until("someone lives there", 20*time.Second, func() bool { return r.realsIn(id) > 0 })
	})
}

func (r *rig) realsIn(id bsp.CellID) (n int) {
	for _, a := range r.liveCellApps() {
		for c := range a.Cells() {
			if c.ID() == id {
				n = c.Reals()
			}
		}
	}
	return n
}

// TestManagerDiesMovingALine: one CellApp was told, whichever it is, and the others were not.
func TestManagerDiesMovingALine(t *testing.T) {
	for i := range 3 {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			o, in := scripted(33, 3)
			play(t, o, func(r *rig) {
				told := slices.DeleteFunc(slices.Clone(r.cellApps), func(p *Process) bool { return cellsOf(p) == 0 })[i]
				before, moved := r.newest().Version(), false
				in.give(func(o *balance.Observation) balance.Plan {
					moved = true
					return move(30)(o)
				})
				r.on(func(m tampered) (pass, done bool) {
					if m.id != wire.GeometryID || !moved {
						return true, false
					}
					if m.p == told {
						r.manager.kill()
					}
					return m.p == told, false
				})
				r.until("one is told", 10*time.Second, func() bool { return !r.manager.alive })
				r.wait(time.Second)
				newest := r.newest()
				if versions := r.versions(); !before.Less(newest.Version()) || len(versions) != 2 {
					t.Fatalf("geometries %v", versions)
				}
				r.nextTerm()
				if got, want := lines(r.newest()), lines(newest); !slices.Equal(got, want) {
					t.Errorf("lines at %v, the newest geometry had %v", got, want)
				}
			})
		})
	}
}

func (r *rig) versions() map[bsp.Version]bool {
	versions := map[bsp.Version]bool{}
	for _, a := range r.liveCellApps() {
		for c := range a.Cells() {
			versions[c.Tree().Version()] = true
		}
	}
	return versions
}

func lines(t *bsp.Tree) (at []float64) {
	for n := range t.Nodes() {
		at = append(at, n.Line)
	}
	return at
}

// TestManagerDiesWhileACellRetires: the next manager ends what the dead one began.
func TestManagerDiesWhileACellRetires(t *testing.T) {
	o, in := scripted(34, 3)
	play(t, o, func(r *rig) {
		on, cell, _ := r.real(r.id())
		id := cell.ID()
		in.give(retire(on))
		r.until("the cell retires", 10*time.Second, cell.Retiring)
		if _, _, ok := r.newest().Leaf(id); !ok {
			t.Fatal("it is gone already")
		}
		r.manager.crash()
		r.nextTerm()
		if leaf, _, ok := r.newest().Leaf(id); ok && !leaf.Retiring {
			t.Error("the retirement is forgotten")
		}
		r.until("the cell is gone", 60*time.Second, func() bool { return r.gone(id) })
	})
}

// gone reports whether nobody has a cell any more, going or not.
func (r *rig) gone(id bsp.CellID) bool {
	gone := true
	for _, a := range r.liveCellApps() {
		for c := range a.Cells() {
			gone = gone && c.ID() != id
		}
	}
	return gone
}

// TestManagerDiesRemovingACell: the CellApp of the cell has heard that the cell goes. The peers for
// whose acks it waits have not, or do not even have the geometry.
func TestManagerDiesRemovingACell(t *testing.T) {
	for name, geometry := range map[string]bool{"with the geometry": true, "without": false} {
		t.Run(name, func(t *testing.T) {
			o, in := scripted(35, 3)
			play(t, o, func(r *rig) {
				on, cell, _ := r.real(r.id())
				id := cell.ID()
				in.give(retire(on))
				r.on(func(m tampered) (pass, done bool) {
					if r.manager.alive && !r.manager.dying {
						if m.id == wire.RemoveCellID {
							r.manager.kill()
						}
						return m.id != wire.CellGoingID, false
					}
					return m.id != wire.CellGoingID && (geometry || m.id != wire.GeometryID), false
				})
				r.until("the removal begins", 60*time.Second, func() bool { return !r.manager.alive })
				r.wait(500 * time.Millisecond)
				if r.gone(id) {
					t.Fatal("it went without an ack")
				}
				r.nextTerm()
				r.until("the cell is gone", 60*time.Second, func() bool { return r.gone(id) })
				if n := len(r.cells()); n != 2 {
					t.Errorf("%d cells are left", n)
				}
			})
		})
	}
}
