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
)

// walkTag is the tag under which walks are registered.
const walkTag = "walk"

// walk is the controller of MoveTo: it moves its entity along a straight line.
type walk struct {
	to    property.Vector3
	speed float32 // m/s
}

// MoveTo walks the entity straight to a point at speed metres per second. When it is there, the
// script's method of that name is called, if not empty: a func (T) OnX(entity.Callback). A new walk
// or chase ends the one before. Errors are those of AddController, and that of a place or speed that makes
// no sense.
func (r *Real) MoveTo(to property.Vector3, speed float32, method string, user int64) (entity.CallbackID, error) {
	w := walk{to, speed}
	if !w.valid() {
		return 0, fmt.Errorf("space: cannot move to %v at %g m/s", to, speed)
	}
	if err := r.mayControl(method); err != nil {
		return 0, err
	}
	r.stopWalking()
	return r.control(&w, walkTag, method, user)
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

// Step implements Controller.
func (w *walk) Step(r *Real, dt time.Duration) (done bool) {
	return r.stepTowards(w.to, 0, float64(float64(w.speed)*dt.Seconds()))
}

// stepTowards moves the entity by a step, in metres, straight towards a point, until it is within some
// metres of that, and reports whether it is. Who waits for its vehicle stands still.
func (r *Real) stepTowards(goal property.Vector3, within, step float64) (done bool) {
	if v := r.e.Ride.Vehicle; v != 0 && r.cell.on(v) == nil {
		return false // a step would take it off
	}
	p := r.e.Position
	dx, dy, dz := float64(goal.X)-float64(p.X), float64(goal.Y)-float64(p.Y), float64(goal.Z)-float64(p.Z)
	left := math.Sqrt(float64(dx*dx) + float64(dy*dy) + float64(dz*dz))
	switch {
	case within == 0 && left <= step:
		_ = r.place(goal, r.e.Direction)
		return true
	case within > 0 && left <= within:
		return true
	case within > 0 && left-within <= step:
		step, done = left-within, true
	}
	f := step / left
	to := property.Vector3{
		X: float32(float64(p.X) + float64(dx*f)),
		Y: float32(float64(p.Y) + float64(dy*f)),
		Z: float32(float64(p.Z) + float64(dz*f)),
	}
	_ = r.place(to, property.Vector3{X: float32(math.Atan2(dx, dz))})
	return done
}

// AppendState implements Controller.
func (w *walk) AppendState(b []byte) []byte {
	return codec.AppendF32(fields.AppendVector3(b, w.to), w.speed)
}

// ReadState implements Controller.
func (w *walk) ReadState(b []byte) error {
	r := codec.NewReader(b)
	w.to, w.speed = fields.ReadVector3(&r), r.F32()
	if !w.valid() {
		r.Fail(errors.New("space: a walk with an impossible target or speed"))
	}
	return r.Close()
}
