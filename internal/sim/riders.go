package sim

import (
	"fmt"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/presence"
	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space"
)

// Carriages drive about, and whoever is near boards them: players too, whose clients then walk about
// on them, and other carriages. Now and then somebody gets off, a carriage goes to another place with all who
// are on it, or leaves them behind, or ends.

const carriageDef = `<root> <Volatile> <position/> <yaw/> </Volatile>
	<Properties> <on> <Type> UINT64 </Type> <Flags> CELL_PRIVATE </Flags> </on> </Properties>
</root>`

// carriageBase is the base part of a carriage.
type carriageBase struct{ *entity.Base }

// OnCreated makes the cell part.
func (b *carriageBase) OnCreated() {
	_ = b.CreateCell(theSpace, somewhere(uint64(b.ID())*7), property.Vector3{}, nil)
}

// carriageCell is the cell part.
type carriageCell struct {
	*space.Real
	On property.Uint64 // what it rides on, as far as it was told
	w  *world          `cellscape:"local"`
}

// OnCreated starts the beat, and the drive.
func (s *carriageCell) OnCreated() {
	_, _ = s.AddTimer(beat, beat, "OnBeat", 0)
	s.OnThere(entity.Callback{})
}

// OnThere drives on.
func (s *carriageCell) OnThere(entity.Callback) {
	if s.Vehicle() == 0 {
		wander(s.Real, 35, space.Gait{Acceleration: 15, Through: true})
	}
}

// OnAlighted drives on.
func (s *carriageCell) OnAlighted(vehicle entity.ID) {
	if uint64(vehicle) != s.On.Get() {
		s.w.expect(fmt.Errorf("%s is off %s, and was on %d", s.ID(), vehicle, s.On.Get()), nil)
	}
	s.On.Set(0)
	s.OnThere(entity.Callback{})
}

// OnTeleported is off what it boarded after it had asked to go elsewhere.
func (s *carriageCell) OnTeleported(int64) { s.On.Set(uint64(s.Vehicle())) }

// OnBeat boards another one, gets off it, or goes elsewhere.
func (s *carriageCell) OnBeat(entity.Callback) {
	if on := uint64(s.Vehicle()); on != s.On.Get() {
		s.w.expect(fmt.Errorf("%s rides on %d, and was told %d", s.ID(), on, s.On.Get()), nil)
	}
	switch {
	case settles(s.Real):
	case s.Vehicle() != 0 || s.Chance().IntN(8) == 0:
		s.w.board(s.Real)
		s.On.Set(uint64(s.Vehicle()))
		s.OnThere(entity.Callback{})
	case s.Chance().IntN(30) == 0:
		s.w.lifts(s.Real)
	}
}

// lifts has a carriage go elsewhere in the square, with all who are on it here.
func (w *world) lifts(r *space.Real) {
	var with []entity.ID
	for v := range r.EntitiesInRange(seatReach) {
		if v.Vehicle() == r.ID() && v.IsReal() {
			with = append(with, v.ID())
		}
	}
	if r.Vehicle() != 0 {
		return
	}
	_ = r.TeleportTogether(entity.Destination{Space: r.Space(), Position: anywhere(r)}, 1, with...)
}

// seatReach is how far from a carriage somebody may get on, in metres.
const seatReach = 60

// board has somebody get on a carriage that is near, change its seat, or get off.
func (w *world) board(r *space.Real) {
	c := r.Chance()
	if !w.rides || w.calm || w.hush || hushed(r) {
		return
	}
	if r.Vehicle() != 0 {
		switch c.IntN(10) {
		case 0:
			r.Alight()
		case 1:
			to := r.Position()
			to.X++
			w.expect(r.SetPosition(to), nil)
		case 2:
			w.expect(r.Board(r.Vehicle(), bench(r), property.Vector3{X: c.Float32()}), space.ErrNoVehicle)
		}
		return
	}
	for v := range r.EntitiesInRange(seatReach) {
		if v.Def().Name == "Carriage" && c.IntN(3) > 0 {
			w.expect(r.Board(v.ID(), bench(r), property.Vector3{X: c.Float32()}), space.ErrNoVehicle)
			w.boarded++
			return
		}
	}
}

// bench is a place on a carriage.
func bench(r *space.Real) property.Vector3 {
	return property.Vector3{X: float32(r.Chance().IntN(9) - 4), Y: 1, Z: float32(r.Chance().IntN(21) - 10)}
}

// ridersSit checks that whoever rides at rest is where its seat is, as all cells know it.
type ridersSit struct{ c *Cluster }

func (k *ridersSit) safe() error { return nil }

func (k *ridersSit) converged() error {
	for v := range k.c.reals() {
		if s, ok := v.Script().(*carriageCell); ok && s.On.Get() != uint64(s.Vehicle()) {
			return fmt.Errorf("%s rides on %s, and was told %d", s.ID(), s.Vehicle(), s.On.Get())
		}
		p, ok := v.Script().(passenger)
		if v.Vehicle() == 0 || !ok {
			continue
		}
		k.c.world.ridesAtRest++
		on, found := vehicleOf(v)
		position, direction := p.Seat()
		seat := presence.Spot{Position: position, Direction: direction}
		switch at := (presence.Spot{Position: v.Position(), Direction: v.Direction()}); {
		case !found && k.near(v):
			return fmt.Errorf("%s rides on %s, which is near and not on its cell", v.ID(), v.Vehicle())
		case !found: // it was left behind, and waits
		case seat.On(on) != at:
			return fmt.Errorf("%s is at %v, and its seat on %s at %v", v.ID(), at, v.Vehicle(), seat.On(on))
		}
	}
	return nil
}

// near reports whether the vehicle of somebody is where it must be on the cell of that one, too.
func (k *ridersSit) near(of sighting) bool {
	for v := range k.c.reals() {
		if v.ID() == of.Vehicle() && v.cell.Space() == theSpace && apart(v.Position(), of.Position()) < aoiRadius {
			return true
		}
	}
	return false
}

// passenger is the script of whoever can ride.
type passenger interface {
	Seat() (position, direction property.Vector3)
}

// vehicleOf is where the vehicle of somebody is, as its cell knows it.
func vehicleOf(of sighting) (at presence.Spot, found bool) {
	for v := range of.cell.Views() {
		if v.ID() == of.Vehicle() {
			return presence.Spot{Position: v.Position(), Direction: v.Direction()}, true
		}
	}
	return at, false
}
