package sim

import (
	"math"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/property"
)

// misbehave is a client's program that was made to do harm: it sends what no honest client would,
// over a session of its own. Only this player may suffer.
func (pl *player) misbehave() {
	c := pl.c.chance
	if c.IntN(8) != 0 {
		return
	}
	pl.rude = true
	b, unreliable := pl.mischief()
	if unreliable || c.IntN(20) == 0 {
		_, err := pl.p.ep.SendUnreliable(pl.ch, b[:min(len(b), pl.p.ep.MaxUnreliable(pl.ch))])
		pl.tried(err)
		return
	}
	pl.tried(pl.p.ep.Send(pl.ch, b))
}

// mischief makes what no honest client sends; unreliable says that it is to go beside the order.
func (pl *player) mischief() (b []byte, unreliable bool) {
	c := pl.c.chance
	switch c.IntN(11) {
	case 0: // rubbish
		b = pl.rubbish(1 + c.IntN(200))
	case 1: // a call of any method of anyone, with any arguments
		target := pl.client.Player().ID
		if c.IntN(2) == 0 {
			target = entity.ID(c.Uint64() & uint64(entity.MaxID))
		}
		m := protocol.CellCall{Target: target, Method: uint16(c.IntN(6)), Args: pl.rubbish(c.IntN(20))}
		b = m.Append(nil)
	case 2: // the same to a base
		m := protocol.BaseCall{Method: uint16(c.IntN(4)), Args: pl.rubbish(c.IntN(20))}
		b = m.Append(nil)
	case 3: // too many at once
		for range 700 {
			m := protocol.Move{Sequence: c.Uint32(), Position: pl.client.Player().Position}
			b = m.Append(b)
		}
	case 4: // too much at once
		m := protocol.CellCall{Target: pl.client.Player().ID, Args: pl.rubbish(60_000)}
		b = m.Append(nil)
	case 5: // somewhere else, perhaps nowhere
		wild := [...]float32{float32(math.NaN()), float32(math.Inf(1)), math.MaxFloat32, -1e30, 300, -300}
		m := protocol.Move{Sequence: c.Uint32(), Position: property.Vector3{X: wild[c.IntN(len(wild))], Z: wild[c.IntN(len(wild))]}}
		return m.Append(nil), c.IntN(2) == 0
	case 6: // a second claim
		var m protocol.Attach
		copy(m.Token[:], pl.rubbish(len(m.Token)))
		b = m.Append(nil)
	case 7: // cut short
		m := protocol.CellCall{Target: pl.client.Player().ID, Args: pl.rubbish(20)}
		b = m.Append(nil)
		b = b[:c.IntN(len(b))+1]
	case 8: // audits cost the server more than the client
		for range 100 {
			b = protocol.AppendAuditRequest(b)
		}
	case 9: // a session that is another's, or nobody's
		var m protocol.Resume
		copy(m.Token[:], pl.rubbish(len(m.Token)))
		m.Has = protocol.Counts{c.Uint64(), c.Uint64()}
		b = m.Append(nil)
	case 10: // what it has had, or not
		m := protocol.Heard{Has: protocol.Counts{uint64(c.IntN(100)), uint64(c.IntN(1000))}}
		b = m.Append(nil)
	}
	return b, false
}

// tried notes what a rogue could not send: that is as much part of its run as what it could.
func (pl *player) tried(err error) {
	if err != nil {
		pl.c.trace.Event(pl.c.now, "balk", "%s: %v", pl.name, err)
	}
}

func (pl *player) rubbish(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(pl.c.chance.Uint32())
	}
	return b
}
