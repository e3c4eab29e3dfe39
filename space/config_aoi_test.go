package space

import (
	"testing"

	"github.com/cellscape/cellscape/aoi/witness"
)

// How often a client is told of whom goes by how far it sees, whether the configuration says that or a
// script.
func TestTurnsGoByTheAreaOfInterest(t *testing.T) {
	for name, c := range map[string]struct {
		cfg  Config
		want float32
	}{
		"default": {Config{}, DefaultAoIRadius},
		"smaller": {Config{AoIRadius: 60}, 60},
		"its own": {Config{AoIRadius: 60, Witness: witness.Config{MaxRadius: 80}}, 80},
	} {
		if got := c.cfg.WithDefaults().Witness.MaxRadius; got != c.want {
			t.Errorf("%s: the steps go up to %v m, want %v", name, got, c.want)
		}
	}
}
