package baseapp

import (
	"io"
	"log/slog"
	"testing"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/property"
)

// A tick in which nobody comes or goes uses its memory again: a player moves and says what it has
// seen, its cell part tells it of places and of a change.
func TestTickDoesNotAllocate(t *testing.T) {
	r := joinedRig(t, func(c *Config) { c.Log = slog.New(slog.NewTextHandler(io.Discard, nil)) })
	p, id, _ := r.playLive()
	r.net.forgets = true
	cell := r.from[appX]
	payload := bundle(1, string(make([]byte, 200)))
	places := wire.Encode(nil, &wire.ClientPacket{ID: id, Order: entity.Order{Incarnation: 1}, Session: 1, Packet: make([]byte, 100)})
	var number uint64
	var up, move, heard []byte
	f := flow.Message{From: id, FromPart: entity.CellPart, To: id, ToPart: entity.BasePart, Incarnation: 1, Reply: appX, Payload: payload}
	tick := func() {
		number++
		m := protocol.Move{Sequence: uint32(number), Position: property.Vector3{X: float32(number % 10)}}
		move = m.Append(move[:0])
		p.whisper(move)
		has := protocol.Heard{Has: protocol.Counts{2, number - 1}} // the base has sent a BasePlayer and a Reset
		heard = has.Append(heard[:0])
		p.say(heard)
		f.Low, f.Number = number, number
		up = wire.Encode(up[:0], &f)
		r.a.Message(r.now, cell, true, up)
		r.a.Message(r.now, cell, false, places)
		r.tick()
	}
	for range 300 {
		tick()
	}
	before := r.net.count
	tick()
	if sent := r.net.count - before; sent < 3 { // the move, the change, the places
		t.Fatalf("%d messages are sent in a tick", sent)
	}
	if n := testing.AllocsPerRun(100, tick); n > 0 {
		t.Errorf("%v allocations a tick", n)
	}
	if v, ok := r.view(id); !ok || !v.Live {
		t.Fatal("the player is gone")
	}
}
