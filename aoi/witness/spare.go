package witness

import "github.com/cellscape/cellscape/property"

// spare is what the cell saves at its witnesses, in thousandths.
type spare struct{ budget, detail uint16 }

// whole is a full share, in thousandths.
const whole = 1000

// leastSaving is what a cell that saves leaves of the budget of a client at the least, in bytes:
// the places of the nearest twenty in each second Update, and as much for all else. Less would
// hardly save work: in a crowd of 2,000 a quarter of 250 bytes left a CellApp with 0.5 of a core to
// do, where the whole took 0.65.
const leastSaving = 125

func (s spare) of(bytes int) int { return int(int64(bytes) * int64(s.budget) / whole) }

// SetAllowance shrinks the byte budget to what the path to the client carries, in bytes per Update,
// but not below Config.LeastBytesPerTick; with 0 it is whole. As with SetDegradation, what does not fit is
// told later, the nearest first. It does not travel: the next cell is told as well.
func (w *Witness) SetAllowance(bytes int) { w.line = max(0, bytes) }

// Budget is how many bytes an Update may have now, what earlier ones took too much not deducted.
func (w *Witness) Budget() int {
	all := w.allowed()
	return max(w.spare.of(all), min(all, leastSaving))
}

// Share is the part of Config.BytesPerTick that the path to the client leaves, in thousandths.
func (w *Witness) Share() int { return int(int64(w.allowed()) * whole / int64(w.cfg.BytesPerTick)) }

func (w *Witness) allowed() int {
	if w.line == 0 {
		return w.cfg.BytesPerTick
	}
	return min(w.cfg.BytesPerTick, max(w.line, w.cfg.LeastBytesPerTick))
}

// mostDeficit shrinks with the budget, so that it is as many Updates as ever.
func (w *Witness) mostDeficit() int {
	return w.spare.of(int(int64(w.cfg.MaxDeficit) * int64(w.allowed()) / int64(w.cfg.BytesPerTick)))
}

// SetDegradation shrinks the byte budget and the distances of detail levels, each to a share of itself
// in thousandths (1 to 1000), while the cell has more to do than it can. The cell calls it before
// each Update whose shares differ from the last; a share out of range is ignored. It does not
// travel: the next cell sets its own.
//
// Nothing that the client is entitled to is lost for good by it. A smaller budget sends the same
// things later. Details that the client has stay, and are brought up to date when the share rises
// again. A client's budget does not shrink below 125 bytes by it. A reliable call is not a detail:
// it is heard as far away as ever. A call that may be lost is heard only within the smaller distance.
func (w *Witness) SetDegradation(budget, detail uint16) {
	if budget > 0 && budget <= whole && detail > 0 && detail <= whole {
		w.spare = spare{budget, detail}
		w.rescale()
	}
}

// rescale keeps the divisor of distances, which is needed for each entity in each tick.
func (w *Witness) rescale() {
	scale := w.factor * (float32(w.spare.detail) / whole)
	if scale == w.scale {
		return
	}
	w.scale = scale
	for i := range w.entries {
		w.entries[i].nearest, w.entries[i].farthest = 1, 0
	}
}

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
