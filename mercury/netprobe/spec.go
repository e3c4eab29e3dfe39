package main

import (
	"errors"
	"fmt"
	"time"
)

// Bounds of what a client may ask of a server, beyond which a machine is rather flooded than measured.
const (
	maxConns   = 20000
	maxSize    = 64 << 10
	maxBlob    = 4 << 20 // fits into the queue of a channel (8 MiB)
	maxTime    = 24 * time.Hour
	minEvery   = 100 * time.Microsecond
	minBacklog = 64 << 10
	maxBacklog = 4 << 20 // half of the queue of a channel, so that it never overflows
)

// spec is a workload: what both ends must know of a run. A scenario is a spec with values of its own.
type spec struct {
	Scenario string
	Conns    int
	// Learn and Warmup go before the measured time, with the same traffic. Duration is the measured
	// time; 0 means until the client says that it has what it wants.
	Learn, Warmup, Duration time.Duration
	Down, Up                flow // server to client, client to server
	// Blob is the size of an answer to a request, Transfers how often it is asked for on each connection.
	Blob, Transfers int
	// Backlog is the number of bytes that may be on their way in a flood.
	Backlog int
	// Slice is to how many connections a beat sends before it flushes.
	Slice int
}

// flow is what one end sends on each connection. The zero value is nothing.
type flow struct {
	Size  int           // bytes of a message
	Every time.Duration // between two messages; 0 means as fast as they go
}

func (s flow) none() bool  { return s.Size == 0 }
func (s flow) flood() bool { return s.Size > 0 && s.Every == 0 }

func (s flow) fault() error {
	switch {
	case s.none():
		return nil
	case s.Size < dataHeader || s.Size > maxSize:
		return fmt.Errorf("messages of %d bytes: take %d to %d", s.Size, dataHeader, maxSize)
	case s.Every != 0 && (s.Every < minEvery || s.Every > time.Minute):
		return fmt.Errorf("a message every %v: take %v to %v", s.Every, minEvery, time.Minute)
	}
	return nil
}

// validate reports all faults at once. A server asks it of what a client sent.
func (s *spec) validate() error {
	var faults []error
	fault := func(bad bool, format string, args ...any) {
		if bad {
			faults = append(faults, fmt.Errorf(format, args...))
		}
	}
	fault(s.Conns < 1 || s.Conns > maxConns, "%d connections: take 1 to %d", s.Conns, maxConns)
	for _, t := range []time.Duration{s.Learn, s.Warmup, s.Duration} {
		fault(t < 0 || t > maxTime, "a time of %v: take 0 to %v", t, maxTime)
	}
	fault(s.Blob < 0 || s.Blob > maxBlob, "a blob of %d bytes: take 1 to %d", s.Blob, maxBlob)
	fault(s.Blob > 0 && s.Transfers < 1, "%d transfers: take at least 1", s.Transfers)
	fault(s.Backlog < minBacklog || s.Backlog > maxBacklog, "a backlog of %d bytes: take %d to %d", s.Backlog, minBacklog, maxBacklog)
	fault(s.Slice < 1, "a slice of %d connections: take at least 1", s.Slice)
	fault(s.Blob == 0 && s.Down.none() && s.Up.none(), "nothing to send")
	fault(s.Blob == 0 && s.Duration == 0, "a duration of 0: say how long to measure")
	fault(s.Up.flood() && s.Conns > 1 || s.Down.flood(), "a flood on several connections or from the server: take one connection, from the client")
	faults = append(faults, s.Down.fault(), s.Up.fault())
	return errors.Join(faults...)
}
