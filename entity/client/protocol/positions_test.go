package protocol_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/entity/presence"
	"github.com/cellscape/cellscape/property"
)

// How far off a place on the way may be, in metres, and an angle in radians.
const (
	placeOff = 0.5/presence.Grid + 1e-9
	turnOff  = math.Pi/256 + 1e-6
)

// somewhere is a place within so many metres of another one, and within the world.
func somewhere(rng *rand.Rand, near property.Vector3, far float32) property.Vector3 {
	off := func(x float32) float32 {
		return min(max(x+(rng.Float32()*2-1)*far, -property.MaxCoordinate), property.MaxCoordinate)
	}
	return property.Vector3{X: off(near.X), Y: off(near.Y), Z: off(near.Z)}
}

func facings(rng *rand.Rand) property.Vector3 {
	angle := func() float32 { return (rng.Float32()*2 - 1) * math.Pi }
	v := property.Vector3{X: angle()}
	if rng.IntN(3) == 0 {
		v.Y, v.Z = angle(), angle()
	}
	return v
}

// wrong says how a place differs from what was written by more than rounding does. Coordinates are
// numbers of 32 bits: far out they are coarser than the grid.
func wrong(e *presence.Entity, at, to property.Vector3) string {
	off := func(got, want float32) bool {
		return math.Abs(float64(got)-float64(want)) > placeOff+math.Abs(float64(want))*math.Pow(2, -23)
	}
	turned := func(got, want float32) bool {
		d := math.Mod(math.Abs(float64(got)-float64(want)), 2*math.Pi)
		return min(d, 2*math.Pi-d) > turnOff
	}
	p, d := e.Position, e.Direction
	if off(at.X, p.X) || off(at.Y, p.Y) || off(at.Z, p.Z) || turned(to.X, d.X) || turned(to.Y, d.Y) || turned(to.Z, d.Z) {
		return fmt.Sprintf("%v facing %v was read as %v facing %v", p, d, at, to)
	}
	return ""
}

// packet has places in one list.
func packet(head protocol.PacketHead, manner protocol.Manner, entries []byte, aliases ...uint32) []byte {
	var lists protocol.Lists
	lists[manner] = protocol.List{Aliases: aliases, Entries: entries}
	return lists.Append(head.Append(nil))
}

// nearPacket has one place in the near form.
func nearPacket(m *presence.Motion, yaw bool) []byte {
	manner := protocol.NearBy
	if yaw {
		manner = protocol.Turning
	}
	return packet(protocol.PacketHead{Number: 1}, manner, protocol.NearOf(m).Append(nil, yaw), 3)
}

// wantMoved expects that a packet tells a client where e is, which holds it at a place and facing somewhere.
func wantMoved(t *testing.T, packet []byte, e *presence.Entity, held, facing property.Vector3) {
	t.Helper()
	err := protocol.Positions(packet, func(_ *protocol.PacketHead, m *protocol.Moved) {
		at, to, ok := m.From(held, facing)
		if w := wrong(e, at, to); w != "" || !ok {
			t.Fatal(w, ok)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
}

// The far form tells any client where an entity is: near the watcher, far from it, at the edge of
// the world.
func TestFarPlaces(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		watcher := somewhere(rng, property.Vector3{}, []float32{10, 5000, property.MaxCoordinate}[rng.IntN(3)])
		e := &presence.Entity{}
		e.Put(somewhere(rng, watcher, []float32{5, 100, 1000, 3000}[rng.IntN(4)]), facings(rng), 1)
		head := protocol.PacketHead{Number: 1, Origin: protocol.OriginOf(watcher)}
		packet := packet(head, protocol.Flagged, protocol.AppendFar(nil, e, head.Origin), 3)
		held, facing := somewhere(rng, watcher, 3000), facings(rng) // whatever it is
		wantMoved(t, packet, e, held, facing)
	}
}

// A seat is told as a place is, but counted from the vehicle, wherever the packet's origin is; the forms of
// the first two lists have none, and nobody comes back to one.
func TestSeats(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 2))
	read := func(entry []byte, e *presence.Entity, held, facing property.Vector3) {
		t.Helper()
		protocol.MarkSeat(entry)
		wantMoved(t, packet(protocol.PacketHead{Number: 1, Origin: [2]int32{500, -90}}, protocol.Flagged, entry, 3), e, held, facing)
	}
	for range 5000 {
		held, facing := somewhere(rng, property.Vector3{}, 60), facings(rng)
		e := &presence.Entity{}
		e.Put(held, facing, 1)
		read(protocol.MiddleOf(&e.Motion).Append(nil, true, true), e, held, facing)
		read(protocol.AppendFar(nil, e, [2]int32{}), e, property.Vector3{X: 70, Z: 70}, facings(rng))
		read(protocol.AppendWhole(nil, e), e, property.Vector3{}, property.Vector3{})
	}
	entry := protocol.AppendWhole(nil, &presence.Entity{})
	protocol.MarkSeat(entry)
	back := protocol.Return{Slot: 1, Alias: 2, Entry: entry}
	err := protocol.Messages(back.Append(nil), func(_ protocol.ID, body []byte) error { return new(protocol.Return).Parse(body) })
	if !errors.Is(err, protocol.ErrMalformed) {
		t.Errorf("somebody came back to a seat: %v", err)
	}
}

