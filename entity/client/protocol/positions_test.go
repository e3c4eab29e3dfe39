package protocol_test

import (
	"bytes"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/property"
)

// positions writes a packet.
func positions(after uint64, origin property.Vector3, places []protocol.Place) []byte {
	var w protocol.PacketWriter
	b := w.Begin(protocol.BeginPositions(nil, after), origin)
	for i := range places {
		b = w.Append(b, &places[i])
	}
	return b
}

// readPositions reads a packet; every entry must carry the same number.
func readPositions(t testing.TB, packet []byte) (after uint64, places []protocol.Place, err error) {
	t.Helper()
	err = protocol.Positions(packet, func(n uint64, p *protocol.Place) {
		if len(places) > 0 && n != after {
			t.Errorf("after %d, then %d", after, n)
		}
		after = n
		places = append(places, *p)
	})
	return after, places, err
}

// apart is the largest difference of a coordinate.
func apart(a, b property.Vector3) float64 {
	return max(math.Abs(float64(a.X)-float64(b.X)), math.Abs(float64(a.Y)-float64(b.Y)), math.Abs(float64(a.Z)-float64(b.Z)))
}

// Entries arrive as they were, apart from the rounding that the protocol allows: near by, far away,
// at the edge of the world, with directions that are angles and that are not, from more allocators
// than a packet keeps.
func TestPositions(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	random := func(far float32) property.Vector3 {
		return property.Vector3{X: (rng.Float32()*2 - 1) * far, Y: (rng.Float32()*2 - 1) * far, Z: (rng.Float32()*2 - 1) * far}
	}
	for range 300 {
		origin := random([]float32{10, 5000, entity.MaxCoordinate}[rng.IntN(3)])
		var want []protocol.Place
		for range rng.IntN(40) {
			p := protocol.Place{
				ID:    entity.ID(1+rng.Uint64N(6)*rng.Uint64N(1<<18))<<32 | entity.ID(rng.Uint32()>>rng.IntN(32)),
				Stamp: rng.Uint32() >> rng.IntN(32),
			}
			far := random([]float32{100, 520, 3000}[rng.IntN(3)])
			clamp := func(x float32) float32 { return min(max(x, -entity.MaxCoordinate), entity.MaxCoordinate) }
			p.Position = property.Vector3{X: clamp(origin.X + far.X), Y: clamp(origin.Y + far.Y), Z: clamp(origin.Z + far.Z)}
			switch rng.IntN(3) {
			case 0:
				p.Direction.X = random(math.Pi).X
			case 1:
				p.Direction = random(4)
			}
			want = append(want, p)
		}
		packet := positions(77, origin, want)
		after, got, err := readPositions(t, packet)
		if err != nil || len(got) != len(want) || len(got) > 0 && after != 77 {
			t.Fatalf("%d of %d entries after %d: %v", len(got), len(want), after, err)
		}
		if most := protocol.MaxPacketHead + len(want)*protocol.MaxEntry; len(packet) > most {
			t.Fatalf("%d entries take %d bytes, at most %d", len(want), len(packet), most)
		}
		for i, p := range want {
			off := 1.0 / 128
			if apart(p.Position, property.Vector3{}) > 1<<16 {
				off += 1.0 / 16 // the precision of a float32 up there
			}
			if g := got[i]; g.ID != p.ID || g.Stamp != p.Stamp || apart(g.Position, p.Position) > off || apart(g.Direction, p.Direction) > 5e-5 {
				t.Fatalf("entry %d from %v is %+v, want %+v", i, origin, g, p)
			}
		}
	}
}

// This is what most entries of a crowd take; the default budget of a witness counts on it.
func TestEntriesAreShort(t *testing.T) {
	var crowd []protocol.Place
	for i := range 100 {
		crowd = append(crowd, protocol.Place{
			ID: entity.ID(5+i%2)<<32 | entity.ID(i), Stamp: uint32(5000 + i),
			Position: property.Vector3{X: 650 + float32(i), Y: 12, Z: -300 - float32(i)/3}, Direction: property.Vector3{X: float32(i)/50 + 0.1},
		})
	}
	if n := len(positions(1<<20, property.Vector3{X: 640, Y: 12, Z: -310}, crowd)); n > 100*13 {
		t.Errorf("100 entries take %d bytes", n)
	}
}

