package load

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// row makes reals of equal load along x, all at z = 7.
func row(load int64, xs ...float32) []Sample {
	var s []Sample
	for _, x := range xs {
		s = append(s, Sample{X: x, Z: 7, Load: load})
	}
	return s
}

func TestEdges(t *testing.T) {
	var ten []float32
	for i := range 100 {
		ten = append(ten, float32(i)*10)
	}
	heavy := append(row(1, 0, 10, 20, 30), Sample{X: 40, Z: 7, Load: 1000}, Sample{X: 50, Z: 7, Load: 1}, Sample{X: 60, Z: 7, Load: 1})
	for _, tt := range []struct {
		name      string
		samples   []Sample
		low, high [Levels]Bound
	}{
		// The levels are 256, 128, 64, 32 and 16.
		{"an even row", row(10, ten...),
			[Levels]Bound{{255, 260}, {125, 130}, {65, 70}, {35, 40}, {15, 20}},
			[Levels]Bound{{735, 260}, {865, 130}, {925, 70}, {955, 40}, {975, 20}}},
		{"a level that is just met is not exceeded", row(16, ten...),
			[Levels]Bound{{165, 272}, {85, 144}, {45, 80}, {25, 48}, {15, 32}},
			[Levels]Bound{{825, 272}, {905, 144}, {945, 80}, {965, 48}, {975, 32}}},
		{"levels that are not reached carry all", row(10, 0, 10, 20, 30),
			[Levels]Bound{{30.1, 40}, {30.1, 40}, {30.1, 40}, {30.1, 40}, {15, 20}},
			[Levels]Bound{{-0.1, 40}, {-0.1, 40}, {-0.1, 40}, {-0.1, 40}, {15, 20}}},
		{"a heavy real makes one level", heavy,
			[Levels]Bound{{60.1, 1006}, {60.1, 1006}, {60.1, 1006}, {55, 1005}, {45, 1004}},
			[Levels]Bound{{-0.1, 1006}, {5, 1005}, {15, 1004}, {25, 1003}, {35, 1002}}},
		{"a clump is one", row(5, 0, 0.005, 0.014, 0.02, 30, 30),
			[Levels]Bound{{30.1, 30}, {30.1, 30}, {30.1, 30}, {30.1, 30}, {15.01, 20}},
			[Levels]Bound{{-0.1, 30}, {-0.1, 30}, {-0.1, 30}, {-0.1, 30}, {-0.1, 30}}},
		{"reals that cost nothing", row(0, 0, 10),
			[Levels]Bound{{10.1, 0}, {10.1, 0}, {10.1, 0}, {10.1, 0}, {10.1, 0}},
			[Levels]Bound{{-0.1, 0}, {-0.1, 0}, {-0.1, 0}, {-0.1, 0}, {-0.1, 0}}},
		{"nobody", nil, [Levels]Bound{}, [Levels]Bound{}},
	} {
		var b Builder
		e := b.Edges(tt.samples, 256)
		for from, want := range [2][Levels]Bound{tt.low, tt.high} {
			for k, w := range want {
				got := e[0][from][k]
				if math.Abs(float64(got.At-w.At)) > 1e-4 || got.Load != w.Load {
					t.Errorf("%s: edge %d, level %d is %+v, want %+v", tt.name, from, k, got, w)
				}
			}
		}
		if low, high := e[1][0][0].At, e[1][1][0].At; tt.samples != nil && (low != 7.1 || high != 6.9) {
			t.Errorf("%s: all on one spot in z, lines at %v and %v", tt.name, low, high)
		}
		if e.Empty() != (tt.samples == nil) {
			t.Errorf("%s: Empty() = %v", tt.name, e.Empty())
		}
	}
}

// slowEdge does what walkIn does, by counting anew for each place that a line may have.
func slowEdge(samples []Sample, at func(Sample) float32, largest int64, high bool) (loads [Levels]int64) {
	var places []float32 // the last entity of each clump, seen from the edge
	for _, s := range samples {
		places = append(places, at(s))
	}
	slices.Sort(places)
	if high {
		slices.Reverse(places)
	}
	level, whole := Levels-1, int64(0)
	for i, p := range places {
		if i+1 < len(places) && math.Abs(float64(places[i+1]-p)) < Clump {
			continue
		}
		whole = 0
		for _, s := range samples {
			if !high && at(s) <= p || high && at(s) >= p {
				whole += s.Load
			}
		}
		if level >= 0 && whole > largest>>level {
			loads[level] = whole
			level--
		}
	}
	for ; level >= 0; level-- {
		loads[level] = whole
	}
	return loads
}