// placed is an entity that is near the middle of the world, or far from it.
func placed(rng *rand.Rand) *presence.Entity {
	e := &presence.Entity{}
	e.Put(somewhere(rng, property.Vector3{}, []float32{1, 1000, 100_000}[rng.IntN(3)]), facings(rng), 1)
	return e
}

// The near form tells a client that holds any place from which the entity has gone no farther than
// NearReach, rounded or not.
func TestNearPlaces(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 3))
	for range 20_000 {
		e := placed(rng)
		held, facing := e.Position, e.Direction
		if rng.IntN(2) == 0 { // what a packet told
			held.X, held.Z = float32(e.Motion.X)/presence.Grid, float32(e.Motion.Z)/presence.Grid
		}
		began := e.Motion
		for stamp := uint32(2); ; stamp++ {
			next := e.Position
			next.X += (rng.Float32() - 0.5) * 0.9
			next.Z += (rng.Float32() - 0.5) * 0.9
			next = somewhere(rng, next, 0)
			to := e.Direction
			if rng.IntN(3) == 0 {
				to.X = rng.Float32()
			}
			e.Put(next, to, stamp)
			if e.Motion.Path-began.Path > protocol.NearReach {
				break
			}
			wantMoved(t, nearPacket(&e.Motion, e.Motion.Turned > 1), e, held, facing)
		}
	}
}

// The middle form tells a client that holds any place from which the entity has gone no farther than
// MiddleReach, and up and down no farther than RiseReach.
func TestMiddlePlaces(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 5))
	for range 2_000 {
		e := placed(rng)
		held, facing := e.Position, e.Direction
		if rng.IntN(2) == 0 { // what a packet told
			m := &e.Motion
			held = property.Vector3{X: float32(m.X) / presence.Grid, Y: float32(m.Height) / presence.Grid, Z: float32(m.Z) / presence.Grid}
		}
		began := e.Motion
		climbs := rng.Float32() * float32(rng.IntN(2))
		for stamp := uint32(2); ; stamp++ {
			next, to := e.Position, e.Direction
			next.X += (rng.Float32() - 0.5) * 9
			next.Y += (rng.Float32() - 0.5) * climbs
			next.Z += (rng.Float32() - 0.5) * 9
			if rng.IntN(3) == 0 {
				to.X = rng.Float32()
			}
			e.Put(next, to, stamp)
			if e.Motion.Path-began.Path > protocol.MiddleReach || e.Motion.Rise-began.Rise > protocol.RiseReach {
				break
			}
			entry := protocol.MiddleOf(&e.Motion).Append(nil, e.Motion.Turned > 1, e.Motion.Rose > 1)
			packet := packet(protocol.PacketHead{Number: 1}, protocol.Flagged, entry, 3)
			wantMoved(t, packet, e, held, facing)
		}
	}
}

