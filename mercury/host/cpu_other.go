//go:build !linux

package host

import (
	"os"
	"time"
)

// threadCPU is 0 where a thread's processor time cannot be asked for.
func threadCPU() time.Duration { return 0 }

// processCPU knows no processor time either.
func processCPU() (pid int, used time.Duration) { return os.Getpid(), 0 }
