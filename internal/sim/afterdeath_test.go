package sim

import (
	"testing"
	"time"

	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
)

// TestBothDieUncopied: a CellApp dies, and a BaseApp soon after, while the holders of its copies do
// not hear of newer ones. What cell parts had said to the bases there is in no copy, and the cell
// parts that are made again must not count on it.
func TestBothDieUncopied(t *testing.T) {
	for seed := uint64(1); seed <= 3; seed++ {
		t.Run(string(rune('0'+seed)), func(t *testing.T) {
			o := Options{Seed: 8310 + seed, CellApps: 2, BaseApps: 3, Replicas: 1, Players: 4, Rovers: 9, Lookout: true, Balance: still(2)}
			play(t, o, func(r *rig) {
				r.wait(2 * backupPeriod)
				dead, cells := r.baseApps[0], r.cellApps[0]
				r.hook = func(_ *Process, _ mercury.ChannelID, msg []byte) []byte {
					if len(msg) > 0 && wire.ID(msg[0]) == wire.BaseCopyID {
						return nil
					}
					return msg
				}
				r.wait(backupPeriod)
				for _, p := range []*Process{cells, dead} {
					p.crash()
					for p.dark {
						r.endLines(p)
					}
					p.restartAt = r.now + 10*time.Second
					r.wait(1500 * time.Millisecond)
				}
				r.hook = nil
				r.wait(15 * time.Second)
			})
		})
	}
}
