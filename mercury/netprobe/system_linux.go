package main

import (
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// newClock returns the machine's monotonic clock: all processes of one machine read the same time,
// so that a stamp made in one tells a latency in another.
func newClock() func() time.Duration {
	// The Go clock costs a fraction of the system call. Both run at the same rate; the closest of a
	// few readings tells by how much they differ.
	born := time.Now()
	offset, closest := time.Duration(0), time.Hour
	for range 16 {
		var ts unix.Timespec
		before := time.Since(born)
		if unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts) != nil {
			break
		}
		if took := time.Since(born) - before; took < closest {
			closest, offset = took, time.Duration(ts.Nano())-before-took/2
		}
	}
	return func() time.Duration { return time.Since(born) + offset }
}

// processCPU is the processor time, user and system, that this process has used.
func processCPU() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// residentKB is the memory of this process that is in RAM, in KB of 1024 bytes.
func residentKB() int {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(text))
	if len(fields) < 2 {
		return 0
	}
	pages, _ := strconv.Atoi(fields[1])
	return pages * os.Getpagesize() / 1024
}

// raiseFileLimit lets this process hold as many sockets as the system allows for.
func raiseFileLimit() {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) == nil && limit.Cur < limit.Max {
		limit.Cur = limit.Max
		_ = syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit)
	}
}
