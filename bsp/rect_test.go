package bsp

import (
	"math"
	"testing"
)

func TestBand(t *testing.T) {
	inf := math.Inf(1)
	for _, tt := range []struct {
		r    Rect
		want float64
	}{
		{Rect{MinX: -inf, MinZ: -inf, MaxX: inf, MaxZ: inf}, 10},
		{Rect{MaxX: 40, MaxZ: inf}, 10},
		{Rect{MaxX: 20, MaxZ: 1000}, 5},
		{Rect{MinX: -1000, MaxX: 1000, MinZ: 7, MaxZ: 9}, 0.5},
		{Rect{MaxX: 100}, 0},
	} {
		if got := tt.r.Band(10); got != tt.want {
			t.Errorf("%v: %v, want %v", tt.r, got, tt.want)
		}
	}
}
