package space

import (
	"slices"
	"strings"
	"testing"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/entity/limits"
)

// fellOver is over which message the script of each incarnation of an entity has panicked. The base
// is told of one until it answers.
func (r *rig) fellOver(id entity.ID) (list []flow.Culprit) {
	told := entity.Order{}
	for _, m := range r.bases[id].lost {
		if m.Order == told {
			continue
		}
		told = m.Order
		if !m.Fault {
			r.t.Errorf("a panic is told as %+v", m)
		}
		list = append(list, m.Culprit)
	}
	return list
}

// A call over which a script panics each time is told to the base under the same name each time.
// Once the base says so, it is refused, and what waits behind it is handled.
func TestPassesOver(t *testing.T) {
	r := newRig(t, 2)
	r.two()
	b := *r.backUp(8)
	if err := r.cellOf(7, 8).Then("OnPaid", 4).Within(limits.CallTime).Call("pay", 17); err != nil {
		t.Fatal(err)
	}
	if err := r.cellOf(7, 8).Call("hit", 5); err != nil {
		t.Fatal(err)
	}
	r.tick(2)
	for range flow.MaxPanics - 1 {
		r.restore(8, 300, b.Parts, b.Handled)
		r.tick(60)
		if r.real(8) != nil {
			t.Fatal("it does not panic again")
		}
	}
	over := r.fellOver(8)
	if len(over) != flow.MaxPanics || over[0].From != 7 || over[0].FromPart != entity.CellPart || slices.ContainsFunc(over, func(x flow.Culprit) bool { return x != over[0] }) {
		t.Fatalf("it fell over %+v", over)
	}
	r.passOver = over[:1]
	r.restore(8, 300, b.Parts, b.Handled)
	r.tick(60)
	if n := len(r.fellOver(8)); n != flow.MaxPanics || r.real(8) == nil {
		t.Fatalf("lost %d times", n)
	}
	if got := r.avatar(8).Diary.Get(); !strings.HasSuffix(got, ";hit 5;") {
		t.Errorf("its diary: %q", got)
	}
	if got := r.avatar(7).Diary.Get(); !strings.Contains(got, "pay of 0.8: entity: the call was refused: ") || !strings.Contains(got, "the script has panicked over it 3 times") || strings.Count(got, ";") != 1 {
		t.Errorf("the caller heard %q", got)
	}
	if a := r.apps[1]; a.count.PassedOver != 1 || r.real(8).passing || len(r.real(8).pass) != 0 {
		t.Errorf("%d messages passed over", a.count.PassedOver)
	}
}

// A message of the own base, and a callback for an answer, are passed over as well; the call that
// was answered is not waited for any more.
func TestPassesOverOthers(t *testing.T) {
	r := newRig(t, 2)
	r.two()
	b := *r.backUp(7)
	r.call(7, boomMethod)
	r.call(7, hitMethod, 5, 0, 0, 0)
	r.pump()
	over := r.fellOver(7)
	if len(over) != 1 || over[0].From != 7 || over[0].FromPart != entity.BasePart {
		t.Fatalf("it fell over %+v", over)
	}
	r.passOver = over
	r.restore(7, -50, b.Parts, b.Handled)
	r.resend(7)
	r.tick(60)
	if got := r.avatar(7).Diary.Get(); !strings.HasSuffix(got, ";hit 5;") {
		t.Errorf("its diary: %q", got)
	}
	r.clean()

	if err := r.cellOf(7, 8).Then("OnPaid", 17).Call("pay", 1); err != nil {
		t.Fatal(err)
	}
	b = *r.backUp(7)
	r.tick(2)
	if r.real(7) != nil {
		t.Fatal("it does not panic over the answer")
	}
	over = r.fellOver(7)
	r.passOver = over[len(over)-1:]
	if r.passOver[0].From != 8 {
		t.Fatalf("it fell over %+v", r.passOver)
	}
	r.restore(7, -50, b.Parts, b.Handled)
	r.resend(7)
	r.tick(60)
	if r.real(7) == nil {
		t.Fatal("it panics again")
	}
	r.waitsForNothing(7)
}

// A panic in a timer is over no message.
func TestPanicOverNothing(t *testing.T) {
	r := newRig(t, 1)
	r.create(7, -20, 0)
	if _, err := r.avatar(7).AddTimer(0, 0, "OnBomb", 5); err != nil {
		t.Fatal(err)
	}
	r.tick(1)
	if over := r.fellOver(7); len(over) != 1 || !over[0].IsZero() {
		t.Errorf("it fell over %+v", over)
	}
}
