package entity

import (
	"testing"
)

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
		"cell":    CellPart.String(),
		"base":    BasePart.String(),
		"client":  ClientPart.String(),
		"part(9)": Part(9).String(),
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
