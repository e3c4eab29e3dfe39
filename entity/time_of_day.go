package entity

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/cellscape/cellscape/internal/spacekey"
)

const (
	// Day is how long a day of a game is, in its own time.
	Day = 24 * time.Hour
	// MaxDaySpeed is the most game seconds that may go by in a second: a day each second.
	MaxDaySpeed = 86400
)

// DayClock says which time of day a space has: Start at game time 0, and Speed seconds of the day
// more for each second of game time. So day and night slow down with the space.
type DayClock struct {
	Start time.Duration // 0 to Day
	Speed float64       // 0, as for a dungeon in which it is always noon, to MaxDaySpeed
}

var errDayClock = errors.New("entity: this is no time of day")

// Check reports a start or a speed out of range.
func (d DayClock) Check() error {
	if d.Start < 0 || d.Start >= Day || !(d.Speed >= 0 && d.Speed <= MaxDaySpeed) {
		return fmt.Errorf("%w: it starts at %v and runs at %v; take 0 to 24 h and 0 to %d", errDayClock, d.Start, d.Speed, MaxDaySpeed)
	}
	return nil
}

// At is the time of day at a game time, 0 to Day.
func (d DayClock) At(game time.Duration) time.Duration {
	return addDay(d.Start, game, d.Speed)
}

// DayClockAt is the clock that shows a time of day at a game time, and then runs at a speed.
func DayClockAt(day, game time.Duration, speed float64) DayClock {
	return DayClock{Start: addDay(day, game, -speed), Speed: speed}
}

// addDay is the time of day after a time at a speed. It computes in seconds: a product in
// nanoseconds would overflow after some years.
func addDay(day, passed time.Duration, speed float64) time.Duration {
	s := math.Mod(day.Seconds()+passed.Seconds()*speed, Day.Seconds())
	if s < 0 {
		s += Day.Seconds()
	}
	return min(max(0, time.Duration(s*float64(time.Second))), Day-1)
}

// Append encodes the clock as the value of its entry: the start in nanoseconds and the speed, 8
// bytes each, little-endian.
func (d DayClock) Append(b []byte) []byte {
	b = binary.LittleEndian.AppendUint64(b, uint64(d.Start))
	return binary.LittleEndian.AppendUint64(b, math.Float64bits(d.Speed))
}

// ParseDayClock decodes the value of the entry.
func ParseDayClock(b []byte) (DayClock, error) {
	if len(b) != 16 {
		return DayClock{}, fmt.Errorf("%w: it has %d bytes instead of 16", errDayClock, len(b))
	}
	d := DayClock{time.Duration(binary.LittleEndian.Uint64(b)), math.Float64frombits(binary.LittleEndian.Uint64(b[8:]))}
	if err := d.Check(); err != nil {
		return DayClock{}, err
	}
	return d, nil
}

// SetTimeOfDay gives a space a time of day, for all its cells and clients. The clock counts from
// game time 0, which a base does not know; a cell sets the present time of day (space.Cell). Errors
// are those of SetSpaceData and of DayClock.Check.
func (b *Base) SetTimeOfDay(space SpaceID, d DayClock) error {
	if err := d.Check(); err != nil {
		return err
	}
	return b.host.ChangeSpaceData(space, SpaceDatum{Key: spacekey.TimeOfDay, Value: d.Append(nil)})
}
