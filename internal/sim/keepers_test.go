package sim

import (
	"bytes"
	"slices"
	"testing"
	"time"

	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
)

// endAll kills the manager together with all CellApps that have a cell of the shared space, and
// starts another manager. The CellApps come back when the next one has made the world.
func (r *rig) endAll() {
	r.t.Helper()
	r.manager.crash()
	for _, p := range r.cellApps {
		if p.alive && cellIn(p, theSpace) != nil {
			p.crash()
			p.restartAt = r.now + 8*time.Second
		}
	}
	r.manager.restartAt = r.now + 300*time.Millisecond
	term := r.terms + 1
	r.until("the space is made anew", 20*time.Second, func() bool { return r.cellOf(term) != nil })
}

// holds fails unless the shared space has one of some values.
func (r *rig) holds(values ...string) {
	r.t.Helper()
	e, _ := r.cellOf(r.terms).Data(saidKey)
	for _, v := range values {
		if string(e.Value) == v {
			return
		}
	}
	r.t.Errorf("the space has %q, want one of %q", e.Value, values)
}

// The manager dies together with the last CellApp of a space, at each step of a change of the
// space's data and of how it is kept: what was told is not lost, since two BaseApps have it.
func TestManagerAndLastCellAppDie(t *testing.T) {
	// at has a change made, and lets nothing arrive any more after the nth message about it to
	// processes of a role.
	at := func(id wire.ID, nth int, roles ...string) func(r *rig) {
		return func(r *rig) {
			n, held := 0, false
			r.hook = func(p *Process, _ mercury.ChannelID, msg []byte) []byte {
				if !held && len(msg) > 0 && wire.ID(msg[0]) == id && bytes.Contains(msg, []byte("second")) && slices.ContainsFunc(roles, p.takes) {
					n++
					held = n == nth
				}
				if held {
					return nil
				}
				return msg
			}
			r.proclaim(r.cellApps[r.home()], "second")
			r.until("the step is reached", 5*time.Second, func() bool { return held })
		}
	}
	for _, x := range []struct {
		name string
		do   func(r *rig)
		want []string
	}{
		{"at rest", func(*rig) {}, []string{"first"}},
		{"before the manager hears of a change", at(wire.SetSpaceDataID, 1, "cellappmgr"), []string{"first"}},
		{"before anyone hears of it", at(wire.SpaceDataID, 1, "cellapp", "baseapp"), []string{"first", "second"}},
		{"before a keeper hears of it", at(wire.SpaceDataID, 1, "baseapp"), []string{"first", "second"}},
		{"when one keeper has heard of it", at(wire.SpaceDataID, 2, "baseapp"), []string{"second"}},
		{"when all have", func(r *rig) {
			r.proclaim(r.cellApps[r.home()], "second")
			r.wait(time.Second)
		}, []string{"second"}},
		{"with one keeper", func(r *rig) {
			p := r.baseApps[0]
			p.crash()
			p.restartAt = r.now + 30*time.Second
		}, []string{"first"}},
		{"after a keeper has died, and another has taken over", func(r *rig) {
			for _, p := range r.baseApps {
				p.crash()
				p.restartAt = r.now + 2*time.Second
				r.wait(12 * time.Second)
			}
		}, []string{"first"}},
		{"after a keeper was not told, and its channel ended", func(r *rig) {
			lost := 0
			r.hook = func(p *Process, ch mercury.ChannelID, msg []byte) []byte {
				if lost < 4 && len(msg) > 0 && (wire.ID(msg[0]) == wire.SpaceCopyID || wire.ID(msg[0]) == wire.SpaceDataID) && p.takes("baseapp") {
					lost++
					r.snap(p, ch)
					return nil
				}
				return msg
			}
			r.proclaim(r.cellApps[r.home()], "second")
			r.wait(15 * time.Second)
			if lost < 4 {
				r.t.Errorf("%d messages were lost", lost)
			}
		}, []string{"second"}},
		{"and again at once", func(r *rig) { r.endAll() }, []string{"first"}},
		{"and again later", func(r *rig) { r.endAll(); r.wait(10 * time.Second) }, []string{"first"}},
	} {
		t.Run(x.name, func(t *testing.T) {
			play(t, Options{Seed: 61, Balance: still(1)}, func(r *rig) {
				r.proclaim(r.cellApps[r.home()], "first")
				r.until("it is known", 5*time.Second, func() bool { return r.heard("first") })
				r.wait(time.Second)
				x.do(r)
				r.hook = nil
				r.endAll()
				r.holds(x.want...)
			})
		})
	}
}

// home is which CellApp has the shared space.
func (r *rig) home() int {
	for i, p := range r.cellApps {
		if p.alive && cellIn(p, theSpace) != nil {
			return i
		}
	}
	r.t.Fatal("nobody has the space")
	return 0
}

// Rooms outlive the manager and their CellApps, too, and none is left over in the end.
func TestRoomsOutliveManagerAndCellApps(t *testing.T) {
	play(t, Options{Seed: 62, Players: 2, Rovers: 2, Lodgers: 6, Balance: still(1)}, func(r *rig) {
		for _, l := range basesOf[*lodgerBase](r.Cluster) {
			l.patient = true
		}
		r.wait(10 * time.Second)
		was := r.leftovers()
		r.manager.crash()
		for _, p := range r.cellApps {
			p.crash()
			p.restartAt = r.now + 4*time.Second
		}
		r.manager.restartAt = r.now + 300*time.Millisecond
		r.until("the world goes on", 30*time.Second, func() bool { return r.manager.alive && r.cellOf(r.terms) != nil })
		r.until("the rooms are there again", 30*time.Second, func() bool { return r.leader().Status().SpaceCount > 1 })
		t.Logf("%d rooms and cells of rooms before, %d after", was, r.leftovers())
		r.vacate()
	})
}
