package witness

import (
	"bytes"
	"slices"
	"testing"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/property"
)

// Witnesses that share a Scratch say what those say that have one each: nothing that one leaves there
// bears on another. That holds with room for all and with room for few, when packets come back as
// unsent, and when somebody enters between two Updates.
func TestScratchIsShared(t *testing.T) {
	const players, view = 30, 20
	for _, budget := range []int{0, 60, 150} {
		d := testDefinition(t)
		subjects := make([]*Subject, players)
		var sets [2][]*Witness // with one each, and with the same
		var shared Scratch
		for i := range subjects {
			subjects[i] = &Subject{Entity: newEntity(d, entity.ID(i+1), 1, float32(i%6)*30, float32(i/6)*30)}
		}
		for k := range sets {
			for i := range players {
				w := New(Config{BytesPerTick: budget})
				if k == 1 {
					w.WorkWith(&shared)
				}
				for n := range view {
					w.Enter(subjects[(i+1+n)%players])
				}
				sets[k] = append(sets[k], w)
			}
		}
		sent := 0
		for tick := uint64(100); tick < 160; tick++ {
			for i, s := range subjects {
				p := s.Entity.Position
				p.X += 0.1 * float32(i%7)
				s.Entity.MoveTo(tick, p, property.Vector3{X: float32(uint64(i) + tick/9)})
				s.Show(tick)
			}
			for i := range players {
				var said [2][][]byte
				for k := range sets {
					w := sets[k][i]
					w.Saw(&protocol.Seen{Bundle: w.number, Packet: max(w.moves.number, 1) - 1, Earlier: 1<<32 - 1})
					bundle, packets := w.Update(subjects[i].Entity, tick, nil, false)
					for _, m := range append([][]byte{bundle}, packets...) {
						said[k] = append(said[k], bytes.Clone(m))
						sent += len(m)
					}
					if len(packets) > 0 && (uint64(i)+tick)%11 == 0 {
						w.Unsent(0)
					}
					if (uint64(i)+tick)%13 == 0 {
						far := (i + 1 + view) % players
						w.Leave(subjects[far].Entity.ID)
						w.Enter(subjects[far])
					}
				}
				if !slices.EqualFunc(said[0], said[1], bytes.Equal) {
					t.Fatalf("budget %d, tick %d: with memory of its own the witness says %x, else %x", budget, tick, said[0], said[1])
				}
			}
		}
		if sent == 0 {
			t.Fatal("nothing was sent")
		}
	}
}
