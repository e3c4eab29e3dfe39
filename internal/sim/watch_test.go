package sim

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cellscape/cellscape/internal/trace"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/space/cellapp"
	"github.com/cellscape/cellscape/space/cluster/watch"
)

// question asks as an observer does, and waits for the answer; false if there is none.
func (r *rig) question(q wire.Call) (wire.Watched, bool) {
	r.t.Helper()
	o := r.observer
	o.watched = nil
	o.manager.Send(q)
	if err := r.runUntil(6*time.Second, func() bool { return len(o.watched) > 0 }); err != nil {
		r.fail(err)
	}
	if len(o.watched) == 0 {
		return wire.Watched{}, false
	}
	return o.watched[0], true
}

// An observer reads and sets values of every process. Those of one are its own.
func TestWatches(t *testing.T) {
	play(t, Options{Seed: 31, CellApps: 3, Balance: still(3), Wild: Wild{Ledgers: 2}}, func(r *rig) {
		for role := wire.CellAppMgr; role < wire.Observer; role++ {
			q := &wire.ReadWatch{Number: uint64(role), Role: role, App: 1, List: true}
			a, ok := r.question(q)
			if !ok || a.Number != uint64(role) || a.Fault != 0 || len(a.Values) < 6 {
				t.Errorf("%v: %+v", role, a)
			}
			if !slices.IsSortedFunc(a.Values, func(x, y watch.Value) int { return strings.Compare(x.Path, y.Path) }) {
				t.Errorf("%v: %+v", role, a.Values)
			}
		}
		if a, ok := r.question(&wire.SetWatch{Number: 9, Role: wire.CellApp, App: 2, Path: "witness/bytes_per_tick", Text: "4000"}); !ok || a.Fault != 0 || a.Values[0].Text != "4000" {
			t.Errorf("set: %+v", a)
		}
		for n, want := range map[uint32]string{1: "5000", 2: "4000", 3: "5000"} {
			if a, ok := r.question(&wire.ReadWatch{Role: wire.CellApp, App: n, Path: "witness/bytes_per_tick"}); !ok || a.Values[0].Text != want {
				t.Errorf("CellApp %d: %+v, want %s", n, a, want)
			}
		}
		for _, p := range r.cellApps {
			if a, ok := p.app.(*cellapp.CellApp); ok && a.Number() == 1 {
				p.pause(5 * time.Second)
			}
		}
		if a, ok := r.question(&wire.ReadWatch{Role: wire.CellApp, App: 1, Path: "cells/reals"}); !ok || a.Fault != watch.NoAnswer {
			t.Errorf("of one that is stopped: %v %+v", ok, a)
		}
		r.wait(4 * time.Second)
	})
}

// Channels break just at a question, or at its answer. The observer hears so, or that nobody
// answers, and the next question is answered; nothing else suffers.
func TestWatchBreaks(t *testing.T) {
	for _, id := range []wire.ID{wire.ReadWatchID, wire.SetWatchID, wire.WatchedID} {
		for _, role := range []wire.Role{wire.CellApp, wire.BaseApp, wire.LoginApp, wire.BaseAppMgr} {
			t.Run(fmt.Sprint(id, " of a ", role), func(t *testing.T) {
				play(t, Options{Seed: 32 + uint64(role), CellApps: 3, Players: 4, Rovers: 4, Balance: still(3)}, func(r *rig) {
					r.losses++ // what was on the channel comes again
					broken := false
					r.hook = func(p *Process, ch mercury.ChannelID, msg []byte) []byte {
						to := role
						if id == wire.WatchedID {
							to = wire.CellAppMgr
						}
						if broken || len(msg) == 0 || wire.ID(msg[0]) != id || !r.fromApp(p, ch) || !p.takes(strings.ToLower(to.String())) && to != wire.CellAppMgr {
							return msg
						}
						if from := r.peer(p, ch); to == wire.CellAppMgr && from.Name == "observer" || p.Name == "observer" {
							return msg
						}
						broken = true
						r.snap(p, ch)
						return nil
					}
					q := func() wire.Call {
						if id == wire.SetWatchID {
							return &wire.SetWatch{Number: 5, Role: role, App: 1, Path: "log/level", Text: "WARN"}
						}
						return &wire.ReadWatch{Number: 5, Role: role, App: 1, Path: "log/level"}
					}
					a, ok := r.question(q())
					if !broken || !ok || a.Number != 5 || a.Fault != watch.NoAnswer {
						t.Errorf("broken %v, answered %v: %+v", broken, ok, a)
					}
					r.hook = nil
					r.wait(4 * time.Second)
					if a, ok := r.question(&wire.ReadWatch{Number: 6, Role: role, Path: "ticks/count", App: r.numberOf(role)}); !ok || a.Fault != 0 {
						t.Errorf("afterwards: %v %+v", ok, a)
					}
					r.wait(repaired)
				})
			})
		}
	}
}

