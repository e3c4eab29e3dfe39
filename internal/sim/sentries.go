package sim

import (
	"fmt"
	"math"
	"slices"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space"
)

// Sentries have two traps each, one around the other, and keep a list of who is inside. It is a property, so
// it comes back with the traps from a backup: each word of a trap must change it. They run after those whom
// they meet.

const sentryDef = `<root> <Volatile> <position/> <yaw/> </Volatile>
	<Properties>
		<near> <Type> ARRAY <of> UINT64 </of> </Type> <Flags> CELL_PRIVATE </Flags> </near>
		<far>  <Type> ARRAY <of> UINT64 </of> </Type> <Flags> CELL_PRIVATE </Flags> </far>
	</Properties>
</root>`

// The sizes of the traps.
const (
	nearSentry = 15
	farSentry  = 60
)

// sentryBase is the base part of a sentry.
type sentryBase struct{ *entity.Base }

// OnCreated makes the cell part.
func (b *sentryBase) OnCreated() {
	_ = b.CreateCell(theSpace, somewhere(uint64(b.ID())*5), property.Vector3{}, nil)
}

// sentryCell is the cell part.
type sentryCell struct {
	*space.Real
	Near, Far property.Slice[uint64]
	w         *world `cellscape:"local"`
}

// OnCreated lays the traps, and starts the walk.
func (s *sentryCell) OnCreated() {
	for _, radius := range []float32{nearSentry, farSentry} {
		_, err := s.AddTrap(radius, "OnTrap", int64(radius))
		s.w.expect(err, nil)
	}
	_, _ = s.AddTimer(beat, beat, "OnBeat", 0)
	s.OnThere(entity.Callback{})
}

// OnThere walks on.
func (s *sentryCell) OnThere(entity.Callback) { wander(s.Real, 20) }

// OnBeat stands still in the end.
func (s *sentryCell) OnBeat(entity.Callback) {
	if !settles(s.Real) {
		s.w.journey(s.Real, 20)
	}
}

// OnTrap keeps the list.
func (s *sentryCell) OnTrap(x space.Trapped) {
	list := &s.Near
	if x.User == farSentry {
		list = &s.Far
	}
	s.w.sprung++
	at, was := slices.BinarySearch(list.Values(), uint64(x.Entity))
	switch {
	case was == x.Inside:
		s.w.expect(fmt.Errorf("%s is told twice of %s within %d m: %t", s.ID(), x.Entity, x.User, x.Inside), nil)
	case was:
		s.w.expect(list.Delete(at, at+1), nil)
	default:
		s.w.expect(list.Insert(at, uint64(x.Entity)), nil)
		if x.User == farSentry && !hushed(s.Real) && s.Chance().IntN(3) == 0 {
			_, err := s.MoveToEntity(x.Entity, 4, 25, "OnThere", 0, space.Gait{Acceleration: 20})
			s.w.expect(err, space.ErrNotHere)
		}
	}
}

// sentriesKnow checks that sentries know at rest who is near them.
type sentriesKnow struct{ c *Cluster }

func (k *sentriesKnow) safe() error { return nil } // a fault of OnTrap fails the world

func (k *sentriesKnow) converged() error {
	for v, s := range realsOf[*sentryCell](k.c) {
		for other := range v.cell.Views() {
			d := apart(v.Position(), other.Position())
			for _, x := range []struct {
				radius float64
				list   []uint64
			}{{nearSentry, s.Near.Values()}, {farSentry, s.Far.Values()}} {
				// At the edge the index may round.
				known := slices.Contains(x.list, uint64(other.ID()))
				if in := d <= x.radius && other.ID() != v.ID(); in != known && math.Abs(d-x.radius) > 0.01 {
					return fmt.Errorf("%s knows of %s within %g m: %t; it is %.2f m away", v.ID(), other.ID(), x.radius, known, d)
				}
			}
		}
	}
	return nil
}
