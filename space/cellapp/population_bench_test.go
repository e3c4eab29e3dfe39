package cellapp

import (
	"fmt"
	"testing"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/ghost"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/migrate"
)

// BenchmarkEntityMessage measures one message about an entity. It costs the same with one cell and
// with a thousand rooms, each with a destroyed real whose base has not yet acknowledged the news.
func BenchmarkEntityMessage(b *testing.B) {
	first := entity.Order{Incarnation: 1}
	gone := ghost.Head{ID: 1 << 40, Order: first, Sequence: ghost.Last}
	ack := flow.Ack{ToPart: entity.CellPart, FromPart: entity.BasePart, Incarnation: 1}
	here, away := ack, ack
	here.To, here.From = 1, 1
	away.To, away.From = gone.ID, gone.ID
	for _, x := range []struct {
		name string
		m    wire.Message
	}{
		{"ghost update", &ghost.Update{Head: gone}},
		{"ghost delete", &ghost.Delete{Head: gone}},
		{"flow ack", &here},
		{"flow ack of one that is not here", &away},
		{"onload ack", &migrate.OnloadAck{ID: 1, Order: first}},
		{"refusal", &migrate.Refuse{ID: gone.ID, Order: first}},
	} {
		for _, rooms := range []entity.SpaceID{1, 1000} {
			b.Run(fmt.Sprintf("%s/rooms=%d", x.name, rooms), func(b *testing.B) {
				r := newRig(b)
				r.join()
				for id := range rooms {
					r.room(id+1, false)
					r.enter(entity.ID(2*id+1), id+1) // it stays
					r.enter(entity.ID(2*id+2), id+1)
					r.from(addr(3), &flow.Message{From: entity.ID(2*id + 2), FromPart: entity.BasePart, To: entity.ID(2*id + 2), ToPart: entity.CellPart,
						Incarnation: 1, Low: 1, Number: 1, Reply: addr(3), Payload: []byte{byte(flow.DestroyPayload)}})
				}
				r.from(addr(2), &ghost.Delete{Head: gone})
				r.tick(2)
				from := addr(3)
				switch x.m.(type) {
				case *ghost.Update, *ghost.Delete, *migrate.OnloadAck:
					from = addr(2)
				}
				if n := r.app.Pending(); n < uint64(rooms) {
					b.Fatalf("%d messages are owed", n)
				}
				ch, msg := r.net.channel(from), wire.Encode(nil, x.m)
				refused := r.app.counters.Refused
				b.ReportAllocs()
				for b.Loop() {
					r.app.Message(r.now, ch, true, msg)
				}
				if n := r.app.counters.Refused - refused; n != 0 {
					b.Errorf("%d messages were refused", n)
				}
			})
		}
	}
}
