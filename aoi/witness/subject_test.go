package witness

import (
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/cellscape/cellscape/entity/client/protocol"
)

// From nearFrom on the near form is right, and from not much earlier on it is not: a twin that keeps
// all that was shown says from when on.
func TestSubjectKnowsHowFarTheNearFormReaches(t *testing.T) {
	type shown struct {
		at   moment
		path uint32
	}
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 9))
		e := newEntity(testDefinition(t), 1, 1, 0, 0)
		s := Subject{Entity: e}
		speed := []float32{0.01, 0.1, 0.5, 3}[rng.IntN(4)]
		var all []shown // since the height changed
		var turned moment
		for tick := uint64(1); tick < 2000; tick++ {
			now := moment(tick) + 1
			if rng.IntN(3) > 0 {
				p, d := e.Position, e.Direction
				p.X += (rng.Float32()*2 - 1) * speed
				p.Z += (rng.Float32()*2 - 1) * speed
				if rng.IntN(5) == 0 {
					d.X++
					turned = now
				}
				if rng.IntN(100) == 0 {
					p.Y++
					all = nil
				}
				e.MoveTo(tick, p, d)
			}
			s.Show(tick)
			if tick == 1 {
				turned = now
			}
			all = append(all, shown{now, e.Motion.Path})
			first := all[len(all)-1].at
			for _, x := range all {
				gone := e.Motion.Path - x.path
				if !s.nearFrom.after(x.at) && gone > protocol.NearReach {
					t.Fatalf("at %d the near form is good from %d on, and since %d the entity has gone %d", now, s.nearFrom, x.at, gone)
				}
				if gone <= protocol.NearReach-markStep {
					first = min(first, x.at)
				}
			}
			if s.nearFrom.after(first) || !s.nearFrom.after(all[0].at-1) || s.turned != turned {
				t.Fatalf("at %d the near form is good from %d on, the twin says %d; turned at %d, not %d", now, s.nearFrom, first, s.turned, turned)
			}
		}
	}
}

// What a witness reads of an entity in each tick fits one line of memory.
func TestSubjectReadsFromOneLine(t *testing.T) {
	var s Subject
	if size := unsafe.Offsetof(s.marks); size > 64 {
		t.Errorf("the head of a Subject takes %d bytes", size)
	}
	if size := unsafe.Sizeof(entry{}); size > 64 {
		t.Errorf("an entry takes %d bytes", size)
	}
}
