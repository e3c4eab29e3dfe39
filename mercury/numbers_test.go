package mercury

import (
	"math/rand/v2"
	"testing"
)

// naiveNumbers is the twin of numberSet: all numbers in a map.
type naiveNumbers struct {
	got   map[uint64]bool
	floor uint64
}

func TestNumberSetAgainstNaive(t *testing.T) {
	for seed := range uint64(50) {
		rng := rand.New(rand.NewPCG(seed, 3))
		s, naive := numberSet{}, naiveNumbers{got: map[uint64]bool{}}
		next := uint64(0)
		for range 3000 {
			n := next
			switch rng.IntN(10) {
			case 0: // a duplicate or a late one
				n -= min(n, uint64(rng.IntN(600)))
			case 1: // a gap
				next += uint64(rng.IntN(3))
				n = next
				next++
			case 2:
				s.settled(n - min(n, uint64(rng.IntN(300))))
				naive.floor = s.floor
				continue
			default:
				next++
			}
			want := n >= naive.floor && !naive.got[n]
			if got := s.add(n); got != want {
				t.Fatalf("seed %d: add(%d) = %v, want %v", seed, n, got, want)
			}
			naive.got[n] = true
			if s.floor < naive.floor {
				t.Fatalf("seed %d: floor fell", seed)
			}
			naive.floor = s.floor
			s.check(t, &naive)
		}
	}
}

// check compares the runs with the twin and checks their invariant.
func (s *numberSet) check(t *testing.T, naive *naiveNumbers) {
	t.Helper()
	if len(s.runs) > maxNumberRanges {
		t.Fatalf("%d runs", len(s.runs))
	}
	for i, run := range s.runs {
		if run.lo > run.hi || run.lo < s.floor || i > 0 && run.lo <= s.runs[i-1].hi+1 {
			t.Fatalf("runs %v with floor %d", s.runs, s.floor)
		}
		if !naive.got[run.lo] || !naive.got[run.hi] || naive.got[run.hi+1] || run.lo > s.floor && naive.got[run.lo-1] {
			t.Fatalf("run %v is not what was received", run)
		}
	}
}

func TestRing(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 4))
	var r ring[int]
	var naive []int
	for i := range 10000 {
		if rng.IntN(2*i+10000) < 6000 || len(naive) == 0 {
			*r.push() = i
			naive = append(naive, i)
		} else {
			r.pop()
			naive = naive[1:]
		}
		if r.len() != len(naive) {
			t.Fatalf("%d elements, want %d", r.len(), len(naive))
		}
		if len(naive) > 0 {
			j := rng.IntN(len(naive))
			if *r.at(j) != naive[j] {
				t.Fatalf("element %d is %d, want %d", j, *r.at(j), naive[j])
			}
		}
	}
}
