package bsp

import (
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// nested has a leaf between two parallel lines (1.2) and one that reaches to infinity (1.4).
const nested = `version 1.1
x 200
  x 100
    cell 1.1 10.0.0.1:7000 1 created
    cell 1.2 10.0.0.2:7000 2 created
  z 0
    cell 1.3 10.0.0.3:7000 3 created
    cell 1.4 10.0.0.4:7000 4 created
`

// marked has every mark of a leaf, and one that is swept to nothing.
const marked = `version 2.3
z -40
  cell 1.1 10.0.0.1:7000 1 created overloaded load=990000000
  z -40
    cell 1.2 10.0.0.2:7000 2 created retiring
    x 7.25
      cell 2.1 10.0.0.3:7000 3 loading retiring overloaded load=5
      cell 2.2 - 0
`

func TestTextCarriesTheMarks(t *testing.T) {
	tree := mustParse(t, marked)
	if d := cmp.Diff(marked, tree.String()); d != "" {
		t.Error(d)
	}
	for _, tt := range []struct {
		cell                          CellID
		created, retiring, overloaded bool
	}{{cell(1), true, false, true}, {cell(2), true, true, false}, {CellID{2, 1}, false, true, true}, {CellID{2, 2}, false, false, false}} {
		if l, _, _ := tree.Leaf(tt.cell); l.Created != tt.created || l.Retiring != tt.retiring || l.Overloaded != tt.overloaded {
			t.Errorf("%+v", l)
		}
	}
	if !tree.Swept(cell(2)) {
		t.Error("1.2 has room")
	}
	checkTiling(t, tree)
}

func retire(t testing.TB, tree *Tree, cells ...uint32) {
	t.Helper()
	for _, n := range cells {
		if err := tree.Retire(cell(n)); err != nil {
			t.Fatal(err)
		}
	}
}

// sweepAll moves the line above a retiring cell as far over it as it goes.
func sweepAll(t testing.TB, tree *Tree, n uint32) {
	t.Helper()
	l, _, _ := tree.Leaf(cell(n))
	(&editor{tree: tree}).sweep(l)
}

func TestRetiringIsRefused(t *testing.T) {
	tests := []struct {
		name string
		do   func(tree *Tree) error
		want error
	}{
		{"of an unknown cell", func(tree *Tree) error { return tree.Retire(cell(9)) }, ErrNoCell},
		{"of a sibling of a retiring cell", func(tree *Tree) error { return tree.Retire(cell(1)) }, ErrRetiring},
		{"of the only cell", func(*Tree) error { return New(Version{}, leaf(1)).Retire(cell(1)) }, ErrLastLeaf},
		{"a split of a retiring cell", func(tree *Tree) error { return tree.Split(cell(2), AxisZ, 0, leaf(9), true) }, ErrRetiring},
		{"a split for a retiring cell", func(tree *Tree) error {
			return tree.Split(cell(1), AxisZ, 0, Leaf{Cell: cell(9), Retiring: true}, true)
		}, ErrRetiring},
		{"cancelling for an unknown cell", func(tree *Tree) error { return tree.Unretire(cell(9)) }, ErrNoCell},
		{"cancelling for a swept cell", func(tree *Tree) error { sweepAll(t, tree, 2); return tree.Unretire(cell(2)) }, ErrLine},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tree := mustParse(t, nested)
			retire(t, tree, 2, 2)
			if err := tt.do(tree); !errors.Is(err, tt.want) {
				t.Errorf("error %v, want %v", err, tt.want)
			}
			checkInvariants(t, tree)
		})
	}
}

func TestARetiringCellIsSweptToNothing(t *testing.T) {
	tree := mustParse(t, nested)
	retire(t, tree, 2)
	sweepAll(t, tree, 2)
	if _, r, _ := tree.Leaf(cell(2)); r.MinX != 200 || r.MaxX != 200 || !tree.Swept(cell(2)) {
		t.Errorf("swept %v, left with %v", tree.Swept(cell(2)), r)
	}
	checkTiling(t, tree)
	if n, _ := tree.Parent(cell(2)); tree.MoveLine(n.ID, 150) != nil || tree.Unretire(cell(2)) != nil {
		t.Error("cannot be cancelled after its line was moved back")
	}
	if tree.Swept(cell(2)) || tree.Swept(cell(9)) {
		t.Error("swept, yet it has room, or is not there")
	}
}

