package space

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/space/internal/gait"
)

// chaseTag is the tag under which chases are registered.
const chaseTag = "chase"

// chase is the controller of MoveToEntity.
type chase struct {
	id            entity.ID
	within, speed float32
	gait          gait.Gait
	err           error
}

// MoveToEntity walks the entity straight towards another one, wherever that goes, at speed metres
// per second, of one gait or none, until it is within that many metres. Then the script's method of
// that name is called, if not empty: a func (T) OnX(entity.Callback). If the other is not on the
// cell any more, as a real or as a ghost, it is called with an Err that is ErrNotHere. Only one
// walk or chase goes on at a time: the last.
//
// Errors are those of AddController, ErrNotHere, and that of a distance, speed or gait that makes
// no sense.
func (r *Real) MoveToEntity(id entity.ID, within, speed float32, method string, user int64, gait ...Gait) (entity.CallbackID, error) {
	c := chase{id: id, within: within, speed: speed}
	if !c.valid() {
		return 0, fmt.Errorf("space: cannot move to within %g m of %v at %g m/s", within, id, speed)
	}
	if err := r.mayControl(method); err != nil {
		return 0, err
	}
	if v, ok := r.Find(id); !ok || v.rec.real == r {
		return 0, fmt.Errorf("%w: %v", ErrNotHere, id)
	}
	var err error
	if c.gait, err = r.beginGait(gait, speed); err != nil {
		return 0, err
	}
	r.stopWalking()
	return r.control(&c, chaseTag, method, user)
}

func (c *chase) valid() bool {
	return c.id.Valid() && c.within >= 0 && c.speed > 0 && !math.IsInf(float64(c.within), 0) && !math.IsInf(float64(c.speed), 0)
}

// Walks says that it is one of those of which there is one at a time.
func (c *chase) Walks() {}

// Pace is how fast it is.
func (c *chase) Pace() float32 { return c.gait.Pace(c.speed) }

// Step implements Controller.
func (c *chase) Step(r *Real, dt time.Duration) (done bool) {
	v, ok := r.Find(c.id)
	if !ok {
		c.err = fmt.Errorf("%w: %v", ErrNotHere, c.id)
		return true
	}
	if v.rec.real != nil {
		v.rec.real.takeSeat() // as r has
	}
	return r.stepTowards(v.Position(), c.within, c.speed, &c.gait, dt)
}

// Err says that the other is not there any more.
func (c *chase) Err() error { return c.err }

// AppendState implements Controller.
func (c *chase) AppendState(b []byte) []byte {
	return c.gait.Append(codec.AppendF32(codec.AppendF32(binary.AppendUvarint(b, uint64(c.id)), c.within), c.speed))
}

// ReadState implements Controller.
func (c *chase) ReadState(b []byte) error {
	r := codec.NewReader(b)
	c.id, c.within, c.speed = entity.ID(r.Uvarint()), r.F32(), r.F32()
	c.gait.Read(&r, c.speed)
	if !c.valid() {
		r.Fail(errors.New("space: a chase of nobody, or with an impossible speed"))
	}
	return r.Close()
}
