package balance

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/cellscape/cellscape/balance/load"
)

// TestDoBalance is InternalNode::doBalance.
func TestDoBalance(t *testing.T) {
	tests := []struct {
		name        string
		left, right float64
		cfg         knobs
		edit        func(*Observation)
		stays       bool
		to          float64
		direction   int
		blocked     int
	}{
		// The average of both is 0.15, the difference 0.05: the largest slice.
		{name: "left heavier", left: 0.2, right: 0.1, to: -110, direction: -1},
		// Reals of 0.001 on the left, 0.002 on the right.
		{name: "right heavier", left: 0.1, right: 0.2, to: 110, direction: 1},
		{name: "difference of a smaller slice", left: 0.2, right: 0.16, to: -60, direction: -1},
		{name: "smallest slice", left: 0.2, right: 0.194, to: -10, direction: -1},
		{name: "smallest slice is more than the difference", left: 0.2, right: 0.197, stays: true, direction: -1},
		{name: "less than any slice may be", left: 0.2, right: 0.199, stays: true, direction: -1},
		{name: "equal", left: 0.2, right: 0.2, stays: true},
		{name: "not created", left: 0.2, right: 0.1, edit: func(o *Observation) { leafOf(o, 2).Created = false }, stays: true},
		{name: "giving side not created", left: 0.2, right: 0.1, edit: func(o *Observation) { leafOf(o, 1).Created = false }, stays: true},
		{name: "created by its report", left: 0.2, right: 0.1, to: -110, direction: -1, edit: func(o *Observation) {
			leafOf(o, 2).Created, o.Spaces[0].Cells[1].Created = false, true
		}},
		{name: "no report", left: 0.2, right: 0.1, edit: func(o *Observation) { o.Spaces[0].Cells = o.Spaces[0].Cells[:1] }, stays: true},
		{name: "growing side at the bound", left: 1, right: 0.85, stays: true, edit: func(o *Observation) {
			o.Apps[0].Smoothed, o.Apps[1].Smoothed = 1e8, 1e8
		}},
		// The smoothed average is 1.5, hence the bound 1.65. Each real on the left is a level, five
		// reach the largest.
		{name: "all overloaded", left: 1.9, right: 1.1, to: -50, direction: -1},
		{name: "bound by the smoothed load", left: 1.9, right: 1.1, stays: true, edit: func(o *Observation) {
			o.Apps[0].Smoothed, o.Apps[1].Smoothed = 1e9, 1e9 // hence 1.1
		}},
		{name: "retiring, though lighter", left: 0.02, right: 0.5, to: -1000, direction: -1, cfg: knobs{MaxSlice: 0.1}, edit: func(o *Observation) {
			leafOf(o, 1).Retiring = true
			o.Spaces[0].Cells[0] = cellOf(1, nil)
			o.Spaces[0].Cells[0].Edges = edgesOf([]load.Sample{{X: -999.9, Load: 2e7}}, 1e8)
		}},
		{name: "retiring takes the largest slice", left: 0.2, right: 0.5, to: -110, direction: -1, edit: func(o *Observation) { leafOf(o, 1).Retiring = true }},
		{name: "retiring on the right", left: 0.5, right: 0.2, to: 110, direction: 1, edit: func(o *Observation) { leafOf(o, 2).Retiring = true }},
		{name: "retiring, sibling over its bound", left: 0.2, right: 1, stays: true, blocked: 1, edit: func(o *Observation) {
			leafOf(o, 1).Retiring = true
			o.Apps[0].Smoothed, o.Apps[1].Smoothed = 0, 1
		}},
		{name: "retiring and swept, sibling over its bound", left: 0, right: 1, stays: true, direction: 1, edit: func(o *Observation) { // the direction is the upper line's
			tree := mustParse(t, "version 1.1 \n x -2000 \n cell 1.3 - 0 created \n x -2000 \n cell 1.1 - 0 created retiring \n cell 1.2 - 0 created")
			o.Spaces[0].Tree, o.Spaces[0].Cells[0].Ghosts, o.Apps[1].Smoothed = tree, 1, 1
			o.Spaces[0].Cells = append(o.Spaces[0].Cells, cellOf(3, nil))
		}},
		{name: "balancing is off", left: 0.2, right: 0.1, cfg: knobs{NoBalance: true}, stays: true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o := pair(t, tt.left, tt.right)
			if tt.edit != nil {
				tt.edit(o)
			}
			c := newClassic(t, tt.cfg)
			p := c.Balance(o)
			switch {
			case tt.stays && len(p.Moves) > 0:
				t.Errorf("moved %v, want no move", p.Moves)
			case !tt.stays && (len(p.Moves) != 1 || math.Abs(p.Moves[0].To-tt.to) > 0.01):
				t.Errorf("moves %v, want one to %g", p.Moves, tt.to)
			}
			if l, _ := c.Line(1, lineIDs(o.Spaces[0].Tree)[0]); l.Direction != tt.direction {
				t.Errorf("direction %d, want %d", l.Direction, tt.direction)
			}
			if len(p.Blocked) != tt.blocked {
				t.Errorf("Blocked %v, want %d", p.Blocked, tt.blocked)
			}
		})
	}
}

