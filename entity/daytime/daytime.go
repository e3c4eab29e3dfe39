// Package daytime has the clock that gives a space its time of day.
package daytime

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"time"
)

const (
	// Day is how long a day of a game is, in its own time.
	Day = 24 * time.Hour
	// MaxSpeed is the most game seconds that may go by in a second: a day each second.
	MaxSpeed = 86400
)

// Clock says which time of day a space has: Start at game time 0, and Speed seconds of the day
// more for each second of game time. So day and night slow down with the space.
type Clock struct {
	Start time.Duration // 0 to Day
	Speed float64       // 0, as for a dungeon in which it is always noon, to MaxSpeed
}

var errClock = errors.New("daytime: this is no time of day")

// Check reports a start or a speed out of range.
func (d Clock) Check() error {
	if d.Start < 0 || d.Start >= Day || !(d.Speed >= 0 && d.Speed <= MaxSpeed) {
		return fmt.Errorf("%w: it starts at %v and runs at %v; take 0 to 24 h and 0 to %d", errClock, d.Start, d.Speed, MaxSpeed)
	}
	return nil
}

// At is the time of day at a game time, 0 to Day.
func (d Clock) At(game time.Duration) time.Duration {
	return add(d.Start, game, d.Speed)
}

// At is the clock that shows a time of day at a game time, and then runs at a speed.
func At(day, game time.Duration, speed float64) Clock {
	return Clock{Start: add(day, game, -speed), Speed: speed}
}

// add is the time of day after a time at a speed. It computes in seconds: a product in
// nanoseconds would overflow after some years.
func add(day, passed time.Duration, speed float64) time.Duration {
	s := math.Mod(day.Seconds()+passed.Seconds()*speed, Day.Seconds())
	if s < 0 {
		s += Day.Seconds()
	}
	return min(max(0, time.Duration(s*float64(time.Second))), Day-1)
}

// Append encodes the clock as the value of its entry: the start in nanoseconds and the speed, 8
// bytes each, little-endian.
func (d Clock) Append(b []byte) []byte {
	b = binary.LittleEndian.AppendUint64(b, uint64(d.Start))
	return binary.LittleEndian.AppendUint64(b, math.Float64bits(d.Speed))
}

// Parse decodes the value of the entry.
func Parse(b []byte) (Clock, error) {
	if len(b) != 16 {
		return Clock{}, fmt.Errorf("%w: it has %d bytes instead of 16", errClock, len(b))
	}
	d := Clock{time.Duration(binary.LittleEndian.Uint64(b)), math.Float64frombits(binary.LittleEndian.Uint64(b[8:]))}
	if err := d.Check(); err != nil {
		return Clock{}, err
	}
	return d, nil
}