func TestPositionsMalformed(t *testing.T) {
	places := []protocol.Place{{ID: 9<<32 | 1, Stamp: 1, Position: here, Direction: facing}, {ID: 8<<32 | 2, Stamp: 1 << 31, Position: facing, Direction: here}}
	one, whole := positions(3, here, places[:1]), positions(3, here, places)
	for n := range len(whole) {
		_, got, err := readPositions(t, whole[:n])
		switch n {
		case len(one), len(one) - (len(one) - 4): // without the second, and without both
			if err != nil {
				t.Errorf("the first %d bytes: %v", n, err)
			}
		default:
			if !errors.Is(err, protocol.ErrMalformed) {
				t.Errorf("the first %d bytes: %d entries, %v", n, len(got), err)
			}
		}
	}
	for name, entry := range map[string][]byte{
		"an allocator that was not named": {1, 1, 1, 0, 0, 0, 0, 0, 0},
		"no id":                           {3, 0, 0, 1, 0, 0, 0, 0, 0, 0},
		"an id beyond the largest":        {3, 0xff, 0xff, 0xff, 1, 1, 1, 0, 0, 0, 0, 0, 0},
		"an unknown flag":                 {3 | 1<<6, 1, 1, 1, 0, 0, 0, 0, 0, 0},
		"whole and rounded":               append([]byte{3 | 1<<2 | 1<<3, 1, 1, 1}, make([]byte, 26)...),
		"no number":                       append([]byte{3 | 1<<2, 1, 1, 1, 0, 0, 0xc0, 0x7f}, make([]byte, 20)...),
	} {
		if _, _, err := readPositions(t, append(positions(3, property.Vector3{}, nil), entry...)); !errors.Is(err, protocol.ErrMalformed) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, _, err := readPositions(t, nil); !errors.Is(err, protocol.ErrMalformed) {
		t.Errorf("an empty packet: %v", err)
	}
}

// Whatever comes is read or refused; what was read stays as it is when it is written again.
func FuzzPositions(f *testing.F) {
	f.Add(positions(3, here, []protocol.Place{{ID: 9, Stamp: 1, Position: here}, {ID: 1<<40 | 7, Stamp: 2, Position: facing, Direction: facing}}))
	f.Add(positions(1<<40, property.Vector3{}, []protocol.Place{{ID: 9, Position: property.Vector3{X: 600}}, {ID: 10, Direction: property.Vector3{Y: 4}}}))
	f.Fuzz(func(t *testing.T, packet []byte) {
		after, places, err := readPositions(t, packet)
		if err != nil || len(places) == 0 {
			return
		}
		again := positions(after, here, places)
		_, rounded, err := readPositions(t, again)
		if err != nil || len(rounded) != len(places) {
			t.Fatalf("%+v is written as %x: %v", places, again, err)
		}
		if last := positions(after, here, rounded); !bytes.Equal(last, again) {
			t.Errorf("%x is read and written as %x", again, last)
		}
	})
}

func BenchmarkPositions(b *testing.B) {
	var places []protocol.Place
	for i := range 70 {
		places = append(places, protocol.Place{ID: 9<<32 | entity.ID(i), Stamp: uint32(i), Position: here, Direction: property.Vector3{X: 1}})
	}
	packet, n := positions(3, here, places), 0
	b.Run("read", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if err := protocol.Positions(packet, func(uint64, *protocol.Place) { n++ }); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("write", func(b *testing.B) {
		b.ReportAllocs()
		var w protocol.PacketWriter
		buf := make([]byte, 0, 2000)
		for b.Loop() {
			buf = w.Begin(buf[:0], here)
			for i := range places {
				buf = w.Append(buf, &places[i])
			}
		}
	})
}
