package space

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space/internal/gait"
)

// turnTag is the tag under which turns are registered.
const turnTag = "turn"

// turn is the controller of TurnTo. It looks anew in each step how far it is to the yaw, as a walk
// does for its point, so that nothing else that turns the entity leads it past that.
type turn struct {
	yaw, speed float32
	gait       gait.Gait // with the arc as the way, and no acceleration
}

// TurnTo turns the entity where it stands or walks, at speed radians per second, the shorter way
// round, until its direction has that yaw, to the bit; pitch and roll stay. Then the script's
// method of that name is called, if not empty: a func (T) OnX(entity.Callback). A new turn ends the
// one before. The yaw is one of the world, also on a vehicle. A walk turns the entity with each of
// its steps, so one beside a turn needs Gait.KeepsFacing. Like a walk it takes the control from a
// player's client meanwhile. Errors are those of AddController, and that of a yaw or speed that
// makes no sense.
func (r *Real) TurnTo(yaw, speed float32, method string, user int64) (entity.CallbackID, error) {
	t := turn{yaw: yaw, speed: speed}
	if !t.valid() {
		return 0, fmt.Errorf("space: cannot turn to %g at %g rad/s", yaw, speed)
	}
	if err := r.mayControl(method); err != nil {
		return 0, err
	}
	for i := range r.controllers.list {
		if old := &r.controllers.list[i]; old.tag == turnTag {
			r.controllers.cancel(old.id)
			break
		}
	}
	return r.control(&t, turnTag, method, user)
}

func (t *turn) valid() bool {
	return property.Finite(property.Vector3{X: t.yaw}) && t.speed > 0 && !math.IsInf(float64(t.speed), 0)
}

// Step implements Controller.
func (t *turn) Step(r *Real, dt time.Duration) (done bool) {
	if r.waits() {
		return false
	}
	d := r.e.Direction
	arc := t.arc(d.X)
	step, done := t.gait.Step(t.speed, math.Abs(arc), dt)
	if done {
		d.X = t.yaw
	} else {
		d.X = float32(math.Remainder(float64(d.X)+math.Copysign(step, arc), 2*math.Pi))
	}
	_ = r.place(r.e.Position, d)
	t.gait.Moved(step, math.Abs(arc)-math.Abs(t.arc(d.X)))
	return done
}

// arc is how far it is from a yaw the shorter way, in radians; positive to the right.
func (t *turn) arc(from float32) float64 {
	return math.Remainder(float64(t.yaw)-float64(from), 2*math.Pi)
}

// AppendState implements Controller.
func (t *turn) AppendState(b []byte) []byte {
	return t.gait.Append(codec.AppendF32(codec.AppendF32(b, t.yaw), t.speed))
}

// ReadState implements Controller.
func (t *turn) ReadState(b []byte) error {
	r := codec.NewReader(b)
	t.yaw, t.speed = r.F32(), r.F32()
	t.gait.Read(&r, t.speed)
	if !t.valid() || t.gait.Acceleration != 0 {
		r.Fail(errors.New("space: a turn to an impossible yaw, or with an impossible speed"))
	}
	return r.Close()
}