// What a packet costs: the numbers of package doc.
func TestPlacesAreSmall(t *testing.T) {
	head := protocol.PacketHead{After: 5000, Number: 5000, Epoch: 1, Origin: [2]int32{20, -30}}
	var aliases []uint32
	var near, turning []byte
	e := &presence.Entity{}
	e.Put(property.Vector3{X: 1280, Z: -1900}, property.Vector3{X: 1}, 1)
	for i := range uint32(62) {
		aliases = append(aliases, i+i/10)
		near, turning = protocol.NearOf(&e.Motion).Append(near, false), protocol.NearOf(&e.Motion).Append(turning, true)
	}
	if got := float64(len(packet(head, protocol.NearBy, near, aliases...))) / 62; got > 2.4 {
		t.Errorf("a place without yaw takes %.2f bytes", got)
	}
	if got := float64(len(packet(head, protocol.Turning, turning, aliases...))) / 62; got > 3.4 {
		t.Errorf("a place with yaw takes %.2f bytes", got)
	}
}

// Aliases arrive in their order, few of many and many of few.
func TestAliases(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 4))
	for range 500 {
		most := 1 + rng.IntN([]int{10, 300, protocol.MaxAlias}[rng.IntN(3)])
		var want, got []uint32
		for a := range uint32(most) {
			if rng.IntN(max(1, most/100)) == 0 {
				want = append(want, a)
			}
		}
		manner := protocol.Manner(rng.IntN(2))
		packet := packet(protocol.PacketHead{Number: 1}, manner, make([]byte, len(want)*(2+int(manner))), want...)
		if err := protocol.Positions(packet, func(_ *protocol.PacketHead, m *protocol.Moved) { got = append(got, m.Alias) }); err != nil || !slices.Equal(got, want) {
			t.Fatalf("%v was read as %v: %v", want, got, err)
		}
	}
}

