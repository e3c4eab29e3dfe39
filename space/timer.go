package space

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/internal/fields"
	"github.com/cellscape/cellscape/internal/gametime"
	"github.com/cellscape/cellscape/property"
)

// MaxControllers bounds the timers and the controllers of one real, each: what
// needs more has lost count (bigworld refuses at 50).
const MaxControllers = 50

// Callback is what a timer or controller tells its script. The script names the
// method to call, func (T) OnX(space.Callback): names travel, closures do not.
type Callback struct {
	// ID is what AddTimer or MoveTo returned.
	ID uint32
	// User is what the script gave along.
	User int64
}

// Errors of timers and controllers.
var (
	// ErrTooMany is returned beyond MaxControllers.
	ErrTooMany = errors.New("space: too many timers or controllers on one entity")
	// ErrNoCallback is returned for a name that is no callback method of the script.
	ErrNoCallback = errors.New("space: the script has no such callback method")
)

type timer struct {
	id     uint32
	due    time.Duration // game time
	every  time.Duration // 0 for once
	method string
	user   int64
}

// AddTimer calls method, a func (T) Method(space.Callback) of the script, after a
// time and then, if every is not zero, again and again. Times are game time,
// rounded up to ticks. The timer travels with the entity and dies with it.
func (r *Real) AddTimer(after, every time.Duration, method string, user int64) (uint32, error) {
	if err := r.mayCallBack(method, len(r.timers)); err != nil {
		return 0, err
	}
	r.nextID++
	r.timers = append(r.timers, timer{r.nextID, gametime.After(r.Now(), max(after, 0)), max(every, 0), method, user})
	return r.nextID, nil
}

func (r *Real) mayCallBack(method string, count int) error {
	if r.gone != staying {
		return ErrGone
	}
	if count >= MaxControllers {
		return ErrTooMany
	}
	if r.kind == nil {
		return fmt.Errorf("%w: %s has no script", ErrNoCallback, r.e.Def.Name)
	}
	if _, ok := r.kind.callback[method]; !ok {
		return fmt.Errorf("%w: %q; add func (%v) %s(space.Callback)", ErrNoCallback, method, r.kind.typ, method)
	}
	return nil
}

// Cancel ends a timer or controller; it reports whether there was one.
func (r *Real) Cancel(id uint32) bool {
	n := len(r.timers) + len(r.controllers)
	r.timers = slices.DeleteFunc(r.timers, func(t timer) bool { return t.id == id })
	r.controllers = slices.DeleteFunc(r.controllers, func(c controller) bool { return c.id == id })
	return len(r.timers)+len(r.controllers) < n
}

// timerDue reports whether runTimers has anything to call.
func (r *Real) timerDue() bool {
	return slices.ContainsFunc(r.timers, func(t timer) bool { return t.due <= r.cell.game })
}

// runTimers calls what is due, the earliest first. A callback may add and cancel
// timers; those it adds wait for the next tick, those it cancels are not called.
func (r *Real) runTimers() {
	game := r.Now()
	var due []timer
	for _, t := range r.timers {
		if t.due <= game {
			due = append(due, t)
		}
	}
	slices.SortStableFunc(due, func(a, b timer) int { return cmp.Compare(a.due, b.due) })
	for _, t := range due {
		i := slices.IndexFunc(r.timers, func(x timer) bool { return x.id == t.id })
		if i < 0 {
			continue // cancelled by one before it
		}
		if t.every > 0 {
			r.timers[i].due = gametime.Again(t.due, t.every, game)
		} else {
			r.timers = slices.Delete(r.timers, i, i+1)
		}
		r.callBack(t.method, Callback{t.id, t.user})
	}
}

func (r *Real) callBack(method string, c Callback) {
	if r.kind == nil || r.gone != staying {
		return
	}
	if i, ok := r.kind.callback[method]; ok {
		r.guard(method, func() { r.script.Method(i).Interface().(func(Callback))(c) })
	}
}

// controller moves its entity along a straight line.
type controller struct {
	id     uint32
	to     property.Vector3
	speed  float32 // m/s
	method string  // called on arrival; may be empty
	user   int64
}

