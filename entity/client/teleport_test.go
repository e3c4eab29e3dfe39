package client

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/property"
)

// Through a transition the client maps its own place and those of its companions, and keeps everybody.
// A late place of before the transition does not move a companion back.
func TestTransit(t *testing.T) {
	r := newRig(t)
	r.c.cfg.Events.Transited = func(own *Replica, offset property.Vector3, with []*Replica) {
		r.events = append(r.events, fmt.Sprintf("transit by %v of %v with %d", offset, own.Position, len(with)))
	}
	r.c.cfg.Filter = func(*Replica) Filter { return &Hermite{} }
	r.play()
	other := foe + 1
	r.say(r.enter(other, 9).Append(r.enter(foe, 5).Append(r.cell(2))))
	r.say((&protocol.SpaceData{Key: 3, Value: []byte("x")}).Append(r.cell(3)))
	r.say(append(r.cell(4), give(7, 5)...))
	mate, stays := r.c.Entity(foe), r.c.Entity(other)
	if err := mate.SetPosition(property.Vector3{X: 8}, property.Vector3{}); err != nil {
		t.Fatal(err)
	}
	r.events = nil
	m := protocol.Transit{Offset: property.Vector3{X: 100, Y: 10}, Companions: []entity.ID{foe, foe + 5}}
	to := r.cellPlayer()
	to.Space, to.Position, to.Forced = 2, property.Vector3{X: 101, Y: 10, Z: 1}, 2
	r.say(to.Append(m.Append(r.cell(5))))
	r.wantEvents("transit by {100 10 0} of {101 10 1} with 1", "cell player at {101 10 1} mana 3")
	if mate.Position.X != 105 || mate.Position.Y != 10 || stays.Position.X != 9 || r.c.Entity(foe) != mate || mate.Controls() {
		t.Errorf("the companion is at %v, the other at %v", mate.Position, stays.Position)
	}
	if shown, _ := mate.Shown(r.now + time.Second); shown.X != 105 {
		t.Errorf("the companion is shown at %v", shown)
	}
	if r.c.space != 2 || len(r.c.data) != 0 || r.c.Stats().UnknownEntities != 1 {
		t.Errorf("in space %d with %d data, %d unknown", r.c.space, len(r.c.data), r.c.Stats().UnknownEntities)
	}
	r.whisper(packet(4, 50, place(foe, 6)))
	if mate.Position.X != 105 {
		t.Errorf("a late packet puts the companion at %v", mate.Position)
	}
	r.whisper(packet(5, 51, place(foe, 107)))
	if mate.Position.X != 107 {
		t.Errorf("the next packet puts the companion at %v", mate.Position)
	}
}

// What makes no sense ends the session.
func TestTransitMalformed(t *testing.T) {
	far := protocol.Transit{Offset: property.Vector3{X: float32(math.Inf(1))}}
	r := newRig(t)
	r.play()
	r.say(far.Append(r.cell(2)))
	r.wantMalformed()
	r = newRig(t)
	r.play()
	r.say(protocol.AppendCellGone(r.cell(2)))
	r.say((&protocol.Transit{}).Append(r.cell(3)))
	r.wantMalformed()
}

// A filter that is mapped shows the same, elsewhere.
func TestMappedFilter(t *testing.T) {
	var a, b Hermite
	for i := range 8 {
		at := property.Vector3{X: float32(i * i)}
		a.Input(time.Duration(i)*100*time.Millisecond, at, property.Vector3{}, Moves)
		b.Input(time.Duration(i)*100*time.Millisecond, at, property.Vector3{}, Moves)
	}
	offset := property.Vector3{X: 64, Y: -8, Z: 2}
	b.Map(offset)
	for now := 700 * time.Millisecond; now < time.Second; now += 10 * time.Millisecond {
		x, _ := a.Output(now)
		y, _ := b.Output(now)
		if d := property.Distance(property.Vector3{X: x.X + offset.X, Y: x.Y + offset.Y, Z: x.Z + offset.Z}, y); d > 1e-4 {
			t.Fatalf("after %v: %v and %v", now, x, y)
		}
	}
}
