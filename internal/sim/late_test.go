package sim

import (
	"testing"
	"time"

	"github.com/cellscape/cellscape/internal/spacekey"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/space"
	"github.com/cellscape/cellscape/space/cellapp"
)

// TestLateSpaceData: what is left of a space is with a CellApp that the next manager does not hear
// in time. The manager makes the space anew, with no data. When the CellApp comes, everyone gets
// the data again, under numbers above all that there were. (The data used to be lost, and numbers
// began at 1: whoever had seen higher ones took everything that was set from then on for old.)
func TestLateSpaceData(t *testing.T) {
	o, in := scripted(36, 2)
	play(t, o, func(r *rig) {
		r.unkeep()
		late := r.lingering(in)
		r.part(late, r.manager)
		r.wait(100 * time.Millisecond)
		was, ok := cellIn(late, theSpace).Data(tuneKey)
		if !ok {
			t.Fatal("there is no space data")
		}
		r.on(func(m tampered) (pass, done bool) { return m.id != wire.SetSpaceDataID, false })
		r.manager.crash()
		for _, p := range r.cellApps {
			if p != late && cellIn(p, theSpace) != nil {
				p.crash()
				p.restartAt = r.now + 10*time.Second
			}
		}
		r.manager.restartAt = r.now + 300*time.Millisecond
		var anew *space.Hosted
		r.until("the space is made anew", 15*time.Second, func() bool { anew = r.cellOf(2); return anew != nil })
		if e, ok := anew.Data(tuneKey); ok {
			t.Fatalf("the space has data %d %q", e.Number, e.Value)
		}
		r.join(late, r.manager)
		r.until("the data is back", 10*time.Second, func() bool { _, ok := anew.Data(tuneKey); return ok })
		if e, _ := anew.Data(tuneKey); e.Number <= spacekey.Base(2) || string(e.Value) != string(was.Value) {
			t.Errorf("data %#x %q, it was %#x %q", e.Number, e.Value, was.Number, was.Value)
		}
		r.until("clients have it", 20*time.Second, func() bool {
			for _, pl := range r.players {
				if v, _ := pl.client.SpaceData(tuneKey); string(v) != string(was.Value) {
					return false
				}
			}
			return true
		})
		r.until("the late cell is gone", removalEnds, func() bool { return r.removals() == 0 && cellIn(late, theSpace) == nil })
	})
}

// unkeep has all BaseApps forget what they keep of the shared space, as if they had come just now.
func (r *rig) unkeep() {
	r.t.Helper()
	told := make(map[*Process]bool)
	r.hook = func(p *Process, _ mercury.ChannelID, msg []byte) []byte {
		if len(msg) > 0 && wire.ID(msg[0]) == wire.SpaceDataID && p.takes("baseapp") {
			told[p] = true
			return wire.Encode(nil, &wire.SpaceCopy{Space: theSpace, Gone: true})
		}
		return msg
	}
	r.until("nobody keeps the space", 10*time.Second, func() bool { return len(told) == len(r.baseApps) })
}

// lingering is a CellApp whose cell is out of the space, empty, and stays because it waits for an
// ack that never comes.
func (r *rig) lingering(in *orders) *Process {
	r.t.Helper()
	on, _, _ := r.real(r.id())
	r.on(func(m tampered) (pass, done bool) { return m.id != wire.CellGoingID, false })
	in.give(retire(on))
	r.until("a cell is empty and stays", 2*removalEnds, func() bool {
		c := cellIn(on, theSpace)
		return on.app.(*cellapp.CellApp).Removing(theSpace) && c.Reals()+c.Ghosts() == 0
	})
	return on
}

// cellOf is the cell of the shared space that a manager of a term made.
func (r *rig) cellOf(term uint32) (cell *space.Hosted) {
	for _, a := range r.liveCellApps() {
		for c := range a.Cells() {
			if c.Space() == theSpace && c.ID().Term == term {
				cell = &c
			}
		}
	}
	return cell
}
