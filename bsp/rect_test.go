package bsp

import (
	"math"
	"testing"
)

func TestBand(t *testing.T) {
	inf := math.Inf(1)
	for _, tt := range []struct {
		r    Rect
		x, z float64
	}{
		{Rect{MinX: -inf, MinZ: -inf, MaxX: inf, MaxZ: inf}, 10, 10},
		{Rect{MaxX: 40, MaxZ: inf}, 10, 10},
		{Rect{MaxX: 20, MaxZ: 1000}, 5, 10},
		{Rect{MinX: -1000, MaxX: 1000, MinZ: 7, MaxZ: 9}, 10, 0.5},
		{Rect{MaxX: 100}, 10, 0},
	} {
		if x, z := tt.r.Band(AxisX, 10), tt.r.Band(AxisZ, 10); x != tt.x || z != tt.z {
			t.Errorf("%v: %v and %v, want %v and %v", tt.r, x, z, tt.x, tt.z)
		}
	}
}
