package host

import (
	"time"

	"github.com/cellscape/cellscape/mercury"
)

// waiter is where the goroutine of a process waits.
type waiter interface {
	// add joins the carriers, once, on the goroutine and before its first wait.
	add(carriers []mercury.Carrier)
	// wait returns when there is something for a carrier, by a time of the Host's clock, or after
	// wake. Carriers that wait themselves do so in Receive, until what it returns.
	wait(until time.Duration) (receive time.Duration)
	// nap waits d, whatever comes.
	nap(d time.Duration)
	// wake ends the wait, or the next one. Any goroutine may call it.
	wake()
	close()
}

// atCarrier waits at the first carrier, and the others wake it there. It is the way of goroutines
// that share threads, and of systems without a wait of their own.
type atCarrier struct {
	first mercury.Carrier
}

func (w atCarrier) add(carriers []mercury.Carrier) {
	for _, c := range carriers[1:] {
		c.Watch(w.wake)
	}
}

func (w atCarrier) wait(until time.Duration) time.Duration { return until }

// napper is a carrier that sleeps more exactly than time.Sleep does.
type napper interface{ Nap(time.Duration) }

func (w atCarrier) nap(d time.Duration) {
	if n, ok := w.first.(napper); ok {
		n.Nap(d)
		return
	}
	time.Sleep(d)
}

func (w atCarrier) wake() { w.first.Wake() }

func (w atCarrier) close() {}
