package load

import (
	"testing"
	"time"
)

// bench is a stopwatch over a clock that the test moves.
type bench struct {
	*Stopwatch
	now      time.Duration
	readings int
}

func newBench() *bench {
	b := &bench{}
	b.Stopwatch = NewStopwatch(func() time.Duration { b.readings++; return b.now })
	return b
}

func (b *bench) pass(ms int64) { b.now += time.Duration(ms) * time.Millisecond }

// expect compares what was added to meters, in milliseconds, and how often the clock was read.
func (b *bench) expect(t *testing.T, readings int, want map[*Meter]int64) {
	t.Helper()
	for m, ms := range want {
		if m.pending != ms*1e6 {
			t.Errorf("%d ns, want %d ms", m.pending, ms)
		}
	}
	if b.readings != readings {
		t.Errorf("%d readings of the clock, want %d", b.readings, readings)
	}
	if len(b.stack) != 0 || b.over != 0 || b.current != nil {
		t.Errorf("%d scopes left", len(b.stack)+b.over)
	}
}

func TestSwitchReadsTheClockOnce(t *testing.T) {
	var cell, first, second Meter
	b := newBench()
	b.Switch(&first) // without a scope: nothing
	b.pass(1)
	b.Enter(&cell)
	b.pass(2)
	b.Enter(&cell) // a walk begins
	b.Switch(&first)
	b.pass(4)
	b.Switch(&second)
	b.pass(8)
	b.Switch(&second)
	b.pass(16)
	b.Switch(&cell) // an entity with nothing to do
	b.pass(32)
	b.Switch(&first)
	b.pass(64)
	b.Leave()
	b.pass(128)
	b.Leave()
	b.expect(t, 7, map[*Meter]int64{&cell: 2 + 32 + 128, &first: 4 + 64, &second: 8 + 16})
}

func TestClaimGivesTheWholeScope(t *testing.T) {
	var app, cell, real, other Meter
	b := newBench()
	b.Claim(&real) // without a scope: nothing
	b.Open(&app)
	b.pass(1) // a message is read
	b.Claim(&real)
	b.pass(2)
	b.Claim(&other) // taken already
	b.Enter(&other)
	b.Claim(&real) // this scope was not begun by Open
	b.pass(4)
	b.Leave()
	b.pass(8)
	b.Leave()
	b.Open(&app)
	b.pass(16) // nobody's
	b.Leave()
	b.Open(&app)
	b.pass(32)
	b.Claim(nil)
	b.pass(64)
	b.Leave()
	b.Enter(&cell)
	b.Claim(&real)
	b.pass(128)
	b.Leave()
	// The scope that is claimed for nobody reads the clock when it begins.
	b.expect(t, 4+2+1+2, map[*Meter]int64{&app: 16, &real: 1 + 2 + 8, &other: 4, &cell: 128})
}

func TestWithinNobodyIsNobody(t *testing.T) {
	var cell, entity Meter
	b := newBench()
	b.Enter(&cell)
	b.pass(1)
	b.Enter(nil) // a handover
	b.pass(2)
	b.Enter(&entity) // its callback
	b.pass(4)
	b.Switch(&entity)
	b.pass(8)
	b.Open(&entity)
	b.Claim(&entity)
	b.pass(16)
	b.Leave()
	b.Leave()
	b.pass(32)
	b.Leave()
	b.pass(64)
	b.Leave()
	b.expect(t, 4, map[*Meter]int64{&cell: 1 + 64, &entity: 0})
}

func TestNilStopwatchMeasuresNothing(t *testing.T) {
	var s *Stopwatch
	var m Meter
	s.Enter(&m)
	s.Open(&m)
	s.Claim(&m)
	s.Switch(&m)
	s.Leave()
	s.Leave()
	if m != (Meter{}) {
		t.Errorf("%+v", m)
	}
}

func TestBeyondMaxNestingTheLimitCounts(t *testing.T) {
	var cell, entity Meter
	b := newBench()
	for range MaxNesting {
		b.Enter(&cell)
	}
	b.Enter(&entity)
	b.Switch(&entity)
	b.Claim(&entity)
	b.pass(1)
	b.Leave()
	b.pass(2)
	for range MaxNesting {
		b.Leave()
	}
	b.expect(t, 2, map[*Meter]int64{&cell: 3, &entity: 0})
}

func TestDrainedWorkIsAnothers(t *testing.T) {
	var cell, entity Meter
	cell.Add(time.Millisecond)
	entity.Add(2 * time.Millisecond)
	cell.Add(entity.Drain())
	cell.Tick(100*time.Millisecond, 0)
	entity.Tick(100*time.Millisecond, 0)
	if cell.Raw() != 30e6 || cell.Load() != 30e6 || entity.Raw() != 0 {
		t.Errorf("cell %d, entity %d", cell.Raw(), entity.Raw())
	}
	cell.Tick(100*time.Millisecond, 0)
	if cell.Raw() != 0 || cell.Load() != 28.5e6 {
		t.Errorf("after a tick of rest: sample %d, load %d", cell.Raw(), cell.Load())
	}
}
