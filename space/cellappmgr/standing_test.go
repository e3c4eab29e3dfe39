package cellappmgr

import (
	"slices"
	"testing"

	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
)

// Whoever has proved too little neither joins, nor operates, nor silences the manager by a term
// that he makes up.
func TestStandings(t *testing.T) {
	for _, x := range []struct {
		standing                     mercury.Standing
		observes, freezes, is, speak bool
	}{
		{mercury.Stranger, false, false, false, false},
		{mercury.Observer, true, false, false, true},
		{mercury.Operator, true, true, false, true},
		{mercury.Member, true, true, true, true},
		{mercury.Trusted, true, true, true, true},
	} {
		t.Run(x.standing.String(), func(t *testing.T) {
			r := newRig(t, nil)
			cell := r.join(wire.CellApp, 30)
			connect := func(role wire.Role, n int) *peer {
				p := r.connect(role, at(n))
				r.net.standings = map[mercury.ChannelID]mercury.Standing{p.ch: x.standing}
				return p
			}
			if o := connect(wire.Observer, 10); true {
				o.sendJoin()
				o.send(&wire.Freeze{On: true})
				if got := len(take[wire.Welcome](o)) == 1; got != x.observes {
					t.Errorf("observes: %v", got)
				}
				if r.m.frozen != x.freezes {
					t.Errorf("freezes: %v", r.m.frozen)
				}
				if gone := slices.Contains(r.net.aborted, o.ch); gone == x.speak {
					t.Errorf("its channel was ended: %v", gone)
				}
			}
			for i, role := range []wire.Role{wire.CellApp, wire.BaseApp, wire.LoginApp, wire.BaseAppMgr} {
				p := connect(role, 20+i)
				p.sendJoin()
				if got := len(take[wire.Welcome](p)) == 1; got != x.is {
					t.Errorf("joins as a %v: %v", role, got)
				}
			}
			// Over a channel of its own, somebody speaks from the place of a CellApp.
			posed := &peer{r: r, role: wire.CellApp, addr: cell.addr}
			posed.reconnect()
			r.net.standings = map[mercury.ChannelID]mercury.Standing{posed.ch: x.standing}
			posed.send(&wire.RetireApp{Reason: "ha"})
			if got := r.m.byAddress(cell.addr).retiring; got != x.is {
				t.Errorf("speaks for a CellApp: %v", got)
			}
			rival := connect(wire.CellApp, 40)
			rival.send(&wire.Join{Speaks: wire.Spoken(), Role: wire.CellApp, Digest: digest, Term: 99})
			if r.m.superseded != x.is {
				t.Errorf("silences the manager: %v", r.m.superseded)
			}
			if n := r.m.Counts().Unproved; (n == 0) != x.is {
				t.Errorf("%d unproved messages counted", n)
			}
		})
	}
}
