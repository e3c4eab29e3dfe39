package cellapp

import (
	"testing"
	"time"

	"github.com/cellscape/cellscape/internal/wire"
)

// TestTimeOfLaterWelcomes checks that a CellApp takes the latest time of all its manager's
// Welcomes, that its cells follow, and that it reports its time.
func TestTimeOfLaterWelcomes(t *testing.T) {
	r := newRig(t)
	r.world()
	cell := r.app.cell(1)
	for _, tt := range []struct {
		name       string
		told, want time.Duration // relative to the time that it has
	}{
		{"older", -time.Second, 0},
		{"newer", 3 * time.Second, 3 * time.Second},
		{"older than that", -2 * time.Second, 0},
	} {
		had := r.app.clusterTime(r.now)
		r.manage(&wire.Welcome{Number: 4, Allocator: 6, Term: 1, GameTime: had + tt.told})
		if got := r.app.clusterTime(r.now); got != had+tt.want {
			t.Errorf("%s: the time is %v, want %v", tt.name, got, had+tt.want)
		}
		const ticks = 5
		r.tick(ticks)
		want := had + tt.want + ticks*DefaultTick
		if cell.Game() != want {
			t.Errorf("%s: game time %v, want %v", tt.name, cell.Game(), want)
		}
		if m := r.reportedAll(); m.Time > want || m.Time <= want-DefaultReportPeriod-DefaultTick {
			t.Errorf("%s: reported %v, it is %v", tt.name, m.Time, want)
		}
	}
}
