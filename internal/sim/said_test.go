package sim

import (
	"testing"
	"time"

	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
)

// A cell sets space data while the channel to the CellAppMgr breaks, or while the manager dies. In
// the end every cell has the data, by the rule that a cell's own writes of a key keep their order,
// and that what comes late does not undo what is newer.

// saidKey is a key that only these tests set.
const saidKey = 9

// proclaim makes a real on a CellApp set an entry.
func (r *rig) proclaim(on *Process, value string) {
	r.t.Helper()
	done := false
	for v := range r.viewsOf(on) {
		if s, ok := v.Script().(interface {
			SetSpaceData(key uint16, value []byte) error
		}); ok && !done && v.IsReal() && v.cell.Space() == theSpace {
			done = true
			if err := s.SetSpaceData(saidKey, []byte(value)); err != nil {
				r.t.Fatal(err)
			}
		}
	}
	if !done {
		r.t.Fatalf("%s has no real that speaks", on.Name)
	}
}

// heard reports whether every cell of the space has a value under saidKey.
func (r *rig) heard(value string) bool {
	all := true
	for _, a := range r.liveCellApps() {
		for cell := range theCell(a) {
			e, _ := cell.Data(saidKey)
			all = all && string(e.Value) == value
		}
	}
	return all
}

// twoSpeakers returns two CellApps that each have a real of the space.
func (r *rig) twoSpeakers() (a, b *Process) {
	r.t.Helper()
	for _, p := range r.cellApps {
		speaks := false
		for v := range r.viewsOf(p) {
			speaks = speaks || v.IsReal() && v.cell.Space() == theSpace
		}
		switch {
		case !speaks:
		case a == nil:
			a = p
		case b == nil:
			b = p
		}
	}
	if b == nil {
		r.t.Fatal("reals are on one CellApp only")
	}
	return a, b
}

// breakData ends the channel to the CellAppMgr at the next SetSpaceData of saidKey, which is lost,
// or at the answer to it. The manager ends the channel, with a reason that does not prove a death:
// both processes live on.
func (r *rig) breakData(at wire.ID) (broken *bool) {
	broken = new(bool)
	var ch mercury.ChannelID // of the manager
	r.hook = func(p *Process, on mercury.ChannelID, msg []byte) []byte {
		var m wire.SetSpaceData
		if p == r.manager && kind(msg) == wire.SetSpaceDataID && m.Parse(msg[1:]) == nil && m.Key == saidKey {
			ch = on
		}
		if *broken || ch == 0 || kind(msg) != at || p == r.manager && on != ch {
			return msg
		}
		*broken, r.parted = true, true
		r.manager.ep.Abort(ch)
		r.manager.app.Closed(r.now, ch, mercury.ErrUnacked)
		return nil
	}
	return broken
}

func TestSaidWhileTheChannelBreaks(t *testing.T) {
	opts := func(seed uint64) Options {
		return Options{Seed: seed, Players: 4, Rovers: 6, Balance: still(2)}
	}
	t.Run("one write is lost", func(t *testing.T) {
		play(t, opts(4300), func(r *rig) {
			a, _ := r.twoSpeakers()
			broken := r.breakData(wire.SetSpaceDataID)
			r.proclaim(a, "dusk")
			r.until("it is lost", time.Second, func() bool { return *broken })
			r.until("all have it", repaired, func() bool { return r.heard("dusk") })
		})
	})
	t.Run("the second write goes where the first was lost", func(t *testing.T) {
		play(t, opts(4301), func(r *rig) {
			a, _ := r.twoSpeakers()
			broken := r.breakData(wire.SetSpaceDataID)
			r.proclaim(a, "dusk")
			r.until("it is lost", time.Second, func() bool { return *broken })
			r.proclaim(a, "night")
			r.until("all have it", repaired, func() bool { return r.heard("night") })
			r.wait(repaired)
			if !r.heard("night") {
				t.Error("the older value has come back")
			}
		})
	})
	for i, x := range []struct {
		name   string
		lost   wire.ID
		within time.Duration
		fault  string
	}{
		{"another cell writes meanwhile", wire.SetSpaceDataID, time.Second, "a late value has undone a newer one"},
		{"the word that it was taken is lost", wire.SpaceDataSetID, 10 * time.Second, "what was said twice has undone a newer value"},
	} {
		t.Run(x.name, func(t *testing.T) {
			play(t, opts(4302+uint64(i)), func(r *rig) {
				a, b := r.twoSpeakers()
				broken := r.breakData(x.lost)
				r.proclaim(a, "dusk")
				r.until("it is lost", x.within, func() bool { return *broken })
				r.proclaim(b, "night")
				r.wait(repaired)
				if !r.heard("night") {
					t.Error(x.fault)
				}
			})
		})
	}
	t.Run("it is lost with the manager", func(t *testing.T) {
		play(t, opts(4304), func(r *rig) {
			a, _ := r.twoSpeakers()
			lost := false
			r.hook = func(p *Process, _ mercury.ChannelID, msg []byte) []byte {
				var m wire.SetSpaceData
				if p != r.manager || kind(msg) != wire.SetSpaceDataID || m.Parse(msg[1:]) != nil || m.Key != saidKey {
					return msg
				}
				lost = true
				return nil
			}
			r.proclaim(a, "dusk")
			r.until("it is lost", time.Second, func() bool { return lost })
			r.hook = nil
			r.manager.crash()
			r.nextTerm()
			r.until("all have it", 2*repaired, func() bool { return r.heard("dusk") })
		})
	})
}
