package balance

// sums holds a level for each leaf of a space, and finds the sum and the highest of any range; the
// leaves below a line are a range. Changes and queries take time logarithmic in the number of
// leaves. If each line added up its leaves, a pass over a thousand cells would spend most of its
// time on that.
//
// It is a segment tree: entry n+i is leaf i, and every other entry is made of entries 2i and 2i+1.
// Sums are always computed from the leaves, so that rounding errors do not add up.
type sums struct {
	sum, high []float64
	// least is the least that each leaf counts as in the highest level: its reported load. A cell
	// above its bound may be expected below it after others have taken load; that is no reason to
	// give it more.
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
