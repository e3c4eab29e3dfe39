package sim

import (
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/ghost"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/migrate"
	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space"
)

// repaired is how long it may take until the loss of a broken channel is made good: the time in
// which the sender learns that it is broken, or a base or a ghost asks, and the grace after a loss.
const repaired = 12 * time.Second

// rock lays the first rock, and returns it.
func (r *rig) rock(at property.Vector3) (entity.ID, *rockBase) {
	r.t.Helper()
	var id entity.ID
	var rock *rockBase
	for b, s := range basesOf[*rockBase](r.Cluster) {
		if rock == nil {
			id, rock = b.ID, s
		}
	}
	if err := rock.lay(at); err != nil {
		r.t.Fatal(err)
	}
	r.until("the rock lies", 10*time.Second, func() bool { on, _, _ := r.real(id); return on != nil })
	return id, rock
}

// grain spawns a grain on the cell that contains a place.
func (r *rig) grain(at property.Vector3) (id entity.ID) {
	r.t.Helper()
	for _, a := range r.liveCellApps() {
		for cell := range a.Cells() {
			if rect := cell.Area(); id == 0 && cell.Space() == theSpace && rect.Contains(float64(at.X), float64(at.Z)) {
				var err error
				if id, err = cell.Spawn("Grain", at, property.Vector3{}, nil); err != nil {
					r.t.Fatal(err)
				}
			}
		}
	}
	if id == 0 {
		r.t.Fatalf("no cell has %v", at)
	}
	return id
}

// ghosts is the number of ghosts of an entity.
func (r *rig) ghosts(id entity.ID) (n int) {
	for v := range r.views() {
		if v.ID() == id && !v.IsReal() {
			n++
		}
	}
	return n
}

// snapOnce breaks the channel on which the first message comes for which of returns true.
func (r *rig) snapOnce(of func(p *Process, id wire.ID, body []byte) bool) (broken *bool) {
	broken = new(bool)
	r.hook = func(p *Process, ch mercury.ChannelID, msg []byte) []byte {
		if *broken || len(msg) == 0 || !r.fromApp(p, ch) || !of(p, wire.ID(msg[0]), msg[1:]) {
			return msg
		}
		*broken = true
		r.snap(p, ch)
		return nil
	}
	return broken
}

func isLost(of entity.ID) func(*Process, wire.ID, []byte) bool {
	return func(p *Process, id wire.ID, body []byte) bool {
		var m migrate.Lost
		return p.takes("baseapp") && id == wire.CellLostID && m.Parse(body) == nil && m.ID == of
	}
}

// TestLostLost loses, together with its channel, the message that a real is lost. The base, which
// believes in a real that nobody has, must hear of it nevertheless.
func TestLostLost(t *testing.T) {
	cases := []struct {
		name string
		lose func(r *rig, id entity.ID, s *rockBase)
	}{
		{"its script panics", func(r *rig, _ entity.ID, s *rockBase) {
			if err := s.Cell().Call("crack"); err != nil {
				r.t.Fatal(err)
			}
		}},
		{"it is handed over in a state that cannot be read", func(r *rig, id entity.ID, _ *rockBase) {
			r.tamperOnload(id, func(m *migrate.Onload) { m.Parts = m.Parts[:len(m.Parts)/2] })
		}},
		{"it is handed to a CellApp without a cell of the space", func(r *rig, id entity.ID, _ *rockBase) {
			r.tamperOnload(id, func(m *migrate.Onload) { m.Space += 77 })
		}},
	}
	for i, k := range cases {
		t.Run(k.name, func(t *testing.T) {
			play(t, Options{Seed: uint64(4100 + i), Players: 4, Rovers: 2, Balance: still(2), Wild: Wild{Rocks: 1}}, func(r *rig) {
				r.losses++ // it is restored, and handles again what it handled before
				id, s := r.rock(r.across(-30))
				_, _, v := r.real(id)
				was := v.Order()
				broken := r.snapOnce(isLost(id))
				k.lose(r, id, s)
				r.until("the word is lost", 20*time.Second, func() bool { return *broken })
				r.until("there is a real again", repaired, func() bool {
					on, _, v := r.real(id)
					return on != nil && was.Incarnation < v.Order().Incarnation
				})
			})
		})
	}
}

