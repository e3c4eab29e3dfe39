//go:build invariants || race

package flow

import (
	"testing"

	"github.com/cellscape/cellscape/internal/invariant"
)

// TestAsserts plants bugs in both ends of a flow, each of which the next message finds.
func TestAsserts(t *testing.T) {
	for name, plant := range map[string]func(*Sender){
		"a number is left out":             func(o *Sender) { o.next++ },
		"what is kept is not counted":      func(o *Sender) { o.bytes-- },
		"what was not received is settled": func(o *Sender) { o.kept = o.kept[1:] },
		"more is received than was sent":   func(o *Sender) { o.received = o.next },
	} {
		o := NewSender(5)
		add := func() { _, _ = o.Add(0, []byte("hit")) }
		add()
		add()
		plant(&o)
		if invariant.Caught(add) == "" {
			t.Errorf("not caught: %s", name)
		}
	}
	for name, plant := range map[string]func(*Receiver){
		"numbers go back":                  func(in *Receiver) { in.last = 3 },
		"more is saved than was handled":   func(in *Receiver) { in.saved = 100 },
		"more is settled than was saved":   func(in *Receiver) { in.settled = in.saved + 1 },
		"what came early is out of order":  func(in *Receiver) { in.early = []kept{{number: 90}, {number: 80}} },
		"an older stream takes over again": func(in *Receiver) { in.stream = 1 },
	} {
		in := NewReceiver(2, 7)
		take := func() { in.Accept(2, 1, 8, nil, func([]byte) { plant(&in) }) }
		if invariant.Caught(take) == "" {
			t.Errorf("not caught: %s", name)
		}
	}
}
