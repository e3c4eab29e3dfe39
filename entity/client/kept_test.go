package client

import (
	"testing"

	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/entity/presence"
	"github.com/cellscape/cellscape/property"
)

func whole(at property.Vector3) []byte {
	e := &presence.Entity{}
	e.Put(at, property.Vector3{}, 1)
	return protocol.AppendWhole(nil, e)
}

func TestKeepAndReturn(t *testing.T) {
	r := newRig(t)
	r.play()
	_ = r.others.Load(health, property.Int(42))
	_ = r.others.Load(title, property.StringValue("the Grey"))
	enter := r.enter(foe, 2)
	enter.Props = appendValue(enter.Props, title, r.others)
	r.say(enter.Append(r.cell(2)))
	was := r.c.Entity(foe)
	r.say((&protocol.Keep{Alias: 0, Slot: 9}).Append(r.cell(3)))
	r.wantEvents("enter 1.7 health 42", "left 1.7")
	if s := r.c.Stats(); r.c.Len() != 0 || s.Kept != 1 || s.KeptBytes == 0 {
		t.Fatalf("%d entities, %d kept in %d bytes", r.c.Len(), s.Kept, s.KeptBytes)
	}

	_ = r.others.Load(health, property.Int(7))
	r.say((&protocol.Return{Slot: 9, Alias: 4, Props: appendValue(nil, health, r.others)}).Append(r.cell(4)))
	r.wantEvents("enter 1.7 health 7") // a change that it is met with is no event
	now := r.c.Entity(foe)
	if now == was || now.Position != (property.Vector3{X: 2}) || now.Props.Get(title).Str() != "the Grey" {
		t.Errorf("%v at %v is %v", now, now.Position, now.Props.Get(title))
	}
	if s := r.c.Stats(); s.Kept != 0 || s.KeptBytes != 0 || s.Returned != 1 {
		t.Errorf("%d kept in %d bytes, %d returned", s.Kept, s.KeptBytes, s.Returned)
	}
	if was.Props.Get(health).Int() != 42 {
		t.Error("a replica that has left was changed")
	}

	r.say((&protocol.Keep{Alias: 4, Slot: 9}).Append(r.cell(5)))
	r.say((&protocol.Return{Slot: 9, Entry: whole(property.Vector3{X: 8, Y: 1})}).Append(r.cell(6)))
	if at := r.c.Entity(foe).Position; at != (property.Vector3{X: 8, Y: 1}) {
		t.Errorf("it returns at %v", at)
	}
	if r.c.Err() != nil {
		t.Error(r.c.Err())
	}
}

// What is kept is forgotten when it is dropped, when something else is kept there, and by a Reset.
func TestKeptIsForgotten(t *testing.T) {
	for name, forget := range map[string]func(r *rig) []byte{
		"drop": func(r *rig) []byte {
			return (&protocol.Keep{Alias: 1, Slot: 8, Drop: []byte{9, 255}}).Append(nil)
		},
		"reset": func(r *rig) []byte { return r.cellPlayer().Append(protocol.AppendReset(nil)) },
		"gone":  func(r *rig) []byte { return r.cellPlayer().Append(protocol.AppendCellGone(nil)) },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.play()
			r.say(r.enter(foe+1, 3).Append(r.enter(foe, 2).Append(r.cell(2))))
			r.say((&protocol.Keep{Slot: 9}).Append(r.cell(3)))
			r.say(forget(r))
			if r.c.Err() != nil {
				t.Fatal(r.c.Err())
			}
			r.say((&protocol.Return{Slot: 9}).Append(nil))
			r.wantMalformed()
		})
	}
	t.Run("replaced", func(t *testing.T) {
		r := newRig(t)
		r.play()
		r.say(r.enter(foe+1, 3).Append(r.enter(foe, 2).Append(r.cell(2))))
		r.say((&protocol.Keep{Slot: 9}).Append(r.cell(3)))
		r.say((&protocol.Keep{Alias: 1, Slot: 9}).Append(r.cell(4)))
		r.say((&protocol.Return{Slot: 9}).Append(r.cell(5)))
		if r.c.Entity(foe) != nil || r.c.Entity(foe+1) == nil || r.c.Stats().KeptBytes != 0 {
			t.Errorf("%d entities, %+v", r.c.Len(), r.c.Stats())
		}
	})
}
