package space

import (
	"testing"

	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/mercury"
)

// baseAppDies lets every app hear that the bases' app died, and who has inherited its bases.
func (r *rig) baseAppDies(heir mercury.Address) {
	was := r.base
	r.base = heir
	for _, a := range r.apps {
		a.dead = append(a.dead, was)
		a.population.BasesMoved(was)
	}
	r.pump()
}

// The base is restored from a copy that is older than what it has heard. Its real goes on where it is,
// says where that is, and says again what the copy does not contain, in the same order.
func TestRealsGoOnWithTheHeir(t *testing.T) {
	r := newRig(t, 2)
	r.create(7, -50, 1)
	r.create(8, -60, 1)
	r.tick(5)
	b, real := r.bases[7], r.real(7)
	order := real.e.Order
	copied := b.in
	b.unsettled = true
	for _, n := range []uint32{1, 2, 3} {
		if err := real.Base().Call("report", n); err != nil {
			t.Fatal(err)
		}
	}
	r.tick(2)
	if kept := real.base().out.Kept(); kept < 3 || real.base().out.Unreceived() != 0 {
		t.Fatalf("%d messages are kept, %d not received", kept, real.base().out.Unreceived())
	}
	heard := len(b.got)
	// A message of the base arrives whose app is about to die.
	r.call(7, hitMethod, arg(1)...)
	r.pump()

	b.in = copied
	b.in.Restore()
	b.life = 1
	b.app = mercury.Address{}
	r.baseAppDies(addr(90))
	r.tick(2)
	if got := r.real(7); got != real || real.e.Order != order || real.e.Base != addr(90) {
		t.Fatalf("the real of %v is %v of the base on %v", order, real.e.Order, real.e.Base)
	}
	if b.app != r.apps[0].self {
		t.Errorf("the heir believes the real on %v", b.app)
	}
	again := b.got[heard:]
	if len(again) < 3 {
		t.Fatalf("the heir heard %d messages again", len(again))
	}
	for i, payload := range again[:3] {
		if string(payload) != string(b.got[heard-3+i]) {
			t.Errorf("message %d is another one now", i)
		}
	}
	b.unsettled = false
	r.tick(300) // the real asks
	if kept := real.base().out.Kept(); kept != 0 {
		t.Errorf("%d messages are kept for ever", kept)
	}
	if base := r.apps[1].population.find(7).e.Base; base != addr(90) {
		t.Errorf("its ghost believes the base on %v", base)
	}
}

// Whose base nobody has inherited is gone, and who waits for its answer is told.
func TestRealsWithoutAnHeirAreDropped(t *testing.T) {
	r := newRig(t, 2)
	r.create(7, -50, 1)
	was := r.base
	for _, a := range r.apps {
		a.dead = append(a.dead, was)
		a.population.BasesMoved(was)
	}
	r.tick(1)
	if r.real(7) != nil {
		t.Error("a real without a base goes on")
	}
}

// A real arrives with the word that its base is where that died meanwhile.
func TestLateHandoffFindsTheHeir(t *testing.T) {
	r := newRig(t, 2)
	r.create(7, -5, 1)
	r.tick(2)
	hold := true
	r.hold = func(p packet) bool { _, ack := p.m.(*flow.Ack); return hold && !ack && p.to == addr(2) }
	r.move(7, 50)
	r.tick(1)
	r.baseAppDies(addr(90))
	hold = false
	r.hold = nil
	r.tick(30)
	x := r.real(7)
	if x == nil || x.e.Base != addr(90) {
		t.Fatalf("the real is %v", x)
	}
	if b := r.bases[7]; b.app != x.cell.self || b.order != x.e.Order {
		t.Errorf("the heir believes it at %v on %v", b.order, b.app)
	}
}
