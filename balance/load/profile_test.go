package load

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"
)

func TestProfileOfAnEvenRow(t *testing.T) {
	var s []Sample
	for i := range 160 {
		s = append(s, Sample{X: float32(i), Z: 7, Load: 1000})
	}
	p := Build(s)
	for k := 1; k < Slices; k++ {
		if want := float32(k*5) - 0.5; p.X[k] != want {
			t.Errorf("X[%d] = %v, want midway at %v", k, p.X[k], want)
		}
	}
	if p.X[0] != 0 || p.X[Slices] != 159.1 {
		t.Errorf("ends %v and %v", p.X[0], p.X[Slices])
	}
	if p.Z[0] != 7 || p.Z[1] != 7.1 || p.Z[Slices] != 7.1 {
		t.Errorf("on one spot: %v", p.Z)
	}
	for _, tt := range []struct{ at, want float64 }{
		{-5, 0}, {0, 0}, {9.5, 2}, {12, 2.5}, {79.5, 16}, {159.05, 32}, {500, 32},
	} {
		if least, most := p.X.Below(tt.at); least != tt.want || most != tt.want {
			t.Errorf("Below(%v) = %v to %v, want %v", tt.at, least, most, tt.want)
		}
	}
	if least, most := p.Z.Below(7); least != 0 || most != 0 {
		t.Errorf("below the first of a clump: %v to %v", least, most)
	}
}

func TestClumpIsNotParted(t *testing.T) {
	var s []Sample
	for i := range 10 {
		s = append(s, Sample{X: float32(i) * 10, Load: 1}, Sample{X: 42 + float32(i)*0.005, Load: 5})
	}
	p := Build(s)
	for k, at := range p.X {
		if at >= 42 && at < 42.045 {
			t.Errorf("X[%d] = %v is inside of the clump", k, at)
		}
	}
	// The ten at 42 carry 50 of 60; near them nothing is certain.
	least, most := p.X.Below(41.5)
	if most-least < 24 {
		t.Errorf("Below(41.5) = %v to %v: the clump is not shown", least, most)
	}
	if least, most := p.X.Below(46.0225); most-least > 1 {
		t.Errorf("behind the clump: %v to %v", least, most)
	}
}

func TestProfileWithoutLoadCountsHeads(t *testing.T) {
	s := []Sample{{X: 0}, {X: 10}, {X: 20, Load: -50}, {X: 30}}
	p := Build(s)
	if p.X[8] != 5 || p.X[16] != 15 || p.X[24] != 25 {
		t.Errorf("%v", p.X)
	}
	for _, nobody := range [][]Sample{nil, {{X: float32(math.NaN())}, {Z: float32(math.Inf(1))}}} {
		if p := Build(nobody); p != (Profile{}) || !p.Empty() {
			t.Errorf("profile of nobody: %+v", p)
		}
	}
	if p := Build([]Sample{{X: 3, Z: 3}}); p.Empty() {
		t.Error("profile of one is empty")
	}
	if p := Build([]Sample{{X: math.MaxFloat32, Z: -math.MaxFloat32, Load: math.MaxInt64}}); !p.X.Valid() || !p.Z.Valid() {
		t.Errorf("far out: %+v", p)
	}
}

// TestBelowHoldsTheTruth compares Below with a count over all samples: the true share lies within
// what Below gives, to within two slices.
func TestBelowHoldsTheTruth(t *testing.T) {
	for seed := range uint64(50) {
		rng := rand.New(rand.NewPCG(seed, 4))
		var s []Sample
		var total int64
		for range 1 + rng.IntN(200) {
			x := float32(rng.NormFloat64() * 100)
			if rng.IntN(3) == 0 {
				x = float32(rng.IntN(4)) * 30
			}
			s = append(s, Sample{X: x, Load: rng.Int64N(1e6)})
			total += s[len(s)-1].Load
		}
		p := Build(s)
		rng.Shuffle(len(s), func(i, j int) { s[i], s[j] = s[j], s[i] })
		if Build(s) != p {
			t.Fatalf("seed %d: the order of samples shows", seed)
		}
		if !p.X.Valid() {
			t.Fatalf("seed %d: %v", seed, p.X)
		}
		lastLeast, lastMost := 0.0, 0.0
		for at := -400.0; at < 400; at += 0.37 {
			var below int64
			for _, e := range s {
				if float64(e.X) < at {
					below += e.Load
				}
			}
			truth := float64(below) / float64(max(1, total)) * Slices
			const slack = 2.001
			least, most := p.X.Below(at)
			if truth < least-slack || truth > most+slack {
				t.Fatalf("seed %d: %.3f slices below %.2f, profile says %.3f to %.3f", seed, truth, at, least, most)
			}
			if most < lastMost || least < lastLeast {
				t.Fatalf("seed %d: falls from %v..%v to %v..%v at %v", seed, lastLeast, lastMost, least, most, at)
			}
			lastLeast, lastMost = least, most
		}
	}
}

func TestBuilderKeepsItsMemory(t *testing.T) {
	s := make([]Sample, 500)
	for i := range s {
		s[i] = Sample{X: float32(i * 7 % 500), Z: float32(i * 13 % 500), Load: int64(i)}
	}
	var b Builder
	if n := testing.AllocsPerRun(20, func() { b.Build(s) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestProfileWire(t *testing.T) {
	p := Build([]Sample{{X: 1, Z: 2, Load: 3}, {X: 4, Z: 5, Load: 6}})
	b := p.Append(nil)
	if len(b) != EncodedSize {
		t.Fatalf("%d bytes", len(b))
	}
	var got Profile
	rest, err := got.Parse(append(b, 9))
	if err != nil || got != p || len(rest) != 1 {
		t.Errorf("got %+v, rest %v, %v", got, rest, err)
	}
	for n := range b {
		if _, err := got.Parse(b[:n]); !errors.Is(err, ErrProfile) {
			t.Errorf("cut at %d: %v", n, err)
		}
	}
}

func FuzzProfileParse(f *testing.F) {
	p := Build([]Sample{{X: 1, Z: 2, Load: 3}, {X: 4, Z: 5, Load: 6}})
	f.Add(p.Append(nil), 3.0)
	f.Add(make([]byte, EncodedSize), 0.0)
	f.Fuzz(func(t *testing.T, b []byte, at float64) {
		var p Profile
		if _, err := p.Parse(b); err != nil {
			if !errors.Is(err, ErrProfile) || p != (Profile{}) {
				t.Fatalf("%v, %+v", err, p)
			}
			return
		}
		if least, most := p.X.Below(at); !(0 <= least && least <= most && most <= Slices) {
			t.Fatalf("Below(%v) = %v to %v of %v", at, least, most, p.X)
		}
	})
}

// crowd1000 is a thousand reals that crowd around the origin.
func crowd1000() []Sample {
	rng := rand.New(rand.NewPCG(1, 1))
	s := make([]Sample, 1000)
	for i := range s {
		s[i] = Sample{X: float32(rng.NormFloat64()), Z: float32(rng.NormFloat64()), Load: rng.Int64N(1e6)}
	}
	return s
}

func BenchmarkBuild1000Reals(b *testing.B) {
	s := crowd1000()
	var builder Builder
	for b.Loop() {
		builder.Build(s)
	}
}
