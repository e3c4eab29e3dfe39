package spacetest

import (
	"net/netip"
	"time"

	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/mercurytest"
)

// wakerPlace is where the waker stands on the network; nobody speaks to it.
const wakerPlace = 0

// waker ends pauses. A paused process has no time of its own.
type waker struct{ w *World }

func (k waker) Self() mercury.Address {
	return mercury.Address{At: mercurytest.Place(wakerPlace), Salt: 1}
}

func (k waker) Receive(time.Duration, netip.AddrPort, []byte) {}

func (k waker) Flush(time.Duration, func(netip.AddrPort, []byte)) {}

// NextDeadline is the end of the next pause.
func (k waker) NextDeadline() (at time.Duration, some bool) {
	for _, a := range k.w.apps {
		if a.paused && a.wakeAt > 0 && (!some || a.wakeAt < at) {
			at, some = a.wakeAt, true
		}
	}
	return at, some
}

// Advance ends those that are over.
func (k waker) Advance(now time.Duration) {
	for _, a := range k.w.apps {
		if a.paused && a.wakeAt > 0 && a.wakeAt <= now {
			a.Resume()
		}
	}
}
