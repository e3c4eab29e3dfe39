package sim

import (
	"slices"
	"testing"
	"time"

	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/space/cellapp"
)

// lateBy is how late a message that tells the time is: far more than apartAtMost, and less than
// deadAfter.
const lateBy = 2 * time.Second

// TestLateWelcome: the Welcome of a CellApp is long under way. The cell that the CellApp is given
// has the game time of the others nevertheless.
func TestLateWelcome(t *testing.T) {
	play(t, Options{Seed: 41, CellApps: 3, Balance: still(3)}, func(r *rig) {
		anew, _, _ := r.real(r.id())
		anew.crash()
		anew.restartAt = r.now + 300*time.Millisecond
		joins := false
		r.on(func(m tampered) (pass, done bool) {
			if joins = m.p == r.manager && m.id == wire.JoinID; joins {
				r.part(r.manager, anew)
			}
			return true, joins
		})
		r.until("it joins", 5*time.Second, func() bool { return joins })
		r.wait(lateBy)
		if anew.app.(*cellapp.CellApp).Joined() {
			t.Fatal("its Welcome was not late")
		}
		r.join(r.manager, anew)
		r.until("it has a cell", 20*time.Second, func() bool { return anew.alive && cellsOf(anew) > 0 })
	})
}

// TestLateRejoins: what the CellApps tell a CellAppMgr that starts anew is long under way, and
// their time with it. A CellApp that is new then has the time of the others.
func TestLateRejoins(t *testing.T) {
	play(t, Options{Seed: 42, CellApps: 3, Balance: still(3)}, func(r *rig) {
		anew, _, _ := r.real(r.id())
		anew.crash()
		r.manager.crash()
		r.manager.restartAt = r.now + 300*time.Millisecond
		heard := 0
		r.hook = func(p *Process, _ mercury.ChannelID, msg []byte) []byte {
			var m wire.Rejoin
			if p != r.manager || wire.ID(msg[0]) != wire.RejoinID || m.Parse(slices.Clone(msg[1:])) != nil || m.GameTime == 0 {
				return msg
			}
			heard++
			m.GameTime -= lateBy
			return wire.Encode(nil, &m)
		}
		r.until("both others have come back", 10*time.Second, func() bool { return heard == 2 })
		anew.restartAt = r.now + 300*time.Millisecond
		r.until("the new one has a cell", 30*time.Second, func() bool { return anew.alive && cellsOf(anew) > 0 })
	})
}
