package space

import (
	"fmt"
	"testing"

	"github.com/cellscape/cellscape/entity"
)

// BenchmarkCheck runs the offload and ghost check of a cell on which 100 reals stand near the line,
// with ghosts beyond it, and the others deep inside. The others should cost nothing: compare the
// first with the last.
func BenchmarkCheck(b *testing.B) {
	for _, reals := range []entity.ID{100, 1000, 10000} {
		b.Run(fmt.Sprintf("100 of %d", reals), func(b *testing.B) {
			r := newRig(b, 2)
			c := r.apps[0].cell
			for id := entity.ID(1); id <= reals; id++ {
				x := float32(-5000 - int(id)) // in id order, those near the line stand among the others
				if id%(reals/100) == 0 {
					x = -50
				}
				r.create(id, x, 0)
			}
			r.tick(30)
			if len(c.border.list) != 100 || r.apps[1].cell.Ghosts() != 100 {
				b.Fatalf("%d are near the line, with %d ghosts", len(c.border.list), r.apps[1].cell.Ghosts())
			}
			b.ReportAllocs()
			for b.Loop() {
				c.check()
			}
		})
	}
}
