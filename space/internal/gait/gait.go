// Package gait says how far a walk goes in a tick: at full speed at once, or as one that gathers
// speed and brakes. It knows the metres that are left, and not where they lead.
//
// # How it goes
//
// A gait has a speed v, and an acceleration a. In a tick of s seconds of game time, with d metres
// to go, it takes the speed w and goes (v+w)/2·s metres, as under an even acceleration:
//
//	w = min(v + a·s, top, brake)
//
// From w one stops within w²/2a metres, so that brake is the highest w with
//
//	(v+w)/2·s + w²/2a <= d
//
// While v > a·s and the brakes are on, that is v - a·s: the acceleration is even there, too,
// however long the ticks are. If d <= v/2·s there is no such w: it stops within the tick, and is
// there.
//
//	         v < top            v = top
//	begin -> gathers speed ---> goes on ---> brakes ---> there, at rest
//	                  \__________________________/
//	Through:          gathers speed, goes on ----------> there, at speed
//
// # Invariants
//
//   - It never goes farther than what is left, and ends exactly there.
//   - It never is faster than top, and gathers no speed faster than a.
//   - After each tick it can stop, by a, in what is left. If the goal comes nearer, or it was begun
//     too fast for that, it brakes as hard as it must; it does not overshoot.
//   - It ends, and takes its time. A place is a float32: far out in a large world a step may be too
//     short to change it, or come out twice as long. What a step lacks, or has gone too far, is
//     owed, and counts in the next one.
//   - What it is after a tick is what travels: its numbers are rounded to that in each. So one that
//     was handed over or restored goes on as if nothing had been.
package gait

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/cellscape/cellscape/internal/codec"
)

// Gait is the state. The zero Gait goes at top speed from the first tick to the last.
type Gait struct {
	Acceleration float32 // m/s², 0 for none: at once
	Speed        float32 // m/s, after the last tick; 0 without an acceleration
	Through      bool    // it does not brake
	KeepsFacing  bool    // the walk does not turn the entity
	owed         float32 // metres that it should have gone, and has not; negative if it has gone too far
}

// mostOwed is more than what is lost when a place is rounded, as far out as places are.
const mostOwed = 1

// errGait is of what cannot have been appended.
var errGait = errors.New("gait: impossible numbers")

// Valid reports whether it makes sense for a walk of a top speed.
func (g *Gait) Valid(top float32) bool {
	sound := func(f float32) bool { return f >= 0 && !math.IsInf(float64(f), 0) }
	return sound(g.Acceleration) && sound(g.Speed) && g.owed >= -mostOwed && g.owed <= mostOwed && g.Speed <= top && (g.Acceleration > 0 || g.Speed == 0 && g.owed >= 0)
}

// Pace is how fast a walk of a top speed is, in m/s.
func (g *Gait) Pace(top float32) float32 {
	if g.Acceleration == 0 {
		return top
	}
	return g.Speed
}

// goOn begins with the speed of the walk before it, as far as its own top speed allows, if that is more.
func (g *Gait) goOn(pace, top float32) {
	if g.Acceleration > 0 {
		g.Speed = max(g.Speed, min(pace, top))
	}
}

// Step is how many metres it goes in a tick of dt, of those that are left, or that it is there. It
// may go back by what it has gone too far. Moved is to be told how far that was.
func (g *Gait) Step(top float32, left float64, dt time.Duration) (step float64, there bool) {
	s, owed, whole := dt.Seconds(), float64(g.owed), left
	left -= owed
	if g.Acceleration == 0 {
		step = float64(float64(top) * s)
		return step + owed, left <= step
	}
	v, a := float64(g.Speed), float64(g.Acceleration)
	w := min(v+float64(a*s), float64(top))
	if !g.Through {
		if 2*left <= float64(v*s) {
			g.Speed = 0
			return left + owed, true
		}
		w = min(w, brake(v, a, s, left))
	}
	step = float64((v + w) / 2 * s)
	g.Speed = float32(w)
	if !g.Through {
		return min(step+owed, whole), false // rounding must not take it farther
	}
	return step + owed, left <= step
}

// brake is the highest speed after the tick from which it can stop: the root of w²/2a + w·s/2 + v·s/2 - d,
// in the form in which nothing cancels.
func brake(v, a, s, d float64) float64 {
	half := float64(a*s) / 2
	room := float64(2*a*d) - float64(float64(a*v)*s)
	return room / (half + math.Sqrt(float64(half*half)+room))
}

// Moved notes how far it has gone in a step of so many metres. One without an acceleration, of
// which nothing else is to travel, owes only a step that has changed nothing.
func (g *Gait) Moved(step, gone float64) {
	g.owed = 0
	if lacks := step - gone; math.Abs(lacks) <= mostOwed && (g.Acceleration > 0 || gone == 0) {
		g.owed = float32(lacks)
	}
}

const (
	through = 1 << iota
	keepsFacing
	flags = 1<<iota - 1
)

// Size is how many bytes Append appends for any Gait but the zero one.
const Size = 3*4 + 1

// Append appends what travels: nothing for the zero Gait.
func (g *Gait) Append(b []byte) []byte {
	if *g == (Gait{}) {
		return b
	}
	var f byte
	if g.Through {
		f |= through
	}
	if g.KeepsFacing {
		f |= keepsFacing
	}
	for _, x := range [...]float32{g.Acceleration, g.Speed, g.owed} {
		b = codec.AppendF32(b, x)
	}
	return append(b, f)
}

// Read reads the rest of what rd has.
func (g *Gait) Read(rd *codec.Reader, top float32) {
	*g = Gait{}
	if rd.Len() == 0 {
		return
	}
	g.Acceleration, g.Speed, g.owed = rd.F32(), rd.F32(), rd.F32()
	f := rd.U8()
	g.Through, g.KeepsFacing = f&through != 0, f&keepsFacing != 0
	if f&^byte(flags) != 0 || *g == (Gait{}) || !g.Valid(top) {
		rd.Fail(errGait)
	}
}

// Options are what a script gives along.
type Options struct {
	Acceleration, From   float32
	Through, KeepsFacing bool
}

// Begin is how a walk of a top speed begins by the options, if there are any, after one of a pace.
func Begin(list []Options, top, pace float32) (Gait, error) {
	if len(list) == 0 {
		return Gait{}, nil
	}
	o := list[0]
	g := Gait{Acceleration: o.Acceleration, Speed: o.From, Through: o.Through, KeepsFacing: o.KeepsFacing}
	if len(list) > 1 || !g.Valid(top) {
		return Gait{}, fmt.Errorf("cannot walk at %g m/s with %+v: give one Gait or none, with finite numbers from 0 up, From at most the speed, "+
			"and 0 without an Acceleration", top, list)
	}
	g.goOn(pace, top)
	return g, nil
}
