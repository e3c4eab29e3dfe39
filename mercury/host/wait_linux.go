package host

import (
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/cellscape/cellscape/mercury"
)

// maxWait bounds a wait that has nothing to wait for.
const maxWait = time.Hour

// inKernel waits in the kernel on the app's own thread, for the sockets of all carriers that can be
// polled and for an eventfd, which is how the others wake it. Through the runtime each waking would
// go from the thread that waits for the network to that of the app and back, at twice the cost.
type inKernel struct {
	clock func() time.Duration
	fds   []unix.PollFd // of the goroutine; the first is the eventfd

	mu      sync.Mutex
	event   int // -1: closed
	woken   bool
	waiting bool
}

// newWaiter is for a process whose goroutine has a thread of its own.
func newWaiter(clock func() time.Duration, carriers []mercury.Carrier) waiter {
	event, err := unix.Eventfd(0, unix.EFD_NONBLOCK|unix.EFD_CLOEXEC)
	if err != nil {
		return atCarrier{carriers[0]}
	}
	return &inKernel{clock: clock, event: event, fds: []unix.PollFd{{Fd: int32(event), Events: unix.POLLIN}}}
}

// pollable is a carrier that gives its owner a descriptor to wait at; see udp.Carrier.Poll.
type pollable interface {
	Poll(wake func()) (fd int, ok bool)
}

func (k *inKernel) add(carriers []mercury.Carrier) {
	for _, c := range carriers {
		if p, ok := c.(pollable); ok {
			if fd, ok := p.Poll(k.wake); ok {
				k.fds = append(k.fds, unix.PollFd{Fd: int32(fd), Events: unix.POLLIN})
				continue
			}
		}
		c.Watch(k.wake)
	}
}

func (k *inKernel) wait(until time.Duration) time.Duration {
	left := until - k.clock()
	if k.start(left > 0) {
		timeout := unix.NsecToTimespec(int64(min(left, maxWait)))
		_, _ = unix.Ppoll(k.fds, &timeout, nil) // a signal of the runtime ends it early, which does no harm
		k.end()
	}
	return 0
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

func (k *inKernel) nap(d time.Duration) {
	timeout := unix.NsecToTimespec(int64(d))
	_, _ = unix.Ppoll(nil, &timeout, nil)
}

func (k *inKernel) close() {
	k.mu.Lock()
	defer k.mu.Unlock()
	_ = unix.Close(k.event)
	k.event = -1
}
