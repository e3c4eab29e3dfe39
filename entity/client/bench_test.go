package client

import (
	"testing"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/entity/presence"
	"github.com/cellscape/cellscape/property"
)

// crowd is a client that sees 200 entities, the load of a crowded place, and a packet that says
// where 40 of them are, which is about what one datagram holds.
func crowd(tb testing.TB) (c *Client, packet func(stamp uint32) []byte) {
	r := newRig(tb)
	r.play()
	r.c.cfg.Events = Events{}
	for i := range entity.ID(200) {
		r.say(r.enter(foe+i, float32(i)).Append(r.cell(2)))
	}
	var buf []byte
	var lists protocol.Lists
	list := &lists[protocol.Flagged]
	var e presence.Entity
	return r.c, func(stamp uint32) []byte {
		head := protocol.PacketHead{After: 2, Number: stamp}
		list.Aliases, list.Entries = list.Aliases[:0], list.Entries[:0]
		e.Put(property.Vector3{X: float32(stamp % 1000)}, property.Vector3{}, stamp)
		for i := range uint32(40) {
			list.Aliases = append(list.Aliases, 5*i)
			list.Entries = protocol.AppendFar(list.Entries, &e, head.Origin)
		}
		buf = lists.Append(head.Append(buf[:0]))
		return buf
	}
}

func TestPositionsDoNotAllocate(t *testing.T) {
	c, packet := crowd(t)
	stamp := uint32(1)
	if n := testing.AllocsPerRun(100, func() {
		stamp++
		c.Message(0, c.ch, false, packet(stamp))
	}); n > 0 {
		t.Errorf("%v allocations a packet", n)
	}
	if s := c.Stats(); s.StalePositions+s.UnknownEntities != 0 || c.Entity(foe).Position.X != float32(stamp) {
		t.Errorf("stats %+v", s)
	}
}

// BenchmarkPositions is one packet with the places of 40 of 200 entities. The reference is the
// reading of such a packet alone.
func BenchmarkPositions(b *testing.B) {
	c, packet := crowd(b)
	b.Run("client", func(b *testing.B) {
		stamp := uint32(1)
		for b.Loop() {
			stamp++
			c.Message(0, c.ch, false, packet(stamp))
		}
	})
	b.Run("reading", func(b *testing.B) {
		n := 0
		for b.Loop() {
			if err := protocol.Positions(packet(1), func(*protocol.PacketHead, *protocol.Moved) { n++ }); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkIdleTick is the tick of a client that stands still, and of which nobody tells anything.
func BenchmarkIdleTick(b *testing.B) {
	r := newRig(b)
	r.play()
	for b.Loop() {
		r.now += DefaultTick
		r.c.Tick(r.now)
	}
	if n := len(r.net.Sent); n > 0 {
		b.Logf("%d messages were sent", n)
	}
}
