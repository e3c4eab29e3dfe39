package balance

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/cellscape/cellscape/bsp"
)

func TestSumsAgreeWithACount(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 1))
	for _, n := range []int{1, 2, 3, 7, 64, 100} {
		var s sums
		s.reset(n)
		truth := make([]float64, n)
		for range 200 {
			i := rng.IntN(n)
			truth[i] = float64(rng.IntN(1000))
			s.set(int32(i), truth[i])
			first := rng.IntN(n)
			last := first + 1 + rng.IntN(n-first)
			sum, highest := 0.0, 0.0
			for _, x := range truth[first:last] {
				sum, highest = sum+x, max(highest, x)
			}
			if got, high := s.over(int32(first), int32(last)); got != sum || high != highest || s.at(int32(i)) != truth[i] {
				t.Fatalf("%d leaves, %d to %d: %v and %v, want %v and %v", n, first, last, got, high, sum, highest)
			}
		}
	}
}

func TestSidesAgreeWithACount(t *testing.T) {
	o := wide(t, 200)
	v := look(o)
	s := &v.spaces[0]
	s.leaves[17].created = false
	m := mover{land: land{s: s}, counts: count(s)}
	m.levels.reset(len(s.leaves))
	for i := range s.leaves {
		m.levels.set(int32(i), float64(s.leaves[i].level))
	}
	for i := range s.lines {
		l := &s.lines[i]
		left, right := m.sides(l)
		for k, got := range []side{left, right} {
			want := slowSide(s, l, k == 0)
			if got.weight != want.weight || got.known != want.known || got.highest != want.highest ||
				math.Abs(got.sum-want.sum) > 1 || !slices.Equal(got.edge, want.edge) {
				t.Fatalf("line %d, side %d: %+v, want %+v", i, k, got, want)
			}
		}
	}
}

// slowSide looks at every leaf.
func slowSide(s *spaceView, l *lineView, isLeft bool) side {
	first, last := l.mid, l.last
	if isLeft {
		first, last = l.first, l.mid
	}
	got := side{known: true}
	for i := first; i < last; i++ {
		x := &s.leaves[i]
		got.sum += float64(x.level)
		got.highest = max(got.highest, float64(x.level))
		if !x.leaf.Retiring {
			got.weight++
		}
		got.known = got.known && x.known()
		lo, hi := x.rect.Span(bsp.Axis(l.axis))
		if x.known() && (isLeft && hi == l.at || !isLeft && lo == l.at) {
			got.edge = append(got.edge, i)
		}
	}
	return got
}
