package cellappmgr

import (
	"strings"
	"testing"
	"time"

	"github.com/cellscape/cellscape/bsp"
	"github.com/cellscape/cellscape/internal/gametime"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
)

// slow is a report of a cell that wants a rate and has the clock of a number.
func slow(id bsp.CellID, rate uint16, clock uint64) wire.CellReport {
	c := cellReport(1, id, bsp.Version{Term: 1, N: 4}, 0.3, -100, 100)
	c.Rate, c.Clock = rate, clock
	return c
}

// dilated is a space of two cells, with the last SpaceRate that each CellApp was sent.
type dilated struct {
	*rig
	a, b          *peer
	first, second bsp.CellID
	clock         map[*peer]gametime.Clock
	told          []gametime.Clock // to a, in order
}

func newDilated(t *testing.T, change func(*Config)) *dilated {
	t.Helper()
	d := &dilated{rig: newRig(t, change), clock: map[*peer]gametime.Clock{}}
	d.a, d.b, d.first, d.second = d.split()
	d.run(time.Second, 1000, 1000)
	if len(d.told) > 0 {
		t.Fatalf("told %+v while nobody wants anything", d.told)
	}
	return d
}

// run lets time pass in which the two cells want two rates.
func (d *dilated) run(for_ time.Duration, first, second uint16) {
	d.t.Helper()
	for end := d.now + for_; d.now < end; {
		d.a.reportCells(slow(d.first, first, d.clock[d.a].Number))
		d.b.reportCells(slow(d.second, second, d.clock[d.b].Number))
		d.pass(200 * time.Millisecond)
		d.hear(d.a)
		d.hear(d.b)
	}
}

func (d *dilated) hear(p *peer) {
	d.t.Helper()
	for _, m := range take[wire.SpaceRate](p) {
		if m.Space != 1 || m.Clock.At < d.now-200*time.Millisecond+rateLead/2 {
			d.t.Errorf("at %v: %+v", d.now, m)
		}
		d.clock[p] = m.Clock
		if p == d.a {
			d.told = append(d.told, m.Clock)
		}
	}
}

// The space runs as slowly as the slowest of its cells wants. Its rate falls fast and rises slowly,
// and its game time has no gap.
func TestRateOfASpace(t *testing.T) {
	d := newDilated(t, nil)
	d.run(6*time.Second, 1000, 400)
	d.run(20*time.Second, 1000, 1000)
	var rates []uint16
	last := gametime.Clock{}
	for i, k := range d.told {
		rates = append(rates, k.Rate)
		if k.Number != last.Number+1 && last.Number > 0 || k.Game != last.GameAt(k.At) {
			t.Errorf("clock %d: %+v after %+v", i, k, last)
		}
		if i > 0 && k.At-last.At < ratePeriod {
			t.Errorf("two changes within %v", k.At-last.At)
		}
		last = k
	}
	want := []uint16{750, 563, 423, 400, 440, 484, 532, 585, 643, 707, 777, 854, 939, 1000}
	if len(rates) != len(want) {
		t.Fatalf("rates %v, want %v", rates, want)
	}
	for i := range want {
		if rates[i] != want[i] {
			t.Fatalf("rates %v, want %v", rates, want)
		}
	}
	if d.clock[d.a] != d.clock[d.b] {
		t.Errorf("the CellApps were told %+v and %+v", d.clock[d.a], d.clock[d.b])
	}
	st := d.m.Status()
	if s := st.Spaces[0]; s.Rate != 1 || s.GameTime >= st.GameTime-1 || s.GameTime < st.GameTime-20 {
		t.Errorf("status: rate %v, game time %v of %v", s.Rate, s.GameTime, st.GameTime)
	}
	d.logged("slowed down")
	d.logged("normal rate again")
}

func TestRateHasAFloor(t *testing.T) {
	d := newDilated(t, nil)
	d.run(20*time.Second, 1, 1000)
	if d.clock[d.a].Rate != leastRate {
		t.Errorf("rate %d", d.clock[d.a].Rate)
	}
}

// A frozen world keeps its rates.
func TestRateWhileFrozen(t *testing.T) {
	d := newDilated(t, nil)
	o := d.join(wire.Observer, 50)
	o.send(&wire.Freeze{On: true})
	d.run(5*time.Second, 200, 1000)
	if len(d.told) > 0 {
		t.Errorf("told %+v", d.told)
	}
}

