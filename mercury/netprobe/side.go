package main

import "time"

// side is what one end tells of a run.
type side struct {
	Conns    int     `json:"connections"`
	Closed   int     `json:"closed"` // connections that ended before the run did
	Sent     figures `json:"sent"`
	Received figures `json:"received"`
	// Latency is that of what was received.
	Latency latency `json:"latency"`
	// Elapsed is the measured time as it was. CPU is that of the whole process, user and system, in
	// that time.
	Elapsed seconds `json:"elapsed_s"`
	CPU     seconds `json:"cpu_s"`
	// Wire is what was sent in the measured time, WireAll since the process began.
	Wire    counters `json:"wire"`
	WireAll counters `json:"wire_all"`
	// Resident memory before the transport was opened, and at the end of the run.
	BeforeKB int `json:"rss_before_kb"`
	AfterKB  int `json:"rss_after_kb"`
}

// seconds is a time in seconds.
type seconds float64

func toSeconds(d time.Duration) seconds { return seconds(d.Seconds()) }

// mark is a process and its wire at one time.
type mark struct {
	at, cpu time.Duration
	wire    counters
}

// window closes the measured time: what went by between two marks.
func (s *side) window(from, to mark) {
	s.Elapsed = toSeconds(to.at - from.at)
	s.CPU = toSeconds(to.cpu - from.cpu)
	s.Wire = to.wire.since(from.wire)
}
