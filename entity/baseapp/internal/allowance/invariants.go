package allowance

import "github.com/cellscape/cellscape/internal/invariant"

// assert compares with what was before a look.
func (a *Allowance) assert(was *Allowance) {
	switch {
	case (a.rate == 0) != (a.state == free) || a.rate != 0 && (a.rate < Least || a.rate > Most):
		invariant.Broken("allowance: rate %d in state %d", a.rate, a.state)
	case a.cuts != was.cuts && was.cuts > 0 && a.cutAt-was.cutAt < Settle:
		invariant.Broken("allowance: two cuts within %v", a.cutAt-was.cutAt)
	case a.cuts == was.cuts && a.rate != 0 && a.rate < was.rate:
		invariant.Broken("allowance: fell from %d to %d without a cut", was.rate, a.rate)
	}
}
