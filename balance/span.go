package balance

import "math"

// guess is the assumed width, in metres, of a side without bounds when a leaf without entities is
// cut.
const guess = 1000.0

// finiteSpan gives infinite ends a place: about the origin, or at a guessed width from the other
// end.
func finiteSpan(lo, hi float64) (float64, float64) {
	switch noLo, noHi := math.IsInf(lo, -1), math.IsInf(hi, 1); {
	case noLo && noHi:
		return -guess / 2, guess / 2
	case noLo:
		return hi - guess, hi
	case noHi:
		return lo, lo + guess
	}
	return lo, hi
}