func TestALeafAtInfinityIsSweptToTheEndOfTheWorld(t *testing.T) {
	tree := mustParse(t, nested)
	retire(t, tree, 4)
	sweepAll(t, tree, 4)
	if _, r, _ := tree.Leaf(cell(4)); r.MinZ != MaxCoord || !tree.Swept(cell(4)) {
		t.Errorf("left with %v, swept: %v", r, tree.Swept(cell(4)))
	}
	checkTiling(t, tree)
}

func TestADeathCancelsTheRetirementOfALeafWithoutHeir(t *testing.T) {
	tree := mustParse(t, "x 0 \n cell 1.1 \n x 100 \n cell 1.2 \n cell 1.3")
	retire(t, tree, 1, 3)
	sweepAll(t, tree, 3)
	if err := tree.Remove(cell(2)); err != nil {
		t.Fatal(err)
	}
	want := "version 0.0\nx 0\n  cell 1.1 - 0 retiring\n  cell 1.3 - 0\n"
	if d := cmp.Diff(want, tree.String()); d != "" {
		t.Error(d)
	}
	if err := tree.Remove(cell(3)); err != nil {
		t.Fatal(err)
	}
	if l, _, _ := tree.Leaf(cell(1)); l.Retiring {
		t.Error("the last cell retires")
	}
	checkInvariants(t, tree)
}

func TestASplitMakesRoomForTheRetirementOfTheOnlyCell(t *testing.T) {
	tree := New(Version{}, leaf(1))
	if err := tree.Split(cell(1), AxisX, 0, leaf(2), true); err != nil {
		t.Fatal(err)
	}
	retire(t, tree, 1)
	sweepAll(t, tree, 1)
	if !tree.Swept(cell(1)) || tree.Remove(cell(1)) != nil || tree.Len() != 1 {
		t.Errorf("not gone:\n%v", tree)
	}
}

func TestReplaceTakesOver(t *testing.T) {
	tree := mustParse(t, nested)
	retire(t, tree, 2)
	_, want, _ := tree.Leaf(cell(2))
	for _, tt := range []struct {
		what  string
		old   uint32
		fresh Leaf
		want  error
	}{
		{"an unknown cell", 9, leaf(8), ErrNoCell},
		{"with the zero cell", 2, Leaf{}, ErrNoCell},
		{"with a cell that is there", 2, leaf(3), ErrCellTaken},
		{"on an app that has a cell", 2, Leaf{Cell: cell(8), App: leaf(3).App, Salt: 3}, ErrAppTaken},
		{"on the same app, under a new id", 2, Leaf{Cell: cell(8), App: leaf(2).App, Salt: 2}, nil},
		{"in place", 8, Leaf{Cell: cell(8), App: leaf(7).App, Salt: 2}, nil},
	} {
		if err := tree.Replace(cell(tt.old), tt.fresh); !errors.Is(err, tt.want) {
			t.Errorf("%s: error %v, want %v", tt.what, err, tt.want)
		}
	}
	l, r, ok := tree.Leaf(cell(8))
	if !ok || r != want || !l.Retiring || l.App != leaf(7).App {
		t.Errorf("%+v at %v, want it at %v, retiring as the one before", l, r, want)
	}
	if found, _, ok := tree.OfApp(leaf(7).App, 2); !ok || found != l {
		t.Error("not found by its app")
	}
	checkInvariants(t, tree)
}

func TestSplitRefusesASecondCellOfAnApp(t *testing.T) {
	tree := mustParse(t, nested)
	fresh := Leaf{Cell: cell(9), App: leaf(4).App, Salt: 4}
	if err := tree.Split(cell(1), AxisZ, 0, fresh, true); !errors.Is(err, ErrAppTaken) {
		t.Errorf("error %v", err)
	}
	fresh.Salt = 5 // another start of the process at that address
	if err := tree.Split(cell(1), AxisZ, 0, fresh, true); err != nil {
		t.Error(err)
	}
}

func TestVanishedLeavesAreWalked(t *testing.T) {
	tree := mustParse(t, nested)
	next := tree.Clone()
	if next.Remove(cell(3)) != nil || next.Remove(cell(1)) != nil {
		t.Fatal("removal refused")
	}
	var got []CellID
	for l := range tree.Vanished(next) {
		got = append(got, l.Cell)
	}
	if !slices.Equal(got, []CellID{cell(1), cell(3)}) {
		t.Errorf("vanished: %v", got)
	}
	for range tree.Vanished(next) {
		break // an early end must be obeyed
	}
}
