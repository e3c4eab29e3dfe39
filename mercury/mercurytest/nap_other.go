//go:build !linux

package mercurytest

import "time"

// nap sleeps for d, as exactly as the system can.
func nap(d time.Duration) { time.Sleep(d) }
