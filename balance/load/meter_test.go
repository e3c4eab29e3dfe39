package load

import (
	"math"
	"testing"
	"time"
)

func TestMeterSmooths(t *testing.T) {
	const tick = 100 * time.Millisecond
	var m Meter
	m.Add(20 * time.Millisecond)
	m.Tick(tick, 0)
	if got := m.Load(); got != Core/5 {
		t.Fatalf("first sample: %d, want it whole", got)
	}
	for range 20 { // 2 s without work
		m.Tick(tick, 0)
	}
	if got := float64(m.Load()) / float64(Core/5); math.Abs(got-math.Pow(0.95, 20)) > 0.001 {
		t.Errorf("after 2 s of rest %.3f of the load is left", got)
	}
	for range 1000 {
		m.Tick(tick, 0)
	}
	if got := m.Load(); got > 1 {
		t.Errorf("after a long rest: %d", got)
	}
	m.Add(time.Millisecond)
	m.Tick(tick, 1000)
	if got := m.Load(); got != Core/100 {
		t.Errorf("without smoothing: %d", got)
	}
}

func TestMeterTakesNonsense(t *testing.T) {
	var m Meter
	m.Add(-time.Hour)
	m.Tick(time.Second, 0)
	if m.Load() != 0 {
		t.Errorf("negative work: %d", m.Load())
	}
	m.Add(math.MaxInt64)
	m.Add(math.MaxInt64)
	m.Tick(1, 1000)
	if m.Load() != Max {
		t.Errorf("endless work: %d", m.Load())
	}
	m.Tick(0, 0)
	m.Tick(-5, 0)
	if m.Load() != Max {
		t.Errorf("no time passed: %d", m.Load())
	}
	for range 2000 {
		m.Tick(math.MaxInt64, 0)
	}
	if m.Load() != 0 {
		t.Errorf("endless rest: %d", m.Load())
	}
	m.Set(-7)
	if m.Load() != 0 {
		t.Errorf("negative load: %d", m.Load())
	}
	m.Set(math.MaxInt64)
	if m.Load() != Max {
		t.Errorf("set beyond the limit: %d", m.Load())
	}
}

func TestRateIsExact(t *testing.T) {
	for _, tt := range []struct{ work, elapsed, want int64 }{
		{1e9, 1e9, 1e9}, {1e9, 2e9, 5e8}, {1, 3, 333333333}, {19e8, 19e8, 1e9}, {1, math.MaxInt64, 0},
		{Max, 1, Max}, {Max, 1e9, Max}, {Max, 1e10, Max / 10},
	} {
		if got := rate(tt.work, tt.elapsed); got != tt.want {
			t.Errorf("rate(%d, %d) = %d, want %d", tt.work, tt.elapsed, got, tt.want)
		}
	}
}

func TestShare(t *testing.T) {
	for _, tt := range []struct {
		total, attributed int64
		reals             int
		want              int64
	}{{100, 40, 6, 10}, {100, 40, 0, 0}, {40, 100, 5, 0}, {100, -40, 10, 10}, {math.MaxInt64, 0, 1, Max}} {
		if got := Share(tt.total, tt.attributed, tt.reals); got != tt.want {
			t.Errorf("Share(%d, %d, %d) = %d, want %d", tt.total, tt.attributed, tt.reals, got, tt.want)
		}
	}
}

func TestStopwatchCountsNestedTimeOnce(t *testing.T) {
	var now time.Duration
	readings := 0
	s := NewStopwatch(func() time.Duration { readings++; return now })
	var cell, entity Meter
	pass := func(ms int) { now += time.Duration(ms) * time.Millisecond }
	s.Leave() // without a scope: nothing
	pass(50)
	s.Enter(&cell)
	pass(1)
	s.Enter(&entity)
	pass(2)
	s.Enter(&entity) // a script that calls back into its own entity
	pass(4)
	s.Enter(nil) // migration work, counted for nobody
	pass(8)
	s.Leave()
	pass(16)
	s.Leave()
	s.Leave()
	pass(32)
	s.Leave()
	if cell.pending != 33e6 || entity.pending != 22e6 {
		t.Errorf("cell %d ns, entity %d ns, want 33 ms and 22 ms", cell.pending, entity.pending)
	}
	if readings != 6 {
		t.Errorf("%d readings of the clock for 6 switches from one meter to another", readings)
	}
	for range MaxNesting + 10 {
		s.Enter(&cell)
	}
	pass(100)
	for range MaxNesting + 10 {
		s.Leave()
	}
	if cell.pending != 133e6 || len(s.stack) != 0 || s.over != 0 {
		t.Errorf("deep nesting: cell %d ns, %d scopes left", cell.pending, len(s.stack)+s.over)
	}
}

func TestStopwatchDoesNotAllocate(t *testing.T) {
	s := NewStopwatch(func() time.Duration { return 0 })
	var m Meter
	if n := testing.AllocsPerRun(100, func() { s.Enter(&m); s.Enter(&m); s.Leave(); s.Leave(); m.Tick(1, 0) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkStopwatchSwitch(b *testing.B) {
	s := NewStopwatch(func() time.Duration { return 0 })
	var m Meter
	for b.Loop() {
		s.Enter(&m)
		s.Leave()
	}
}
