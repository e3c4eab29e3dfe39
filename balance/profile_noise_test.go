package balance

import (
	"math/rand/v2"
	"testing"
)

// restlessness is how many moves of the line between two equal cells are planned in a period, of 400,
// while reports swing by a standard deviation, each as far off as the last but for a part that is new.
func restlessness(t *testing.T, swing, fresh float64) float64 {
	t.Helper()
	rng := rand.New(rand.NewPCG(7, 7))
	p := newProfile(t, knobs{})
	o := pair(t, 0.025, 0.025)
	const settle, periods = 100, 400
	moves, off := 0, [2]float64{}
	for i := range settle + periods {
		for c := range o.Spaces[0].Cells {
			off[c] += fresh * (swing*rng.NormFloat64() - off[c])
			o.Spaces[0].Cells[c].Load = int64(nanos(0.025 * max(0, 1+off[c])))
		}
		plan := p.Balance(o)
		if i >= settle {
			moves += len(plan.Moves)
		}
	}
	return float64(moves) / periods
}

// Lines rest while loads only swing, however much: a machine with other work makes the same load cost
// more at one time and less at another.
func TestLinesRestWhileLoadsSwing(t *testing.T) {
	for _, c := range []struct{ swing, fresh, most float64 }{
		{0.01, 1, 0.02}, {0.03, 1, 0.05}, {0.1, 1, 0.07}, {0.2, 1, 0.1},
		{0.1, 0.5, 0.1}, // what goes through a meter lasts a while
	} {
		if got := restlessness(t, c.swing, c.fresh); got > c.most {
			t.Errorf("swings of %v (%v of each is new): %v moves in a period, want at most %v", c.swing, c.fresh, got, c.most)
		}
	}
}

// A load that has grown for good is no swing, also where loads do swing.
func TestAGrownLoadIsFollowedThroughSwings(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	s := followed(t, newProfile(t, knobs{}), 240, func(period, cell int) (float64, float64) {
		load := 0.2 * (1 + 0.1*rng.NormFloat64())
		if period >= 200 && cell == 0 {
			load += 0.1
		}
		return load, 0
	})
	if got := levelOf(s, 1); got < 0.26 || got > 0.34 {
		t.Errorf("level %v twenty seconds after the load has grown to 0.3", got)
	}
}
