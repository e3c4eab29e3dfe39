package space

import (
	"cmp"
	"slices"

	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/migrate"
)

// An origin repeats a handoff until it has the answer, and that may be long after: a CellApp with a
// tenth of a processor reads it after half a minute. The real may have come here, gone on or ended,
// and be forgotten by then. So what was answered is remembered by the serial of the handoff for as
// long as its origin may repeat it:
//
//	           decided                 a handoff with a higher Low,
//	(none) -----------------> answered ----------------------------> (none)
//	                          repeats get the same answer            or the origin dies
//
// (It used to be a matter of tombstones, which stood for 15 s. An entity without a base lived
// twice, or once more after its end.) The zero value has none.
type acceptances struct{ from map[mercury.Address]*accepted }

// accepted is what one origin was answered.
type accepted struct {
	low  uint64
	list []acceptance // ascending
}

type acceptance struct {
	serial    uint64
	elsewhere bool
	refused   *migrate.OnloadRefused // nil if the real was taken, or need not be sent again
}

// maxAccepted bounds what is remembered of one origin: more than it has reals. Beyond it the oldest goes.
const maxAccepted = 1 << 16

func (a *accepted) find(serial uint64) (int, bool) {
	return slices.BinarySearchFunc(a.list, serial, func(x acceptance, n uint64) int { return cmp.Compare(x.serial, n) })
}

// has reports whether a handoff was answered.
func (s *acceptances) has(from mercury.Address, serial uint64) bool {
	a := s.from[from]
	if a == nil || serial == 0 {
		return false
	}
	_, found := a.find(serial)
	return found || serial < a.low
}

// add remembers an answer.
func (s *acceptances) add(from mercury.Address, m *migrate.Onload, x acceptance) {
	if m.Serial == 0 {
		return
	}
	a := s.from[from]
	if a == nil {
		if s.from == nil {
			s.from = make(map[mercury.Address]*accepted)
		}
		a = new(accepted)
		s.from[from] = a
	}
	a.forget(m.Low)
	x.serial = m.Serial
	if i, found := a.find(m.Serial); !found && m.Serial >= a.low {
		a.list = slices.Insert(a.list, i, x)
	}
	if len(a.list) > maxAccepted {
		a.list = slices.Delete(a.list, 0, 1)
	}
}

// forget drops what is below the lowest serial that the origin still repeats.
func (a *accepted) forget(low uint64) {
	if low <= a.low {
		return
	}
	a.low = low
	i, _ := a.find(low)
	a.list = slices.Delete(a.list, 0, i)
}

// died forgets an origin.
func (s *acceptances) died(app mercury.Address) { delete(s.from, app) }

// ackOnload says that a real need not be sent again. elsewhere says that it is in another space than it left.
func (p *Population) ackOnload(m *migrate.Onload, elsewhere bool, to mercury.Address) {
	p.accepted.add(to, m, acceptance{elsewhere: elsewhere})
	p.env.Out.Send(to, &migrate.OnloadAck{ID: m.ID, Order: m.Order, Elsewhere: elsewhere})
}

// answeredBefore answers a repeat as the first one was. One that its origin has heard the answer to
// is ignored.
func (p *Population) answeredBefore(m *migrate.Onload, from mercury.Address) bool {
	if !p.accepted.has(from, m.Serial) {
		return false
	}
	a := p.accepted.from[from]
	i, found := a.find(m.Serial)
	switch {
	case !found:
	case a.list[i].refused != nil:
		p.env.Out.Send(from, a.list[i].refused)
	default:
		p.env.Out.Send(from, &migrate.OnloadAck{ID: m.ID, Order: m.Order, Elsewhere: a.list[i].elsewhere})
	}
	return true
}
