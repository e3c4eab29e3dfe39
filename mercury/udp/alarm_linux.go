package udp

import (
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// alarmSlack is how long after a deadline the alarm goes off: it must find the deadline due.
	alarmSlack = 2 * time.Microsecond
	// maxAlarm is the longest wait that is worth an alarm.
	maxAlarm = time.Minute
)

// alarm makes read deadlines exact. A thread of the Go runtime that has nothing to run waits in
// epoll_wait, whose timeout is in whole milliseconds, and so a deadline is up to a millisecond
// late. A timerfd in that epoll set goes off at the deadline: the thread returns and finds the
// deadline due. Nobody reads the timerfd, and a runtime that would do otherwise costs the
// millisecond and no more.
type alarm struct {
	mu    sync.Mutex
	file  *os.File // nil: no alarm
	raw   syscall.RawConn
	apply func(fd uintptr) // setTime, made once so that it is not allocated each time
	spec  unix.ItimerSpec
}

func (a *alarm) init() {
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return
	}
	file := os.NewFile(uintptr(fd), "timerfd")
	raw, err := file.SyscallConn()
	if err != nil {
		_ = file.Close()
		return
	}
	a.file, a.raw = file, raw
	a.apply = func(fd uintptr) { _ = unix.TimerfdSettime(int(fd), 0, &a.spec, nil) }
}

// set lets the alarm go off after d. The runtime looks by itself when d is long, or over.
func (a *alarm) set(d time.Duration) {
	if a.apply == nil || d <= 0 || d > maxAlarm {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.spec.Value = unix.NsecToTimespec(int64(d + alarmSlack))
	_ = a.raw.Control(a.apply) // fails when the socket is closed
}

// at lets the alarm go off at t.
func (a *alarm) at(t time.Time) {
	if a.apply != nil && !t.IsZero() { // a look at the clock costs
		a.set(time.Until(t))
	}
}

func (a *alarm) close() {
	if a.file != nil {
		_ = a.file.Close()
	}
}
