//go:build !linux

package main

import "time"

// newClock returns a clock that only this process shares: latencies are right with -self alone.
func newClock() func() time.Duration {
	born := time.Now()
	return func() time.Duration { return time.Since(born) }
}

// processCPU and residentKB are told on Linux only.
func processCPU() time.Duration { return 0 }
func residentKB() int           { return 0 }

func raiseFileLimit() {}
