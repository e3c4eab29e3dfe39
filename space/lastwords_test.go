package space

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/migrate"
	"github.com/cellscape/cellscape/property"
)

// ending is an avatar at x that ends in method all and, for 16, in pay; it has a base if its id is 8.
func (r *rig) ending(based bool, x float32) (id entity.ID) {
	r.t.Helper()
	if id = 8; based {
		r.create(id, x, 0)
	} else {
		var err error
		if id, err = r.at(x).cell.Spawn("Avatar", property.Vector3{X: x}, property.Vector3{}, nil); err != nil {
			r.t.Fatal(err)
		}
	}
	r.avatar(id).hook = func(a *Avatar, what string) {
		if strings.HasPrefix(what, "all") {
			a.Destroy()
		}
	}
	return id
}

// eachEnding runs a test for a caller 7 and a target that ends, which has a base or has none, on the
// same cell or another.
func eachEnding(t *testing.T, f func(r *rig, target entity.ID)) {
	for _, based := range []bool{false, true} {
		for _, x := range []float32{-30, 30} {
			t.Run(fmt.Sprintf("based %v at %v", based, x), func(t *testing.T) {
				r := newRig(t, 2)
				r.create(7, -20, 1)
				id := r.ending(based, x)
				r.tick(5)
				r.avatar(7).Diary.Set("")
				f(r, id)
			})
		}
	}
}

// A call in whose method the target ends has been handled.
func TestCallThatEndsItsTarget(t *testing.T) {
	eachEnding(t, func(r *rig, id entity.ID) {
		r.clientCall(7, id, allMethod, arg(1)...)
		r.tick(50)
		r.diary(7, "")
		if r.real(id) != nil {
			t.Error("it lives on")
		}
	})
}

// So has a two-way call, whose result comes. What was called after it has not.
func TestResultOfAnEnd(t *testing.T) {
	eachEnding(t, func(r *rig, id entity.ID) {
		for _, n := range []uint32{16, 1} {
			if err := r.cellOf(7, id).Then("OnPaid", 0).Call("pay", n); err != nil {
				t.Fatal(err)
			}
		}
		r.tick(50)
		got := strings.Split(r.avatar(7).Diary.Get(), ";")
		slices.Sort(got) // the end may be known before the result comes
		if want := []string{"", fmt.Sprintf("pay of %v: 84 left by avatar, user 0", id), fmt.Sprintf("pay of %v: %v", id, errEnded)}; !slices.Equal(got, want) {
			t.Errorf("the caller heard %q, want %q", got, want)
		}
		r.waitsForNothing(7)
	})
}

// What came too early waits for what comes before it. If the target ends by that, it has not handled the
// rest, which is refused.
func TestEarlyCallsOfOneThatEnds(t *testing.T) {
	eachEnding(t, func(r *rig, id entity.ID) {
		if r.real(7).cell == r.real(id).cell {
			return
		}
		first := uint64(0)
		r.hold = func(p packet) bool {
			m, is := p.m.(*flow.Message)
			if is = is && m.From == 7 && m.To == id; is && first == 0 {
				first = m.Number
			}
			return is && m.Number == first
		}
		for n := range byte(3) {
			r.clientCall(7, id, allMethod, arg(n)...)
		}
		r.tick(2)
		r.diary(7, "")
		r.hold = nil
		r.tick(50)
		r.diary(7, fmt.Sprintf("refused %[1]v.1(1): %[2]v;refused %[1]v.1(2): %[2]v;", id, errEnded))
	})
}

// The last ack is lost: the word that the target is gone says the same.
func TestLostLastAck(t *testing.T) {
	eachEnding(t, func(r *rig, id entity.ID) {
		if r.real(7).cell == r.real(id).cell {
			return
		}
		r.clientCall(7, id, allMethod, arg(1)...)
		if err := r.cellOf(7, id).Then("OnPaid", 0).Call("pay", uint32(1)); err != nil {
			t.Fatal(err)
		}
		r.hold = func(p packet) bool {
			a, is := p.m.(*flow.Ack)
			return is && a.From == id && !a.Gone
		}
		r.tick(50)
		if n := len(r.queue); n == 0 {
			t.Error("there was no ack")
		}
		r.diary(7, fmt.Sprintf("pay of %v: 99 left by avatar, user 0;", id)) // it was made first
	})
}

// A caller is restored from a backup that keeps a call which has been handled.
func TestRestoredCallerOfTheEnded(t *testing.T) {
	eachEnding(t, func(r *rig, id entity.ID) {
		at := r.real(7).cell
		if at == r.real(id).cell {
			return
		}
		r.hold = flowing(7, id)
		r.clientCall(7, id, allMethod, arg(1)...)
		r.pump()
		b := *r.backUp(7)
		r.hold = nil
		r.tick(20)
		at.drop(r.real(7))
		r.restore(7, -20, b.Parts, b.Handled)
		r.tick(5)
		r.avatar(7).Diary.Set("")
		r.tick(50)
		r.diary(7, "")
	})
}

