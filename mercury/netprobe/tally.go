package main

import "time"

// sampleFlood is how many messages of a flood go by for one whose latency is taken: reading the
// clock for each would be a noticeable part of what a message costs.
const sampleFlood = 64

// tally counts the data of one connection that has come. It lives on the goroutine of its carrier;
// the histogram may be shared.
type tally struct {
	phases  phases
	latency *histogram
	clock   func() time.Duration
	every   uint32 // takes the latency of each so manyth message

	next uint32 // number of the next message
	figures
}

// figures are the sums of tallies and senders. A sender counts by when it sends.
type figures struct {
	Measured uint64 `json:"measured"` // messages sent within the measured time
	Window   uint64 `json:"window"`   // messages sent, or delivered, while the measured time ran at this end
	Bytes    uint64 `json:"bytes"`    // payload of Window
	All      uint64 `json:"all"`      // messages of the whole run
	AllBytes uint64 `json:"all_bytes"`
	Disorder uint64 `json:"disorder"` // messages that came out of order, twice, or after a gap

	// Beats are those of a metronome that were measured and took several slices, with the time from
	// the first to the flush of the last.
	Beats    int64         `json:"beats"`
	BeatTime time.Duration `json:"beat_time"`
	BeatMax  time.Duration `json:"beat_max"`
}

func (f *figures) add(g figures) {
	f.Measured += g.Measured
	f.Window += g.Window
	f.Bytes += g.Bytes
	f.All += g.All
	f.AllBytes += g.AllBytes
	f.Disorder += g.Disorder
	f.Beats += g.Beats
	f.BeatTime += g.BeatTime
	f.BeatMax = max(f.BeatMax, g.BeatMax)
}

func newTally(p phases, s flow, h *histogram, clock func() time.Duration) *tally {
	t := &tally{phases: p, latency: h, clock: clock, every: 1}
	if s.flood() {
		t.every = sampleFlood
	}
	return t
}

// take counts a data message that was delivered at now.
func (t *tally) take(now time.Duration, msg []byte) {
	flags, number, stamp, ok := readData(msg)
	if !ok || number != t.next {
		t.Disorder++
	}
	t.next = number + 1
	if flags&flagMeasured != 0 {
		t.Measured++
		if number%t.every == 0 {
			t.latency.record(t.clock() - stamp)
		}
	}
	t.count(now, len(msg))
}

// count counts a message within the whole run and, where it belongs there, the measured time.
func (t *tally) count(now time.Duration, size int) { t.figures.count(&t.phases, now, size) }

func (f *figures) count(p *phases, now time.Duration, size int) {
	f.All++
	f.AllBytes += uint64(size)
	if p.within(now) {
		f.Window++
		f.Bytes += uint64(size)
	}
}
