package space

import (
	"slices"
	"testing"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/migrate"
)

// asks has real 7 make a two-way call to the base of 8, which acks and settles it, and never answers.
func (r *rig) asks() {
	r.t.Helper()
	under := false // the handoff is held
	var asked *flow.Message
	r.hold = func(p packet) bool {
		switch m := p.m.(type) {
		case *flow.Message:
			if m.From == 7 && m.To == 8 {
				asked = m
				return true
			}
		case *flow.Inquiry:
			return m.Of == 8 && m.OfPart == entity.BasePart
		case *migrate.Onload:
			return under
		}
		return false
	}
	err := r.real(7).Lookup(8, "Avatar", entity.BaseMailbox).Then("OnPaid", 0).Call("report", 1)
	if err != nil || r.real(7).requests.Len() != 1 {
		r.t.Fatalf("the call is not made: %v", err)
	}
	r.tick(1)
	r.queue = append(r.queue, packet{r.base, r.at(-5).self, &flow.Ack{To: 7, ToPart: entity.CellPart, From: 8, FromPart: entity.BasePart,
		Incarnation: asked.Incarnation, Number: asked.Number, Settled: asked.Number}})
	r.tick(1)
	if p := r.real(7).known(8, entity.BasePart); p.out.Kept() != 0 {
		r.t.Fatalf("%d messages are kept", p.out.Kept())
	}
}

// inquiries counts what the base of 8 was asked.
func (r *rig) inquiries() (n int) {
	r.queue = slices.DeleteFunc(r.queue, func(p packet) bool {
		if m, is := p.m.(*flow.Inquiry); is && m.Of == 8 {
			n++
			return true
		}
		return false
	})
	return n
}

// Whoever waits for the answer of a base asks after it when a BaseApp has died, also if it crosses a border while
// it asks, or while its old or its new CellApp hears the verdict. (It waited for its whole time then.)
func TestSeekGoesAlong(t *testing.T) {
	for name, c := range map[string]struct {
		lives          bool
		before, during int // ticks
		want           int
	}{
		"asks already":    {before: 30, want: 3}, // of five times
		"is under way":    {during: 30, want: 4}, // the first when it arrives
		"nobody has died": {lives: true, during: 30},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, 2)
			r.create(7, -5, 1)
			r.create(8, -300, 1)
			r.tick(2)
			r.asks()
			asks := r.hold
			die := func(ticks int) {
				if ticks > 0 && !c.lives {
					r.baseAppDies(addr(90))
				}
				r.tick(ticks)
			}
			die(c.before)
			r.inquiries()
			r.hold = func(p packet) bool { _, on := p.m.(*migrate.Onload); return on || asks(p) }
			r.move(7, 50)
			r.tick(1)
			if r.real(7) != nil {
				t.Fatal("it is not under way")
			}
			die(c.during)
			r.hold = asks
			r.tick(150)
			if x := r.real(7); x == nil || x.cell.self != addr(2) {
				t.Fatal("it has not arrived")
			}
			if got := r.inquiries(); got != c.want {
				t.Errorf("it has asked %d times, want %d", got, c.want)
			}
		})
	}
}

// Calls to a base that has died with nobody to go on with it fail at once where the caller arrives.
func TestArrivesAfterTheVerdict(t *testing.T) {
	r := newRig(t, 2)
	r.create(7, -5, 1)
	r.create(8, -300, 1)
	r.tick(2)
	r.asks()
	asks := r.hold
	r.hold = func(p packet) bool { _, on := p.m.(*migrate.Onload); return on || asks(p) }
	r.move(7, 50)
	r.tick(1)
	dead := addr(91)
	r.homes = map[entity.ID]mercury.Address{8: dead}
	for _, a := range r.apps {
		a.dead = append(a.dead, dead)
		a.population.BasesMoved(dead)
	}
	r.hold = asks
	r.tick(3)
	r.diary(7, "created;client true;leaving;entering;entered;report of 0.8: entity: there is no such entity: the base of the target has died;")
}

// So do those of a caller that is restored.
func TestRestoredAfterTheVerdict(t *testing.T) {
	r := newRig(t, 2)
	r.create(7, -5, 1)
	r.create(8, -300, 1)
	r.tick(2)
	r.asks()
	b := r.backUp(7)
	dead := addr(91)
	r.homes = map[entity.ID]mercury.Address{8: dead}
	for _, a := range r.apps {
		a.dead = append(a.dead, dead)
	}
	r.real(7).cell.drop(r.real(7))
	r.tick(1)
	r.restore(7, 50, b.Parts, b.Handled)
	r.tick(3)
	r.diary(7, "created;client true;restored;client true;report of 0.8: entity: there is no such entity: the base of the target has died;")
}
