package sim

import (
	"slices"
	"testing"
	"time"

	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
)

// TestEndIsKnown: a base ends, its BaseApp dies before the holder of its copy hears of that, and
// the base comes back from the copy. Nobody else has got its name meanwhile.
func TestEndIsKnown(t *testing.T) {
	play(t, Options{Seed: 8301, CellApps: 2, BaseApps: 3, Replicas: 1, Players: 2, Balance: still(2), Wild: Wild{Namers: 2}}, func(r *rig) {
		r.world.calm = true // they do nothing by themselves
		const name = "name of one"
		dead := r.baseApps[0]
		var old, other *namer
		for at, b := range basesOf[*namer](r.Cluster) {
			switch {
			case at.p == dead && old == nil:
				old = b
			case at.p != dead && other == nil:
				other = b
			}
		}
		register := func(b *namer) {
			b.begin("name", b.RegisterName(name, "OnName", b.next()))
		}
		register(old)
		r.until("it has the name", 5*time.Second, func() bool { return slices.Contains(old.names(), name) })
		r.wait(3 * backupPeriod)
		r.hook = func(p *Process, _ mercury.ChannelID, msg []byte) []byte {
			if len(msg) > 0 && (wire.ID(msg[0]) == wire.BaseGoneID || wire.ID(msg[0]) == wire.CopyMarkID) && p != dead {
				return nil
			}
			return msg
		}
		old.Destroy()
		r.wait(500 * time.Millisecond)
		register(other)
		r.wait(time.Second)
		dead.crash()
		r.hook = nil
		dead.restartAt = r.now + 20*time.Second
		r.wait(15 * time.Second)
		if slices.Contains(other.names(), name) {
			t.Error("another got the name of a base that came back")
		}
		lives := 0
		for _, b := range basesOf[*namer](r.Cluster) {
			if b.ID() == old.ID() {
				lives++
			}
		}
		if lives != 1 {
			t.Errorf("%d lives of the base", lives)
		}
	})
}
