package cellappmgr

import (
	"strings"
	"testing"
	"time"

	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/space/cluster/status"
)

// TestSettles: a world has settled when two waves in a row find nothing under way, and nothing was
// said between them. What an app has answered in one wave may be outdated by what another one says
// before it answers.
func TestSettles(t *testing.T) {
	for _, x := range []struct {
		name  string
		waves [][2]wire.StopState // what the two apps answer
		holds bool
	}{
		{"one quiet wave", [][2]wire.StopState{{}}, false},
		{"two", [][2]wire.StopState{{}, {}}, true},
		{"something was said between them", [][2]wire.StopState{{{Activity: 7}, {Activity: 5}}, {{Activity: 8}, {Activity: 6}}}, false},
		{"and no more was said then", [][2]wire.StopState{{{Activity: 7}, {Activity: 5}}, {{Activity: 8}, {Activity: 6}}, {{Activity: 8}, {Activity: 6}}}, true},
		{"something is under way in the second", [][2]wire.StopState{{}, {{}, {Pending: 1}}, {}}, false},
	} {
		t.Run(x.name, func(t *testing.T) {
			r := newRig(t, nil)
			apps := [2]*peer{r.join(wire.CellApp, 2), r.join(wire.BaseApp, 3)}
			r.pass(time.Second)
			apps[0].confirm()
			r.m.Shutdown(r.now, "test")
			told := func() (last wire.Stop) {
				t.Helper()
				for range 3 { // a wave goes out with a tick at the latest
					for i, p := range apps {
						for _, s := range take[wire.Stop](p) {
							if i == 0 && s.Number > last.Number {
								last = s
							}
						}
					}
					if last.Number != 0 {
						break
					}
					r.pass(100 * time.Millisecond)
				}
				return last
			}
			answer := func(number uint64, states [2]wire.StopState) {
				for i, p := range apps {
					states[i].Number = number
					p.send(&states[i])
				}
			}
			stop := told()
			for ; stop.Step == wire.StopClosing; stop = told() {
				answer(stop.Number, [2]wire.StopState{})
			}
			for _, states := range x.waves {
				if stop.Step != wire.StopPaused {
					t.Fatalf("told %+v", stop)
				}
				answer(stop.Number, states)
				if next := told(); next.Number != 0 {
					stop = next
				} else {
					r.pass(resend) // it is asked again
					stop = told()
				}
			}
			if holds := stop.Step == wire.StopHeld; holds != x.holds {
				t.Errorf("told %+v", stop)
			}
		})
	}
}

// The log says that a world is saved only if it is: an operator may look no further.
func TestSavedIsWhole(t *testing.T) {
	for _, x := range []struct {
		level, says string
		saved       status.Saved
	}{
		{"WARN", "the world is saved", status.Saved{Type: "Chest", Written: 2, Unkept: 1}},
		{"ERROR", "not all of it is saved", status.Saved{Type: "Chest", Written: 2, Failed: 1}},
		{"ERROR", "not all of it is saved", status.Saved{Type: "Chest", Written: 2, Stale: 1}},
	} {
		r := newRig(t, nil)
		r.join(wire.BaseApp, 3)
		r.m.members[0].stop.saved = []status.Saved{x.saved}
		r.m.reportStop(r.now)
		r.logged("level="+x.level, x.says)
		if whole := x.saved.Failed+x.saved.Stale == 0; strings.Contains(r.log.String(), "the world is saved") != whole {
			t.Errorf("%+v: %s", x.saved, r.log.String())
		}
	}
}
