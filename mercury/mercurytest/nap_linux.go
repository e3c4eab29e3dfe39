package mercurytest

import (
	"syscall"
	"time"
)

// nap sleeps for d, exact to some 60 µs. time.Sleep waits in epoll, which counts in milliseconds.
func nap(d time.Duration) {
	ts := syscall.NsecToTimespec(int64(d))
	_ = syscall.Nanosleep(&ts, nil)
}
