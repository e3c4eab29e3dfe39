package space

import (
	"testing"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/migrate"
	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space/internal/hosting"
)

// FuzzParts brings entities to life from arbitrary bytes, as an offload, as a backup and as an
// offer, and lets them live for a moment.
func FuzzParts(f *testing.F) {
	r := newRig(f, 2)
	r.create(7, -50, 1)
	r.create(8, -60, 1)
	r.tick(3)
	a := r.avatar(7)
	_, _ = a.AddTimer(5e9, 1e9, "OnTimer", 1)
	_, _ = a.MoveTo(property.Vector3{X: -70}, 1, "OnArrival", 2)
	_, _ = a.TurnTo(2, 1, "OnArrival", 4)
	_, _ = r.avatar(8).MoveToEntity(7, 1, 3, "OnArrival", 5, Gait{Acceleration: 1, From: 1, KeepsFacing: true})
	_, _ = a.AddController(&countdown{name: 'a', left: 99}, "OnArrival", 3)
	r.clientCall(7, 8, allMethod, arg(1)...)
	_ = r.cellOf(7, 8).Then("OnPaid", 1).Call("pay", 2)
	r.tick(2)
	_ = r.cellOf(7, 9).Then("OnPaid", 1).Call("pay", 2)
	_ = a.AllClients().Call("say", uint32(1))
	f.Add(a.real().appendParts(nil, false))
	f.Add(r.real(8).appendParts(nil, false))
	f.Add(a.real().appendParts(nil, true))
	f.Add(migrate.AppendPart(nil, migrate.CorePart, (&migrate.Core{}).Append))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, parts []byte) {
		r := newRig(t, 2)
		r.create(8, -60, 1)
		r.bases[7], r.bases[9] = &testBase{}, &testBase{}
		send := func(m hosting.Message) {
			r.queue = append(r.queue, packet{r.base, addr(1), m})
			// Hostile haunts may be anywhere, so what is sent is not followed.
			p := r.queue[len(r.queue)-1]
			r.queue = r.queue[:len(r.queue)-1]
			r.deliver(p)
		}
		send(&migrate.Create{ID: 7, Space: 1, Order: entity.Order{Incarnation: 1}, Base: r.base, Session: flow.Session{Number: 1}, Restored: true, Parts: parts})
		send(&migrate.Onload{ID: 9, Space: 1, Order: entity.Order{Incarnation: 1, Hop: 1}, Base: r.base, Parts: parts})
		send(&migrate.Onload{ID: 10, Space: 1, Order: entity.Order{Incarnation: 1, Hop: 1}, Base: mercury.Address{}, Parts: parts})
		for range 12 {
			r.now += tickPeriod
			r.apps[0].cell.runTick(r.now, r.now, tickPeriod)
			for id := range r.bases {
				if x := r.real(id); x != nil {
					x.appendParts(nil, false)
				}
			}
		}
		if e := r.apps[0].cell.Reals() + r.apps[0].cell.Ghosts(); e > 4 {
			t.Fatalf("%d entities of 4", e)
		}
	})
}
