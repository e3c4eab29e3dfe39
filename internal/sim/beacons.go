package sim

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/baseapp"
	"github.com/cellscape/cellscape/entity/dbapp"
	"github.com/cellscape/cellscape/property"
)

// Beacons are entities of which the world is to have one each: every BaseApp ensures them all whenever it
// starts. Now and then one ends by itself, and another one is lit.

const beaconDef = `<root> <Persistent> true </Persistent> <Properties>
	<name> <Type> STRING </Type> <Flags> BASE </Flags> <Persistent> true </Persistent> <Identifier> true </Identifier> </name>
	<lit>  <Type> INT64 </Type> <Flags> BASE </Flags> <Persistent> true </Persistent> </lit>
</Properties> </root>`

// beacon is the base part of a beacon; it has no other.
type beacon struct {
	*entity.Base
	Name  property.String
	Lit   property.Int64
	w     *world `cellscape:"local"`
	beats int    `cellscape:"local"`
}

func beaconName(i int) string { return fmt.Sprint("beacon ", i) }

// OnCreated starts the beat.
func (b *beacon) OnCreated() {
	b.w.beacons++
	_, _ = b.AddTimer(beat, beat, "OnBeat", 0)
}

// OnBeat counts, and ends now and then, in the bad time.
func (b *beacon) OnBeat(entity.Callback) {
	b.w.crack(b.Base)
	b.Lit.Set(b.Lit.Get() + 1)
	if b.beats++; b.w.calm || b.beats%40 != 0 {
		return
	}
	if uint64(b.ID()+entity.ID(b.beats))%3 == 0 {
		b.Destroy()
	}
}

// lightBeacons is what each BaseApp does when it has joined.
func (c *Cluster) lightBeacons(s *baseapp.Starter) {
	for i := range c.opts.Wild.Beacons {
		name := beaconName(i)
		err := s.Ensure("Beacon", name, func(v *property.Values) {
			_ = v.Set(v.Definition().Property("name").Index, property.StringValue(name))
		}, func(n entity.NameReply) {
			if n.Err != nil {
				c.fail(fmt.Errorf("%s: %w", name, n.Err))
			}
		})
		if err != nil {
			c.fail(fmt.Errorf("%s: %w", name, err))
		}
	}
}

// lightIn is how long the world may be without one of them when all is well: until the row of one that
// was lost with its BaseApp is free, and somebody has looked again.
const lightIn = dbapp.FreeAfter + 15*time.Second

// allLit reports whether there is one of each.
func (c *Cluster) allLit() bool { return (&oneBeacon{c}).converged() == nil }

// oneBeacon checks that there is one of each at most, and one at rest. A BaseApp that was declared dead
// believes in what it has until it hears of that, so in the bad time it only checks while nobody was.
type oneBeacon struct{ c *Cluster }

func (k *oneBeacon) lit() map[string]int {
	lit := map[string]int{}
	for _, s := range basesOf[*beacon](k.c) {
		if s.Name.Get() != "" {
			lit[s.Name.Get()]++
		}
	}
	return lit
}

func (k *oneBeacon) safe() error {
	if k.c.opts.Wild.Beacons == 0 || k.c.judged() || slices.ContainsFunc(k.c.baseApps, func(p *Process) bool { return !p.alive || p.starts > 1 }) {
		return nil
	}
	for i := range k.c.opts.Wild.Beacons {
		if n := k.lit()[beaconName(i)]; n > 1 {
			return fmt.Errorf("%d of %s are lit", n, beaconName(i))
		}
	}
	return nil
}

func (k *oneBeacon) converged() error {
	var faults []error
	lit := k.lit()
	for i := range k.c.opts.Wild.Beacons {
		if n := lit[beaconName(i)]; n != 1 {
			faults = append(faults, fmt.Errorf("%d of %s are lit in the end", n, beaconName(i)))
		}
	}
	return errors.Join(faults...)
}
