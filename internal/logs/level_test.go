package logs

import (
	"log/slog"
	"strings"
	"testing"
)

// The level of a logger and of all that come from it changes while they are used, below and above
// what the handler was made for.
func TestLevel(t *testing.T) {
	var out strings.Builder
	log, level := Leveled(slog.New(slog.NewTextHandler(&out, nil)))
	of := log.With("app", 1).WithGroup("g")
	says := func(want string) {
		t.Helper()
		of.Debug("debug")
		of.Info("info")
		of.Warn("warn")
		got := ""
		for _, w := range []string{"debug", "info", "warn"} {
			if strings.Contains(out.String(), "msg="+w) {
				got += w + " "
			}
		}
		if out.Reset(); got != want {
			t.Errorf("at %s it logs %q, want %q", level, got, want)
		}
	}
	says("info warn ")
	for _, x := range []struct{ at, says string }{{"DEBUG", "debug info warn "}, {"warn", "warn "}, {"ERROR+4", ""}, {"default", "info warn "}} {
		if err := level.Set(x.at); err != nil {
			t.Fatal(err)
		}
		says(x.says)
	}
	if err := level.Set("loud"); err == nil || !strings.Contains(err.Error(), "DEBUG") || level.String() != "default" {
		t.Errorf("a level that there is not: %v, now %s", err, level)
	}
}
