package cellappmgr

import (
	"net/netip"
	"slices"

	"github.com/cellscape/cellscape/internal/wire"
)

// An app that joins in a term which is not below the manager's was welcomed by another manager:
// then the Seat takes a higher term (Seat.rise). Terms are few, and a member may lie. So it takes
// two apps to be believed: both are refused until the other has claimed as much, and then the lower
// of both terms counts. All apps of a world know its term, so nobody has to wait for long. One app
// alone, as when all others are gone, is believed in small steps, and aloneTerms of them in all:
// that is the most that one which lies can use up at a place.
//
//	an app claims a term ──another has claimed as much──▶ the lower of both is believed
//	                     ──no other, aloneTerms are left─▶ it is believed, and has so many fewer left
//	                     ──otherwise────────────────────▶ refused; it asks again, and so do others
//
// An app is known by where it is, whatever start it is of. Whoever has the key and many addresses
// is several apps here, as everywhere.

// aloneTerms is how many terms one app may use up whom no other confirms: more than a manager is
// started again while only one app is left, and a small part of MaxTerm.
const aloneTerms = 16

// claims are the terms that apps have claimed to know, each when it was not below the manager's.
type claims []claim

type claim struct {
	app   netip.AddrPort
	term  uint32 // the last
	alone uint32 // how many terms it has used up by itself
}

// believe notes a claim, and returns the term that is to be believed, 0 for none. own is the manager's.
func (c *claims) believe(app netip.AddrPort, term, own uint32) uint32 {
	i := slices.IndexFunc(*c, func(x claim) bool { return x.app == app })
	if i < 0 {
		if len(*c) >= wire.MaxMembers {
			return 0
		}
		i = len(*c)
		*c = append(*c, claim{app: app})
	}
	x := &(*c)[i]
	x.term = term
	confirmed := uint32(0)
	for j := range *c {
		if j != i {
			confirmed = max(confirmed, min(term, (*c)[j].term))
		}
	}
	if confirmed >= own {
		return confirmed
	}
	if costs := term - own + 1; x.alone+costs <= aloneTerms {
		x.alone += costs
		return term
	}
	return 0
}
