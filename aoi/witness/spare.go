package witness

import "github.com/cellscape/cellscape/property"

// spare is what the cell saves at its witnesses, in thousandths.
type spare struct{ budget, detail uint16 }

// whole is a share of all, in thousandths.
const whole = 1000

func (s spare) of(bytes int) int { return int(int64(bytes) * int64(s.budget) / whole) }

// SetThrift makes the byte budget and the distances of detail levels smaller, each to a
// share of itself in thousandths, 1 to 1000, while the cell has more to do than it
// can. The cell says so before each Update in which it is not as the last time; a
// share out of range is ignored. It does not travel: the next cell has its own word.
//
// Nothing that the client is entitled to for good is lost by it. With less budget the
// same is sent later; what the client has of details stays and is brought up to date
// when the share rises again. A reliable call is no detail, and is heard as far as
// ever; one that may be lost is heard within the smaller distance only.
func (w *Witness) SetThrift(budget, detail uint16) {
	if budget > 0 && budget <= whole && detail > 0 && detail <= whole {
		w.spare = spare{budget, detail}
		w.rescale()
	}
}

// rescale keeps what distances are divided by: it is asked for each entity each tick.
func (w *Witness) rescale() { w.scale = w.factor * (float32(w.spare.detail) / whole) }

// detail is a distance as detail levels are to see it.
func (w *Witness) detail(dist float32) float32 { return dist / w.scale }

// audible reports whether a broadcast call reaches the watcher at dist.
func (w *Witness) audible(d *property.Definition, method int, dist float32) bool {
	m := d.ClientMethods[method]
	switch {
	case m.DetailDistance == 0:
		return true
	case m.Unreliable:
		return w.detail(dist) <= m.DetailDistance
	}
	return dist/w.factor <= m.DetailDistance
}