// numberOf is the number of a process of a role, by the status: who joins anew has another.
func (r *rig) numberOf(role wire.Role) uint32 {
	a, _ := r.observer.last.App(role.String())
	return a.Number
}

// story keeps the lines of traces, and who wrote each.
type story struct {
	process string
	lines   *[]lifeStep
}

type lifeStep struct {
	process, step, order string
	at                   time.Duration
}

func (s story) Enabled(context.Context, slog.Level) bool { return true }
func (s story) WithGroup(string) slog.Handler            { return s }
func (s story) WithAttrs(attrs []slog.Attr) slog.Handler {
	for _, a := range attrs {
		if a.Key == "process" {
			s.process = a.Value.String()
		}
	}
	return s
}

func (s story) Handle(_ context.Context, rec slog.Record) error {
	if rec.Message != trace.Message {
		return nil
	}
	l := lifeStep{process: s.process}
	rec.Attrs(func(a slog.Attr) bool {
		switch a.Key {
		case "step":
			l.step = a.Value.String()
		case "order":
			l.order = a.Value.String()
		case "at":
			l.at = a.Value.Duration()
		}
		return true
	})
	*s.lines = append(*s.lines, l)
	return nil
}

// The story of one entity: it crosses lines, its CellApp dies, it lives on, and ends. The lines of
// all processes, sorted, tell it in the order in which it was.
func TestStory(t *testing.T) {
	var lines []lifeStep
	o := Options{Seed: 33, CellApps: 3, Players: 4, Balance: still(3), Log: slog.New(story{"", &lines})}
	play(t, o, func(r *rig) {
		pl := r.players[0]
		id := pl.id()
		if a, ok := r.question(&wire.SetWatch{Role: wire.CellAppMgr, Path: trace.Path, Text: id.String()}); !ok || a.Fault != 0 {
			t.Fatalf("%+v", a)
		}
		steps := func(of string) (n int) {
			for _, l := range lines {
				if l.step == of {
					n++
				}
			}
			return n
		}
		r.wait(time.Second)
		r.place(pl, r.across(-30))
		r.wait(2 * time.Second)
		r.place(pl, r.across(60))
		r.until("it has crossed the line", 20*time.Second, func() bool { return steps("offload in") > 0 })
		on, _, _ := r.real(id)
		on.crash()
		on.restartAt = r.now + time.Second
		r.until("it is restored", 20*time.Second, func() bool { return steps("restored") > 0 })
		r.wait(2 * time.Second)
		told := slices.Clone(lines)
		slices.SortStableFunc(told, func(a, b lifeStep) int { return int(a.at - b.at) })
		var tale []string
		for _, l := range told {
			tale = append(tale, l.step)
		}
		tells(t, tale, "offload out", "offload in", "cell moved", "cell lost", "cell asked for", "restored", "backup sent", "cell moved", "backup taken")
		processes := map[string]bool{}
		for i, l := range told {
			processes[strings.TrimRight(l.process, "0123456789")] = true
			if i > 0 && l.order < told[i-1].order && strings.HasPrefix(l.step, "offload") {
				t.Errorf("%+v comes after %+v", l, told[i-1])
			}
		}
		if !processes["cellapp"] || !processes["baseapp"] {
			t.Errorf("told by %v only", processes)
		}
		if a, ok := r.question(&wire.SetWatch{Role: wire.CellAppMgr, Path: trace.Path}); !ok || a.Fault != 0 {
			t.Fatalf("%+v", a)
		}
		r.wait(time.Second)
		n := len(lines)
		r.wait(12 * time.Second)
		if len(lines) > n {
			t.Errorf("%d more lines since nobody wants them: %+v", len(lines)-n, lines[n])
		}
	})
}

// tells demands that steps come in this order, with any others between.
func tells(t *testing.T, tale []string, want ...string) {
	t.Helper()
	rest := tale
	for _, w := range want {
		i := slices.Index(rest, w)
		if i < 0 {
			t.Errorf("%q does not come where it should in %q", w, tale)
			return
		}
		rest = rest[i+1:]
	}
}
