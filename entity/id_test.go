package entity

import (
	"errors"
	"testing"
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
	last := ID(0)
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
	a.next = 1<<counterBits - 1
	id, err := a.Next()
	if err != nil || id != MaxID {
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
	a.next = 1<<counterBits - 1
	last, _ := a.Next()
	first, _ := b.Next()
	if last >= first {
		t.Errorf("the last of one, %v, is not before the first of the next, %v", last, first)
	}
}

func TestOrder(t *testing.T) {
	rising := []Order{{}, {0, 1}, {0, 1 << 31}, {1, 0}, {1, 1}, {2, 0}}
	for i, o := range rising {
		for j, p := range rising {
			want := 0
			if i < j {
				want = -1
			} else if i > j {
				want = 1
			}
			if o.Compare(p) != want || o.Before(p) != (want < 0) {
				t.Errorf("%v to %v: %d, want %d", o, p, o.Compare(p), want)
			}
		}
		if next := o.NextHop(); !o.Before(next) || next.Incarnation != o.Incarnation {
			t.Errorf("%v hops to %v", o, next)
		}
	}
}

func TestNames(t *testing.T) {
	for want, got := range map[string]string{
		"5.77":    (5<<32 | ID(77)).String(),
		"3/2":     Order{3, 2}.String(),
		"cell":    CellSide.String(),
		"base":    BaseSide.String(),
		"client":  ClientSide.String(),
		"side(9)": Side(9).String(),
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	for _, id := range []ID{0, MaxID + 1} {
		if id.Valid() {
			t.Errorf("%d is taken for an id", id)
		}
	}
}
