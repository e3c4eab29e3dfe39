package presence

import (
	"math"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/property"
)

// MaxStack is how many vehicles may carry one another: a rider on a horse on a cart on a ferry, and one
// more. All of them are looked at in each tick.
const MaxStack = 4

// Ride is the vehicle that an entity is on, and its seat there. Whoever rides nothing has no vehicle.
type Ride struct {
	Vehicle entity.ID
	// Stamp counts the changes of the rest within an incarnation, ends of rides too. It is 0 for who has
	// never ridden.
	Stamp uint32
	// Since is what Stamp was when the entity got on the vehicle, or off: what has changed after that is
	// the seat.
	Since uint32
	Seat  Spot
}

// Spot is a place on a vehicle: Position in metres from the vehicle's, x to its right, y up, z ahead, and
// Direction as yaw, pitch and roll in radians, of which the yaw counts from the vehicle's.
type Spot struct{ Position, Direction property.Vector3 }

// On is the place in the world of a seat on a vehicle that is at a place. The vehicle's yaw turns who
// rides on it. Its pitch and roll move them, but leave them upright: a deck that heaves does not lay its
// crew down. A vehicle with a pitch above 0 looks down, one with a roll above 0 leans to the left.
//
// Servers and clients compute it from the same numbers, to the last bit.
func (s Spot) On(vehicle Spot) Spot {
	x, y, z := float64(s.Position.X), float64(s.Position.Y), float64(s.Position.Z)
	yaw, pitch, roll := angles(vehicle.Direction)
	x, y = turned(x, y, roll)
	y, z = turned(y, z, pitch)
	z, x = turned(z, x, yaw)
	return Spot{
		property.Vector3{X: vehicle.Position.X + float32(x), Y: vehicle.Position.Y + float32(y), Z: vehicle.Position.Z + float32(z)},
		property.Vector3{X: wrapped(s.Direction.X + vehicle.Direction.X), Y: s.Direction.Y, Z: s.Direction.Z},
	}
}

// From is the seat on a vehicle at a place of who is at a place in the world: what On undoes, but for
// rounding.
func (s Spot) From(vehicle Spot) Spot {
	x := float64(s.Position.X - vehicle.Position.X)
	y := float64(s.Position.Y - vehicle.Position.Y)
	z := float64(s.Position.Z - vehicle.Position.Z)
	yaw, pitch, roll := angles(vehicle.Direction)
	z, x = turned(z, x, -yaw)
	y, z = turned(y, z, -pitch)
	x, y = turned(x, y, -roll)
	return Spot{
		property.Vector3{X: float32(x), Y: float32(y), Z: float32(z)},
		property.Vector3{X: wrapped(s.Direction.X - vehicle.Direction.X), Y: s.Direction.Y, Z: s.Direction.Z},
	}
}

// Spot is where the entity is.
func (e *Entity) Spot() Spot { return Spot{e.Position, e.Direction} }

func angles(direction property.Vector3) (yaw, pitch, roll float64) {
	return float64(direction.X), float64(direction.Y), float64(direction.Z)
}

// turned turns a point from the first axis towards the second. The conversions keep compilers from
// fusing products and sums, which some processors can and others cannot.
func turned(a, b, angle float64) (float64, float64) {
	if angle == 0 {
		return a, b
	}
	sin, cos := math.Sincos(angle)
	return float64(a*cos) - float64(b*sin), float64(a*sin) + float64(b*cos)
}

// wrapped is an angle from -π to π.
func wrapped(angle float32) float32 {
	if angle >= -math.Pi && angle <= math.Pi {
		return angle
	}
	return float32(math.Remainder(float64(angle), 2*math.Pi))
}
