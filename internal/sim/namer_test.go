package sim

import (
	"strings"
	"testing"
	"time"

	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
)

// TestNames: bases take names, give them up and die, while the BaseAppMgr, a BaseApp and the CellAppMgr
// die one after the other and come back. No name ever has two bases.
func TestNames(t *testing.T) {
	play(t, Options{Seed: 60, Players: 1, Rovers: 1, Wild: Wild{Namers: 6}}, func(r *rig) {
		names, fellows := 0, 0
		count := func() {
			names += r.baseAppMgr().Counts().Names
			for _, b := range basesOf[*namer](r.Cluster) {
				fellows += b.made
			}
		}
		for _, p := range []*Process{r.logins[0], r.baseApps[0], r.logins[0], r.manager} {
			r.wait(8 * time.Second)
			count()
			p.crash()
			r.wait(2 * time.Second)
			p.restartAt = r.now + time.Second
		}
		r.wait(8 * time.Second)
		count()
		if names < 10 || fellows < 20 {
			t.Errorf("%d names, %d bases made elsewhere", names, fellows)
		}
	})
}

// TestPlantedName hides from a BaseAppMgr that starts again which names there are.
func TestPlantedName(t *testing.T) {
	t.Parallel()
	c, err := New(Options{Seed: 61, Players: 1, Rovers: 1, Wild: Wild{Namers: 6}, Faults: 20 * time.Second, Tamper: func(p *Process, _ mercury.ChannelID, _ bool, msg []byte) []byte {
		switch kind(msg) {
		case wire.NamesID:
			return wire.Encode(nil, &wire.Names{Last: true})
		case wire.PlaceBaseID:
			if p.c.now > 8*time.Second && p.c.logins[0].starts == 1 {
				p.c.logins[0].kill()
				p.c.logins[0].restartAt = p.c.now + time.Second
			}
		}
		return msg
	}})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Run(); err == nil || !strings.Contains(err.Error(), "and so has") {
		t.Errorf("noticed as %v", err)
	}
}
