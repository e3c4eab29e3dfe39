package balance

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/cellscape/cellscape/bsp"
)

// followed feeds the loads of two cells and what they have gained, as shares of a core, and returns
// what is remembered then.
func followed(t *testing.T, p *Profile, periods int, at func(period, cell int) (load, gained float64)) *spaceLevels {
	t.Helper()
	o := pair(t, 0.2, 0.2)
	for i := range periods {
		for c := range o.Spaces[0].Cells {
			share, gained := at(i, c)
			x := &o.Spaces[0].Cells[c]
			x.Load, x.Gained = int64(nanos(share)), int64(nanos(gained))
		}
		v := look(o)
		p.lines.recall(v, newProfileLine())
		plan := Plan{}
		p.levels = []spaceLevels{p.moveLines(&v.spaces[0], &plan)}
	}
	return &p.levels[0]
}

func levelOf(s *spaceLevels, cell uint32) float64 {
	for _, c := range s.cells {
		if (c.cell == bsp.CellID{Term: 1, N: cell}) {
			return c.level / 1e9
		}
	}
	return math.NaN()
}

func TestAJumpIsTakenAsItIs(t *testing.T) {
	s := followed(t, newProfile(t, knobs{}), 11, func(period, _ int) (float64, float64) {
		if period == 10 {
			return 0.3, 0
		}
		return 0.2, 0
	})
	if got := levelOf(s, 1); math.Abs(got-0.3) > 1e-9 {
		t.Errorf("level %v after a jump to 0.3", got)
	}
}

func TestAChangeIsFollowed(t *testing.T) {
	const rate, periods = 0.0005, 200
	s := followed(t, newProfile(t, knobs{}), periods, func(period, cell int) (float64, float64) {
		return 0.4 + rate*float64(period*(1-2*cell)), 0
	})
	for cell, want := range []float64{0.4 + rate*(periods-1), 0.4 - rate*(periods-1)} {
		if got := levelOf(s, uint32(cell+1)); math.Abs(got-want) > 2*rate {
			t.Errorf("cell %d: level %v, want %v", cell+1, got, want)
		}
	}
	if s.gain < firstGain/2 {
		t.Errorf("gain %v about a change", s.gain)
	}
}

func TestNoiseLowersTheGain(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	s := followed(t, newProfile(t, knobs{}), 500, func(int, int) (float64, float64) { return 0.2 * (1 + 0.01*rng.NormFloat64()), 0 })
	if s.gain > 0.1 {
		t.Errorf("gain %v about noise", s.gain)
	}
	for cell := uint32(1); cell <= 2; cell++ {
		if got := levelOf(s, cell); math.Abs(got-0.2) > 0.2*0.006 {
			t.Errorf("cell %d: level %v about noise of 1 %% about 0.2", cell, got)
		}
	}
}

func TestRealsThatComeAreExpected(t *testing.T) {
	s := followed(t, newProfile(t, knobs{}), 3, func(period, cell int) (float64, float64) {
		came := 0.006 * float64(period*(1-2*cell))
		return 0.2 + came, came
	})
	for _, c := range s.cells {
		if math.Abs(c.off) > 0.2e9*1e-6 {
			t.Errorf("cell %v: off by %v, though all that came is counted", c.cell, c.off)
		}
	}
}

func TestYieldIsWhatGhostsLeave(t *testing.T) {
	s := followed(t, newProfile(t, knobs{}), 100, func(period, cell int) (float64, float64) {
		came := 0.016 * float64((period%2)*(1-2*cell))
		return 0.2 + came/2, came
	})
	if y := s.yield(); y < 0.45 || y > 0.6 {
		t.Errorf("yield %v where half of the load stays, want about 0.5", y)
	}
}

// TestPaceTellsWhoWalks has one crowd that walks about, and then stands.
func TestPaceTellsWhoWalks(t *testing.T) {
	c := newCrowd(t, 4, 300, 4, knobs{})
	pace := func() float64 { return c.policy.(*Profile).levels[0].pace() }
	for range 12 {
		c.goals(func(int) (float64, float64) { return c.rng.Float64()*1000 - 500, c.rng.Float64()*1000 - 500 })
		c.run("walk", 10)
	}
	if p := pace(); p < 0.05 {
		t.Errorf("pace %v of a crowd that walks", p)
	}
	c.halt()
	c.run("stand", 60)
	if p := pace(); p > 0.005 {
		t.Errorf("pace %v of a crowd that stands", p)
	}
}

// TestWhoWasDueIsNoWalker: what stood beyond the band has come, and nothing else, in a crowd whose
// ghosts keep half of the load that moves.
func TestWhoWasDueIsNoWalker(t *testing.T) {
	m := &mover{average: 100, yield: 0.5}
	old := cellLevel{level: 100, due: -5, banded: -10}
	c := cellLevel{level: 95, gained: -10}
	var sums periodSums
	if c.follow(&old, firstGain, m, &sums); sums.walked != 0 || sums.banded == 0 {
		t.Errorf("walked %v of %v", sums.walked, sums.banded)
	}
}

// TestAnyGainIsHarmless has a cell report gains from one end of int64 to the other: its level stays
// what it reports.
func TestAnyGainIsHarmless(t *testing.T) {
	p := newProfile(t, knobs{})
	o := pair(t, 0.2, 0.2)
	for _, gained := range []int64{0, math.MaxInt64, math.MinInt64, -1, math.MaxInt64, 0, 1 << 62, -1 << 62} {
		o.Spaces[0].Cells[0].Gained = gained
		for _, load := range []int64{0, 2e8} { // in an idle space nothing is a share of the average
			for c := range o.Spaces[0].Cells {
				o.Spaces[0].Cells[c].Load = load
			}
			for _, move := range p.Balance(o).Moves {
				t.Errorf("gained %d: %+v", gained, move)
			}
			s := p.levels[0]
			for _, v := range []float64{s.gain, s.yield(), s.pace(), levelOf(&s, 1), levelOf(&s, 2), s.lag, s.power} {
				if math.IsNaN(v) || math.IsInf(v, 0) {
					t.Fatalf("gained %d: %+v", gained, s)
				}
			}
		}
	}
}
