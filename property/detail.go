package property

import "math"

// DetailLevel is a ring around a watcher. Properties that carry its label are sent only to watchers
// within its radius.
type DetailLevel struct {
	Label      string  `json:"label"`
	Radius     float32 `json:"radius"`     // metres; a watcher nearer than this is inside
	Hysteresis float32 `json:"hysteresis"` // metres that a watcher must go beyond Radius to be outside again
}

// DefaultHysteresis is the hysteresis of a detail level that states none, in metres.
const DefaultHysteresis = 10

// LevelOf returns the detail level of a watcher at the given distance from an entity, from the
// level it had before. Level k means that the properties of levels k and above are sent;
// len(d.Levels) is the outermost, and the one to begin with.
//
// A watcher comes a level nearer when the distance falls below that level's radius, and leaves it
// when the distance grows beyond radius plus hysteresis; between the two it stays where it was, so
// that one who walks along a ring does not flicker. It passes several levels at once if need be. A
// NaN distance changes nothing. Source: seed S4 §6.1.5.2.
func LevelOf(d *Definition, distance float32, current int) int {
	level := min(max(current, 0), len(d.Levels))
	for level > 0 && distance < d.Levels[level-1].Radius {
		level--
	}
	for level < len(d.Levels) && distance > d.Levels[level].Radius+d.Levels[level].Hysteresis {
		level++
	}
	return level
}

// Volatile says to what distance, in metres, clients are told of the position and direction of an
// entity on the way, by frequent unreliable data: 0 never, [Always] at any distance. Yaw reaches at
// least as far as pitch, pitch at least as far as roll. Where an entity comes to rest, and how it
// faces there, is told reliably at any distance. The zero value states nothing: all is told at any
// distance.
type Volatile struct{ Position, Yaw, Pitch, Roll float32 }

// Always is the volatile distance of what is sent at any distance.
func Always() float32 { return float32(math.Inf(1)) }

// IsZero reports whether nothing is stated.
func (v Volatile) IsZero() bool { return v == Volatile{} }

// Bounded reports whether there is a distance at which less is told than nearby.
func (v Volatile) Bounded() bool {
	return !v.IsZero() && v != Volatile{Always(), Always(), Always(), Always()}
}
