package cluster_test

import (
	"strings"
	"testing"
	"time"

	"github.com/cellscape/cellscape/space/cellappmgr"
	"github.com/cellscape/cellscape/space/overload"
)

// Logins come before updates, whatever of the two is configured.
func TestLoginsAreRefusedBeforeUpdatesAreThinned(t *testing.T) {
	for _, c := range []struct {
		name     string
		overload overload.Config
		logins   cellappmgr.LoginConfig
		fault    string // what its error names, or ""
	}{
		{"the defaults", overload.Config{}, cellappmgr.LoginConfig{}, ""},
		{"saving too early", overload.Config{Start: 0.85}, cellappmgr.LoginConfig{}, "Overload.Start"},
		{"both early", overload.Config{Start: 0.7}, cellappmgr.LoginConfig{AvgLoad: 0.6, MaxLoad: 0.7}, ""},
		{"logins too late", overload.Config{}, cellappmgr.LoginConfig{MaxLoad: 0.95}, "Overload.Start"},
		{"saving too soon", overload.Config{Patience: 5 * time.Second}, cellappmgr.LoginConfig{}, "Overload.Patience"},
		{"both soon", overload.Config{Patience: 2 * time.Second}, cellappmgr.LoginConfig{Tolerance: time.Second}, ""},
		{"logins whatever the load", overload.Config{Start: 0.5}, cellappmgr.LoginConfig{Always: true}, ""},
		{"no bound at all", overload.Config{}, cellappmgr.LoginConfig{MaxLoad: -1}, "MaxLoad"},
	} {
		cfg := world(t)
		cfg.Space.Overload, cfg.Logins = c.overload, c.logins
		err := cfg.Validate()
		if (err == nil) != (c.fault == "") || err != nil && !strings.Contains(err.Error(), c.fault) {
			t.Errorf("%s: %v, want a word on %q", c.name, err, c.fault)
		}
	}
}
