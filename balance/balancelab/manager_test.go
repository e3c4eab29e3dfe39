package main

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/cellscape/cellscape/balance"
	"github.com/cellscape/cellscape/bsp"
)

// script is a policy that does what a test says.
type script struct {
	balance, meta func(*balance.Observation) balance.Plan
}

func (s *script) Balance(o *balance.Observation) balance.Plan { return s.balance(o) }
func (s *script) Meta(o *balance.Observation) balance.Plan    { return s.meta(o) }
func (s *script) Line(uint32, bsp.NodeID) (balance.LineState, bool) {
	return balance.LineState{}, false
}
func nothing(*balance.Observation) balance.Plan { return balance.Plan{} }
func addAt(x float64, app uint32) func(*balance.Observation) balance.Plan {
	done := false
	return func(o *balance.Observation) balance.Plan {
		if done {
			return balance.Plan{}
		}
		done = true
		return balance.Plan{Adds: []balance.Add{{Space: space, Cell: o.Spaces[0].Cells[0].ID, Axis: bsp.AxisX, At: x, NewOnHigherSide: true, App: app}}}
	}
}

// Plans are made a quarter of a second after the reports on which they are based; lines every half
// second, cells every three seconds.
func TestPeriods(t *testing.T) {
	c := small("uniform")
	c.noise = 0
	l := start(t, c, 0)
	var lines, cells []time.Duration
	reported := int64(-1)
	l.manager.policy = &script{
		balance: func(o *balance.Observation) balance.Plan {
			lines = append(lines, o.Now)
			if got := o.Spaces[0].Cells[0].Load; got != reported {
				t.Errorf("at %v the policy is told a load of %d; at the last report it was %d", o.Now, got, reported)
			}
			return balance.Plan{}
		},
		meta: func(o *balance.Observation) balance.Plan {
			cells = append(cells, o.Now)
			return balance.Plan{}
		},
	}
	for l.now < 7*time.Second {
		l.now += pulse
		if err := l.pulse(); err != nil {
			t.Fatal(err)
		}
		if a := &l.apps[0]; l.now%(500*time.Millisecond) == 0 {
			reported = a.smoothed + a.remainder.Load()
		}
	}
	if len(lines) != 13 || lines[0] != 750*time.Millisecond || lines[12] != 6750*time.Millisecond {
		t.Errorf("lines are planned at %v", lines)
	}
	if len(cells) != 2 || cells[0] != 3250*time.Millisecond || cells[1] != 6250*time.Millisecond {
		t.Errorf("cells are planned at %v", cells)
	}
}

// A planned cell is known to the CellApps after 100 ms, created after 300 ms, and known to be
// created 100 ms later: only then do entities go there.
func TestCellComesInSteps(t *testing.T) {
	c := small("uniform")
	c.entities, c.join = 200, 0
	l := start(t, c, 3)
	l.manager.policy = &script{balance: nothing, meta: addAt(0, 2)}
	known, ready, moved := time.Duration(0), time.Duration(0), time.Duration(0)
	for l.now < 5*time.Second {
		l.now += pulse
		if err := l.pulse(); err != nil {
			t.Fatal(err)
		}
		for _, step := range []struct {
			at *time.Duration
			is bool
		}{{&known, l.apps[1].known}, {&ready, l.apps[1].ready}, {&moved, l.apps[1].reals > 0}} {
			if step.is && *step.at == 0 {
				*step.at = l.now
			}
		}
	}
	const planned = 3250 * time.Millisecond
	if known != planned+geometryDelay || ready != planned+creationDelay+geometryDelay || moved < ready || moved > ready+checkPeriod {
		t.Errorf("planned at %v; known at %v, ready at %v, entities at %v", planned, known, ready, moved)
	}
}

// A plan that does not fit ends the run: it would be a fault of the policy.
func TestBadPlanEndsTheRun(t *testing.T) {
	for _, c := range []struct {
		name string
		plan func(*balance.Observation) balance.Plan
		want string
		is   error
	}{
		{"an app with a cell", addAt(0, 1), "which has cell", nil},
		{"an app that is not there", addAt(0, 99), "CellApp 99", nil},
		{"a line beyond all bounds", addAt(math.Inf(1), 2), "", bsp.ErrLine},
	} {
		l := start(t, small("uniform"), 2)
		l.manager.policy = &script{balance: nothing, meta: c.plan}
		var err error
		for err == nil && l.now < 10*time.Second {
			_, err = l.step()
		}
		if err == nil || !strings.Contains(err.Error(), c.want) || (c.is != nil && !errors.Is(err, c.is)) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// Reports scatter about the load by the given noise, and not to one side.
func TestNoise(t *testing.T) {
	c := small("uniform")
	c.join, c.noise = 0, 0.02
	l := start(t, c, 1)
	a := &l.apps[0]
	truth := float64(a.smoothed + a.remainder.Load())
	sum, squares, n := 0.0, 0.0, 4000.0
	for range int(n) {
		l.report()
		off := float64(a.reported)/truth - 1
		sum, squares = sum+off, squares+off*off
	}
	if mean, sigma := sum/n, math.Sqrt(squares/n); math.Abs(mean) > 0.002 || math.Abs(sigma-c.noise) > 0.002 {
		t.Errorf("reports are off by %.4f on average, scattered by %.4f", mean, sigma)
	}
}