func TestMalformedPositions(t *testing.T) {
	head := protocol.PacketHead{Number: 1}
	m := &presence.Motion{X: 5, Yaw: 7}
	lists := protocol.Lists{
		{Aliases: []uint32{2}, Entries: protocol.NearOf(m).Append(nil, false)},
		{Aliases: []uint32{1}, Entries: protocol.NearOf(m).Append(nil, true)},
		{Aliases: []uint32{70}, Entries: protocol.MiddleOf(m).Append(nil, false, true)},
	}
	whole := lists.Append(head.Append(nil))
	read := func(b []byte) error { return protocol.Positions(b, func(*protocol.PacketHead, *protocol.Moved) {}) }
	if err := read(whole); err != nil {
		t.Fatal(err)
	}
	for n := range whole {
		if err := read(whole[:n]); !errors.Is(err, protocol.ErrMalformed) {
			t.Errorf("cut at %d: %v", n, err)
		}
	}
	bare := head.Append(nil)
	for name, tail := range map[string][]byte{
		"more aliases than bytes":   {0xff, 0x7f, 0, 0},
		"an alias out of range":     {1 << 1, 0xff, 0xff, 0xff, 0x7f, 0, 0, 0, 0},
		"more bits than aliases":    {1<<1 | 1, 0xff, 0, 0, 0, 0},
		"a list too few":            {0, 0},
		"near, cut short":           {1 << 1, 0, 0, 0, 9},
		"near, without its yaw":     {0, 1 << 1, 0, 0, 9, 9},
		"a flag that none sends":    {0, 0, 1 << 1, 0, 0x80, 0, 0, 0, 0},
		"middle, and whole":         {0, 0, 1 << 1, 0, 1<<5 | 1<<4, 0, 0, 0},
		"middle, cut short":         {0, 0, 1 << 1, 0, 1 << 5, 0, 0},
		"whole, and something more": append([]byte{0, 0, 1 << 1, 0, 1<<4 | 1<<0}, make([]byte, 25)...),
		"news without a body":       {0, 0, 0, 1, 0},
		"news of no alias":          {0, 0, 0, 0xfe, 0xff, 0xff, 0x7f, 1, 1},
		"news cut short":            {0, 0, 0, 1, 2, 1},
		"something behind the end":  {0, 0, 0, 1},
	} {
		if err := read(append(slices.Clone(bare), tail...)); !errors.Is(err, protocol.ErrMalformed) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Whatever comes, the reader errs or gives places; what it gives is within the world, or told apart.
func FuzzPositions(f *testing.F) {
	head := protocol.PacketHead{After: 3, Number: 9, Epoch: 1, Origin: [2]int32{1, 2}}
	e := &presence.Entity{}
	e.Put(property.Vector3{X: 70, Y: 3, Z: 130}, property.Vector3{X: 1, Y: 0.5}, 1)
	near := protocol.NearOf(&e.Motion).Append(protocol.NearOf(&e.Motion).Append(nil, false), false)
	f.Add(packet(head, protocol.Flagged, protocol.AppendFar(nil, e, head.Origin), 1))
	f.Add(packet(head, protocol.Flagged, protocol.AppendWhole(protocol.MiddleOf(&e.Motion).Append(nil, true, true), e), 1, 2))
	f.Add(packet(head, protocol.Turning, protocol.NearOf(&e.Motion).Append(nil, true), 1))
	seat := protocol.AppendFar(nil, e, [2]int32{})
	protocol.MarkSeat(seat)
	f.Add(packet(head, protocol.Flagged, seat, 1))
	news := protocol.News{Alias: 300, Body: []byte{2, 1}}
	whisper := protocol.News{Alias: 2, Call: true, Body: protocol.AppendWhisper(nil, 0, []byte{7})}
	f.Add(whisper.Append(news.Append(packet(head, protocol.NearBy, near, 1, 2))))
	f.Fuzz(func(t *testing.T, packet []byte) {
		last, order, lists := int64(-1), uint32(0), 1
		var reader protocol.PositionsReader
		_ = reader.Read(packet, func(h *protocol.PacketHead, m *protocol.Moved) {
			if int64(m.Alias) <= last {
				lists++
			}
			if lists > len(protocol.Lists{}) || m.Alias >= protocol.MaxAlias {
				t.Fatalf("alias %d after %d, in list %d", m.Alias, last, lists)
			}
			last = int64(m.Alias)
			if at, _, ok := m.From(property.Vector3{X: 1, Z: -9}, property.Vector3{}); ok && !property.Finite(at) {
				t.Fatalf("at %v", at)
			}
		}, func(_ *protocol.PacketHead, n *protocol.News) {
			if n.Alias >= protocol.MaxAlias || len(n.Body) == 0 || n.Order != order {
				t.Fatalf("%+v after %d", n, order)
			}
			order++
		})
	})
}

// Seen agrees with a set of numbers.
func TestSeen(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 5))
	for range 200 {
		var s protocol.Seen
		came := map[uint32]bool{}
		at := uint32(0)
		for range 200 {
			at += uint32(rng.IntN(4))
			n := at - min(at, uint32(rng.IntN(40))*uint32(rng.IntN(2)))
			if n == 0 {
				continue
			}
			known := n+32 >= s.Packet
			s.Note(n)
			if known {
				came[n] = true
			}
			for k := range at + 3 {
				if s.Has(k) && !came[k] || came[k] && k+32 >= s.Packet && !s.Has(k) {
					t.Fatalf("packet %d: Has says %v; last %d, earlier %b", k, s.Has(k), s.Packet, s.Earlier)
				}
			}
		}
	}
}

func BenchmarkPositions(b *testing.B) {
	head := protocol.PacketHead{After: 3, Number: 9}
	var aliases []uint32
	e := &presence.Entity{}
	e.Put(property.Vector3{X: 70, Y: 3, Z: 130}, property.Vector3{X: 1}, 1)
	for i := range uint32(62) {
		aliases = append(aliases, i)
	}
	var packet []byte
	lists := protocol.Lists{protocol.Turning: {Aliases: aliases}}
	write := func() {
		list := &lists[protocol.Turning]
		list.Entries = list.Entries[:0]
		for range aliases {
			list.Entries = protocol.NearOf(&e.Motion).Append(list.Entries, true)
		}
		packet = lists.Append(head.Append(packet[:0]))
	}
	write()
	b.Run("read", func(b *testing.B) {
		var r protocol.PositionsReader
		n := 0
		for b.Loop() {
			if err := r.Read(packet, func(_ *protocol.PacketHead, m *protocol.Moved) {
				if _, _, ok := m.From(e.Position, e.Direction); ok {
					n++
				}
			}, func(*protocol.PacketHead, *protocol.News) {}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("write", func(b *testing.B) {
		for b.Loop() {
			write()
		}
	})
}
