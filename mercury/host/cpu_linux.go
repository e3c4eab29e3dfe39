package host

import (
	"os"
	"syscall"
	"time"
)

// rusageThread is RUSAGE_THREAD of getrusage(2), which package syscall does not name.
const rusageThread = 1

// processCPU is the number of this process, and the processor time, user and system, that it has
// used.
func processCPU() (pid int, used time.Duration) {
	return os.Getpid(), usage(syscall.RUSAGE_SELF)
}

// threadCPU is the processor time, user and system, that the calling thread has used.
func threadCPU() time.Duration { return usage(rusageThread) }

func usage(who int) time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(who, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
