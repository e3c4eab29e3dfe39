package space

import (
	"github.com/cellscape/cellscape/aoi/witness"
	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space/internal/hosting"
)

// crew makes the updates of clients, the one part of a tick that may run on several cores. A witness
// writes what is its own, and reads entities, which nobody changes then; what they would share, each
// worker has for itself. So the same bytes come of it as of one worker.
type crew struct {
	parallel func(n int, f func(worker, i int))
	benches  []bench // the first is that of the cell whose turn it is
	scratch  witness.Scratch
	all      []*witness.Scratch // for several workers: what each update has made, until it is sent
}

// bench is what a worker works with.
type bench struct {
	stats      *property.Stats
	compressor *property.Compressor
	told       *witness.Told
}

// equip has the updates that work with s use what is on the bench.
func (b *bench) equip(s *witness.Scratch) {
	s.Stats, s.Compressor, s.Told = b.stats, b.compressor, b.told
}

// fewWitnesses is for how many it does not pay to wake other workers: a hundred microseconds of work.
const fewWitnesses = 16

func newCrew(env *hosting.Env, scripts *Scripts) *crew {
	c := &crew{parallel: env.Parallel, benches: make([]bench, 1)}
	if env.Parallel == nil {
		return c
	}
	for range env.Workers - 1 {
		b := bench{compressor: new(property.Compressor), told: new(witness.Told)}
		if env.Stats != nil {
			b.stats = property.NewStats(scripts.Schema())
		}
		c.benches = append(c.benches, b)
	}
	return c
}

// shared reports whether n updates are worth the other workers.
func (c *crew) shared(n int) bool { return len(c.benches) > 1 && n >= fewWitnesses }

// work calls f for each i below n, on all workers, each with memory of its own.
func (c *crew) work(n int, f func(s *witness.Scratch, i int)) {
	for len(c.all) < n {
		c.all = append(c.all, new(witness.Scratch))
	}
	c.parallel(n, func(worker, i int) {
		c.benches[worker].equip(c.all[i])
		f(c.all[i], i)
	})
	for i := range c.benches[1:] {
		c.benches[0].stats.Merge(c.benches[1+i].stats)
		c.benches[0].told.Merge(c.benches[1+i].told)
	}
}