// MoveTo walks the entity straight to a point at speed metres per second and
// calls method, if not empty, when it is there. A new walk ends the one before.
func (r *Real) MoveTo(to property.Vector3, speed float32, method string, user int64) (uint32, error) {
	if !entity.Finite(to) || !(speed > 0) || math.IsInf(float64(speed), 0) {
		return 0, fmt.Errorf("space: cannot move to %v at %g m/s", to, speed)
	}
	if method != "" {
		if err := r.mayCallBack(method, 0); err != nil {
			return 0, err
		}
	}
	if r.gone != staying {
		return 0, ErrGone
	}
	r.nextID++
	r.controllers = append(r.controllers[:0], controller{r.nextID, to, speed, method, user})
	return r.nextID, nil
}

// runControllers moves the entity by one tick of length dt.
func (r *Real) runControllers(dt time.Duration) {
	if len(r.controllers) == 0 {
		return
	}
	c := r.controllers[0]
	p := r.e.Position
	dx, dy, dz := float64(c.to.X)-float64(p.X), float64(c.to.Y)-float64(p.Y), float64(c.to.Z)-float64(p.Z)
	left := math.Sqrt(float64(dx*dx) + float64(dy*dy) + float64(dz*dz))
	step := float64(float64(c.speed) * dt.Seconds())
	if left <= step {
		r.controllers = r.controllers[:0]
		_ = r.place(c.to, r.e.Direction)
		if c.method != "" {
			r.callBack(c.method, Callback{c.id, c.user})
		}
		return
	}
	f := step / left
	to := property.Vector3{
		X: float32(float64(p.X) + float64(dx*f)),
		Y: float32(float64(p.Y) + float64(dy*f)),
		Z: float32(float64(p.Z) + float64(dz*f)),
	}
	_ = r.place(to, property.Vector3{X: float32(math.Atan2(dx, dz))})
}

const maxCallbackName = 256

func (r *Real) appendTimers(b []byte) []byte {
	b = binary.AppendUvarint(b, uint64(r.nextID))
	b = binary.AppendUvarint(b, uint64(len(r.timers)))
	for _, t := range r.timers {
		b = binary.AppendUvarint(b, uint64(t.id))
		b = binary.AppendVarint(b, int64(t.due-r.Now()))
		b = binary.AppendUvarint(b, uint64(t.every))
		b = codec.AppendString(b, t.method)
		b = binary.AppendVarint(b, t.user)
	}
	return b
}

func (r *Real) readTimers(rd *codec.Reader) {
	r.nextID = fields.ReadUint32(rd)
	n := rd.Count(MaxControllers, 5)
	r.timers = r.timers[:0]
	for range n {
		var t timer
		t.id = fields.ReadUint32(rd)
		t.due = gametime.After(r.Now(), time.Duration(rd.Varint()))
		t.every = time.Duration(rd.Uvarint())
		t.method = rd.String(maxCallbackName)
		t.user = rd.Varint()
		if rd.Err() != nil || t.every < 0 {
			rd.Fail(errors.New("timer out of range"))
			return
		}
		r.timers = append(r.timers, t)
	}
}

func (r *Real) appendControllers(b []byte) []byte {
	b = binary.AppendUvarint(b, uint64(len(r.controllers)))
	for _, c := range r.controllers {
		b = binary.AppendUvarint(b, uint64(c.id))
		b = fields.AppendVector3(b, c.to)
		b = codec.AppendF32(b, c.speed)
		b = codec.AppendString(b, c.method)
		b = binary.AppendVarint(b, c.user)
	}
	return b
}

func (r *Real) readControllers(rd *codec.Reader) {
	n := rd.Count(MaxControllers, 19)
	r.controllers = r.controllers[:0]
	for range n {
		var c controller
		c.id = fields.ReadUint32(rd)
		c.to = fields.ReadVector3(rd)
		c.speed = rd.F32()
		c.method = rd.String(maxCallbackName)
		c.user = rd.Varint()
		if rd.Err() != nil || !(c.speed > 0) || math.IsInf(float64(c.speed), 0) {
			rd.Fail(errors.New("controller out of range"))
			return
		}
		r.controllers = append(r.controllers, c)
	}
}
