package host

import (
	"testing"
	"time"
)

// machine is a wall's clock and a processor for a work clock.
type machine struct{ wall, used time.Duration }

func (m *machine) works(d time.Duration) { m.wall, m.used = m.wall+d, m.used+d }
func (m *machine) waits(d time.Duration) { m.wall += d }

func (m *machine) clock() *work {
	return &work{wall: func() time.Duration { return m.wall }, cpu: func() time.Duration { return m.used }}
}

// The work clock stands while the app waits for a processor, also in the midst of its work, and goes
// on with long work and with short.
func TestWorkClock(t *testing.T) {
	m := &machine{wall: time.Hour, used: time.Minute}
	w := m.clock()
	last := w.read()
	for _, c := range []struct {
		name        string
		works       time.Duration
		waits       time.Duration
		want, error time.Duration
	}{
		{"short work", 3 * time.Microsecond, 0, 3 * time.Microsecond, 0},
		{"long work", 7 * time.Millisecond, 0, 7 * time.Millisecond, 0},
		{"no processor", 0, 50 * time.Millisecond, 0, 0},
		{"a little, and no processor", 4 * time.Microsecond, 50 * time.Millisecond, 4 * time.Microsecond, 0},
		{"much, and no processor", 9 * time.Millisecond, 50 * time.Millisecond, 9 * time.Millisecond, 0},
		{"too short a wait to be noticed", 5 * time.Microsecond, 40 * time.Microsecond, 5 * time.Microsecond, 40 * time.Microsecond},
		{"which the next jump makes good", 2 * time.Millisecond, 0, 2*time.Millisecond - 40*time.Microsecond, 0},
		{"work again", 2 * time.Millisecond, time.Second, 2 * time.Millisecond, 0},
	} {
		m.works(c.works)
		m.waits(c.waits)
		now := w.read()
		if got := now - last; got < c.want || got > c.want+c.error {
			t.Errorf("%s: counted %v, want %v", c.name, got, c.want)
		}
		last = now
	}
}

// It does not run backwards, whatever the system says.
func TestWorkClockOnlyGoesOn(t *testing.T) {
	m := &machine{}
	w := m.clock()
	m.works(time.Second)
	last := w.read()
	for _, d := range []time.Duration{time.Microsecond, 90 * time.Microsecond, time.Millisecond, time.Second} {
		m.waits(d)
		m.used -= time.Millisecond
		if now := w.read(); now < last {
			t.Errorf("back from %v to %v", last, now)
		} else {
			last = now
		}
	}
}

func TestWorkClockAllocatesNothing(t *testing.T) {
	m := &machine{}
	w := m.clock()
	if n := testing.AllocsPerRun(100, func() { m.waits(time.Millisecond); w.read() }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
