package space

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/cellscape/cellscape/aoi/witness"
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/internal/trace"
	"github.com/cellscape/cellscape/space/cluster/watch"
)

// watched is what an app of the rig shows.
func (a *testApp) watched(t *testing.T) func(path, text string) error {
	tree := watch.New()
	a.population.Watch(tree)
	if err := tree.Err(); err != nil {
		t.Fatal(err)
	}
	return func(path, text string) error {
		v, err := tree.Set(path, text)
		if err == nil && v.Text != text {
			t.Errorf("%s = %s after it was set to %s", path, v.Text, text)
		}
		return err
	}
}

// The numbers are those of all cells.
func TestWatchedNumbers(t *testing.T) {
	r := newRig(t, 2)
	tree := watch.New()
	r.apps[0].population.Watch(tree)
	r.spawn(-10)
	r.spawn(-20)
	r.tick(5)
	for path, want := range map[string]string{"cells/count": "1", "cells/reals": "2", "cells/ghosts": "0", "cells/clients": "0", "witness/bytes_per_tick": "5000", "witness/least_bytes_per_tick": "250"} {
		if v, err := tree.Read(path); err != nil || v.Text != want || v.About == "" {
			t.Errorf("%s: %+v %v, want %s", path, v, err, want)
		}
	}
}

// A new budget is that of witnesses that are there, as of those to come; a cell that comes later
// has it, too.
func TestSetWitness(t *testing.T) {
	r := newRig(t, 1)
	a := r.apps[0]
	set := a.watched(t)
	r.create(1, -10, 1)
	old := r.real(1)
	if n := old.witness.Budget(); n != witness.DefaultBytesPerTick {
		t.Fatalf("budget %d", n)
	}
	if err := errors.Join(set("witness/bytes_per_tick", "600"), set("witness/least_bytes_per_tick", "300")); err != nil {
		t.Fatal(err)
	}
	r.create(2, -20, 1)
	young := r.real(2)
	for _, x := range []*Real{old, young} {
		if n := x.witness.Budget(); n != 600 {
			t.Errorf("budget %d", n)
		}
		if x.witness.SetAllowance(1); x.witness.Budget() != 300 {
			t.Errorf("budget of a narrow line %d", x.witness.Budget())
		}
	}
	for text, want := range map[string]string{"-1": "take 1 to", "200": "LeastBytesPerTick", "many": "whole number", "99999999999": "take 1 to"} {
		if err := set("witness/bytes_per_tick", text); !errors.Is(err, watch.Refused) || !strings.Contains(err.Error(), want) {
			t.Errorf("set to %s: %v", text, err)
		}
	}
	if n := young.cell.cfg.Witness.BytesPerTick; n != 600 {
		t.Errorf("a refused value has left %d", n)
	}
}

// A shorter period acts on reals that had their last backup by the longer one.
func TestSetBackupPeriod(t *testing.T) {
	r := newRig(t, 1)
	set := r.apps[0].watched(t)
	r.create(1, -10, 0)
	real := r.real(1)
	r.tick(1)
	if real.backupAt < r.now+3*time.Second {
		t.Fatalf("due at %v, now is %v", real.backupAt, r.now)
	}
	if err := set("cells/backup_period", "500ms"); err != nil {
		t.Fatal(err)
	}
	was := real.saves
	if r.tick(20); real.saves-was < 3 {
		t.Errorf("%d backups in two seconds", real.saves-was)
	}
	if err := set("cells/backup_period", "1h0m0s"); err != nil {
		t.Fatal(err)
	}
	r.tick(10) // the one that was due
	was = real.saves
	if r.tick(100); real.saves != was {
		t.Errorf("%d backups by a period of an hour", real.saves-was)
	}
	if err := set("cells/backup_period", "-1s"); !errors.Is(err, watch.Refused) {
		t.Error(err)
	}
}

// The budgets and bounds are those of the next check, and of who comes next.
func TestSetBudgets(t *testing.T) {
	r := newRig(t, 2)
	set := r.apps[0].watched(t)
	if err := errors.Join(set("cells/ghost_budget", "1"), set("cells/check_budget", "7"), set("cells/dwell", "1s"), set("cells/max_reals", "3")); err != nil {
		t.Fatal(err)
	}
	for range 4 {
		r.spawn(-1)
	}
	r.tick(2) // one check
	if n := Hosted.Ghosts(r.apps[1].cell); n != 1 {
		t.Errorf("%d ghosts after a check, by a budget of 1", n)
	}
	c := r.apps[0].cell.Cell
	if c.cfg.CheckBudget != 7 || c.cfg.Dwell != time.Second || c.cfg.MaxReals != 3 || r.apps[1].cell.cfg.MaxReals != 0 {
		t.Errorf("%+v", c.cfg)
	}
}

// The steps of two apps, sorted by the order of the real, are one story.
func TestTrace(t *testing.T) {
	r := newRig(t, 2)
	var out bytes.Buffer
	log := slog.New(slog.NewTextHandler(&out, nil))
	for _, a := range r.apps {
		a.population.env.Trace = trace.New(log)
	}
	const id = entity.ID(1)
	r.create(id, -5, 0)
	real := r.real(id)
	r.tick(2)
	if out.Len() > 0 {
		t.Fatalf("nobody asked for %s", &out)
	}
	for _, a := range r.apps {
		if err := a.population.env.Trace.Set(id.String()); err != nil {
			t.Fatal(err)
		}
	}
	r.create(2, -5, 0) // another
	real.attach(flow.Session{Number: 1})
	r.move(id, 100)
	r.tick(5)
	if r.real(id).cell != r.apps[1].cell.Cell {
		t.Fatal("it has not gone over")
	}
	r.real(id).Destroy()
	r.tick(3)
	steps := storyOf(out.String())
	want := []string{"client attached", "offload out", "offload in", "destroyed", "ghost gone"}
	if strings.Join(steps, ",") != strings.Join(want, ",") {
		t.Errorf("steps %q, want %q\n%s", steps, want, &out)
	}
}

// storyOf is the steps that are logged in a text, without backups.
func storyOf(text string) (steps []string) {
	for line := range strings.Lines(text) {
		_, rest, ok := strings.Cut(line, `msg="entity trace" step=`)
		step, _, _ := strings.Cut(rest, " entity=")
		if step = strings.Trim(step, `"`); ok && step != "backup sent" {
			steps = append(steps, step)
		}
	}
	return steps
}
