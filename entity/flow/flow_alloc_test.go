package flow

import (
	"testing"
	"time"
)

// A flow that is settled as it goes, like that of a witness's bundles, uses its memory again.
func TestFlowDoesNotAllocate(t *testing.T) {
	var o Sender
	payload := make([]byte, 1000)
	now := time.Duration(0)
	if n := testing.AllocsPerRun(100, func() {
		now += 100 * time.Millisecond
		last, err := o.Add(now, payload)
		if err != nil {
			t.Fatal(err)
		}
		o.Settle(now, last)
	}); n != 0 {
		t.Errorf("%v allocations a message", n)
	}
}

// A Sender must not hold on to what is settled, nor overwrite what it keeps.
func TestSettledPayloadsAreLetGo(t *testing.T) {
	var o Sender
	for i := range 10 {
		if _, err := o.Add(0, []byte{byte(i)}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := o.Add(0, make([]byte, 2*maxSpare)); err != nil {
		t.Fatal(err)
	}
	o.Settle(0, 5)
	for i, k := range o.kept[:cap(o.kept)][len(o.kept):] {
		if k.payload != nil {
			t.Errorf("place %d beyond the end holds a payload", i)
		}
	}
	if _, err := o.Add(0, []byte{99}); err != nil {
		t.Fatal(err)
	}
	want := byte(5)
	o.Each(0, func(n uint64, p []byte) {
		if n <= 10 && p[0] != want {
			t.Errorf("message %d is %d now, it was %d", n, p[0], want)
		}
		want++
	})
	o.Settle(0, 11)
	if cap(o.spare) > maxSpare {
		t.Errorf("%d bytes are held on to", cap(o.spare))
	}
}
