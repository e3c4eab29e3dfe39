package balance

import (
	"math"
	"math/rand/v2"
	"testing"
)

// foreseenOf is what share of a core lines reckon a cell to gain until the next plan.
func foreseenOf(s *spaceLevels, cell uint32) float64 {
	for _, c := range s.cells {
		if c.cell.N == cell {
			return s.steady() * c.flow / 1e9
		}
	}
	return math.NaN()
}

// resting has lines that nothing moves, so that all that changes is flow.
var resting = knobs{MinMove: 1}

func TestASteadyFlowIsForeseen(t *testing.T) {
	const rate, stops = 0.002, 60
	walk := func(periods int) *spaceLevels {
		return followed(t, newProfile(t, resting), periods, func(period, cell int) (load, gained float64) {
			came := rate * float64(min(period, stops)*(1-2*cell))
			return 0.2 + came, came
		})
	}
	flowing, stopped := walk(stops), walk(stops+10)
	for cell, want := range []float64{rate, -rate} {
		if got := foreseenOf(flowing, uint32(cell+1)); math.Abs(got-want) > rate/3 {
			t.Errorf("cell %d: %v is foreseen, %v comes", cell+1, got, want)
		}
		if got := foreseenOf(stopped, uint32(cell+1)); math.Abs(got) > rate/30 {
			t.Errorf("cell %d: %v is foreseen of a crowd that stands", cell+1, got)
		}
	}
}

func TestOnesThatComeAndGoAreNoFlow(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 1))
	s := followed(t, newProfile(t, resting), 300, func(int, int) (load, gained float64) {
		came := 0.01 * rng.NormFloat64()
		return 0.2 + came, came
	})
	for cell := uint32(1); cell <= 2; cell++ {
		if got := foreseenOf(s, cell); math.Abs(got) > 0.001 {
			t.Errorf("cell %d: %v is foreseen where reals come and go by chance", cell, got)
		}
	}
}

// TestAPlanLeftOutIsNoFlow: nothing has come of a plan that was not carried out.
func TestAPlanLeftOutIsNoFlow(t *testing.T) {
	p := newProfile(t, knobs{})
	o := pair(t, 0.4, 0.2)
	for range 20 {
		if plan := p.Balance(o); len(plan.Moves) == 0 {
			t.Fatal("the line is not moved")
		}
	}
	for cell := uint32(1); cell <= 2; cell++ {
		if got := foreseenOf(&p.levels[0], cell); got != 0 {
			t.Errorf("cell %d: %v is foreseen", cell, got)
		}
	}
}

// TestAnotherSetOfCellsIsNoFlow: what a cell has that has taken the place of a dead one has not
// walked in.
func TestAnotherSetOfCellsIsNoFlow(t *testing.T) {
	p := newProfile(t, resting)
	o := pair(t, 0.2, 0.2)
	p.Balance(o)
	v := look(o)
	p.lines.recall(v, newProfileLine())
	m := mover{p: p, land: land{s: &v.spaces[0]}}
	for cells, want := range map[int]bool{2: true, 3: false} {
		if got := m.carriedOut(&spaceLevels{cells: make([]cellLevel, cells)}); got != want {
			t.Errorf("two cells, of %d before: %v", cells, got)
		}
	}
}
