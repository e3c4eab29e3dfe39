package host

import (
	"fmt"
	"os"
	"sync"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/cellscape/cellscape/mercury"
)

// maxWait bounds a wait that has nothing to wait for.
const maxWait = time.Hour

// inKernel waits for the sockets of all carriers that can be polled, for a timerfd and for an
// eventfd, by which the others wake it. They are an epoll set, of which the runtime's own poller
// waits for nothing but whether the set has something:
//
//	sockets, armed while a wait is for them ─┐
//	timerfd ─────────────────────────────────┼─ set ── the runtime's poller ── goroutine
//	eventfd ─────────────────────────────────┘
//
// So a waking is one thread that returns from epoll_wait and goes on with the goroutine. A timer of
// the runtime would wake a second thread each time, which looks after the first; so would a system
// call that the runtime is told of, and a datagram that comes during a nap.
type inKernel struct {
	clock   func() time.Duration
	set     int
	file    *os.File // the set
	raw     syscall.RawConn
	look    func(fd uintptr) bool // take, made once
	timer   int
	sockets []pollSocket
	spec    unix.ItimerSpec
	events  [MaxCarriers + 2]unix.EpollEvent
	change  unix.EpollEvent

	mu      sync.Mutex
	event   int // eventfd; -1: closed
	woken   bool
	waiting bool
}

// pollSocket is a socket in the set. The kernel disarms it when it has told of it.
type pollSocket struct {
	fd    int
	armed bool
}

// pollable is a carrier that gives its owner a descriptor to wait at; see udp.Carrier.Poll.
type pollable interface {
	Poll(wake func()) (fd int, ok bool)
}

// newWaiter is for a process whose goroutine does not share its thread.
func newWaiter(clock func() time.Duration, carriers []mercury.Carrier) waiter {
	k := &inKernel{clock: clock, timer: -1, event: -1}
	if err := k.open(); err != nil {
		k.close()
		return atCarrier{carriers[0]}
	}
	return k
}

// open makes the set.
func (k *inKernel) open() (err error) {
	set, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return fmt.Errorf("epoll_create: %w", err)
	}
	err = unix.SetNonblock(set, true) // else the runtime would not wait for it
	k.set, k.file = set, os.NewFile(uintptr(set), "epoll")
	if err != nil {
		return fmt.Errorf("fcntl: %w", err)
	}
	if k.raw, err = k.file.SyscallConn(); err != nil {
		return err
	}
	k.look = k.take
	if k.timer, err = unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC); err != nil {
		return fmt.Errorf("timerfd_create: %w", err)
	}
	if k.event, err = unix.Eventfd(0, unix.EFD_NONBLOCK|unix.EFD_CLOEXEC); err != nil {
		return fmt.Errorf("eventfd: %w", err)
	}
	for _, fd := range [...]int{k.timer, k.event} {
		if err := unix.EpollCtl(set, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{Events: unix.EPOLLIN, Fd: -1}); err != nil {
			return fmt.Errorf("epoll_ctl: %w", err)
		}
	}
	return nil
}

func (k *inKernel) add(carriers []mercury.Carrier) {
	for _, c := range carriers {
		if p, ok := c.(pollable); ok && k.addSocket(p) {
			continue
		}
		c.Watch(k.wake)
	}
}

// addSocket joins a carrier's socket, disarmed.
func (k *inKernel) addSocket(p pollable) bool {
	fd, ok := p.Poll(k.wake)
	if !ok {
		return false
	}
	k.sockets = append(k.sockets, pollSocket{fd: fd})
	k.control(unix.EPOLL_CTL_ADD, len(k.sockets)-1, false)
	return true
}

// control arms or disarms a socket. A closed one is out of the set; who reads it is told so.
func (k *inKernel) control(op, i int, armed bool) {
	s := &k.sockets[i]
	s.armed = armed
	k.change = unix.EpollEvent{Events: unix.EPOLLONESHOT, Fd: int32(i)}
	if armed {
		k.change.Events |= unix.EPOLLIN
	}
	_, _, _ = unix.RawSyscall6(unix.SYS_EPOLL_CTL, uintptr(k.set), uintptr(op), uintptr(s.fd),
		uintptr(unsafe.Pointer(&k.change)), 0, 0)
}

// arm has the set tell of the sockets, or not.
func (k *inKernel) arm(armed bool) {
	for i := range k.sockets {
		if k.sockets[i].armed != armed {
			k.control(unix.EPOLL_CTL_MOD, i, armed)
		}
	}
}

func (k *inKernel) wait(until time.Duration) time.Duration {
	left := until - k.clock()
	if k.start(left > 0) {
		k.arm(true)
		k.sleep(left)
		k.end()
	}
	return 0
}

func (k *inKernel) nap(d time.Duration) {
	k.arm(false)
	k.sleep(d)
}

// sleep waits until the set has something, or for d.
func (k *inKernel) sleep(d time.Duration) {
	k.spec.Value = unix.NsecToTimespec(int64(min(d, maxWait)))
	_, _, _ = unix.RawSyscall6(unix.SYS_TIMERFD_SETTIME, uintptr(k.timer), 0,
		uintptr(unsafe.Pointer(&k.spec)), 0, 0, 0)
	_ = k.raw.Read(k.look)
}

// take reports whether the set has something. The timer is silent again when it is set anew.
func (k *inKernel) take(set uintptr) bool {
	n, _, errno := unix.RawSyscall6(unix.SYS_EPOLL_PWAIT, set,
		uintptr(unsafe.Pointer(&k.events)), uintptr(len(k.events)), 0, 0, 0)
	if errno != 0 {
		return errno != unix.EINTR
	}
	for _, e := range k.events[:n] {
		if e.Fd >= 0 {
			k.sockets[e.Fd].armed = false
		}
	}
	return n > 0
}

// start reports whether there is to be a wait.
func (k *inKernel) start(wanted bool) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.waiting = wanted && !k.woken
	k.woken = false
	return k.waiting
}

func (k *inKernel) end() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.woken {
		var count [8]byte
		_, _ = unix.Read(k.event, count[:])
	}
	k.waiting, k.woken = false, false
}

func (k *inKernel) wake() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.waiting && !k.woken && k.event >= 0 {
		one := [8]byte{1, 1, 1, 1, 1, 1, 1, 1} // not 0 in either order of bytes
		_, _ = unix.Write(k.event, one[:])
	}
	k.woken = true
}

func (k *inKernel) close() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.file != nil {
		_ = k.file.Close()
	}
	for _, fd := range [...]*int{&k.timer, &k.event} {
		if *fd >= 0 {
			_ = unix.Close(*fd)
			*fd = -1
		}
	}
}