// A cell that has not got a rate is sent it again after a while, when it reports.
func TestLostRateIsRepeated(t *testing.T) {
	d := newDilated(t, nil)
	d.a.reportCells(slow(d.first, 1000, 0))
	d.b.reportCells(slow(d.second, 800, 0))
	d.pass(200 * time.Millisecond)
	told := one[wire.SpaceRate](d.a)
	one[wire.SpaceRate](d.b)
	for range 4 {
		d.a.reportCells(slow(d.first, 1000, 0))
		d.pass(200 * time.Millisecond)
	}
	none[wire.SpaceRate](d.a) // it may be on its way
	d.pass(400 * time.Millisecond)
	d.a.reportCells(slow(d.first, 1000, 0))
	d.b.reportCells(slow(d.second, 800, told.Clock.Number))
	// The cell on b has it; in the meantime the rate has gone on by at most a step.
	if again := take[wire.SpaceRate](d.a); len(again) == 0 || again[0].Clock.Number < told.Clock.Number {
		t.Errorf("told again: %+v", again)
	}
	if again := take[wire.SpaceRate](d.b); len(again) > 0 && again[0].Clock.Number == told.Clock.Number {
		t.Errorf("b was told again what it has: %+v", again)
	}
	d.a.reportCells(slow(d.first, 1000, 0))
	none[wire.SpaceRate](d.a) // not with every report
}

// A cell that is made later gets the rate with its order; so does the first cell of a space that
// has lost all its cells.
func TestNewCellGetsTheRate(t *testing.T) {
	d := newDilated(t, nil)
	d.run(3*time.Second, 500, 1000)
	clock := d.clock[d.a]
	d.a.drop(mercury.ErrPeerRestarted)
	d.b.drop(mercury.ErrPeerRestarted)
	c := d.join(wire.CellApp, 12)
	if got := one[wire.AddCell](c); got.Clock != clock {
		t.Errorf("the new cell has %+v, the space %+v", got.Clock, clock)
	}
	// Nobody has reported: the rate stays.
	d.pass(2 * time.Second)
	none[wire.SpaceRate](c)
}

// Numbers of a newer term are above those of all older ones.
func TestRateNumbersRiseWithTheTerm(t *testing.T) {
	r := newRig(t, func(c *Config) { c.Term, c.RecoveryWindow = 3, -1 })
	a := r.join(wire.CellApp, 10)
	cell := a.confirm()[0].Cell
	report := cellReport(1, cell, bsp.Version{Term: 3, N: 2}, 0.3, -100, 100)
	report.Rate = 500
	a.reportCells(report)
	r.pass(100 * time.Millisecond)
	if n := one[wire.SpaceRate](a).Clock.Number; n != 3<<32+1 {
		t.Errorf("number %x", n)
	}
}

// A space that runs slowly goes on where it was when the manager starts anew, and comes back to its
// normal rate from there.
func TestRateAfterRecovery(t *testing.T) {
	r := next(t, nil)
	k := gametime.Clock{Number: 1<<32 + 3, At: time.Hour - 10*time.Second, Game: 20 * time.Minute, Rate: 500}
	cell := has(1, r.remember(bsp.New(bsp.Version{Term: 1, N: 4}, leafOf(10, 1, true))))
	cell.Clock = k
	a := r.comeBack(wire.CellApp, 10, 1, wire.Rejoin{GameTime: time.Hour}, cell)
	r.pass(2100 * time.Millisecond)
	if got, want := r.m.Status().Spaces[0].GameTime, k.GameAt(time.Hour+2100*time.Millisecond).Seconds(); got != want {
		t.Errorf("game time %v s, want %v", got, want)
	}
	for range 20 {
		a.reportCells(slow(old(1), 1000, k.Number))
		r.pass(time.Second)
		for _, m := range take[wire.SpaceRate](a) {
			if m.Clock.Number <= k.Number || m.Clock.Game != k.GameAt(m.Clock.At) || m.Clock.Rate < k.Rate {
				t.Errorf("from %+v to %+v", k, m.Clock)
			}
			k = m.Clock
		}
	}
	if k.Rate != gametime.NormalRate || len(r.m.paced) != 0 {
		t.Errorf("it runs at %d, %d spaces are looked after", k.Rate, len(r.m.paced))
	}
}

// The rooms of a CellApp that has too much to do are slowed down together, and the log has one line of them
// all. (It had one for each, 16,000 within a tick.)
func TestOneLineForAllSlowRooms(t *testing.T) {
	r, a, base := roomRig(t, nil)
	report := func(rate uint16) {
		var cells []wire.CellReport
		for _, s := range r.m.spaces {
			c := cellReport(s.cfg.ID, s.cells[0].id, bsp.Version{Term: 1, N: 2}, 0.3, -10, 10)
			c.Rate, c.Clock = rate, s.rates.clock.Number
			cells = append(cells, c)
		}
		a.reportCells(cells...)
	}
	for i := range uint64(50) {
		base.ask(i+1, aRoom())
		a.confirm()
	}
	report(300)
	r.pass(time.Second)
	r.logged("slowed down", "space=1", "others=50")
	for range 40 {
		report(1000)
		r.pass(time.Second)
	}
	r.logged("normal rate again", "space=1", "others=50")
	if n := strings.Count(r.log.String(), "slowed down") + strings.Count(r.log.String(), "normal rate again"); n != 2 {
		t.Errorf("%d lines", n)
	}
}