// TestDoBalanceComparesAverages has three cells of which the two on the right share a side.
func TestDoBalanceComparesAverages(t *testing.T) {
	const tree = "version 1.1 \n x 0 \n cell 1.1 - 0 created \n z 500 \n cell 1.2 - 0 created \n cell 1.3 - 0 created"
	build := func(a, b, c float64) *Observation {
		return observed(t, tree, cellOf(1, row(-995, 0, 10, 100, a)), cellOf(2, row(5, 0, 10, 100, b)), cellOf(3, row(5, 900, 10, 100, c)))
	}
	tests := []struct {
		name    string
		o       *Observation
		retires uint32
		sign    float64 // of the root's move
	}{
		{"one of 0.3 against 0.2 + 0.2", build(0.3, 0.2, 0.2), 0, -1},
		{"one of 0.2 against 0.3 + 0.3", build(0.2, 0.3, 0.3), 0, 1},
		// With 1.3 on its way out 1.2 will have 0.5 alone: the right side is the heavier.
		{"a retiring leaf below counts with its load only", build(0.4, 0.25, 0.25), 3, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.retires != 0 {
				leafOf(tt.o, tt.retires).Retiring = true
			}
			p := newClassic(t, knobs{}).Balance(tt.o)
			root := lineIDs(tt.o.Spaces[0].Tree)[0]
			if len(p.Moves) == 0 || p.Moves[0].Node != root || p.Moves[0].To*tt.sign <= 0 {
				t.Errorf("moves %v, want the root's towards %+g", p.Moves, tt.sign)
			}
		})
	}
}

func TestGrowingSideIsJudgedByItsFullestCell(t *testing.T) {
	const tree = "version 1.1 \n x 0 \n cell 1.1 - 0 created \n z 500 \n cell 1.2 - 0 created \n cell 1.3 - 0 created"
	for _, full := range []float64{0.8, 0.9} {
		o := observed(t, tree, cellOf(1, row(-995, 0, 10, 100, 0.7)), cellOf(2, row(5, 0, 10, 100, full)), cellOf(3, nil))
		p := newClassic(t, knobs{}).Balance(o)
		root := lineIDs(o.Spaces[0].Tree)[0]
		moved := slices.ContainsFunc(p.Moves, func(m Move) bool { return m.Node == root })
		if moved != (full < 0.85) {
			t.Errorf("fullest cell %g: line moved = %v", full, moved)
		}
	}
}

