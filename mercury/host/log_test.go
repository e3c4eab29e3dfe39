package host_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/cellscape/cellscape/mercury/host"
)

// Every OS process of a cluster numbers its apps from 1, so in their logs side by side a name alone
// told nobody who spoke. The address does: a status, and what others log of the app, have the same
// one.
func TestLogTellsTheAddress(t *testing.T) {
	seen := make(map[string]bool)
	for range 2 {
		var log bytes.Buffer
		h, err := host.New(host.Config{Log: slog.New(slog.NewTextHandler(&log, nil))})
		if err != nil {
			t.Fatal(err)
		}
		p := start(t, h, "CellApp 1")
		do(t, p, func(e *echo) { e.env.Log.Info("hello") })
		if err := h.Close(); err != nil {
			t.Fatal(err)
		}
		line := log.String()
		if want := fmt.Sprintf("process=\"CellApp 1\" listens=%v", p.Address().At); !strings.Contains(line, want) {
			t.Errorf("%q is missing in %q", want, line)
		}
		seen[line] = true
	}
	if len(seen) != 2 {
		t.Error("two processes log the same")
	}
}
