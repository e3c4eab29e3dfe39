package navigation

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space"
)

// Navigator finds ways. A Mesh is one; a game may have another.
type Navigator interface {
	// Path appends the corners of the way from one place to another, the last of which is that place.
	Path(corners []property.Vector3, from, to property.Vector3) ([]property.Vector3, error)
}

// Walker is a script whose entity walks by Walk. The navigator is that of the space that the entity is in
// now: a walk asks for it again after it has gone to another cell.
type Walker interface {
	Navigator() Navigator
}

// MaxCorners bounds the corners that a walk carries from cell to cell, and in each backup. At the
// last of them it searches again.
const MaxCorners = 64

// tag is the one under which walks are registered.
const tag = "navigation.walk"

// Register registers the controller of Walk. Each program with CellApps does that once.
func Register(s *space.Scripts) { space.RegisterController[walk](s, tag) }

var (
	errNoWalker  = errors.New("navigation: the script has no method Navigator, as Walker has")
	errNonsense  = errors.New("navigation: a walk to nowhere, or without speed")
	errMalformed = errors.New("navigation: a malformed walk")
)

// Walk walks an entity along the way to a place, at speed metres per second, and turns it where it goes. When
// it is there, the script's method of that name is called, if not empty: a func (T) OnX(entity.Callback). If
// the way ends before, as when its ground has gone, it is called with the Err of Navigator.Path. Only
// one walk goes on at a time, the last, those of MoveTo among them; space.Real.Cancel ends it.
//
// The script must be a Walker. Errors are those of Path and of space.Real.AddController.
func Walk(r *space.Real, to property.Vector3, speed float32, method string, user int64) (entity.CallbackID, error) {
	w := &walk{to: to, speed: speed}
	if !w.valid() {
		return 0, fmt.Errorf("%w: to %v at %v m/s", errNonsense, to, speed)
	}
	if err := w.find(r, r.Position()); err != nil {
		return 0, err
	}
	return r.AddController(w, method, user)
}

// walk is the controller. Its state is where to, how fast, and the corners that are left.
type walk struct {
	to      property.Vector3
	speed   float32
	corners []property.Vector3
	whole   bool // the last corner is to
	err     error
}

func (w *walk) valid() bool {
	return w.to.Finite() && w.speed > 0 && !math.IsInf(float64(w.speed), 0)
}

// find looks for the way from a place. A Navigator that finds none of any length has none.
func (w *walk) find(r *space.Real, from property.Vector3) error {
	s, ok := r.Script().(Walker)
	if !ok {
		return errNoWalker
	}
	corners, err := s.Navigator().Path(w.corners[:0], from, w.to)
	if err == nil && len(corners) == 0 {
		err = ErrNoPath
	}
	if err != nil {
		return err
	}
	w.corners, w.whole = corners[:min(len(corners), MaxCorners)], len(corners) <= MaxCorners
	return nil
}

// Step implements space.Controller. A step may go round several corners. The entity is told where it ends,
// and looks the way that it went last.
func (w *walk) Step(r *space.Real, dt time.Duration) (done bool) {
	begin := r.Position()
	last, at, done := w.advance(r, begin, w.speed*float32(dt.Seconds()))
	if at == begin {
		return done
	}
	if err := r.SetPosition(at); err != nil {
		w.err = err
		return true
	}
	if way := at.Sub(last); way.X != 0 || way.Z != 0 {
		if err := r.SetDirection(property.Vector3{X: float32(math.Atan2(float64(way.X), float64(way.Z)))}); err != nil {
			w.err = err
			return true
		}
	}
	return done
}

// advance goes on by so many metres, and returns where that ends, and the corner before it.
func (w *walk) advance(r *space.Real, from property.Vector3, left float32) (last, at property.Vector3, done bool) {
	last, at = from, from
	for {
		if len(w.corners) == 0 {
			if w.whole {
				return last, at, true
			}
			if w.err = w.find(r, at); w.err != nil {
				return last, at, true
			}
		}
		next := w.corners[0]
		far := at.Distance(next)
		if far > left {
			return at, at.Add(next.Sub(at).Scale(left / far)), false
		}
		if far > 0 {
			last, at, left = at, next, left-far
		}
		w.corners = append(w.corners[:0], w.corners[1:]...)
	}
}

// Walks says that it ends other walks, and they it.
func (w *walk) Walks() {}

// Err says why the walk has ended before its end.
func (w *walk) Err() error { return w.err }

// AppendState implements space.Controller.
func (w *walk) AppendState(b []byte) []byte {
	b = appendPlace(b, w.to)
	b = binary.LittleEndian.AppendUint32(b, math.Float32bits(w.speed))
	if w.whole {
		b = append(b, 1)
	} else {
		b = append(b, 0)
	}
	for _, c := range w.corners {
		b = appendPlace(b, c)
	}
	return b
}

// ReadState implements space.Controller.
func (w *walk) ReadState(b []byte) error {
	const head, place = 12 + 4 + 1, 12
	if len(b) < head || (len(b)-head)%place != 0 || (len(b)-head)/place > MaxCorners || b[16] > 1 {
		return fmt.Errorf("%w: %d bytes", errMalformed, len(b))
	}
	*w = walk{to: readPlace(b), speed: math.Float32frombits(binary.LittleEndian.Uint32(b[12:])), whole: b[16] == 1}
	for b = b[head:]; len(b) > 0; b = b[place:] {
		c := readPlace(b)
		if !c.Finite() {
			return fmt.Errorf("%w: a corner at %v", errMalformed, c)
		}
		w.corners = append(w.corners, c)
	}
	if !w.valid() {
		return fmt.Errorf("%w: to %v at %v m/s", errMalformed, w.to, w.speed)
	}
	return nil
}

func appendPlace(b []byte, v property.Vector3) []byte {
	for _, f := range [...]float32{v.X, v.Y, v.Z} {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(f))
	}
	return b
}

func readPlace(b []byte) property.Vector3 {
	f := func(i int) float32 { return math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:])) }
	return property.Vector3{X: f(0), Y: f(1), Z: f(2)}
}
