package witness

import (
	"testing"

	"github.com/cellscape/cellscape/entity/presence"
	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/property"
)

// mirrored is an entity as it appears through a gateway, 20 m from where it is.
func mirrored(wd *world, e *presence.Entity, via uint64) *Subject {
	x := *e
	x.Put(property.Vector3{X: e.Position.X + 20, Z: e.Position.Z}, e.Direction, e.MoveStamp)
	return &Subject{Entity: &x, Via: via}
}

// place is where the client has entity 7.
func (wd *world) place() float32 { return wd.client.has[7].place.Position.X }

// A client has an entity once. If it is shown another way, the client loses sight of it and meets it at
// its other place, in one bundle.
func TestViaIsLeftAndMetAnew(t *testing.T) {
	wd, e := scene(t)
	there := mirrored(wd, e, 5)
	wd.w.Enter(there)
	wd.tell("leave 7", "enter 7", "set name", "set weapon", "set hp")
	if wd.place() != 70 || wd.w.Has(7, 1) || wd.w.Len() != 1 {
		t.Fatalf("the client has it at %v, directly: %v, of %d", wd.place(), wd.w.Has(7, 1), wd.w.Len())
	}
	wd.w.Enter(mirrored(wd, e, 5)) // another copy, seen the same way
	wd.tell()
	wd.w.Enter(wd.subject(e))
	wd.tell("leave 7", "enter 7", "set name", "set weapon", "set hp")
	if wd.place() != 50 || !wd.w.Has(7, 1) {
		t.Fatalf("the client has it at %v", wd.place())
	}
}

// The client keeps nothing of who was seen through a gateway, and uses nothing for one that it has kept.
func TestViaIsNotKept(t *testing.T) {
	wd, e := scene(t)
	wd.w.Leave(7)
	wd.tell("keep 7")
	there := mirrored(wd, e, 5)
	wd.w.Enter(there)
	wd.tell("enter 7", "set name", "set weapon", "set hp")
	if wd.place() != 70 {
		t.Fatalf("the client has it at %v", wd.place())
	}
	wd.w.Leave(7)
	wd.tell("leave 7")
	wd.w.Enter(wd.subject(e))
	wd.tell("enter 7", "set name", "set weapon", "set hp")
}

// What an entity is seen through travels with the witness: the next cell that shows it the same way tells
// the client nothing.
func TestViaTravels(t *testing.T) {
	for via, want := range map[uint64][]string{5: nil, 6: {"leave 7", "enter 7", "set name", "set weapon", "set hp"}} {
		wd, e := scene(t)
		wd.w.Enter(mirrored(wd, e, 5))
		wd.tell("leave 7", "enter 7", "set name", "set weapon", "set hp")
		r := codec.NewReader(wd.w.Append(nil))
		next := New(Config{})
		if next.Read(&r); r.Close() != nil {
			t.Fatal(r.Err())
		}
		wd.w = next
		wd.w.Enter(mirrored(wd, e, via))
		wd.tell(want...)
	}
}