// TestAdjustAggression is InternalNode::adjustAggression.
func TestAdjustAggression(t *testing.T) {
	c := newClassic(t, knobs{})
	const regain = 1.0717734625362931 // 2^(1/10)
	tests := []struct {
		name       string
		directions []int
		want       float64
	}{
		{"first", []int{-1}, 1},
		{"same way", []int{-1, -1, -1}, 1},
		{"reversal", []int{-1, 1}, 0.5},
		{"left, still, right is none", []int{-1, 0, 1}, 1},
		{"a period still regains", []int{-1, 1, 0}, 0.5 * regain},
		{"the same way regains", []int{-1, 1, 1}, 0.5 * regain},
		{"ten regain one reversal", []int{-1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, 1},
		{"four reversals are the least", []int{-1, 1, -1, 1, -1, 1, -1, 1}, 0.0625},
	}
	for _, tt := range tests {
		l := classicLine{aggression: 1}
		for _, d := range tt.directions {
			l.turn(c, d)
		}
		if math.Abs(l.aggression-tt.want) > 1e-12 {
			t.Errorf("%s: aggression %v, want %v", tt.name, l.aggression, tt.want)
		}
	}
	// Of a difference of 0.05 a half is still the largest slice, a quarter (0.0125) the one below.
	for aggression, want := range map[float64]float64{0.5: -110, 0.25: -60} {
		c := newClassic(t, knobs{MaxAggression: aggression})
		if p := c.Balance(pair(t, 0.2, 0.1)); len(p.Moves) != 1 || math.Abs(p.Moves[0].To-want) > 0.01 {
			t.Errorf("aggression %v: moves %v, want to %v", aggression, p.Moves, want)
		}
	}
}

func TestAggressionOfAnyConfigStaysWithinItsBounds(t *testing.T) {
	for _, cfg := range []knobs{
		{}, {AggressionDecrease: 0.25}, {MaxAggression: 0.3}, {MaxAggression: 1e-9},
		{AggressionIncreasePeriod: 1, MaxAggressionIncreasePeriod: math.MaxInt64},
		{Period: time.Hour, MetaPeriod: time.Hour, AggressionIncreasePeriod: 1},
		{AggressionDecrease: 1e-300}, {AggressionDecrease: 1 - 1e-16},
	} {
		c := newClassic(t, cfg)
		l := classicLine{aggression: c.cfg.MaxAggression}
		for i := range 5000 {
			l.turn(c, i%2*2-1)
			if !(l.aggression > 0 && l.aggression <= c.cfg.MaxAggression) {
				t.Fatalf("%+v: aggression %v after %d turns", cfg, l.aggression, i)
			}
		}
		for range 5000 {
			l.turn(c, 1)
		}
		if cfg.AggressionDecrease < 0.9 && l.aggression != c.cfg.MaxAggression {
			t.Errorf("%+v: aggression %v is not regained", cfg, l.aggression)
		}
	}
}

// TestCPUOffloadForLevel is BalanceConfig::cpuOffloadForLevel.
func TestCPUOffloadForLevel(t *testing.T) {
	cfg := knobs{}.border()
	for level, want := range []float64{20e6, 10e6, 5e6, 2.5e6, 1.25e6} {
		if got := slice(&cfg, level); got != want {
			t.Errorf("level %d: %v, want %v", level, got, want)
		}
	}
}

// TestAggressionIsTheSameOnEveryProcessor: the last bits of math.Pow differ between them, and would
// let the plans of two machines drift apart.
func TestAggressionIsTheSameOnEveryProcessor(t *testing.T) {
	for _, cfg := range []knobs{{}, {AggressionDecrease: 0.7}, {Period: 700 * time.Millisecond}, {MaxAggressionIncreasePeriod: 33 * time.Second}} {
		c := newClassic(t, cfg)
		for _, v := range []float64{c.regain, c.least} {
			if steps := v * aggressionSteps; steps != math.Trunc(steps) {
				t.Errorf("%+v: %v has bits beyond those that math.Pow is sure of", cfg, v)
			}
		}
	}
}