// tamperOnload makes a rock be handed over at the first line, and changes its Onload.
func (r *rig) tamperOnload(id entity.ID, change func(m *migrate.Onload)) {
	hook := r.hook
	r.hook = func(p *Process, ch mercury.ChannelID, msg []byte) []byte {
		var m migrate.Onload
		if kind(msg) == wire.OnloadID && p.takes("cellapp") && m.Parse(msg[1:]) == nil && m.ID == id {
			change(&m)
			return wire.Encode(nil, &m)
		}
		return hook(p, ch, msg)
	}
	r.push(id, r.across(40))
}

// push moves a rock, as nothing in the game does.
func (r *rig) push(id entity.ID, to property.Vector3) {
	r.t.Helper()
	err := entity.ErrNoPart
	for b, s := range basesOf[*rockBase](r.Cluster) {
		if b.ID == id {
			err = s.Cell().Call("roll", to.X, to.Z)
		}
	}
	if err != nil {
		r.t.Fatalf("the rock cannot be pushed: %v", err)
	}
}

// TestStillGhosts loses, together with its channel, what ghosts are told of entities that do
// nothing afterwards, so that no later message shows that one was missed.
func TestStillGhosts(t *testing.T) {
	head := func(id wire.ID, body []byte) entity.ID {
		switch id {
		case wire.GhostStateID:
			var m ghost.State
			if m.Parse(body) == nil {
				return m.ID
			}
		case wire.GhostUpdateID:
			var m ghost.Update
			if m.Parse(body) == nil {
				return m.ID
			}
		case wire.GhostDeleteID:
			var m ghost.Delete
			if m.Parse(body) == nil {
				return m.ID
			}
		}
		return 0
	}
	lose := func(r *rig, of entity.ID, kind wire.ID) (broken *bool) {
		return r.snapOnce(func(p *Process, id wire.ID, body []byte) bool {
			return p.takes("cellapp") && id == kind && head(id, body) == of
		})
	}
	opts := func(seed uint64) Options {
		return Options{Seed: seed, Players: 2, Rovers: -1, Balance: still(2), Wild: Wild{Rocks: 1}}
	}
	t.Run("State of a grain", func(t *testing.T) {
		play(t, opts(4200), func(r *rig) {
			at := r.across(-10)
			id := r.grain(at)
			broken := lose(r, id, wire.GhostStateID)
			r.until("its State is lost", 5*time.Second, func() bool { return *broken })
			r.until("it has a ghost", repaired, func() bool { return r.ghosts(id) == 1 })
		})
	})
	t.Run("State of a new hop", func(t *testing.T) {
		play(t, opts(4201), func(r *rig) {
			id, _ := r.rock(r.across(-30))
			r.until("it has a ghost", 5*time.Second, func() bool { return r.ghosts(id) == 1 })
			broken := lose(r, id, wire.GhostStateID)
			r.push(id, r.across(30))
			r.until("its State is lost", 5*time.Second, func() bool { return *broken })
			r.wait(repaired)
		})
	})
	t.Run("Update", func(t *testing.T) {
		play(t, opts(4202), func(r *rig) {
			id, s := r.rock(r.across(-30))
			r.until("it has a ghost", 5*time.Second, func() bool { return r.ghosts(id) == 1 })
			broken := lose(r, id, wire.GhostUpdateID)
			if err := s.Cell().Call("shift"); err != nil {
				t.Fatal(err)
			}
			r.until("its Update is lost", 5*time.Second, func() bool { return *broken })
			r.wait(repaired)
		})
	})
	t.Run("Delete", func(t *testing.T) {
		play(t, opts(4203), func(r *rig) {
			id, s := r.rock(r.across(-30))
			r.until("it has a ghost", 5*time.Second, func() bool { return r.ghosts(id) == 1 })
			broken := lose(r, id, wire.GhostDeleteID)
			if err := s.DestroyCell(); err != nil {
				t.Fatal(err)
			}
			r.until("its Delete is lost", 5*time.Second, func() bool { return *broken })
			r.until("it has no ghost", ghostEnds, func() bool { return r.ghosts(id) == 0 })
		})
	})
	t.Run("Delete of one that lives on", func(t *testing.T) {
		play(t, opts(4204), func(r *rig) {
			id, _ := r.rock(r.across(-30))
			r.until("it has a ghost", 5*time.Second, func() bool { return r.ghosts(id) == 1 })
			broken := lose(r, id, wire.GhostDeleteID)
			r.push(id, r.across(-350))
			r.until("its Delete is lost", 20*time.Second, func() bool { return *broken })
			r.until("it has no ghost", 2*ghostEnds, func() bool { return r.ghosts(id) == 0 })
		})
	})
}

// ghostEnds is how long a ghost may stay when nobody tells it that its entity has ended.
const ghostEnds = space.GhostLease + 2*time.Second
