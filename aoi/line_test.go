package aoi

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// marksOf returns what a line holds, once its invariants have been checked.
func marksOf(t testing.TB, l *line) (all []mark) {
	t.Helper()
	if len(l.heads) != len(l.blocks) {
		t.Fatalf("%d heads of %d blocks", len(l.heads), len(l.blocks))
	}
	for i, b := range l.blocks {
		if b.n == 0 || b.n > blockSize {
			t.Fatalf("block %d holds %d marks", i, b.n)
		}
		if l.heads[i] != b.marks[0] {
			t.Fatalf("head %d is %v, its block starts with %v", i, l.heads[i], b.marks[0])
		}
		all = append(all, b.marks[:b.n]...)
	}
	for i := 1; i < len(all); i++ {
		if !all[i-1].before(all[i]) {
			t.Fatalf("%v stands before %v", all[i-1], all[i])
		}
	}
	return all
}

func TestLineEqualsSortedSlice(t *testing.T) {
	for seed := range uint64(10) {
		r := rand.New(rand.NewPCG(seed, 2))
		var l line
		var twin []mark
		size := 50 + r.IntN(2000)
		for i := range 6000 {
			m := mark{float64(r.IntN(400)), r.Uint32N(5000)}
			at, has := slices.BinarySearchFunc(twin, m, compareMarks)
			switch k := r.IntN(3); {
			case k == 0 && !has && len(twin) < size && i < 4000:
				l.insert(m)
				twin = slices.Insert(twin, at, m)
			case k == 1 && len(twin) > 0:
				at := r.IntN(len(twin))
				l.remove(twin[at])
				twin = slices.Delete(twin, at, at+1)
			case len(twin) > 0:
				from := twin[r.IntN(len(twin))]
				to := mark{from.at + float64(r.IntN(9)-4), from.ref}
				if _, has := slices.BinarySearchFunc(twin, to, compareMarks); has {
					continue
				}
				l.move(from, to)
				at, _ := slices.BinarySearchFunc(twin, from, compareMarks)
				twin = slices.Delete(twin, at, at+1)
				at, _ = slices.BinarySearchFunc(twin, to, compareMarks)
				twin = slices.Insert(twin, at, to)
			}
			if i%37 == 0 {
				lo := float64(r.IntN(420) - 10)
				compareSpan(t, seed, &l, twin, lo, lo+float64(r.IntN(60)-5))
			}
		}
		if got := marksOf(t, &l); !slices.Equal(got, twin) {
			t.Fatalf("seed %d: line and sorted slice differ", seed)
		}
	}
}

func compareSpan(t *testing.T, seed uint64, l *line, twin []mark, lo, hi float64) {
	t.Helper()
	var got, want []mark
	for s := l.span(lo, hi); s.next(); {
		got = append(got, s.run...)
	}
	for _, m := range twin {
		if lo <= m.at && m.at <= hi {
			want = append(want, m)
		}
	}
	if !slices.Equal(got, want) {
		t.Fatalf("seed %d: span(%v, %v) = %v, want %v", seed, lo, hi, got, want)
	}
}

func TestLineShrinksToFewBlocks(t *testing.T) {
	var l line
	for i := range uint32(4096) {
		l.insert(mark{float64(i), i})
	}
	full := len(l.blocks)
	for i := range uint32(4096) {
		if i%16 != 0 {
			l.remove(mark{float64(i), i})
		}
	}
	if thin := len(l.blocks); thin > full/4 {
		t.Errorf("a line of 256 marks has %d blocks, it had %d with 4096", thin, full)
	}
}

func TestLineRefusesToLoseAMark(t *testing.T) {
	var l line
	if panics(func() { l.remove(mark{1, 1}) }) == nil {
		t.Error("remove from an empty line: no panic")
	}
	l.insert(mark{1, 1})
	if panics(func() { l.move(mark{1, 2}, mark{2, 2}) }) == nil {
		t.Error("move of a mark that is not there: no panic")
	}
}

func panics(f func()) (reason any) {
	defer func() { reason = recover() }()
	f()
	return nil
}
