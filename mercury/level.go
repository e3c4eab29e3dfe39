package mercury

// Level is how full the queue of a channel is. What can be told later waits from High on, what its
// sender keeps anyway from Packed on, so that the last half of a queue is left to what must go in
// its turn.
type Level uint8

// The levels of a queue.
const (
	Free   Level = iota // below a quarter of its limit
	High                // below a half
	Packed              // above
)

// LevelOf is the level of a queue in which bytes of limit wait.
func LevelOf(bytes, limit int) Level {
	switch {
	case bytes == 0 || bytes < HighMark(limit):
		return Free
	case bytes < limit/2:
		return High
	}
	return Packed
}

// HighMark is from how many bytes on a queue with a limit is High.
func HighMark(limit int) int { return limit / 4 }
