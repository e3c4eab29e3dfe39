package main

import (
	"math"
	"time"
)

// result is what a run prints.
type result struct {
	Scenario   string `json:"scenario"`
	Transport  string `json:"transport"`
	Protection string `json:"protection"` // of the connections against strangers
	Conns      int    `json:"connections"`

	Down direction `json:"server_to_client"`
	Up   direction `json:"client_to_server"`
	// WirePerPayload is of both directions, in the measured time.
	WirePerPayload float64 `json:"wire_per_payload"`
	// Run is the whole run with handshakes, warm-up and reports, to be compared with a counter on the way.
	Run struct {
		Messages     uint64 `json:"messages"`
		PayloadBytes uint64 `json:"payload_bytes"`
		WireBytes    uint64 `json:"wire_bytes"`
		Packets      uint64 `json:"packets"`
	} `json:"run"`

	Server  process    `json:"server"`
	Client  process    `json:"client"`
	Connect *connects  `json:"connect,omitempty"`
	Blob    *blobTimes `json:"blob,omitempty"`
	Notes   []string   `json:"notes,omitempty"`
	// Link is left out where none was put between the ends.
	Link *linkCounts `json:"link,omitempty"`
}

// direction is the messages of one way in the measured time. A blob counts as one message.
type direction struct {
	latency
	Sent              uint64  `json:"sent"`
	Messages          uint64  `json:"messages"` // of those, delivered
	Lost              uint64  `json:"lost"`     // never delivered
	Disorder          uint64  `json:"disorder"` // came out of order, twice or after a gap
	PayloadBytes      uint64  `json:"payload_bytes"`
	WireBytes         uint64  `json:"wire_bytes"` // with the headers of IP and above; 0 when the transport does not tell
	Packets           uint64  `json:"packets"`
	WirePerPayload    float64 `json:"wire_per_payload"`
	PacketsPerMessage float64 `json:"packets_per_message"`
	MessagesPerSecond float64 `json:"messages_per_second"` // delivered
	// Beat is how long a tick to many connections took its sender, from its first message to the
	// flush of its last; left out where a tick is one flush.
	Beat    ms `json:"beat_ms,omitempty"`
	BeatMax ms `json:"beat_max_ms,omitempty"`
}

// process is what a run cost one process.
type process struct {
	Elapsed       seconds `json:"elapsed_s"`
	CPU           seconds `json:"cpu_s"` // user and system, in the measured time
	Cores         float64 `json:"cores"`
	CPUPerMillion float64 `json:"cpu_s_per_million"` // messages, sent or received
	KBPerConn     float64 `json:"kb_per_connection"` // growth of the resident memory since before the transport was opened
	ResidentKB    int     `json:"rss_kb"`
	Closed        int     `json:"closed"` // connections that ended before the run did
	// Wire is what it sent in the measured time, and what one connection knows of its path at the end.
	Wire counters `json:"wire"`
}

// result puts together what the two ends tell.
func (c *client) result(s *spec, here, there *side) *result {
	r := &result{
		Scenario: s.Scenario, Transport: c.transport.name, Protection: c.transport.protection(c.options), Conns: s.Conns,
		Down: s.between(there, here), Up: s.between(here, there),
		Server: there.process(), Client: here.process(),
	}
	if r.Down.Packets == 0 || r.Up.Packets == 0 { // half of the wire would look like a good result
		here.WireAll, there.WireAll = counters{}, counters{}
		r.Down.wireUnknown()
		r.Up.wireUnknown()
	}
	r.WirePerPayload = per(r.Down.WireBytes+r.Up.WireBytes, r.Down.PayloadBytes+r.Up.PayloadBytes)
	r.Run.Messages = here.Sent.All + there.Sent.All
	r.Run.PayloadBytes = here.Sent.AllBytes + there.Sent.AllBytes
	r.Run.WireBytes = here.WireAll.Bytes + there.WireAll.Bytes
	r.Run.Packets = here.WireAll.Packets + there.WireAll.Packets
	if c.transport.wire != "" {
		r.Notes = append(r.Notes, c.transport.wire)
	}
	return r
}

// between is the direction from one end to the other.
func (s *spec) between(from, to *side) direction {
	d := direction{
		latency: to.Latency, Sent: from.Sent.Measured, Messages: to.Received.Measured, Disorder: to.Received.Disorder,
		PayloadBytes: from.Sent.Bytes, WireBytes: from.Wire.Bytes, Packets: from.Wire.Packets,
	}
	if n := from.Sent.Beats; n > 0 {
		d.Beat, d.BeatMax = toMS(from.Sent.BeatTime/time.Duration(n)), toMS(from.Sent.BeatMax)
	}
	d.Lost = d.Sent - min(d.Messages, d.Sent)
	d.WirePerPayload = per(d.WireBytes, d.PayloadBytes)
	d.PacketsPerMessage = per(d.Packets, from.Sent.Window)
	switch {
	case s.Up.flood() && to.Elapsed > 0: // what goes out is no measure of what gets through
		d.MessagesPerSecond = round(float64(to.Received.Window)/float64(to.Elapsed), 1)
	case from.Elapsed > 0:
		d.MessagesPerSecond = round(float64(d.Messages)/float64(from.Elapsed), 1)
	}
	return d
}

func (d *direction) wireUnknown() {
	d.WireBytes, d.Packets, d.WirePerPayload, d.PacketsPerMessage = 0, 0, 0, 0
}

func (s *side) process() process {
	p := process{
		Elapsed: s.Elapsed, CPU: s.CPU, ResidentKB: s.AfterKB, Closed: s.Closed, Wire: s.Wire}
	p.Wire.Path = s.WireAll.Path
	if s.Elapsed > 0 {
		p.Cores = round(float64(s.CPU/s.Elapsed), 4)
	}
	if n := s.Sent.Window + s.Received.Window; n > 0 {
		p.CPUPerMillion = round(float64(s.CPU)*1e6/float64(n), 4)
	}
	if s.Conns > 0 {
		p.KBPerConn = round(float64(max(0, s.AfterKB-s.BeforeKB))/float64(s.Conns), 2)
	}
	return p
}

// per is a / b, or 0 when there is nothing to divide by.
func per(a, b uint64) float64 {
	if b == 0 {
		return 0
	}
	return round(float64(a)/float64(b), 4)
}

// round rounds to some digits after the point, so that a report shows no digits that mean nothing.
func round(x float64, digits int) float64 {
	scale := math.Pow10(digits)
	return math.Round(x*scale) / scale
}
