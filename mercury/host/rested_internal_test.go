package host

import (
	"testing"
	"time"

	"github.com/cellscape/cellscape/mercury"
)

// letterbox is a carrier to which something has come, or not.
type letterbox struct {
	mercury.Carrier
	full bool
}

func (b *letterbox) Receive(time.Duration) (heard bool, err error) { return b.full, nil }

func (b *letterbox) NextDeadline() (time.Duration, bool) { return 0, false }

// countedWaiter counts the waits.
type countedWaiter struct {
	waiter
	waits int
}

func (w *countedWaiter) wait(until time.Duration) time.Duration {
	w.waits++
	return until
}

// What came in a rest is taken without the preparation of a wait, which costs several system calls.
func TestNoWaitForWhatCameInARest(t *testing.T) {
	h, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name         string
		rested, full bool
		waits        int
	}{
		{"something came in the rest", true, true, 0},
		{"nothing came in the rest", true, false, 1},
		{"no rest", false, true, 1},
	} {
		w := &countedWaiter{}
		p := &Process{host: h, net: &Net{}, waiter: w, carriers: []mercury.Carrier{&letterbox{full: test.full}}, meter: meter{off: true}}
		heard, err := p.receive(time.Second, test.rested)
		if err != nil || heard != test.full || w.waits != test.waits {
			t.Errorf("%s: heard %t, %d waits, %v; want %d waits", test.name, heard, w.waits, err, test.waits)
		}
	}
}
