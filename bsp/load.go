package bsp

const (
	// LoadStep is the unit, in nanoseconds of work per second, to which a Publisher rounds the
	// loads that it tells: one hundredth of a core. Whoever reads a leaf's load compares crowded
	// cells with idle ones and needs no more.
	LoadStep int64 = 1e7

	// LoadBand is how far a load must be from the last told one before it is told anew: five
	// hundredths of a core. Measured loads fluctuate by a few hundredths when nothing happens.
	// Without a band each delta would contain every one of a thousand leaves, and the few changes
	// that matter among them.
	LoadBand = 5 * LoadStep
)

// quantise gives the leaves of t the loads that are to be told: the load told in the version before
// while the true one is within LoadBand of it, otherwise the true one rounded to LoadStep. A load
// that fluctuates by less than nine tenths of LoadBand from end to end is told once; one that
// drifts is told every LoadBand of its way; what is told is off by less than LoadBand.
func (t *Tree) quantise(told *Tree) {
	for _, e := range t.index {
		l := t.nodes[e.slot].leaf
		load := max(0, l.Load)
		if told != nil {
			if was, _, ok := told.Leaf(e.cell); ok && max(load-was.Load, was.Load-load) < LoadBand {
				l.Load = was.Load
				continue
			}
		}
		l.Load = load
		if rest := load % LoadStep; rest < LoadStep/2 {
			l.Load -= rest
		} else if load < maxLoad {
			l.Load += LoadStep - rest
		}
	}
}

// maxLoad is the load above which rounding up could overflow: no machine has it.
const maxLoad = 1<<63 - 1 - LoadStep
