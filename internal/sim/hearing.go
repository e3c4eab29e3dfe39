package sim

import (
	"slices"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/baseapp"
	"github.com/cellscape/cellscape/property"
)

// hearing is what a base has heard of the numbers that its cell part says. They begin at 1 in each
// life, and come with the life in which they were first said.
//
// One cell part says each number once, in order. One that was restored from a backup begins with
// its own life. One that was restored from a frozen copy first says what the copy had said and
// nobody had handled, under the copy's life: it begins after the last number that was heard of the
// cell part from which the copy was taken. If it dies before it has a backup of its own, the next
// one is restored from the same copy, and says all of that again. So what may come twice depends on
// who speaks. The base knows that: its link believes in one incarnation at a time.
type hearing struct {
	// of is the last that was heard of each cell part, in the order of incarnations.
	of []lastHeard
}

type lastHeard struct{ from, life, n uint32 }

// take hears a number from the cell part of an incarnation, and reports whether it may come now.
func (h *hearing) take(from, life, n uint32) bool {
	ok := h.may(from, life, n)
	if k := len(h.of); k == 0 || h.of[k-1].from != from {
		h.of = append(h.of, lastHeard{from: from})
	}
	h.of[len(h.of)-1] = lastHeard{from, life, n}
	return ok
}

func (h *hearing) may(from, life, n uint32) bool {
	last := lastHeard{}
	if len(h.of) > 0 {
		last = h.of[len(h.of)-1]
	}
	switch {
	case life > from || from < last.from:
		return false
	case from == last.from:
		return last.before(life, n)
	case n == 1 && !slices.ContainsFunc(h.of, func(x lastHeard) bool { return x.from == life }):
		return true // of its own life, or of one that died unheard and left a copy
	}
	return slices.ContainsFunc(h.of, func(x lastHeard) bool { return life <= x.from && x.before(life, n) })
}

// before reports whether a number is the next after l of the same cell part: of the same life, or
// the first of a later one, after the tail of a copy.
func (l lastHeard) before(life, n uint32) bool {
	return life == l.life && n == l.n+1 || life > l.life && n == 1
}

// hearer is a base that hears its cell part. What it has heard is in its properties, so that it goes on
// from there when it is restored.
type hearer struct {
	Heard, Life, Wrong property.Uint32
	Ears               property.Slice[uint32] // hearing.of, three numbers each
}

// hear hears a number.
func (s *hearer) hear(from, life, n uint32) {
	h := hearing{}
	for i := 0; i+2 < s.Ears.Len(); i += 3 {
		h.of = append(h.of, lastHeard{s.Ears.At(i), s.Ears.At(i + 1), s.Ears.At(i + 2)})
	}
	if !h.take(from, life, n) {
		s.Wrong.Set(s.Wrong.Get() + 1)
	}
	s.Life.Set(life)
	s.Heard.Set(n)
	last := h.of[len(h.of)-1]
	at := 3 * (len(h.of) - 1)
	_ = s.Ears.Delete(min(at, s.Ears.Len()), s.Ears.Len())
	_ = s.Ears.Append(last.from, last.life, last.n)
}

// incarnation is that of the cell part in which the base of an entity believes.
func (c *Cluster) incarnation(p *Process, id entity.ID) (n uint32) {
	for b := range p.app.(*baseapp.BaseApp).Bases() {
		if b.ID == id {
			return b.Order.Incarnation
		}
	}
	return 0
}
