package space

import (
	"errors"
	"slices"
	"testing"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/property"
)

// Whoever is hidden from one client is hidden from that one alone, wherever either of the two goes, and when
// it is restored.
func TestHidden(t *testing.T) {
	r := newRig(t, 2)
	r.create(7, -20, 1)
	r.create(9, -15, 1)
	r.create(8, -10, 0)
	r.tick(5)
	r.told(7)
	r.told(9)
	if err := errors.Join(r.real(7).SetHidden(8, true), r.real(7).SetHidden(8, true)); err != nil || !r.real(7).Hidden(8) || r.real(9).Hidden(8) {
		t.Fatal(err)
	}
	r.tick(3)
	r.wantTold(7, protocol.KeepID)
	r.wantTold(9)
	if r.real(7).sees(8) || !r.real(9).sees(8) {
		t.Error("its client may call it, or that of another may not")
	}
	r.audited(7, 9)

	for _, who := range []entity.ID{8, 7, 8, 7} { // both cross the line, one after the other, and come back
		before := r.apps[0].count.Migrations + r.apps[1].count.Migrations
		x := float32(30)
		if r.real(who).Position().X > 0 {
			x = -30
		}
		r.move(who, x)
		r.tick(20)
		if r.apps[0].count.Migrations+r.apps[1].count.Migrations == before {
			t.Fatalf("%v was not handed over", who)
		}
		r.wantTold(7)
		r.audited(7, 9)
	}
	r.real(8).SetWithheld(true)
	r.tick(2)
	r.real(8).SetWithheld(false)
	r.tick(2)
	r.wantTold(7)

	r.real(8).backup()
	r.pump()
	b := r.bases[8]
	r.at(-10).cell.drop(r.real(8))
	r.restore(8, -10, b.backup.Parts, b.backup.Handled)
	r.tick(5)
	r.wantTold(7)
	if err := r.real(7).SetHidden(8, false); err != nil || r.real(7).Hidden(8) {
		t.Fatal(err)
	}
	r.tick(2)
	if told := r.told(7); !slices.Equal(told, []protocol.ID{protocol.EnterID}) && !slices.Equal(told, []protocol.ID{protocol.ReturnID}) {
		t.Errorf("shown again, the client was told %v", told)
	}
	r.audited(7, 8, 9)
	r.tick(60)
	if len(r.real(7).cell.adders) != 0 {
		t.Error("the cell looks after what nobody says any more")
	}
	r.calm()
}

// What is said of an entity that is no more is forgotten, and of who is hidden and added, hidden counts.
func TestHiddenAndAdded(t *testing.T) {
	r := newRig(t, 1)
	r.create(7, -20, 1)
	b := r.beacon(-10)
	if err := errors.Join(r.real(7).SetHidden(b, true), r.real(7).AddToAoI(b)); err != nil {
		t.Fatal(err)
	}
	r.tick(2)
	r.wantTold(7)
	if err := r.real(7).SetHidden(b, false); err != nil {
		t.Fatal(err)
	}
	r.tick(2)
	r.wantTold(7, protocol.EnterID)
	if err := r.real(7).SetHidden(b, true); err != nil {
		t.Fatal(err)
	}
	r.real(b).Destroy()
	r.tick(80)
	if r.real(7).witness.HasPairs() {
		t.Error("what was said of an entity that is no more is kept")
	}
}

func TestSetHiddenRefused(t *testing.T) {
	r := newRig(t, 1)
	r.create(7, -20, 1)
	r.create(8, -20, 0)
	for _, x := range []struct {
		of, what entity.ID
		want     error
	}{{7, 7, ErrNotHere}, {7, 12345, ErrNotHere}, {8, 7, ErrNoClient}} {
		if err := r.real(x.of).SetHidden(x.what, true); !errors.Is(err, x.want) {
			t.Errorf("%v hides %v: %v, want %v", x.of, x.what, err, x.want)
		}
	}
	w := r.real(7).witness
	for id := entity.ID(1 << 40); w.SetScheme(id, property.UpdateScheme{Min: 1, Max: 2}); id++ {
	}
	if err := r.real(7).SetHidden(8, true); !errors.Is(err, entity.ErrTooMany) {
		t.Errorf("one more than there may be: %v", err)
	}
	gone := r.real(7)
	gone.Destroy()
	if err := gone.SetHidden(8, true); !errors.Is(err, entity.ErrGone) {
		t.Errorf("a real that is gone: %v", err)
	}
}
