package space

import (
	"encoding/binary"
	"errors"
	"fmt"
	"reflect"
	"runtime/debug"
	"slices"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/internal/fields"
	"github.com/cellscape/cellscape/internal/script"
)

const (
	// MaxControllers bounds the controllers of one real. A script that needs more has lost count
	// (BigWorld refuses at 50, too).
	MaxControllers = 50

	// MaxControllerState bounds the state of one controller, in bytes, which travels in every
	// backup.
	MaxControllerState = 4 << 10

	// MaxControllerTag bounds the tag of a controller, in bytes.
	MaxControllerTag = 64
)

// Controller moves an entity, or acts on it, from tick to tick by itself: a patrol, an orbit, a
// regeneration. It travels with the entity, so it must hold only data: no pointer to an entity, no
// function. RegisterController registers its type under a tag.
type Controller interface {
	// Step is called once a tick, and moves on by dt of game time. It may do with r what a script
	// may. When it returns true, the controller ends and its callback is called, with the Err of
	// the controller's method Err() error, if it has one. A panic has the effect of a panic of the
	// script.
	//
	// A controller with a method Walks() goes where MoveTo does: it ends the walk before it, and the
	// next one ends it. With a method Pace() float32 it says how fast it goes, for Real.WalkingSpeed.
	Step(r *Real, dt time.Duration) (done bool)

	// AppendState appends what the controller needs to go on, on another cell or after the entity
	// was restored: at most MaxControllerState bytes.
	AppendState(b []byte) []byte

	// ReadState fills a new controller with what AppendState wrote. b may be any bytes, and must
	// not be kept.
	ReadState(b []byte) error
}

// controllerType is a type of controllers, known to all processes by its tag.
type controllerType struct {
	tag  string
	typ  reflect.Type // *T
	make func() Controller
}

// RegisterController registers the Go type T, whose pointer is a Controller, for AddController. The
// tag, such as "patrol", names it when it travels. So the tag must be the same on all CellApps, and
// stay the same when the type is renamed. Err reports the faults.
func RegisterController[T any, P interface {
	*T
	Controller
}](s *Scripts, tag string) {
	typ := reflect.TypeFor[P]()
	switch i := slices.IndexFunc(s.controllers, func(t controllerType) bool { return t.tag == tag || t.typ == typ }); {
	case tag == "" || len(tag) > MaxControllerTag:
		s.registry.Fault("space: controller %v: the tag %q does not have 1 to %d bytes; choose another", typ, tag, MaxControllerTag)
	case i >= 0:
		s.registry.Fault("space: controller %v, %q: %v is registered as %q already; give each type a tag of its own", typ, tag, s.controllers[i].typ, s.controllers[i].tag)
	default:
		s.controllers = append(s.controllers, controllerType{tag, typ, func() Controller { return P(new(T)) }})
	}
}

// controllers are the controllers of one real, in the order of their ids.
type controllers struct {
	list []controller
	pace float32 // of the walk whose callback runs
}

type controller struct {
	Controller
	id     entity.CallbackID
	tag    string
	method string // called when it is done; may be empty
	user   int64
}

// walks reports whether a controller says that it walks its entity, so that no other may at the same time.
func walks(c Controller) bool {
	_, ok := c.(interface{ Walks() })
	return ok
}

// AddController makes c act on the entity in each tick, beside its other controllers, until it is
// done or cancelled. When it is done, the script's method of that name is called, if not empty: a
// func (T) OnX(entity.Callback). c belongs to the entity from now on. Errors are
// entity.ErrNoCallback, entity.ErrTooMany beyond MaxControllers, entity.ErrGone, and those of a
// type that is not registered or whose state is too long to travel.
func (r *Real) AddController(c Controller, method string, user int64) (entity.CallbackID, error) {
	types := r.cell.scripts.controllers
	i := slices.IndexFunc(types, func(t controllerType) bool { return t.typ == reflect.TypeOf(c) })
	if i < 0 {
		return 0, fmt.Errorf("space: a %T is not registered as a controller; register it with RegisterController", c)
	}
	if err := r.mayControl(method); err != nil {
		return 0, err
	}
	if _, err := appendState(nil, c); err != nil {
		return 0, err
	}
	if walks(c) {
		r.stopWalking()
	}
	return r.control(c, types[i].tag, method, user)
}

func (r *Real) mayControl(method string) error {
	if method != "" {
		return r.mayCallBack(method)
	}
	if r.gone != staying {
		return entity.ErrGone
	}
	return nil
}

func (r *Real) control(c Controller, tag, method string, user int64) (entity.CallbackID, error) {
	if len(r.controllers.list) >= MaxControllers {
		return 0, fmt.Errorf("%w: an entity has at most %d controllers", entity.ErrTooMany, MaxControllers)
	}
	id := r.timers.NextID()
	r.controllers.list = append(r.controllers.list, controller{c, id, tag, method, user})
	return id, nil
}

