package main

import (
	"fmt"
	"os"

	"github.com/cellscape/cellscape/entity/client/bots"
	"github.com/cellscape/cellscape/examples/arena/game"
)

// Sight is what players saw of each other while everyone moved; part of the JSON object.
type Sight struct {
	// Moves is how many moves of bots were in the view of others. Arrived is how many of them, in
	// percent, were known there within two ticks: the move itself, or a later one of the same bot.
	Moves   uint64  `json:"moves_in_view"`
	Arrived float64 `json:"moves_arrived_in_two_ticks_percent"`
	// Ages are the ages of the places that players held of each other: the time since such a place
	// was no longer the true one.
	Ages
	ByDistance []Ages `json:"place_age_by_distance,omitempty"`
	// Crossing is the same of bots that went over a line between two cells within the last second.
	Crossing Crossing `json:"crossing"`
}

// Crossing is how well players see those who cross a line.
type Crossing struct {
	Moves   uint64  `json:"moves_in_view"`
	Arrived float64 `json:"moves_arrived_in_two_ticks_percent"`
	P50     int64   `json:"place_age_p50_ms"`
	P99     int64   `json:"place_age_p99_ms"`
	Worst   int64   `json:"place_age_worst_ms"`
}

// Ages are the ages of places up to a distance in metres.
type Ages struct {
	To    float64 `json:"place_distance_m"`
	P50   int64   `json:"place_age_p50_ms"`
	P99   int64   `json:"place_age_p99_ms"`
	Worst int64   `json:"place_age_worst_ms"`
}

const (
	// enoughMoves is how many moves in view a run must have before their share says anything.
	enoughMoves = 10_000
	// lateTicks is the share of ticks, in percent, above which the machine does not keep up: what
	// then comes late is not the world's fault, and is reported, not judged.
	lateTicks = 1
)

// seeing fills in what players saw.
func (v *verdict) seeing(f *bots.Freshness) {
	v.Moves = f.Moves
	v.Arrived = float64(int(10000*f.Share())) / 100
	v.Ages = agesIn(f, 0, bots.Bands)
	v.Crossing = Crossing{f.Apart.Moves, float64(int(10000*f.Apart.Share())) / 100,
		f.Apart.Age(.5).Milliseconds(), f.Apart.Age(.99).Milliseconds(), f.Apart.Worst.Milliseconds()}
	for i := range bots.Bands {
		v.ByDistance = append(v.ByDistance, agesIn(f, i, i+1))
	}
}

// agesIn are the ages in some of the bands of distance.
func agesIn(f *bots.Freshness, from, to int) Ages {
	a := Ages{
		To:  float64(game.AoIRadius) * float64(to) / bots.Bands,
		P50: f.Age(.5, from, to).Milliseconds(), P99: f.Age(.99, from, to).Milliseconds(),
	}
	for _, w := range f.Worst[from:to] {
		a.Worst = max(a.Worst, w.Milliseconds())
	}
	return a
}

func (v *verdict) tellSight() {
	if v.Moves == 0 {
		return
	}
	fmt.Fprintf(os.Stderr, "of %d moves in view %.2f %% arrived within %v; ages of places p50 %v, p99 %v, worst %v ms\n",
		v.Moves, v.Arrived, bots.DefaultInTime, v.P50, v.P99, v.Worst)
	if c := v.Crossing; c.Moves > 0 {
		fmt.Fprintf(os.Stderr, "  %d of them by bots that crossed a line: %.2f %% within %v; p50 %v, p99 %v, worst %v ms\n",
			c.Moves, c.Arrived, bots.DefaultInTime, c.P50, c.P99, c.Worst)
	}
	for _, a := range v.ByDistance {
		fmt.Fprintf(os.Stderr, "  up to %3.0f m: p50 %v, p99 %v, worst %v ms\n", a.To, a.P50, a.P99, a.Worst)
	}
}

// lateMoves says why a run failed whose players did not see each other in time. Where processes
// died, or the machine did not keep up, it only reports.
func (v *verdict) lateMoves() error {
	late := 100 * float64(v.LateTicks) / float64(max(1, v.Ticks))
	switch {
	case v.Moves < enoughMoves || v.Arrived >= v.arrive || v.deaths > 0:
		return nil
	case late > lateTicks:
		fmt.Fprintf(os.Stderr, "%.1f %% of the ticks were late: this machine does not keep up, so late moves do not count\n", late)
		return nil
	}
	return fmt.Errorf("%.2f %% of the moves in view arrived within %v, want %v (-arrive)", v.Arrived, bots.DefaultInTime, v.arrive)
}
