package space

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/internal/fields"
	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space/internal/gait"
)

// walkTag is the tag under which walks are registered.
const walkTag = "walk"

// Gait is how a walk begins and ends, for MoveTo, MoveToEntity and navigation.Walk. Without one it
// goes at its speed at once, and stops dead.
type Gait struct {
	// Acceleration is how fast the walk gathers speed, and how hard it brakes, in m/s². It brakes
	// so early that it comes to rest where it ends, and does not overshoot; only if its goal comes
	// nearer does it brake harder. 0 is for at once.
	Acceleration float32
	// From is the speed with which it begins, in m/s, at most that of the walk. It needs an
	// Acceleration. A walk that ends another goes on with the speed of that one (Real.WalkingSpeed), if
	// that is more, as far as its own speed allows; so does one that begins in the callback of
	// another.
	From float32
	// Through lets it come to its end at speed: the next walk goes on from there.
	Through bool
	// KeepsFacing leaves the direction to others, such as TurnTo. Otherwise the entity looks where it goes.
	KeepsFacing bool
}

// beginGait is that of a new walk.
func (r *Real) beginGait(list []Gait, speed float32) (gait.Gait, error) {
	options := make([]gait.Options, len(list))
	for i, g := range list {
		options[i] = gait.Options(g)
	}
	g, err := gait.Begin(options, speed, r.WalkingSpeed())
	if err != nil {
		return g, fmt.Errorf("space: %w", err)
	}
	return g, nil
}

// walk is the controller of MoveTo: it moves its entity along a straight line.
type walk struct {
	to    property.Vector3
	speed float32 // m/s
	gait  gait.Gait
}

// MoveTo walks the entity straight to a point at speed metres per second, of one gait or none. When
// it is there, the script's method of that name is called, if not empty: a func (T)
// OnX(entity.Callback). A new walk or chase ends the one before. Errors are those of AddController,
// and that of a place, speed or gait that makes no sense.
func (r *Real) MoveTo(to property.Vector3, speed float32, method string, user int64, gait ...Gait) (entity.CallbackID, error) {
	w := walk{to: to, speed: speed}
	if !w.valid() {
		return 0, fmt.Errorf("space: cannot move to %v at %g m/s", to, speed)
	}
	if err := r.mayControl(method); err != nil {
		return 0, err
	}
	var err error
	if w.gait, err = r.beginGait(gait, speed); err != nil {
		return 0, err
	}
	r.stopWalking()
	return r.control(&w, walkTag, method, user)
}

// WalkingSpeed is how fast a controller walks the entity, in m/s along its way: 0 if none does. In the
// callback of a walk it is how fast that was at its end.
func (r *Real) WalkingSpeed() float32 {
	for i := range r.controllers.list {
		if c := r.controllers.list[i].Controller; walks(c) {
			return paceOf(c)
		}
	}
	return r.controllers.pace
}

func paceOf(c Controller) float32 {
	if p, ok := c.(interface{ Pace() float32 }); ok {
		return p.Pace()
	}
	return 0
}

// stopWalking ends the walk or chase that goes on.
func (r *Real) stopWalking() {
	for i := range r.controllers.list {
		if old := &r.controllers.list[i]; walks(old.Controller) {
			r.controllers.cancel(old.id)
			return
		}
	}
}

func (w *walk) valid() bool {
	return property.Finite(w.to) && w.speed > 0 && !math.IsInf(float64(w.speed), 0)
}

// Walks says that it is one of those of which there is one at a time.
func (w *walk) Walks() {}

// Pace is how fast it is.
func (w *walk) Pace() float32 { return w.gait.Pace(w.speed) }

// Step implements Controller.
func (w *walk) Step(r *Real, dt time.Duration) (done bool) {
	return r.stepTowards(w.to, 0, w.speed, &w.gait, dt)
}

// stepTowards moves the entity by a step straight towards a point, until it is within some metres
// of that, and reports whether it is. Who waits for its vehicle stands still.
func (r *Real) stepTowards(goal property.Vector3, within, speed float32, g *gait.Gait, dt time.Duration) (done bool) {
	if r.waits() {
		return false
	}
	p := r.e.Position
	dx, dy, dz := float64(goal.X)-float64(p.X), float64(goal.Y)-float64(p.Y), float64(goal.Z)-float64(p.Z)
	left := apart(p, goal)
	if within > 0 && left <= float64(within) {
		return true
	}
	step, done := g.Step(speed, left-float64(within), dt)
	switch {
	case done && within == 0:
		_ = r.place(goal, r.e.Direction)
		return true
	case done:
		step = left - float64(within)
	}
	f := step / left
	to := property.Vector3{
		X: float32(float64(p.X) + float64(dx*f)),
		Y: float32(float64(p.Y) + float64(dy*f)),
		Z: float32(float64(p.Z) + float64(dz*f)),
	}
	facing := r.e.Direction
	if !g.KeepsFacing {
		facing = property.Vector3{X: float32(math.Atan2(dx, dz))}
	}
	_ = r.place(to, facing)
	g.Moved(step, left-apart(to, goal))
	return done
}

// apart is the distance between two places, in metres.
func apart(a, b property.Vector3) float64 {
	dx, dy, dz := float64(b.X)-float64(a.X), float64(b.Y)-float64(a.Y), float64(b.Z)-float64(a.Z)
	return math.Sqrt(float64(dx*dx) + float64(dy*dy) + float64(dz*dz))
}

// waits reports whether it is on a vehicle that is not here: a step or a turn would take it off.
func (r *Real) waits() bool { v := r.e.Ride.Vehicle; return v != 0 && r.cell.on(v) == nil }

// AppendState implements Controller.
func (w *walk) AppendState(b []byte) []byte {
	return w.gait.Append(codec.AppendF32(fields.AppendVector3(b, w.to), w.speed))
}

// ReadState implements Controller.
func (w *walk) ReadState(b []byte) error {
	r := codec.NewReader(b)
	w.to, w.speed = fields.ReadVector3(&r), r.F32()
	w.gait.Read(&r, w.speed)
	if !w.valid() {
		r.Fail(errors.New("space: a walk with an impossible target or speed"))
	}
	return r.Close()
}