// failure is why a controller has ended without success, if it can say so.
func (c *controller) failure() error {
	if x, ok := c.Controller.(interface{ Err() error }); ok {
		return x.Err()
	}
	return nil
}

func (s *controllers) find(id entity.CallbackID) int {
	return slices.IndexFunc(s.list, func(c controller) bool { return c.id == id })
}

func (s *controllers) cancel(id entity.CallbackID) bool {
	i := s.find(id)
	if i < 0 {
		return false
	}
	s.list = slices.Delete(s.list, i, i+1)
	return true
}

// after returns the oldest controller younger than id and not younger than newest, or nil.
func (s *controllers) after(id, newest entity.CallbackID) *controller {
	for i := range s.list {
		if c := &s.list[i]; c.id > id && c.id <= newest {
			return c
		}
	}
	return nil
}

// onlyOwn reports whether there are controllers and all are the library's own, whose steps are alike
// and short.
func (s *controllers) onlyOwn() bool {
	return len(s.list) > 0 && !slices.ContainsFunc(s.list, func(c controller) bool {
		return c.tag != walkTag && c.tag != chaseTag && c.tag != trapTag && c.tag != turnTag
	})
}

// runControllers steps each controller by dt, oldest first. Steps and callbacks may add and cancel
// controllers; new ones wait for the next tick.
func (r *Real) runControllers(dt time.Duration) {
	if len(r.controllers.list) == 0 {
		return
	}
	defer r.contain("controller")
	newest := r.timers.Last()
	for c := r.controllers.after(0, newest); c != nil && r.gone == staying; {
		id := c.id
		r.steering.stepping = true
		done := c.Step(r, dt)
		r.steering.stepping = false
		if i := r.controllers.find(id); done && i >= 0 {
			ended := r.controllers.list[i]
			r.controllers.list = slices.Delete(r.controllers.list, i, i+1)
			if ended.method != "" {
				if r.controllers.pace = 0; walks(ended.Controller) {
					r.controllers.pace = paceOf(ended.Controller)
				}
				r.callBack(ended.method, entity.Callback{ID: id, User: ended.user, Err: ended.failure()})
				r.controllers.pace = 0
			}
		}
		c = r.controllers.after(id, newest)
	}
}

// appendControllers encodes the controllers up to the end of their part. It logs and leaves out a
// controller whose state cannot travel.
func (r *Real) appendControllers(b []byte) []byte {
	for i := range r.controllers.list {
		c := &r.controllers.list[i]
		begin, mark := len(b), 0
		b = binary.AppendUvarint(b, uint64(c.id))
		b = codec.AppendString(b, c.tag)
		b = codec.AppendString(b, c.method)
		b = binary.AppendVarint(b, c.user)
		b, mark = codec.BeginBytes(b)
		state, err := appendState(b, c.Controller)
		if err != nil {
			r.cell.count.Errors++
			r.Log().Error("a controller does not travel with its entity", "tag", c.tag, "error", err)
			b = b[:begin]
			continue
		}
		b = codec.EndBytes(state, mark)
	}
	return b
}

// appendState appends the state of a controller. It returns the game's faults as errors.
func appendState(b []byte, c Controller) (out []byte, err error) {
	defer recovered(&err)
	out = c.AppendState(b)
	if n := len(out) - len(b); n < 0 || n > MaxControllerState {
		return b, fmt.Errorf("space: the state of a %T has %d bytes; at most %d travel", c, n, MaxControllerState)
	}
	return out, nil
}

func readState(b []byte, c Controller) (err error) {
	defer recovered(&err)
	return c.ReadState(b)
}

func recovered(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("space: the controller panicked: %v\n%s", p, debug.Stack())
	}
}

var errController = errors.New("space: a controller that nobody can have added")

// readControllers reads what appendControllers wrote. The timers must have been read before.
func (r *Real) readControllers(rd *codec.Reader) {
	r.controllers.list = nil
	var before entity.CallbackID
	for rd.Len() > 0 {
		c := controller{id: entity.CallbackID(fields.ReadUint32(rd)), tag: rd.String(MaxControllerTag)}
		c.method, c.user = rd.String(script.MaxName), rd.Varint()
		state := rd.Bytes(MaxControllerState)
		if c.id <= before || c.id > r.timers.Last() || len(r.controllers.list) == MaxControllers {
			rd.Fail(errController)
		}
		if rd.Err() != nil {
			return
		}
		i := slices.IndexFunc(r.cell.scripts.controllers, func(t controllerType) bool { return t.tag == c.tag })
		if i < 0 {
			rd.Fail(fmt.Errorf("space: no controller is registered as %q", c.tag))
			return
		}
		c.Controller = r.cell.scripts.controllers[i].make()
		if err := readState(state, c.Controller); err != nil {
			rd.Fail(err)
			return
		}
		before = c.id
		r.controllers.list = append(r.controllers.list, c)
		if c.tag == trapTag {
			r.cell.traps.unlaid = append(r.cell.traps.unlaid, r)
		}
	}
}
