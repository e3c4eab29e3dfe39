//go:build !linux

package host

import (
	"os"
	"time"
)

// tellsCPU says that threadCPU does not know.
const tellsCPU = false

// threadCPU is 0 where a thread's processor time cannot be asked for.
func threadCPU() time.Duration { return 0 }

// processCPU knows no processor time either.
func processCPU() (pid int, used time.Duration) { return os.Getpid(), 0 }
