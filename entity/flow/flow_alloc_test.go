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

// So does one that is settled in heaps, like what is sent to a base that is copied once in a while; what it
// holds on to is bounded.
func TestHeapsDoNotAllocate(t *testing.T) {
	var o Sender
	payload := make([]byte, 100)
	heap := func() {
		for range 100 {
			if _, err := o.Add(0, payload); err != nil {
				t.Fatal(err)
			}
		}
		o.Settle(0, o.Last())
	}
	if n := testing.AllocsPerRun(20, heap); n != 0 {
		t.Errorf("%v allocations a heap", n)
	}
	payload = make([]byte, 1000)
	heap()
	if o.spare > maxSpares {
		t.Errorf("%d bytes are held on to", o.spare)
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
	held := 0
	for _, p := range o.spares {
		held += cap(p)
	}
	if held > maxSpare || held != o.spare {
		t.Errorf("%d bytes are held on to, counted as %d", held, o.spare)
	}
}
