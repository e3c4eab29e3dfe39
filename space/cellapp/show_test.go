package cellapp

import (
	"log/slog"
	"testing"

	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/space/cluster/watch"
)

// put sets a value as the manager has it set, and returns the answer.
func (r *rig) put(path, text string) (a wire.Watched) {
	r.t.Helper()
	r.manage(&wire.SetWatch{Number: 5, Role: wire.CellApp, App: 1, Path: path, Text: text})
	s := r.net.sent[len(r.net.sent)-1]
	if s.id != wire.WatchedID || a.Parse(s.body) != nil || a.Number != 5 {
		r.t.Fatalf("answered %v %+v", s.id, a)
	}
	return a
}

// The manager sets values of a CellApp, which act on what is there; nobody else does.
func TestSetValues(t *testing.T) {
	r := newRig(t)
	r.world()
	if a := r.put("witness/bytes_per_tick", "4000"); a.Fault != 0 || a.Values[0].Text != "4000" {
		t.Errorf("%+v", a)
	}
	if a := r.put("cells/reals", "4000"); a.Fault != watch.ReadOnly {
		t.Errorf("%+v", a)
	}
	r.put("log/level", "ERROR")
	if ctx := t.Context(); r.app.log.Enabled(ctx, slog.LevelWarn) || !r.app.log.Enabled(ctx, slog.LevelError) {
		t.Error("the level of the log is as it was")
	}
	r.put("log/level", "DEBUG")
	if !r.app.log.With("a", 1).Enabled(t.Context(), slog.LevelDebug) {
		t.Error("no details are logged")
	}
	refused := r.app.counters.Refused
	r.from(addr(2), &wire.SetWatch{Path: "log/level", Text: "ERROR"})
	if a := r.put("log/level", "DEBUG"); r.app.counters.Refused == refused || a.Fault != 0 {
		t.Error("another CellApp has set a value")
	}
	for _, path := range []string{"app/load", "app/number", "cells/count", "ticks/count", "trace/entities"} {
		if v, err := r.app.watches.Read(path); err != nil || v.About == "" {
			t.Errorf("%s: %+v %v", path, v, err)
		}
	}
}
