package space

import (
	"math"
	"testing"

	"github.com/cellscape/cellscape/bsp"
)

func FuzzLostArea(f *testing.F) {
	lost := LostArea{bsp.CellID{Term: 1, N: 2}, bsp.Everything()}
	f.Add(lost.Append(nil))
	lost.Area = bsp.Rect{MinX: -1, MinZ: 2, MaxX: math.NaN(), MaxZ: 3}
	f.Add(lost.Append(nil))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		var l, again LostArea
		if l.Parse(b) != nil {
			return
		}
		if l.Area.Empty() {
			t.Errorf("%v is taken for an area", l.Area)
		}
		if err := again.Parse(l.Append(nil)); err != nil || again != l {
			t.Errorf("%v became %v, %v", l, again, err)
		}
	})
}
