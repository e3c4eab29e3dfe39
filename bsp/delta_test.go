package bsp

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// history is what a manager told: its versions, the oldest first.
func history(t testing.TB, seed uint64, versions, edits int) []*Tree {
	t.Helper()
	e, p := newEditor(seed), NewPublisher(1, 1)
	var told []*Tree
	for len(told) < versions {
		for range edits {
			e.edit()
		}
		tree, changed, err := p.Publish(e.tree)
		if err != nil {
			t.Fatal(err)
		}
		if changed {
			told = append(told, tree)
		}
	}
	return told
}

func TestDeltaLeadsFromAnyVersionToAnyLater(t *testing.T) {
	for seed := range uint64(12) {
		told := history(t, seed, 40, 4)
		for i, base := range told {
			before := base.String()
			for _, j := range []int{i, i + 1, i + 3, len(told) - 1} {
				if j >= len(told) {
					continue
				}
				delta := told[j].AppendDelta(nil, base)
				got, err := base.Apply(delta)
				if err != nil {
					t.Fatalf("seed %d: %v to %v: %v\n%v\n%v", seed, base.Version(), told[j].Version(), err, base, told[j])
				}
				if d := cmp.Diff(told[j].String(), got.String()); d != "" {
					t.Fatalf("seed %d: %v to %v: %s", seed, base.Version(), told[j].Version(), d)
				}
				checkInvariants(t, got)
				if h, err := ParseHead(delta); err != nil || h != (Head{true, base.Version(), told[j].Version()}) {
					t.Fatalf("head %v, %v", h, err)
				}
			}
			if base.String() != before {
				t.Fatal("the base was changed")
			}
		}
	}
}

func TestDeltaDescribesUnrelatedTrees(t *testing.T) {
	others := []*Tree{mustParse(t, four), mustParse(t, nested), New(Version{}, leaf(2)), newGrid(t, 60), history(t, 3, 30, 5)[29]}
	for _, a := range others {
		for _, b := range others {
			next := b.Clone()
			next.SetVersion(Version{Term: a.Version().Term + 2, N: 7})
			got, err := a.Apply(next.AppendDelta(nil, a))
			if err != nil || got.String() != next.String() {
				t.Errorf("%v\nto %v: %v", a, next, err)
			}
		}
	}
}

// TestDeltaIsShort bounds the delta of each kind of change by what the change has to say. The trees
// have a thousand cells.
func TestDeltaIsShort(t *testing.T) {
	some := cell(500)
	tests := []struct {
		name string
		do   func(tree *Tree) error
		most int // bytes, of which the head takes 11
	}{
		{"nothing", func(*Tree) error { return nil }, 11},
		{"a load", func(tree *Tree) error { l, _, _ := tree.Leaf(some); l.Load += 20 * LoadStep; return nil }, 11 + 4},
		{"a created cell", func(tree *Tree) error { l, _, _ := tree.Leaf(some); l.Created = !l.Created; return nil }, 11 + 5},
		{"a cell on another app", func(tree *Tree) error { l, _, _ := tree.Leaf(some); l.Salt++; return nil }, 11 + 15},
		{"a line", func(tree *Tree) error {
			n, _ := tree.Parent(some)
			lo, hi, _ := tree.LineLimits(n.ID)
			return tree.MoveLine(n.ID, lo/2+hi/2+1)
		}, 11 + 11},
		{"a removal", func(tree *Tree) error { return tree.Remove(some) }, 11 + 3},
		{"a split", func(tree *Tree) error {
			_, r, _ := tree.Leaf(some)
			for _, axis := range []Axis{AxisX, AxisZ} {
				if at, _, ok := r.SplitLimits(axis); ok {
					return tree.Split(some, axis, at, leaf(5000), true)
				}
			}
			return ErrLine
		}, 11 + 40},
		{"forty leaves vanish at once", func(tree *Tree) error {
			for n := uint32(100); n < 140; n++ {
				if err := tree.Remove(cell(n)); err != nil {
					return err
				}
			}
			return nil
		}, 11 + 40*3},
	}
	base := newGrid(t, 1000)
	base.SetVersion(Version{1, 1000})
	for _, tt := range tests {
		next := base.Clone()
		if err := tt.do(next); err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
		next.SetVersion(Version{1, 1001})
		delta := next.AppendDelta(nil, base)
		t.Logf("%s: %d bytes, whole tree %d", tt.name, len(delta), len(next.Append(nil)))
		if len(delta) > tt.most {
			t.Errorf("%s takes %d bytes, more than %d", tt.name, len(delta), tt.most)
		}
		if got, err := base.Apply(delta); err != nil || got.String() != next.String() {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}

func TestTextOfHeads(t *testing.T) {
	tree := mustParse(t, four)
	for _, b := range [][]byte{tree.Append(nil), tree.AppendDelta(nil, tree), {}, {9}, {formatDelta, 1}} {
		h, err := ParseHead(b)
		if got := h.String(); err == nil && !strings.HasSuffix(got, "3.9") {
			t.Errorf("head %v", got)
		}
		if err != nil && (!errors.Is(err, ErrFormat) || len(b) > 2) {
			t.Errorf("error %v", err)
		}
	}
}

func FuzzApply(f *testing.F) {
	told := history(f, 1, 12, 4)
	for i, base := range told[:11] {
		delta := told[i+1].AppendDelta(nil, base)
		f.Add(base.Append(nil), delta)
	}
	f.Add(mustParse(f, nested).Append(nil), mustParse(f, four).AppendDelta(nil, mustParse(f, nested)))
	f.Fuzz(func(t *testing.T, tree, delta []byte) {
		base, err := Parse(tree)
		if err != nil {
			return
		}
		before := base.String()
		if got, err := base.Apply(delta); err == nil {
			checkInvariants(t, got)
		} else if !errors.Is(err, ErrFormat) && !errors.Is(err, ErrBase) {
			t.Fatalf("untyped error %v", err)
		}
		// Go past the checksum, which chance does not find.
		p := newParser(delta)
		p.U8()
		p.deltaHead()
		if got, err := base.patched(p.Rest()); err == nil {
			checkInvariants(t, got)
			again, err := base.Apply(got.AppendDelta(nil, base))
			if err != nil || again.String() != got.String() {
				t.Fatalf("the delta of a delta's tree: %v", err)
			}
		} else if !errors.Is(err, ErrFormat) {
			t.Fatalf("untyped error %v", err)
		}
		if base.String() != before {
			t.Fatal("the base was changed")
		}
	})
}
