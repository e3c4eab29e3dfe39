package cellappmgr

import (
	"strings"
	"testing"
	"time"

	"github.com/cellscape/cellscape/internal/wire"
)

// A CellApp is named once when its load comes over the warning level, and once when it is well below that
// again.
func TestWarningLevel(t *testing.T) {
	for name, x := range map[string]struct{ set, level float64 }{
		"default":    {0, 0.75},
		"of its own": {0.4, 0.4},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, func(c *Config) { c.Balance.WarningLevel = x.set })
			a := r.join(wire.CellApp, 10)
			a.confirm()
			for _, tt := range []struct {
				load            float64
				warned, relaxed int // so far
			}{
				{x.level - 0.02, 0, 0},
				{x.level + 0.02, 1, 0},
				{x.level - 0.02, 1, 0}, // about the level it is told once
				{x.level + 0.02, 1, 0},
				{x.level * 0.85, 1, 1},
				{x.level + 0.02, 2, 1},
			} {
				for range 60 { // the load is smoothed
					r.reportAll(tt.load)
					r.pass(100 * time.Millisecond)
				}
				warned := strings.Count(r.log.String(), "a CellApp is heavily loaded")
				relaxed := strings.Count(r.log.String(), "a CellApp has room again")
				if warned != tt.warned || relaxed != tt.relaxed {
					t.Errorf("at a load of %v it was warned of %d times and found to have room %d times, want %d and %d",
						tt.load, warned, relaxed, tt.warned, tt.relaxed)
				}
			}
		})
	}
}
