package cellappmgr

import (
	"net/netip"
	"testing"

	"github.com/cellscape/cellscape/internal/wire"
)

// One app is believed in small steps, and not for ever; two are believed as far as both know.
func TestClaims(t *testing.T) {
	a, b, liar := netip.MustParseAddrPort("10.0.0.1:1"), netip.MustParseAddrPort("10.0.0.2:1"), netip.MustParseAddrPort("10.0.0.3:1")
	var c claims
	for _, x := range []struct {
		app             netip.AddrPort
		term, own, want uint32
	}{
		{liar, MaxTerm, 3, 0},
		{liar, MaxTerm, 3, 0},
		{a, 3, 3, 3}, // the liar has claimed more, so as much
		{b, 200, 5, 200},
		{liar, 201, 201, 201}, // b has claimed less: one of its own
		{liar, 215, 202, 215}, // fourteen
		{liar, 217, 216, 0},
		{liar, 216, 216, 216}, // the last
		{liar, 217, 217, 0},
		{b, 217, 217, 217},
	} {
		if got := c.believe(x.app, x.term, x.own); got != x.want {
			t.Errorf("term %d of %v to one of term %d: believed %d, want %d", x.term, x.app, x.own, got, x.want)
		}
	}

	c = nil
	burnt := uint32(0)
	for own := uint32(1); own < MaxTerm; {
		if got := c.believe(liar, own, own); got == 0 {
			break
		}
		own++
		burnt++
	}
	if burnt != aloneTerms {
		t.Errorf("one that lies uses up %d terms", burnt)
	}
	for i := range 2 * wire.MaxMembers {
		c.believe(netip.AddrPortFrom(a.Addr(), uint16(100+i)), MaxTerm, 1)
	}
	if len(c) > wire.MaxMembers {
		t.Errorf("%d claims are kept", len(c))
	}
}
