package main

import "time"

// phases are the times of a run at one end, on the clock of its loop.
type phases struct {
	start    time.Duration // first message
	measured time.Duration // from here messages count
	over     time.Duration // from here none is sent
}

// forEver is the end of a run that ends when the client says so.
const forEver = 1<<63 - 1

func (s *spec) phases(start time.Duration) phases {
	p := phases{start: start, measured: start + s.Learn + s.Warmup, over: forEver}
	if s.Duration > 0 {
		p.over = p.measured + s.Duration
	}
	return p
}

// within reports whether t is in the measured time.
func (p *phases) within(t time.Duration) bool { return t >= p.measured && t < p.over }
