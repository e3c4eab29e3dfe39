package app

import (
	"errors"
	"testing"

	"github.com/cellscape/cellscape/entity"
)

func TestAllocator(t *testing.T) {
	for _, bad := range []uint32{0, MaxAllocator + 1} {
		if _, err := NewAllocator(bad); err == nil {
			t.Errorf("allocator %d is taken", bad)
		}
	}
	a, err := NewAllocator(MaxAllocator)
	if err != nil {
		t.Fatal(err)
	}
	last := entity.ID(0)
	for range 1000 {
		id, err := a.Next()
		if err != nil || !id.Valid() || id <= last {
			t.Fatalf("%v after %v: %v", id, last, err)
		}
		last = id
	}
	if got, want := last.String(), "2097151.1000"; got != want {
		t.Errorf("the thousandth is %s, want %s", got, want)
	}
	a.next = 1<<idBits - 1
	id, err := a.Next()
	if err != nil || id != entity.MaxID {
		t.Errorf("the very last is %v: %v", id, err)
	}
	for range 2 {
		if _, err := a.Next(); !errors.Is(err, ErrIDsExhausted) {
			t.Errorf("after the last: %v", err)
		}
	}
}

func TestAllocatorsDoNotMeet(t *testing.T) {
	a, _ := NewAllocator(7)
	b, _ := NewAllocator(8)
	a.next = 1<<idBits - 1
	last, _ := a.Next()
	first, _ := b.Next()
	if last >= first {
		t.Errorf("the last of one, %v, is not before the first of the next, %v", last, first)
	}
}
