package sim

import (
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/baseapp"
	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/migrate"
	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space"
	"github.com/cellscape/cellscape/space/cellapp"
)

// ofReal reports whether a message to a base comes from the real of an entity.
func ofReal(id wire.ID, body []byte, of entity.ID) bool {
	var current migrate.Current
	var said flow.Message
	var ack flow.Ack
	switch id {
	case wire.CurrentID:
		return current.Parse(body) == nil && current.ID == of
	case wire.FlowID:
		return said.Parse(body) == nil && said.From == of
	case wire.FlowAckID:
		return ack.Parse(body) == nil && ack.From == of
	}
	return false
}

// TestBelievedOnRetired: a CellApp that retires hands a rock on, and the base hears nothing of the
// new real until the CellApp has forgotten the handoff, has retired and has ended. Then the new
// real dies, too. Nobody is left who knows that the real went on, and no verdict is about the
// CellApp on which the base believes it to be; the base must not believe that for ever.
func TestBelievedOnRetired(t *testing.T) {
	lose := func(*rig) {}
	for i, k := range []struct {
		name string
		id   wire.ID      // the first message of this kind is lost; 0 for none
		too  func(r *rig) // what happens along with it
	}{
		{"nothing lost", 0, lose},
		{"AppSilent lost", wire.AppSilentID, lose},
		{"AppLeft lost", wire.AppLeftID, lose},
		{"AppSilent lost with the manager", wire.AppSilentID, func(r *rig) {
			r.manager.kill()
			r.manager.restartAt = r.now + time.Second
		}},
	} {
		t.Run(k.name, func(t *testing.T) {
			o := Options{Seed: uint64(4300 + i), CellApps: 4, Players: 2, Rovers: 2, Balance: still(2), Wild: Wild{Rocks: 1}}
			play(t, o, func(r *rig) {
				id, was := r.believe()
				lost := k.id == 0
				r.hook = func(p *Process, ch mercury.ChannelID, msg []byte) []byte {
					if lost || kind(msg) != k.id || !r.fromApp(p, ch) || p != r.manager && !p.takes("baseapp") {
						return msg
					}
					lost = true
					k.too(r)
					return nil
				}
				r.until("there is a real again", beliefEnds, func() bool {
					on, _, v := r.real(id)
					return on != nil && was.Incarnation < v.Order().Incarnation
				})
				if !lost {
					t.Error("the message was not sent")
				}
			})
		})
	}
}

// beliefEnds is how long a base may believe in a real on an app that has left, if one message is
// lost: the base asks again.
const beliefEnds = baseapp.MemberLease + baseapp.ProbeAgain + repaired

// believe leads to a base that believes in the real of a rock where there is none, while nobody
// knows better. It returns the order of the real in which the base believes.
func (r *rig) believe() (id entity.ID, was entity.Order) {
	r.t.Helper()
	id, _ = r.rock(property.Vector3{X: 20 - half, Z: half - 20}) // far from all lines: it has no ghost
	r.wait(3 * time.Second)                                      // it is backed up
	old, _, v := r.real(id)
	was = v.Order()
	place := mercury.Address{At: old.at, Salt: old.salt}
	deaf := r.deafen(id, old)
	r.retire(old)
	r.until("it has retired", space.HandedOnLease+removalEnds, old.app.(*cellapp.CellApp).Retired)
	old.crash() // now its operator may end it
	on, _, v := r.real(id)
	if _, b := r.base(id); *deaf == 0 || on == nil || !was.Before(v.Order()) || b.App != place {
		r.t.Fatalf("%d messages were lost, the real is %v, its base believes in %v, not %v", *deaf, v.Order(), b.App, place)
	}
	on.crash()
	on.restartAt = r.now + time.Second
	r.hook = nil
	return id, was
}

// deafen loses what the real of an entity tells its base, except on one CellApp.
func (r *rig) deafen(id entity.ID, but *Process) (lost *int) {
	lost = new(int)
	r.hook = func(p *Process, ch mercury.ChannelID, msg []byte) []byte {
		if len(msg) == 0 || !p.takes("baseapp") || !r.fromApp(p, ch) || r.peer(p, ch) == but || !ofReal(wire.ID(msg[0]), msg[1:], id) {
			return msg
		}
		*lost++
		return nil
	}
	return lost
}

// TestHandedOnToTheDead: a real dies with the CellApp that has taken it over, before its base has
// heard of it, and the origin has no ghost of it any more. The origin says so at the verdict, 3 s
// after the death: the base need not wait until it asks by itself, which takes 2 s longer.
func TestHandedOnToTheDead(t *testing.T) {
	o := Options{Seed: 4310, CellApps: 4, Players: 2, Rovers: 2, Balance: still(2), Wild: Wild{Rocks: 1}}
	play(t, o, func(r *rig) {
		id, _ := r.rock(property.Vector3{X: 20 - half, Z: half - 20}) // far from all lines: it has no ghost
		r.wait(3 * time.Second)                                       // it is backed up
		old, _, v := r.real(id)
		was := v.Order()
		deaf := r.deafen(id, old)
		r.retire(old)
		r.until("it is handed on", removalEnds, func() bool {
			on, _, v := r.real(id)
			return on != nil && on != old && was.Before(v.Order())
		})
		on, _, _ := r.real(id)
		r.wait(8 * time.Second) // the ghost that it left has gone
		on.crash()
		on.restartAt = r.now + time.Minute
		r.hook = nil
		if *deaf == 0 {
			t.Error("its base has heard of it")
		}
		r.until("there is a real again", 4500*time.Millisecond, func() bool {
			on, _, v := r.real(id)
			return on != nil && was.Incarnation < v.Order().Incarnation
		})
	})
}
