package main

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// Against sorted samples, over nine orders of magnitude.
func TestHistogramAgainstSorting(t *testing.T) {
	const seed = 7
	rng := rand.New(rand.NewPCG(seed, 0))
	for _, n := range []int{1, 2, 99, 100, 10000} {
		var h histogram
		samples := make([]time.Duration, n)
		for i := range samples {
			samples[i] = time.Duration(rng.ExpFloat64() * float64(time.Duration(1)<<rng.IntN(36)))
			h.record(samples[i])
		}
		slices.Sort(samples)
		for _, q := range []float64{.5, .95, .99, 1} {
			rank := max(1, int(q*float64(n)+.5))
			want := samples[rank-1]
			if got := h.quantile(q); got < want-want/stepsPerOctave-1 || got > want+want/stepsPerOctave+1 {
				t.Errorf("seed %d: %d samples, quantile %v: %v, want %v", seed, n, q, got, want)
			}
		}
		if s := h.summary(); s.Max != toMS(samples[n-1]) || s.Samples != uint64(n) {
			t.Errorf("summary %+v, largest %v", s, samples[n-1])
		}
	}
}

func TestHistogramEdges(t *testing.T) {
	var h histogram
	if got := h.quantile(.99); got != 0 {
		t.Errorf("nothing recorded: %v", got)
	}
	h.record(-time.Second) // a clock of two machines
	h.record(1<<63 - 1)
	if got := h.quantile(.5); got != 0 {
		t.Errorf("a negative time counts as %v, want 0", got)
	}
	if got := h.quantile(1); got < 1<<40 {
		t.Errorf("the longest time counts as %v", got)
	}
	for i := range len(h.buckets) {
		if got := bucketOf(middle(i)); got != i {
			t.Fatalf("bucket %d has its middle in %d", i, got)
		}
	}
}