// A real without a base panics: nothing brings it back, and whoever wants an answer hears why.
func TestPanicOfOneWithoutBase(t *testing.T) {
	for _, x := range []float32{-30, 30} {
		r := newRig(t, 2)
		r.create(7, -20, 1)
		id := r.ending(false, x)
		r.avatar(id).hook = func(*Avatar, string) { panic("it ends") }
		r.tick(5)
		r.avatar(7).Diary.Set("")
		if err := r.cellOf(7, id).Then("OnPaid", 0).Call("pay", uint32(1)); err != nil {
			t.Fatal(err)
		}
		r.tick(20)
		if got, want := r.avatar(7).Diary.Get(), fmt.Sprintf("pay of %v: %v", id, entity.ErrRefused); !strings.HasPrefix(got, want) || strings.Count(got, ";") != 1 {
			t.Errorf("the caller heard %q, want %q", got, want)
		}
		if r.real(id) != nil {
			t.Error("it lives on")
		}
	}
}

// What nobody may remember any more is forgotten.
func TestLastWordsExpire(t *testing.T) {
	eachEnding(t, func(r *rig, id entity.ID) {
		app := r.app(r.at(r.real(id).Position().X).self)
		r.clientCall(7, id, allMethod, arg(1)...)
		r.tick(2)
		gone := app.population.gone(7, entity.CellPart, 1, id)
		if based := id == 8; (gone.Number > 0) == based { // its base remembers
			t.Errorf("gone %+v", gone)
		}
		r.tick(int(flow.LastWordsLease / tickPeriod))
		if gone = app.population.gone(7, entity.CellPart, 1, id); gone.Number != 0 {
			t.Errorf("after the lease: %+v", gone)
		}
	})
}

// A base makes another cell part in the place of one that a call has ended. The call is not handled
// again, whatever the caller knows, and the next one is.
func TestCallThatEndsOneOfTwoCellParts(t *testing.T) {
	for _, x := range []float32{-30, 30} {
		for _, lost := range []bool{false, true} {
			r := newRig(t, 2)
			r.create(7, -20, 1)
			id := r.ending(true, x)
			r.tick(5)
			r.avatar(7).Diary.Set("")
			if lost {
				r.hold = func(p packet) bool { a, is := p.m.(*flow.Ack); return is && a.To == 7 && a.From == id }
			}
			r.clientCall(7, id, allMethod, arg(1)...)
			r.tick(3)
			b := r.bases[id]
			var gone flow.Gone
			if last := b.got[len(b.got)-1]; flow.Payload(last[0]) != flow.GonePayload || gone.Parse(last[1:]) != nil || len(gone.Heard) != 1 || gone.Heard[0].Upload == 0 {
				t.Fatalf("its last words are %+v", gone)
			}
			b.got, b.order = nil, entity.Order{Incarnation: 2}
			b.in = flow.NewReceiver(2, 0)
			d := r.scripts.Schema().Type("Avatar")
			parts := migrate.AppendFirst(nil, property.Vector3{X: x}, property.Vector3{}, property.NewValues(d, property.CellSide, nil), nil)
			parts = migrate.AppendPart(parts, migrate.HeardPart, gone.AppendBody)
			r.queue = append(r.queue, packet{r.base, r.at(x).self, &migrate.Create{ID: id, Type: d.ID, Space: 1, Order: b.order, Base: r.base, Parts: parts}})
			r.tick(20)
			r.hold, r.queue = nil, nil
			r.tick(50)
			r.clientCall(7, id, allMethod, arg(2)...)
			r.tick(5)
			r.diary(id, fmt.Sprintf("created;all 2 by %d;", entity.ID(7)))
			r.diary(7, "")
			if n := r.real(7).known(id, entity.CellPart).out.Unreceived(); n != 0 {
				t.Errorf("%d calls are not acknowledged", n)
			}
		}
	}
}

// The answer to a caller that has ended is for nobody: it is no call that came to nothing.
func TestAnswerToNobody(t *testing.T) {
	for _, x := range []float32{-30, 30} {
		t.Run(fmt.Sprint("caller at ", x), func(t *testing.T) {
			r := newRig(t, 2)
			r.create(7, -20, 1)
			id := r.ending(false, x)
			r.tick(5)
			if err := r.cellOf(id, 7).Then("OnPaid", 0).Call("pay", 1); err != nil {
				t.Fatal(err)
			}
			r.avatar(id).Destroy()
			r.tick(50)
			refused, late := uint64(0), uint64(0)
			for _, a := range r.apps {
				refused, late = refused+a.count.Refused, late+a.count.LateAnswers
			}
			if refused != 0 || late != 1 {
				t.Errorf("%d calls were refused, %d answers late", refused, late)
			}
		})
	}
}
