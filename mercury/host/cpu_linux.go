package host

import (
	"syscall"
	"time"
)

// rusageThread is RUSAGE_THREAD of getrusage(2), which package syscall does not name.
const rusageThread = 1

// threadCPU is the processor time, user and system, that the calling thread has used.
func threadCPU() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(rusageThread, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
