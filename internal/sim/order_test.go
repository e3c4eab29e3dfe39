package sim

import (
	"testing"
	"time"

	"github.com/cellscape/cellscape/bsp"
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/mercurytest"
	"github.com/cellscape/cellscape/migrate"
	"github.com/cellscape/cellscape/property"
)

// roll moves a rock directly and not by a call: a call would be repeated after a restore.
func (r *rig) roll(id entity.ID, d float64) {
	r.t.Helper()
	to := r.across(d)
	_, _, v := r.real(id)
	v.Script().(*rockCell).Roll(to.X, to.Z)
}

// TestSlowWordOfAnOlderHop makes the way from one CellApp to the BaseApp so slow that a real's
// message that it is there arrives when the real has gone back and has said so. The base must not
// believe the older message.
func TestSlowWordOfAnOlderHop(t *testing.T) {
	play(t, Options{Seed: 4400, BaseApps: 1, Rovers: -1, Players: 1, Balance: still(2), Wild: Wild{Rocks: 1}}, func(r *rig) {
		id, _ := r.rock(r.across(100))
		home, base := r.whereabouts(id)
		r.roll(id, -100)
		r.until("the rock crosses", 10*time.Second, func() bool { on, _, _ := r.real(id); return on != nil && on != home })
		there, _, _ := r.real(id)
		r.roll(id, 100)
		r.until("the rock comes back", 10*time.Second, func() bool { on, _, _ := r.real(id); return on == home })
		r.wait(3 * time.Second)
		r.net.SetLinkOneWay(there.at, base.at, mercurytest.Link{Delay: 1500 * time.Millisecond})
		r.roll(id, -100)
		r.until("the rock crosses again", 10*time.Second, func() bool { on, _, _ := r.real(id); return on == there })
		r.roll(id, 100)
		r.until("the rock comes back again", 10*time.Second, func() bool { on, _, _ := r.real(id); return on == home })
		_, _, v := r.real(id)
		r.until("the base knows", 2*time.Second, func() bool { _, b := r.base(id); return b.Order == v.Order() })
		r.wait(3 * time.Second) // the older message comes; before oneReal looks, nothing would repair what it does
		r.net.SetLinkOneWay(there.at, base.at, cleanLink())
	})
}

// TestRefusedRealGoes kills the CellApp on which the base believes its real to be, while the real
// is on another one of which the base has heard nothing. The base restores it, so there are two,
// far apart: the old one has to go when it is refused.
func TestRefusedRealGoes(t *testing.T) {
	play(t, Options{Seed: 4401, CellApps: 3, BaseApps: 1, Rovers: -1, Players: 1, Balance: still(3), Wild: Wild{Rocks: 1}}, func(r *rig) {
		// It begins in the half that is cut again: there the neighbour takes over, and not the cell
		// to which it goes.
		from := -300.0
		if r.cellAt(r.across(300)) != r.cellAt(r.elsewhere(300)) {
			from = 300
		}
		id, _ := r.rock(r.across(from))
		home, _ := r.whereabouts(id)
		r.wait(6 * time.Second) // a backup
		r.hook = func(p *Process, _ mercury.ChannelID, msg []byte) []byte {
			if isBaseApp(p) && speaksOf(msg) == id {
				return nil
			}
			return msg
		}
		r.roll(id, -from)
		r.until("the rock crosses", 10*time.Second, func() bool { on, _, _ := r.real(id); return on != nil && on != home })
		old, _, _ := r.real(id)
		r.wait(2 * time.Second)
		home.crash()
		home.restartAt = r.now + 20*time.Second
		r.until("the base restores it", 12*time.Second, func() bool { _, b := r.base(id); return b.Order.Incarnation > 1 })
		r.hook = nil
		r.until("the old one goes", 12*time.Second, func() bool {
			n, onOld := r.lives(id, old)
			return n == 1 && !onOld
		})
	})
}

// elsewhere is another place at the same distance from the first line.
func (r *rig) elsewhere(d float64) property.Vector3 {
	at := r.across(d)
	if at.X == 50 {
		at.X = -350
	} else {
		at.Z = -350
	}
	return at
}

// cellAt is the cell of the space that has a place.
func (r *rig) cellAt(at property.Vector3) (id bsp.CellID) {
	for _, a := range r.liveCellApps() {
		for cell := range a.Cells() {
			if rect := cell.Area(); cell.Space() == theSpace && rect.Contains(float64(at.X), float64(at.Z)) {
				id = cell.ID()
			}
		}
	}
	return id
}

// whereabouts is where an entity is, and where its base.
func (r *rig) whereabouts(id entity.ID) (real, base *Process) {
	real, _, _ = r.real(id)
	base, _ = r.base(id)
	return real, base
}

func isBaseApp(p *Process) bool {
	for _, q := range p.c.baseApps {
		if q == p {
			return true
		}
	}
	return false
}

// speaksOf is the entity whose real tells its base something in a message; 0 for none.
func speaksOf(msg []byte) entity.ID {
	var current migrate.Current
	var message flow.Message
	var ack flow.Ack
	switch id, body, _ := wire.Split(msg); {
	case id == wire.CurrentID && current.Parse(body) == nil:
		return current.ID
	case id == wire.FlowID && message.Parse(body) == nil:
		return message.From
	case id == wire.FlowAckID && ack.Parse(body) == nil:
		return ack.From
	}
	return 0
}

// lives returns how many reals of an entity there are, and whether one is on a process.
func (r *rig) lives(id entity.ID, on *Process) (n int, there bool) {
	for v := range r.reals() {
		if v.ID() == id {
			n++
			there = there || v.p == on
		}
	}
	return n, there
}
