package balance

// sums holds a level for each leaf of a space, and tells the sum and the highest of any range of them: those below a
// line are a range. Both a change and a question take time with the logarithm of the number of leaves. Were each line to
// add up its leaves, a pass over a thousand cells would take most of its time for that.
//
// It is a segment tree: entry n+i is leaf i, every other one is made of entries 2i and 2i+1. Sums are always made anew of
// the leaves, so that no rounding adds up.
type sums struct {
	sum, high []float64
	// least is what each leaf counts as in the highest level whatever its level: the load that it has reported. A cell
	// over its bound may be expected under it after what others take; that is no reason to give it more.
	least []float64
}

// reset takes n leaves, all at 0.
func (s *sums) reset(n int) {
	s.sum, s.high, s.least = make([]float64, 2*n), make([]float64, 2*n), make([]float64, n)
}

func (s *sums) len() int { return len(s.sum) / 2 }

func (s *sums) at(i int32) float64 { return s.sum[s.len()+int(i)] }

// set gives a leaf another level.
func (s *sums) set(i int32, level float64) {
	at := s.len() + int(i)
	s.sum[at], s.high[at] = level, max(level, s.least[i])
	for at /= 2; at > 0; at /= 2 {
		s.sum[at] = s.sum[2*at] + s.sum[2*at+1]
		s.high[at] = max(s.high[2*at], s.high[2*at+1])
	}
}

// over returns the sum and the highest level of the leaves from first up to last.
func (s *sums) over(first, last int32) (sum, highest float64) {
	lo, hi := s.len()+int(first), s.len()+int(last)
	for ; lo < hi; lo, hi = lo/2, hi/2 {
		if lo%2 == 1 {
			sum, highest = sum+s.sum[lo], max(highest, s.high[lo])
			lo++
		}
		if hi%2 == 1 {
			hi--
			sum, highest = sum+s.sum[hi], max(highest, s.high[hi])
		}
	}
	return sum, highest
}
