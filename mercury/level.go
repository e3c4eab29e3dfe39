package mercury

// Level is how full the queue of a channel is. Messages that can be sent later wait from High on,
// and messages that their sender keeps anyway from Packed on. So the last half of a queue is left
// for messages that must go in order.
type Level uint8

// The levels of a queue.
const (
	Free   Level = iota // below a quarter of its limit
	High                // below a half
	Packed              // a half or more
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

// HighMark is the number of bytes from which on a queue with a limit is High.
func HighMark(limit int) int { return limit / 4 }
