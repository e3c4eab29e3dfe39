package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// process is a server process that this program has started.
type process struct {
	role string
	cmd  *exec.Cmd
}

// start starts a server process with the same flags as this one.
func (f *flags) start(role, manager, key string) (*process, error) {
	cmd := exec.Command(os.Args[0], append(slices.Clone(f.args), "-role", role, "-manager", manager)...)
	cmd.Env = append(os.Environ(), keyVariable+"="+key)
	cmd.Stderr = os.Stderr
	// Ctrl-C is for this process, which ends the others in order.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("a process for %s: %w", role, err)
	}
	return &process{role, cmd}, nil
}

// stopAfter is how long a process may take to end by itself.
const stopAfter = 10 * time.Second

// stop ends processes, the last first.
func stop(all []*process) error {
	var errs []error
	for _, p := range slices.Backward(all) {
		if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
			errs = append(errs, err)
			continue
		}
		kill := time.AfterFunc(stopAfter, func() { _ = p.cmd.Process.Kill() }) // Wait tells
		if err := p.cmd.Wait(); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", p.role, err))
		}
		kill.Stop()
	}
	return errors.Join(errs...)
}

// used is the processor time of a process so far, user and system, and its memory in bytes.
func used(pid int) (cpu time.Duration, memory int64, err error) {
	const ticksPerSecond = 100 // of Linux's counters, on all machines that Go knows
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, 0, fmt.Errorf("the system does not tell of processes: %w", err)
	}
	_, rest, _ := strings.Cut(string(stat), ") ") // a name may hold anything
	fields := strings.Fields(rest)
	const utime, stime, rss = 11, 12, 21 // proc(5), counted from the third field
	if len(fields) <= rss {
		return 0, 0, errors.New("/proc/PID/stat is not as expected")
	}
	var n [3]int64
	for i, at := range []int{utime, stime, rss} {
		if n[i], err = strconv.ParseInt(fields[at], 10, 64); err != nil {
			return 0, 0, err
		}
	}
	return time.Duration(n[0]+n[1]) * time.Second / ticksPerSecond, n[2] * int64(os.Getpagesize()), nil
}
