package sim

import (
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity/client/protocol"
)

// TestRelogin: twins log in to one account again and again, which hands its proxy over, keeps it without a
// client, ends it for the next one, or refuses. Each login is answered, and no twin hears another's session.
func TestRelogin(t *testing.T) {
	play(t, Options{Seed: 76, CellApps: 2, Players: 2, Rovers: 2, Balance: still(2), Wild: Wild{Twins: 4, Relogins: true}}, func(r *rig) {
		r.wait(90 * time.Second)
		ends := map[protocol.Code]int{}
		for _, tw := range r.twins {
			for code, n := range tw.ends {
				ends[code] += n
			}
		}
		t.Log(ends, r.world.seated)
		for _, code := range []protocol.Code{protocol.Replaced, protocol.AlreadyLoggedIn, protocol.LoggedOut} {
			if ends[code] == 0 {
				t.Errorf("nobody was told %q", code)
			}
		}
		if ends[protocol.Malformed]+ends[protocol.Flooding] > 0 {
			t.Errorf("ends: %v", ends)
		}
	})
}

// TestReloginDespiteFaults does so while BaseApps, managers and CellApps die, and channels break. In the end
// the account is not locked.
func TestReloginDespiteFaults(t *testing.T) {
	long(t)
	t.Parallel()
	for _, seed := range andFurther(9300, 9301, 9302, 9303) {
		o := Options{Seed: seed, CellApps: 3, BaseApps: 3, Players: 4, Rovers: 4, Crash: true, CrashBase: true, CrashLogin: seed%2 == 0, Pause: true,
			Wild: Wild{Twins: 4, Relogins: true}}
		runSeed(t, o, "")
	}
}
