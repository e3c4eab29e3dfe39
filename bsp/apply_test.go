package bsp

import (
	"bytes"
	"errors"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"
)

func TestApplyRefuses(t *testing.T) {
	base, other := mustParse(t, nested), mustParse(t, nested)
	l, _, _ := other.Leaf(cell(3))
	l.Load = 50 // another tree under the same version
	next := base.Clone()
	next.SetVersion(Version{1, 2})
	if next.Remove(cell(1)) != nil || next.Split(cell(3), AxisZ, -100, leaf(9), true) != nil {
		t.Fatal("edit refused")
	}
	good := next.AppendDelta(nil, base)
	for n := range good {
		if _, err := base.Apply(good[:n]); !errors.Is(err, ErrFormat) {
			t.Errorf("cut at %d: error %v", n, err)
		}
	}
	for i := range good {
		for bit := range 8 {
			bad := slices.Clone(good)
			bad[i] ^= 1 << bit
			if got, err := base.Apply(bad); err == nil && got.String() != next.String() {
				t.Errorf("byte %d, bit %d: another tree is taken for this one", i, bit)
			}
		}
	}
	later := next.Clone()
	later.SetVersion(Version{1, 3})
	tests := []struct {
		name string
		base *Tree
		b    []byte
		want error
	}{
		{"a delta from another version", next, good, ErrBase},
		{"a delta from a later version", base, later.AppendDelta(nil, next), ErrBase},
		{"a delta from another tree of that version", other, good, ErrFormat},
		{"a whole tree", base, next.Append(nil), ErrFormat},
		{"a byte too many", base, append(slices.Clone(good), 0), ErrFormat},
	}
	for _, tt := range tests {
		if _, err := tt.base.Apply(tt.b); !errors.Is(err, tt.want) {
			t.Errorf("%s: error %v, want %v", tt.name, err, tt.want)
		}
	}
}

func TestNegativeLoadsAreToldAsZero(t *testing.T) {
	base := New(Version{1, 1}, Leaf{Cell: cell(1), Load: -5})
	next := base.Clone()
	next.SetVersion(Version{1, 2})
	for _, load := range []int64{-9, 0, 7, LoadStep} {
		next.At(0, 0).Load = load
		if got, err := base.Apply(next.AppendDelta(nil, base)); err != nil || got.At(0, 0).Load != max(0, load) {
			t.Errorf("load %d: %v", load, err)
		}
	}
}

func TestDepthIsRefusedBeforeTheEnd(t *testing.T) {
	wire := append(New(Version{}, leaf(1)).Append(nil)[:9], 0, 1) // 256 leaves announced
	wire = append(wire, bytes.Repeat([]byte{kindX, 0, 0, 0, 0, 0, 0, 0, 0}, 1000)...)
	_, wireErr := Parse(wire)
	_, textErr := ParseText(strings.Repeat("x 0\n", 1000))
	for _, err := range []error{wireErr, textErr} {
		if !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), "deep") {
			t.Errorf("error %v", err)
		}
	}
}

