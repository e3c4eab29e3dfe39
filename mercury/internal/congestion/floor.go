package congestion

import "time"

// floor is what may be in flight whatever round trips and rates say, on a path among servers.
//
// A server reads what has come between two pieces of its own work, which take up to a tick. Its
// acks then show a round trip of that, and in it the rate of one window, hence a window that
// shrinks with each: between a CellApp and a BaseApp 0.8 MB/s passed where a crowd of 2,000 wanted
// 5. With a floor, a tick of that many bytes goes at once. Where the path, or the buffer before the
// peer, does not hold that, heavy loss halves the floor; rounds without let it grow again.
//
// It counts in KiB, up to 64 MiB: there are thousands of models.
type floor struct{ now, whole uint16 }

const (
	floorShift = 10
	// floorTime is how long a floor takes to leave: a game's tick is a hundred milliseconds.
	floorTime = 10 * time.Millisecond
	// floorGrowth is the part by which it grows again in a round: to the double in 45.
	floorGrowth = 64
)

func floorOf(bytes int) floor {
	kib := uint16(min(bytes>>floorShift, 1<<16-1))
	return floor{kib, kib}
}

func (f floor) bytes() int { return int(f.now) << floorShift }

// rate is how fast it leaves, in bytes a second.
func (f floor) rate() uint64 {
	return mulDiv(uint64(f.bytes()), uint64(time.Second), uint64(floorTime))
}

// endRound takes in whether a round was one of heavy loss.
func (f *floor) endRound(heavy bool) {
	if heavy {
		f.now /= 2
	} else {
		f.now = uint16(min(int(f.now)+int(f.now)/floorGrowth+1, int(f.whole)))
	}
}
