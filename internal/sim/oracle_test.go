package sim

import (
	"testing"
	"time"

	"github.com/cellscape/cellscape/mercury/mercurytest"
)

// When an oracle's BaseApp stands still or dies, those who ask go to another one within a second, also over a
// network that loses packets. When it is back, nothing is amiss.
func TestOracleIsSilent(t *testing.T) {
	for name, c := range map[string]struct {
		loss float64
		end  func(p *Process)
	}{
		"stopped":           {0, func(p *Process) { p.pause(7 * time.Second) }},
		"stopped with loss": {0.05, func(p *Process) { p.pause(7 * time.Second) }},
		"stopped for long":  {0, func(p *Process) { p.pause(12 * time.Second) }},
		"killed":            {0, func(p *Process) { p.crash() }},
	} {
		t.Run(name, func(t *testing.T) {
			play(t, Options{Seed: 8501, CellApps: 2, BaseApps: 3, Lookout: true, Players: 2, Balance: still(2), Wild: Wild{Heralds: 24}}, func(r *rig) {
				r.fresh.off = true
				r.wait(2 * time.Second)
				r.net.SetLink(mercurytest.Link{Delay: 5 * time.Millisecond, Jitter: 5 * time.Millisecond, Loss: c.loss})
				w := r.world
				c.end(r.baseApps[1])
				r.wait(1500 * time.Millisecond)
				asked, answered := w.consulted, w.foretold
				r.wait(5 * time.Second)
				asked, answered = w.consulted-asked, w.foretold-answered
				t.Logf("of %d questions %d were answered", asked, answered)
				if asked < 100 || answered < asked-8 {
					t.Errorf("of %d questions %d were answered", asked, answered)
				}
				r.net.SetLink(cleanLink())
				r.wait(12 * time.Second)
			})
		})
	}
}
