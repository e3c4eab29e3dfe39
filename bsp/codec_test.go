package bsp

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestParseRefuses(t *testing.T) {
	good := mustParse(t, four).Append(nil)
	for n := range good {
		if _, err := Parse(good[:n]); !errors.Is(err, ErrFormat) {
			t.Errorf("cut at %d: error %v", n, err)
		}
	}
	edit := func(f func(b []byte) []byte) []byte { return f(slices.Clone(good)) }
	tests := []struct {
		name string
		b    []byte
	}{
		{"a byte too many", append(slices.Clone(good), 0)},
		{"another format", edit(func(b []byte) []byte { b[0] = 9; return b })},
		{"no leaves", edit(func(b []byte) []byte { b[9], b[10] = 0, 0; return b })},
		{"more leaves than bytes", edit(func(b []byte) []byte { b[9], b[10] = 0xff, 0x0f; return b })},
		{"more leaves announced", edit(func(b []byte) []byte { b[9] = 5; return b })},
		{"fewer leaves announced", edit(func(b []byte) []byte { b[9] = 3; return b })},
		{"a node of no kind", edit(func(b []byte) []byte { b[11] = 7; return b })},
		{"an unknown flag", edit(func(b []byte) []byte { b[11+9+9+1+8] = 16; return b })},
		{"a line at NaN", edit(func(b []byte) []byte { b[18], b[19] = 0xff, 0x7f; return b })},
	}
	for _, tt := range tests {
		if _, err := Parse(tt.b); !errors.Is(err, ErrFormat) {
			t.Errorf("%s: error %v", tt.name, err)
		}
	}
}

func TestParseTextRefuses(t *testing.T) {
	for _, text := range []string{
		"", "x 0", "x 0 \n cell 1.1", "cell 1.1 \n cell 1.2", "x 0 \n cell 1.1 \n cell 1.1", "cell 0.0", "cell 1",
		"x NaN \n cell 1.1 \n cell 1.2", "x 0 \n x 10 \n cell 1.1 \n cell 1.2 \n cell 1.3", "y 5", "cell", "cell 1.1 nowhere",
		"cell 1.1 - -1", "cell 1.1 - 0 made", "cell 1.1 - 0 load=x", "version x",
		"cell 1.1 - 0 load=-1", "cell 1.1 - 0 retiring", "x 0 \n cell 1.1 - 0 retiring \n cell 1.2 - 0 retiring", "cell 1.1 \n version 1.1",
		strings.Repeat("x 0\n", 100), "x 0 \n x -5 \n cell 1.1 \n cell 1.2 \n cell 1.3",
	} {
		if _, err := ParseText(text); !errors.Is(err, ErrFormat) {
			t.Errorf("%q: error %v", text, err)
		}
	}
}

func TestMaxEncodedHoldsTheLargestTree(t *testing.T) {
	b := grid(t, 64).Append(nil)
	if most := MaxEncoded * 64 / MaxLeaves; len(b) > most {
		t.Errorf("%d bytes for 64 leaves, MaxEncoded in proportion is %d", len(b), most)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(mustParse(f, four).Append(nil))
	f.Add(New(Version{1, 2}, leaf(1)).Append(nil))
	f.Add(grid(f, 9).Append(nil))
	f.Add(mustParse(f, marked).Append(nil))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		tree, err := Parse(b)
		if err != nil {
			if !errors.Is(err, ErrFormat) {
				t.Fatalf("untyped error %v", err)
			}
			return
		}
		again, err := Parse(tree.Append(nil))
		if err != nil || again.String() != tree.String() {
			t.Fatalf("does not survive the wire: %v", err)
		}
		checkInvariants(t, tree)
	})
}

func FuzzParseText(f *testing.F) {
	f.Add(four)
	f.Add(marked)
	f.Add("cell 1.1")
	f.Add("x 1e300")
	f.Fuzz(func(t *testing.T, text string) {
		tree, err := ParseText(text)
		if err != nil {
			return
		}
		checkInvariants(t, tree)
		again, err := ParseText(tree.String())
		if err != nil || again.String() != tree.String() {
			t.Fatalf("does not survive as text: %v", err)
		}
	})
}
