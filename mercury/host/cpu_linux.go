package host

import (
	"os"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// tellsCPU says that threadCPU knows.
const tellsCPU = true

// processCPU is the number of this process, and the processor time, user and system, that it has
// used.
func processCPU() (pid int, used time.Duration) {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return os.Getpid(), 0
	}
	return os.Getpid(), time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// threadCPU is the processor time, user and system, that the calling thread has used. Unlike
// getrusage it is exact to less than a microsecond. The runtime is not told of the system call: it
// never waits, and each turn of an app that tells of one wakes the runtime's monitor, a thread that
// then looks after this one every 20 microseconds until all rest again.
func threadCPU() time.Duration {
	var t unix.Timespec
	if _, _, errno := unix.RawSyscall(unix.SYS_CLOCK_GETTIME, unix.CLOCK_THREAD_CPUTIME_ID, uintptr(unsafe.Pointer(&t)), 0); errno != 0 {
		return 0
	}
	return time.Duration(t.Nano())
}
