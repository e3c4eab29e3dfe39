package host

import (
	"runtime"
	"time"
)

// meter counts the processor time of an app. The goroutine has a thread to itself while it works,
// and not while it waits: a thread of its own would have to be woken by that which waits for all.
type meter struct {
	off   bool          // the goroutine shares threads always, and nothing is counted
	total time.Duration // of the turns before
	since time.Duration // what the thread had used when this turn began
}

func (m *meter) begin() {
	if m.off {
		return
	}
	runtime.LockOSThread()
	m.since = threadCPU()
}

func (m *meter) end() {
	if m.off {
		return
	}
	m.total = m.used()
	runtime.UnlockOSThread()
}

// used is the time so far.
func (m *meter) used() time.Duration {
	if m.off {
		return 0
	}
	return m.total + threadCPU() - m.since
}
