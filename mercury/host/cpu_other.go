//go:build !linux

package host

import "time"

// threadCPU is 0 where a thread's processor time cannot be asked for.
func threadCPU() time.Duration { return 0 }
