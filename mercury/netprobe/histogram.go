package main

import (
	"math/bits"
	"sync/atomic"
	"time"
)

// The buckets of a histogram: each power of two of nanoseconds is cut into stepsPerOctave, so that
// a percentile is right to one part in 512. The last holds all above about 18 minutes.
const (
	octaveBits     = 9
	stepsPerOctave = 1 << octaveBits
	octaves        = 34
)

// histogram counts durations. Any number of goroutines may record and read.
type histogram struct {
	buckets [octaves * stepsPerOctave]atomic.Uint32
	count   atomic.Uint64
	largest atomic.Int64
}

func bucketOf(d time.Duration) int {
	n := uint64(max(d, 0))
	if n < stepsPerOctave {
		return int(n)
	}
	shift := bits.Len64(n) - octaveBits - 1
	i := (shift+1)<<octaveBits | int(n>>shift)&(stepsPerOctave-1)
	return min(i, octaves*stepsPerOctave-1)
}

// middle is the duration in the middle of a bucket.
func middle(bucket int) time.Duration {
	octave, step := bucket>>octaveBits, bucket&(stepsPerOctave-1)
	if octave == 0 {
		return time.Duration(step)
	}
	shift := octave - 1
	return time.Duration((stepsPerOctave+step)<<shift + (1<<shift)/2)
}

func (h *histogram) record(d time.Duration) {
	h.buckets[bucketOf(d)].Add(1)
	h.count.Add(1)
	for {
		old := h.largest.Load()
		if int64(d) <= old || h.largest.CompareAndSwap(old, int64(d)) {
			return
		}
	}
}

// quantile is the duration that a share q of those recorded is not above; 0 when there are none.
func (h *histogram) quantile(q float64) time.Duration {
	total := h.count.Load()
	if total == 0 {
		return 0
	}
	rank := max(1, uint64(float64(q*float64(total))+0.5))
	seen := uint64(0)
	for i := range h.buckets {
		if seen += uint64(h.buckets[i].Load()); seen >= rank {
			return min(middle(i), time.Duration(h.largest.Load()))
		}
	}
	return time.Duration(h.largest.Load())
}

// latency is what a report tells of a histogram.
type latency struct {
	P50 ms `json:"p50_ms"`
	P95 ms `json:"p95_ms"`
	P99 ms `json:"p99_ms"`
	Max ms `json:"max_ms"`
	// Samples is the number of messages of which the latency was taken.
	Samples uint64 `json:"samples"`
}

func (h *histogram) summary() latency {
	return latency{
		P50: toMS(h.quantile(.50)), P95: toMS(h.quantile(.95)), P99: toMS(h.quantile(.99)),
		Max: toMS(time.Duration(h.largest.Load())), Samples: h.count.Load(),
	}
}

// ms is a time in milliseconds, to the microsecond.
type ms float64

func toMS(d time.Duration) ms { return ms(float64(d.Microseconds()) / 1000) }
