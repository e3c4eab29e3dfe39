package status

import "time"

// Meters are what an app is given to measure itself with. Each may be nil: what it would tell is
// then unknown. The app calls them on its own goroutine.
type Meters struct {
	// Clock measures work within a tick. Only differences between readings count, and it must not run
	// backwards.
	Clock func() time.Duration
	// CPU is the processor time that the app's thread has used.
	CPU func() time.Duration
	// ProcessCPU is the processor time that the OS process has used on all its threads, and the id
	// of that process.
	ProcessCPU func() (pid int, used time.Duration)
	// Carriers are the figures of the process's carriers.
	Carriers func() []Carrier
}