// TestEditsThatBreakAnInvariantAreRefused writes by hand edits that no differ writes.
func TestEditsThatBreakAnInvariantAreRefused(t *testing.T) {
	edits := func(do func(d *differ)) []byte {
		d := differ{next: mustParse(t, "x 50 \n cell 1.8 \n cell 1.9")}
		do(&d)
		return d.b
	}
	fresh := appendLeaf(nil, &Leaf{Cell: cell(9)})
	at := func(d *differ, copied uint64, op uint64, more ...byte) {
		d.copied = copied
		d.edit(op)
		d.b = append(d.b, more...)
	}
	tests := []struct {
		name  string
		edits []byte
		want  error
	}{
		{"a line too near", edits(func(d *differ) { at(d, 0, opLine); d.line(110) }), ErrLine},
		{"a line beyond its neighbour", edits(func(d *differ) { at(d, 0, opLine); d.line(50) }), ErrLine},
		{"a line at NaN", edits(func(d *differ) { at(d, 0, opLine); d.line(math.NaN()) }), ErrLine},
		{"a line at infinity", edits(func(d *differ) { at(d, 0, opLine); d.line(math.Inf(1)) }), ErrLine},
		{"a line too far out", edits(func(d *differ) { at(d, 0, opLine); d.line(2 * MaxCoord) }), ErrLine},
		{"a narrow graft", edits(func(d *differ) {
			at(d, 2, opGraftLeft, 0)
			d.line(10)
			d.b = append(d.b, fresh...)
			at(d, 0, opGraftRight, 0)
		}), ErrFormat},
		{"a graft on no axis", edits(func(d *differ) { at(d, 2, opGraftLeft, 2); d.line(10); d.b = append(d.b, fresh...) }), ErrLine},
		{"a cell twice", edits(func(d *differ) { at(d, 2, opReplace, appendLeaf(nil, &Leaf{Cell: cell(2)})...) }), ErrCellTaken},
		{"the zero cell", edits(func(d *differ) { at(d, 2, opReplace, appendLeaf(nil, &Leaf{})...) }), ErrNoCell},
		{"two retiring siblings", edits(func(d *differ) { at(d, 2, opLeaf, 1, flagRetiring); at(d, 0, opLeaf, 1, flagRetiring) }), ErrRetiring},
		{"a retiring root", edits(func(d *differ) { at(d, 0, opDropRight); at(d, 0, opDropRight); at(d, 0, opLeaf, 1, flagRetiring) }), ErrRetiring},
		{"a load below 0", edits(func(d *differ) { at(d, 2, opLoad, 0x81, 0x01) }), ErrFormat},
		{"a load step too large", edits(func(d *differ) { at(d, 2, opLoad, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1) }), ErrFormat},
		{"a line edit of a leaf", edits(func(d *differ) { at(d, 2, opLine); d.line(5) }), ErrFormat},
		{"a leaf edit of a line", edits(func(d *differ) { at(d, 0, opLeaf, 1, 1) }), ErrFormat},
		{"a drop below a leaf", edits(func(d *differ) { at(d, 2, opDropLeft) }), ErrFormat},
		{"an empty leaf edit", edits(func(d *differ) { at(d, 2, opLeaf, 0) }), ErrFormat},
		{"an unknown mask", edits(func(d *differ) { at(d, 2, opLeaf, 8) }), ErrFormat},
		{"unknown flags", edits(func(d *differ) { at(d, 2, opLeaf, 1, 16) }), ErrFormat},
		{"an address of five bytes", edits(func(d *differ) { at(d, 2, opLeaf, 2, 5) }), ErrFormat},
		{"an edit after the last node", edits(func(d *differ) { at(d, 7, opDropLeft) }), ErrFormat},
		{"a graft without end", edits(func(d *differ) {
			for range 3 * MaxDepth {
				at(d, 0, opGraftLeft, 0)
				d.line(0)
				d.b = append(d.b, fresh...)
			}
		}), ErrFormat},
		{"a graft of lines without end", edits(func(d *differ) {
			at(d, 0, opReplace)
			for range 3 * MaxDepth {
				d.b = append(d.b, kindX)
				d.line(0)
			}
		}), ErrFormat},
		{"more leaves than there may be", edits(func(d *differ) { at(d, 0, opReplace); d.b = appendWide(d.b, 13) }), ErrFormat},
	}
	for _, tt := range tests {
		base := mustParse(t, nested)
		_, err := base.patched(tt.edits)
		if !errors.Is(err, ErrFormat) || !errors.Is(err, tt.want) {
			t.Errorf("%s: error %v, want %v", tt.name, err, tt.want)
		}
		if base.String() != nested {
			t.Errorf("%s: the base was changed", tt.name)
		}
	}
}

// appendWide writes a full subtree of a depth.
func appendWide(b []byte, depth int) []byte {
	if depth == 0 {
		return appendLeaf(b, &Leaf{Cell: cell(uint32(len(b)))})
	}
	b = append(b, kindX, 0, 0, 0, 0, 0, 0, 0, 0)
	return appendWide(appendWide(b, depth-1), depth-1)
}

// TestAHostileDeltaAllocatesInProportion gives a small tree the most leaves that a length can
// claim.
func TestAHostileDeltaAllocatesInProportion(t *testing.T) {
	base := mustParse(t, nested)
	edits := append([]byte{opReplace}, appendWide(nil, 12)...)
	edits = edits[:len(edits)-1] // all for nothing
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := base.patched(edits); !errors.Is(err, ErrFormat) {
		t.Fatalf("error %v", err)
	}
	runtime.ReadMemStats(&after)
	size, most := after.TotalAlloc-before.TotalAlloc, uint64(32*len(edits))
	t.Logf("%d bytes for a delta of %d", size, len(edits))
	if size > most {
		t.Errorf("%d bytes for a delta of %d, more than %d", size, len(edits), most)
	}
}
