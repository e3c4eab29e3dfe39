package bsp

import (
	"net/netip"
	"testing"
)

func TestSameCells(t *testing.T) {
	change := func(edit func(*Tree)) *Tree {
		next := mustParse(t, nested)
		edit(next)
		return next
	}
	edit := func(f func(*Leaf)) *Tree { return change(func(n *Tree) { f(n.At(150, 0)) }) }
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, tt := range map[string]struct {
		next *Tree
		same bool
	}{
		"nothing":      {change(func(*Tree) {}), true},
		"a version":    {change(func(n *Tree) { n.SetVersion(Version{9, 9}) }), true},
		"a load":       {edit(func(l *Leaf) { l.Load = 5 }), true},
		"overloaded":   {edit(func(l *Leaf) { l.Overloaded = true }), true},
		"other slots":  {change(func(n *Tree) { must(n.Split(cell(2), AxisZ, 9, leaf(5), true)); must(n.Remove(cell(5))) }), true},
		"loading":      {edit(func(l *Leaf) { l.Loading = true }), false},
		"not created":  {edit(func(l *Leaf) { l.Created = false }), false},
		"retiring":     {change(func(n *Tree) { must(n.Retire(cell(2))) }), false},
		"another app":  {edit(func(l *Leaf) { l.App = netip.MustParseAddrPort("10.0.0.9:1") }), false},
		"a new start":  {edit(func(l *Leaf) { l.Salt++ }), false},
		"another cell": {change(func(n *Tree) { l := *n.At(150, 0); l.Cell = cell(9); must(n.Replace(cell(2), l)) }), false},
		"a moved line": {change(func(n *Tree) { p, _ := n.Parent(cell(3)); must(n.MoveLine(p.ID, 1)) }), false},
		"a turned line": {change(func(n *Tree) {
			l := *n.At(300, 9)
			must(n.Remove(cell(4)))
			must(n.Split(cell(3), AxisX, 300, l, true))
		}), false},
		"a new cell":  {change(func(n *Tree) { must(n.Split(cell(4), AxisZ, 50, leaf(5), true)) }), false},
		"a cell less": {change(func(n *Tree) { must(n.Remove(cell(4))) }), false},
		"places swapped": {change(func(n *Tree) {
			a, b := *n.At(150, 0), leaf(9)
			must(n.Replace(cell(2), b))
			c := *n.At(300, 9)
			must(n.Replace(cell(4), a))
			must(n.Replace(cell(9), c))
		}), false},
	} {
		base := mustParse(t, nested)
		if base.SameCells(tt.next) != tt.same || tt.next.SameCells(base) != tt.same {
			t.Errorf("%s: same cells is not %v", name, tt.same)
		}
	}
}

func TestSameCellsDoesNotAllocate(t *testing.T) {
	a, b := mustParse(t, nested), mustParse(t, nested)
	if n := testing.AllocsPerRun(100, func() { a.SameCells(b) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
