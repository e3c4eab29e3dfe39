package witness

import (
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/cellscape/cellscape/entity/client/protocol"
)

// From nearFrom on the near form is right, and from middleFrom on the middle one, and from not much
// earlier on they are not: a twin that keeps all that was shown says from when on.
func TestSubjectKnowsHowFarFormsReach(t *testing.T) {
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(seed, 9))
		e := newEntity(testDefinition(t), 1, 1, 0, 0)
		s := Subject{Entity: e}
		speed := []float32{0.01, 0.1, 0.5, 3}[rng.IntN(4)]
		climbs := []int{1, 5, 100}[rng.IntN(3)]
		var flat, all []mark // since the height changed, and since ever
		var turned, rose moment
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
				if rng.IntN(climbs) == 0 {
					if p.Y += rng.Float32() * speed; p.Y != e.Position.Y {
						flat, rose = nil, now
					}
				}
				e.MoveTo(tick, p, d)
			}
			s.Show(tick)
			if tick == 1 {
				turned, rose = now, now
			}
			here := mark{now, e.Motion.Path, e.Motion.Rise}
			flat, all = append(flat, here), append(all, here)
			compareReach(t, "near", s.nearFrom, flat, protocol.NearReach)
			compareReach(t, "middle", s.middleFrom, all, protocol.MiddleReach)
			if s.turned != turned || s.rose != rose {
				t.Fatalf("turned at %d, not %d; rose at %d, not %d", s.turned, turned, s.rose, rose)
			}
		}
	}
}

func compareReach(t *testing.T, form string, from moment, all []mark, reach uint32) {
	t.Helper()
	const rise = protocol.RiseReach
	here := all[len(all)-1]
	first := here.at // at the latest
	for i := len(all) - 1; i >= 0 && all[i].within(here, reach-reach/markSteps-1, rise-rise/markSteps-1); i-- {
		first = all[i].at
	}
	for _, x := range all {
		if !from.after(x.at) && !x.within(here, reach, rise) {
			t.Fatalf("at %d the %s form is good from %d on, and since %d the entity has gone from %v to %v", here.at, form, from, x.at, x, here)
		}
	}
	if from.after(first) || !from.after(all[0].at-1) {
		t.Fatalf("at %d the %s form is good from %d on, the twin says %d", here.at, form, from, first)
	}
}

// What a witness reads of an entity in each tick fits one line of memory.
func TestSubjectReadsFromOneLine(t *testing.T) {
	if size := unsafe.Sizeof(sight{}); size > 64 {
		t.Errorf("a sight takes %d bytes", size)
	}
	if size := unsafe.Sizeof(entry{}); size > 64 {
		t.Errorf("an entry takes %d bytes", size)
	}
}