// Every slice has the load that a count over all samples finds beyond its line, and is the least
// one of its level.
func TestEdgesHoldTheTruth(t *testing.T) {
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 9))
		var s []Sample
		for range 1 + rng.IntN(60) {
			x, z := float32(rng.NormFloat64()*100), float32(rng.IntN(5))*0.004
			if rng.IntN(3) == 0 {
				x = float32(rng.IntN(4))*30 + float32(rng.IntN(3))*0.009
			}
			s = append(s, Sample{X: x, Z: z, Load: rng.Int64N(1e6)})
		}
		const largest = 2e6
		var b Builder
		e := b.Edges(s, largest)
		rng.Shuffle(len(s), func(i, j int) { s[i], s[j] = s[j], s[i] })
		if b.Edges(s, largest) != e {
			t.Fatalf("seed %d: the order of samples shows", seed)
		}
		for axis, at := range [2]func(Sample) float32{func(s Sample) float32 { return s.X }, func(s Sample) float32 { return s.Z }} {
			for from, bounds := range e[axis] {
				want := slowEdge(s, at, largest, from == 1)
				for level, x := range bounds {
					var beyond int64
					for _, y := range s {
						if (at(y) < x.At) == (from == 0) {
							beyond += y.Load
						}
					}
					if x.Load != beyond || x.Load != want[level] {
						t.Fatalf("seed %d, axis %d, edge %d, level %d: %+v, beyond it are %d, want %d", seed, axis, from, level, x, beyond, want[level])
					}
				}
			}
		}
	}
}

func TestEdgesTakeNonsense(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	var b Builder
	if e := b.Edges([]Sample{{X: nan}, {Z: inf}, {X: -inf, Load: 5}}, 10); !e.Empty() {
		t.Errorf("edges of nobody: %+v", e)
	}
	far := []Sample{{X: math.MaxFloat32, Z: -math.MaxFloat32, Load: math.MaxInt64}, {X: -math.MaxFloat32, Z: math.MaxFloat32, Load: math.MaxInt64}, {Load: -7}}
	for _, largest := range []int64{math.MinInt64, 0, 10, math.MaxInt64} {
		e := b.Edges(far, largest)
		var got Edges
		if rest, err := got.Parse(e.Append(nil)); err != nil || len(rest) > 0 || got != e {
			t.Errorf("far out, largest %d: %+v, %v", largest, e, err)
		}
	}
}

func TestEdgesKeepMemory(t *testing.T) {
	s := make([]Sample, 500)
	for i := range s {
		s[i] = Sample{X: float32(i * 7 % 500), Z: float32(i * 13 % 500), Load: int64(i)}
	}
	var b Builder
	if n := testing.AllocsPerRun(20, func() { b.Build(s); b.Edges(s, 1000) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestEdgesWire(t *testing.T) {
	var builder Builder
	e := builder.Edges(row(Max/100, 0, 1, 2, 3, 500), Max/50)
	b := e.Append(nil)
	var got Edges
	rest, err := got.Parse(append(slices.Clone(b), 9))
	if err != nil || got != e || len(rest) != 1 {
		t.Errorf("got %+v, rest %v, %v", got, rest, err)
	}
	for n := range b {
		if _, err := got.Parse(b[:n]); !errors.Is(err, ErrEdges) {
			t.Errorf("cut at %d: %v", n, err)
		}
	}
	for name, fault := range map[string][]byte{
		"not a number": {0, 0, 0xc0, 0x7f, 0}, "infinite": {0, 0, 0x80, 0x7f, 0},
		"too long": {0, 0, 0, 0, 0x80, 0}, "too much": {0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f},
		"endless": {0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f},
	} {
		if _, err := got.Parse(append(fault, b...)); !errors.Is(err, ErrEdges) || got != e {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzEdgesParse(f *testing.F) {
	var builder Builder
	e := builder.Edges(row(1e6, 0, 1, 2, 3, 500), 4e6)
	f.Add(e.Append(nil))
	f.Add(make([]byte, 100))
	f.Fuzz(func(t *testing.T, b []byte) {
		var e Edges
		rest, err := e.Parse(b)
		if err != nil {
			if !errors.Is(err, ErrEdges) || !e.Empty() {
				t.Fatalf("%v, %+v", err, e)
			}
			return
		}
		if again := e.Append(nil); !slices.Equal(again, b[:len(b)-len(rest)]) {
			t.Fatalf("%x is written as %x", b, again)
		}
		for _, x := range slices.Concat(e[0][0][:], e[0][1][:], e[1][0][:], e[1][1][:]) {
			if !finite(x.At) || x.Load < 0 || x.Load > Max {
				t.Fatalf("%+v", x)
			}
		}
	})
}

func BenchmarkEdges1000Reals(b *testing.B) {
	s := crowd1000()
	var builder Builder
	for b.Loop() {
		builder.Edges(s, 2e7)
	}
}

// TestValidEdgesAreThoseThatParseTakes: what Parse refuses must not be valid.
func TestValidEdgesAreThoseThatParseTakes(t *testing.T) {
	for _, b := range []Bound{{At: 1, Load: Max}, {At: 1, Load: Max + 1}, {At: 1, Load: math.MaxInt64}, {At: float32(math.Inf(1))}} {
		var e, got Edges
		e[1][0][2] = b
		_, err := got.Parse(e.Append(nil))
		if e.Valid() != (err == nil) {
			t.Errorf("%+v: Valid = %v, Parse: %v", b, e.Valid(), err)
		}
	}
}
