package client

import (
	"errors"
	"testing"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/property"
)

// otherMoves decodes and forgets the MoveOthers sent so far.
func (r *rig) otherMoves() (list []protocol.MoveOther, reliable []bool) {
	r.t.Helper()
	for _, s := range r.net.Sent {
		if err := protocol.Messages(s.Message, func(id protocol.ID, body []byte) error {
			if id != protocol.MoveOtherID {
				return nil
			}
			list, reliable = append(list, protocol.MoveOther{}), append(reliable, s.Reliable)
			return list[len(list)-1].Parse(body)
		}); err != nil {
			r.t.Fatal(err)
		}
	}
	r.net.Sent = nil
	return list, reliable
}

func give(number uint32, x float32) []byte {
	m := protocol.Controlled{ID: foe, Control: true, Incarnation: 3, Number: number, Position: property.Vector3{X: x}}
	return m.Append(nil)
}

// A client moves another entity from the moment in which it is given the control. What the server
// tells others of its place counts again when the control has gone.
func TestCharge(t *testing.T) {
	r := newRig(t)
	heard := 0
	r.c.cfg.Events.Controlled = func(e *Replica) {
		if e.ID != foe {
			t.Errorf("heard of %v", e.ID)
		}
		heard++
	}
	r.play()
	r.say(r.enter(foe, 5).Append(r.cell(2)))
	e := r.c.Entity(foe)
	at := func(x float32) property.Vector3 { return property.Vector3{X: x} }
	if e.Controls() || !errors.Is(e.SetPosition(at(1), at(0)), ErrNoControl) || !r.c.Player().Controls() {
		t.Error("the control of others is taken")
	}
	r.say(append(r.cell(3), give(7, 5)...))
	r.tick()
	// It says where it is, although it has not moved.
	if m, reliable := r.otherMoves(); !e.Controls() || len(m) != 1 || !reliable[0] || m[0].Position != at(5) || m[0].Forced != 7 || m[0].Incarnation != 3 {
		t.Errorf("it begins with %v", m)
	}
	for i := range 3 {
		if err := e.SetPosition(at(float32(6+i)), property.Vector3{}); err != nil {
			t.Fatal(err)
		}
		r.tick()
		if m, reliable := r.otherMoves(); len(m) != 1 || reliable[0] || m[0].Position != e.Position || m[0].Sequence != uint32(2+i) || m[0].ID != foe {
			t.Errorf("move %d: %v", i, m)
		}
	}
	r.whisper(packet(3, 9, place(foe, 6))) // its own echo
	if e.Position != at(8) {
		t.Errorf("the echo puts it at %v", e.Position)
	}
	if r.tick(); r.c.AtRest() == false {
		t.Error("it has not come to rest")
	}
	if m, reliable := r.otherMoves(); len(m) != 1 || !reliable[0] || m[0].Position != at(8) {
		t.Errorf("it rests with %v", m)
	}
	if !errors.Is(e.SetPosition(at(property.MaxCoordinate*2), at(0)), ErrPosition) {
		t.Error("it goes out of the world")
	}
	// Forced: at once, and repeated in the next move.
	_ = e.SetPosition(at(9), property.Vector3{})
	r.say(append(r.cell(4), give(8, 50)...))
	if r.tick(); e.Position != at(50) {
		t.Errorf("forced to %v", e.Position)
	}
	if m, _ := r.otherMoves(); len(m) != 1 || m[0].Forced != 8 || m[0].Position != at(50) {
		t.Errorf("after that it says %v", m)
	}
	r.say(place(foe, 51).AppendRest(r.cell(5)))
	r.say((&protocol.Controlled{ID: foe}).Append(r.cell(6)))
	if e.Controls() || e.Position != at(51) || heard != 3 {
		t.Errorf("without control at %v, heard %d", e.Position, heard)
	}
	r.say(place(foe, 52).AppendRest(r.cell(7)))
	if r.tick(); e.Position != at(52) {
		t.Error("it does not follow the server")
	}
	if m, _ := r.otherMoves(); len(m) != 0 {
		t.Errorf("it says %v without the control", m)
	}
	if s := r.c.Stats(); s.UnknownEntities != 0 || s.UnknownMessages != 0 {
		t.Errorf("%+v", s)
	}
}

// The control goes with whatever ends the view of an entity; a server that gives more than any does is
// refused.
func TestChargeEnds(t *testing.T) {
	for name, end := range map[string]func(r *rig){
		"leave":     func(r *rig) { r.say(protocol.AppendLeave(r.cell(4), foe)) },
		"reset":     func(r *rig) { r.say(protocol.AppendReset(nil)) },
		"cell gone": func(r *rig) { r.say(protocol.AppendCellGone(r.cell(4))) },
		"again":     func(r *rig) { r.say(r.enter(foe, 6).Append(r.cell(4))) },
	} {
		r := newRig(t)
		r.play()
		r.say(r.enter(foe, 5).Append(r.cell(2)))
		e := r.c.Entity(foe)
		r.say(append(r.cell(3), give(7, 9)...))
		_ = e.SetPosition(property.Vector3{X: 10}, property.Vector3{})
		if end(r); e.Controls() || e.SetPosition(property.Vector3{X: 11}, property.Vector3{}) == nil || len(r.c.charges) != 0 {
			t.Errorf("%s: the control stays", name)
		}
	}
	r := newRig(t)
	r.play()
	r.say(append(r.cell(2), give(7, 9)...)) // of nobody
	if r.c.State() != Playing || r.c.Stats().UnknownEntities != 1 {
		t.Errorf("%v, %+v", r.c.State(), r.c.Stats())
	}
	for i := range entity.ID(maxCharges + 1) {
		r.say(r.enter(foe+i, 5).Append(r.cell(uint64(3 + i))))
		m := protocol.Controlled{ID: foe + i, Control: true}
		r.say(m.Append(nil))
	}
	if r.c.State() != Closed {
		t.Error("a server may give any number")
	}
}
