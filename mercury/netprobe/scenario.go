package main

import (
	"time"

	"github.com/cellscape/cellscape/mercury"
)

// scenarioNames are the values of -scen.
const scenarioNames = "game, bulk, blob or fan"

// defaultBacklog keeps a pipe of some hundred MB/s full over loopback and still fits into a
// processor's cache.
const defaultBacklog = 1 << 20

// defaultSlice is what one system call sends: more would let messages lie while there are others to make.
const defaultSlice = 64

// scenario gives the spec of a name, of which the command line may change some values.
func scenario(name string) (spec, bool) {
	for _, s := range []spec{game(), bulk(), blob(), fan()} {
		if s.Scenario == name {
			return s, true
		}
	}
	return spec{}, false
}

// sender is what one end sends in a run. It lives on the goroutine of its carrier.
type sender interface {
	// tick sends what is due, and says when it wants to be called again.
	tick(now time.Duration) (next time.Duration)
	// credit tells that so many bytes have arrived at the other end.
	credit(now time.Duration, bytes int)
	// leave tells that a connection is gone.
	leave(ch mercury.ChannelID)
	// sent is what was sent so far.
	sent() figures
}

// newSender makes the sender of a flow to channels; nil for a flow of nothing.
func newSender(t mercury.Transport, chs []mercury.ChannelID, f flow, s *spec, p phases, clock func() time.Duration) sender {
	switch {
	case f.none():
		return nil
	case f.flood():
		return &flood{transport: t, ch: chs[0], phases: p, room: s.Backlog, message: make([]byte, f.Size), clock: clock}
	}
	return &metronome{
		transport: t, chs: chs, phases: p, every: f.Every, slice: s.Slice, due: p.start, message: make([]byte, f.Size), clock: clock,
	}
}

// never is the next tick of who waits for a message or has nothing more to do.
func never(now time.Duration) time.Duration { return now + time.Hour }
