package navigation

import (
	"bytes"
	"testing"

	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space/internal/gait"
)

// FuzzWalk takes any bytes for the state of a walk. What is taken is written as it was read.
func FuzzWalk(f *testing.F) {
	for _, w := range []walk{
		{to: property.Vector3{X: 1}, speed: 3, whole: true},
		{speed: 3, corners: []property.Vector3{{X: 1}, {Z: 5}}},
		{speed: 3, gait: gait.Gait{Acceleration: 2, Speed: 1, Through: true}, whole: true, corners: []property.Vector3{{X: 1}}},
	} {
		b := w.AppendState(nil)
		if err := new(walk).ReadState(b); err != nil {
			f.Fatal(err)
		}
		f.Add(b)
		f.Add(b[:len(b)-1])
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var w walk
		if err := w.ReadState(b); err != nil {
			return
		}
		if got := w.AppendState(nil); !bytes.Equal(got, b) {
			t.Fatalf("%x is read as %+v and written as %x", b, w, got)
		}
	})
}
