package navigation

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space"
	"github.com/cellscape/cellscape/space/internal/gait"
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

// Walk walks an entity along the way to a place, at speed metres per second, of one gait or none,
// and turns it where it goes. When it is there, the script's method of that name is called, if not
// empty: a func (T) OnX(entity.Callback). If the way ends before, as when its ground has gone, it
// is called with the Err of Navigator.Path. Only one walk goes on at a time, the last, those of
// MoveTo among them; space.Real.Cancel ends it. It takes corners at speed, and brakes only for the
// end of the way.
//
// The script must be a Walker. Errors are those of Path and of space.Real.AddController, and that
// of a place, speed or gait that makes no sense.
func Walk(r *space.Real, to property.Vector3, speed float32, method string, user int64, gaits ...space.Gait) (entity.CallbackID, error) {
	w := &walk{to: to, speed: speed}
	if !w.valid() {
		return 0, fmt.Errorf("%w: to %v at %v m/s", errNonsense, to, speed)
	}
	options := make([]gait.Options, len(gaits))
	for i, g := range gaits {
		options[i] = gait.Options(g)
	}
	var err error
	if w.gait, err = gait.Begin(options, speed, r.WalkingSpeed()); err != nil {
		return 0, fmt.Errorf("navigation: %w", err)
	}
	if err := w.find(r, r.Position()); err != nil {
		return 0, err
	}
	return r.AddController(w, method, user)
}

// walk is the controller. Its state is where to, how fast, its gait, and the corners that are left.
type walk struct {
	to      property.Vector3
	speed   float32
	gait    gait.Gait
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
	left := w.left(begin)
	step, there := w.gait.Step(w.speed, left, dt)
	far := float32(step)
	if there && w.whole {
		far = math.MaxFloat32
	}
	last, at, done := w.advance(r, begin, far)
	w.gait.Moved(step, left-w.left(at))
	if at == begin {
		return done
	}
	if err := r.SetPosition(at); err != nil {
		w.err = err
		return true
	}
	if way := at.Sub(last); !w.gait.KeepsFacing && (way.X != 0 || way.Z != 0) {
		if err := r.SetDirection(property.Vector3{X: float32(math.Atan2(float64(way.X), float64(way.Z)))}); err != nil {
			w.err = err
			return true
		}
	}
	return done
}

// left is how many metres there are to go; no fewer, beyond the last corner of a part of the way.
func (w *walk) left(from property.Vector3) (metres float64) {
	for _, c := range w.corners {
		metres += apart(from, c)
		from = c
	}
	if w.whole {
		return metres
	}
	return metres + apart(from, w.to)
}

func apart(a, b property.Vector3) float64 {
	dx, dy, dz := float64(b.X)-float64(a.X), float64(b.Y)-float64(a.Y), float64(b.Z)-float64(a.Z)
	return math.Sqrt(float64(dx*dx) + float64(dy*dy) + float64(dz*dz))
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

// Pace is how fast it is.
func (w *walk) Pace() float32 { return w.gait.Pace(w.speed) }

// Err says why the walk has ended before its end.
func (w *walk) Err() error { return w.err }

// Flags of a walk that travels.
const (
	isWhole = 1 << iota
	hasGait
	walkFlags = 1<<iota - 1
)

// AppendState implements space.Controller.
func (w *walk) AppendState(b []byte) []byte {
	b = appendPlace(b, w.to)
	b = binary.LittleEndian.AppendUint32(b, math.Float32bits(w.speed))
	flags := len(b)
	b = w.gait.Append(append(b, 0))
	if len(b) > flags+1 {
		b[flags] |= hasGait
	}
	if w.whole {
		b[flags] |= isWhole
	}
	for _, c := range w.corners {
		b = appendPlace(b, c)
	}
	return b
}

// ReadState implements space.Controller.
func (w *walk) ReadState(b []byte) error {
	const head, place = 12 + 4 + 1, 12
	malformed := fmt.Errorf("%w: %d bytes", errMalformed, len(b))
	if len(b) < head || b[16]&^byte(walkFlags) != 0 {
		return malformed
	}
	flags := b[16]
	*w = walk{to: readPlace(b), speed: math.Float32frombits(binary.LittleEndian.Uint32(b[12:])), whole: flags&isWhole != 0}
	if b = b[head:]; flags&hasGait != 0 {
		if len(b) < gait.Size {
			return malformed
		}
		rd := codec.NewReader(b[:gait.Size])
		if w.gait.Read(&rd, w.speed); rd.Close() != nil {
			return fmt.Errorf("%w: %w", errMalformed, rd.Err())
		}
		b = b[gait.Size:]
	}
	if len(b)%place != 0 || len(b)/place > MaxCorners {
		return malformed
	}
	for ; len(b) > 0; b = b[place:] {
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
