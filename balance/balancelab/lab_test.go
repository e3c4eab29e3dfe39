package main

import (
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cellscape/cellscape/bsp"
)

// small is a run of a second or so: crowded enough for a dozen cells.
func small(scenario string) config {
	c := config{scenario: scenario, entities: 3000, cellApps: 16, seconds: 150, seed: 1, size: 6000, noise: 0.01, join: 20}
	c.profile.TargetLoad = 0.1
	return c
}

// start makes a lab and runs it for some seconds.
func start(t *testing.T, c config, seconds int) *lab {
	t.Helper()
	l, err := newLab(c, nil)
	if err != nil {
		t.Fatal(err)
	}
	for range seconds {
		if _, err := l.step(); err != nil {
			t.Fatal(err)
		}
	}
	return l
}

func TestSameSeedSameRun(t *testing.T) {
	for _, policy := range []string{"profile", "classic"} {
		run := func() string {
			var out strings.Builder
			f := flags{config: small("star"), json: true, noTime: true}
			f.entities, f.seconds, f.policyName = 2000, 25, policy
			if err := run(&f, &out); err != nil {
				t.Fatal(err)
			}
			return out.String()
		}
		if d := cmp.Diff(run(), run()); d != "" {
			t.Errorf("%s: the same seed gave another run:\n%s", policy, d)
		}
	}
	one, two := small("star"), small("star")
	two.seed, one.join, two.join = 2, 0, 0
	a, b := start(t, one, 0), start(t, two, 0)
	if a.entities[0].at == b.entities[0].at || a.entities[0].factor == b.entities[0].factor || a.noise.Uint64() == b.noise.Uint64() {
		t.Error("the seed does not matter for all that chance decides")
	}
}

// In every pulse each entity is on one CellApp that has a cell, and the sums that the CellApps keep
// are those of their entities.
func TestNobodyIsLostOrCountedTwice(t *testing.T) {
	for _, scenario := range []string{"raid", "economy"} {
		c := small(scenario)
		c.seconds = 60
		l := start(t, c, 0)
		for l.now < c.length() {
			l.now += pulse
			if err := l.pulse(); err != nil {
				t.Fatal(err)
			}
			checkSums(t, l)
			if t.Failed() {
				t.Fatalf("%s at %v", scenario, l.now)
			}
		}
		if len(l.entities) != l.last || l.manager.cells < 5 {
			t.Errorf("%s: %d entities of %d came, %d cells were made: too few to show anything", scenario, l.last, len(l.entities), l.manager.cells)
		}
	}
}

func checkSums(t *testing.T, l *lab) {
	t.Helper()
	reals, smoothed := make([]int, len(l.apps)), make([]int64, len(l.apps))
	for i := range l.present() {
		e := &l.present()[i]
		reals[e.app]++
		smoothed[e.app] += e.meter.Load()
	}
	for i := range l.apps {
		a := &l.apps[i]
		if a.reals != reals[i] || a.smoothed != smoothed[i] {
			t.Errorf("CellApp %d has %d reals of load %d, and says %d of %d", i, reals[i], smoothed[i], a.reals, a.smoothed)
		}
		if a.cell.IsZero() && reals[i] > 0 {
			t.Errorf("CellApp %d has no cell and %d reals", i, reals[i])
		}
	}
}

// The loads of a second are the sums of everyone's own work, neighbours, ghosts and haunts, counted
// one by one.
func TestLoadsAddUp(t *testing.T) {
	l := start(t, small("star"), 60)
	var alone, total int64
	ghosts := 0
	for i := range l.present() {
		e := &l.present()[i]
		haunts := 0
		for r, leaf := range l.tree.Leaves() {
			near := r.MaxX > e.at.x-ghostDistance && r.MinX < e.at.x+ghostDistance && r.MaxZ > e.at.z-ghostDistance && r.MinZ < e.at.z+ghostDistance
			if near && !r.Empty() && leaf.Created && appOf(leaf) != e.app {
				haunts++
			}
		}
		own := l.cost(e)
		alone += own
		total += own + int64(haunts)*(hauntCost+ghostCost)*ticksPerSecond
		ghosts += haunts
	}
	s := &l.seconds[len(l.seconds)-1]
	if s.ghosts != ghosts || s.alone != cores(alone) || s.total != cores(total) {
		t.Errorf("%d ghosts, load %v, uncut %v; counted one by one: %d, %v, %v", s.ghosts, s.total, s.alone, ghosts, cores(total), cores(alone))
	}
	if ghosts == 0 || s.cells < 5 {
		t.Errorf("%d ghosts and %d cells: too few to show anything", ghosts, s.cells)
	}
}

// A crowd that stands still, seen without noise, is divided and then left alone.
func TestStillCrowdComesToRest(t *testing.T) {
	c := small("uniform")
	c.noise = 0
	l := start(t, c, c.seconds)
	changes := func(seconds []second) (n int) {
		for i := range seconds {
			n += seconds[i].moves + seconds[i].adds + seconds[i].retires
		}
		return n
	}
	late := l.seconds[90:]
	moved := changes(late)
	if early := changes(l.seconds[:90]); early < 10 {
		t.Errorf("%d changes while it was divided: too few to be true", early)
	}
	if s := &late[len(late)-1]; moved > 0 || s.cells < 5 || s.worst() > 0.12 {
		t.Errorf("%d changes after a minute of rest; %d cells up to %.0f %% from the average", moved, s.cells, 100*s.worst())
	}
}

// The bounds are loose: this test says that balancing works at all. Longer runs measure how well.
func TestSmallStarHolds(t *testing.T) {
	l := start(t, small("star"), 150)
	s := l.summarise()
	if s.Above.Mean > 0.25 || s.Below.Mean > 0.35 || s.Cells.Mean < 5 || s.Ignored > 0 {
		t.Errorf("the small star: %+v", s)
	}
}

// This is what package space does at a line: a real stays within the band, is handed over beyond
// it, and is also handed over out of a retiring cell; no more than the budget in one check.
func TestCheck(t *testing.T) {
	for _, c := range []struct {
		name     string
		x        float64 // of all entities; the line is at 0, they belong to its lower side
		retiring bool
		want     []int // handed over by each check
	}{
		{"inside", -1, false, []int{0, 0, 0}},
		{"in the band", 9, false, []int{0, 0, 0}},
		{"beyond the band", 11, false, []int{100, 20, 0}},
		{"retiring", 1, true, []int{100, 20, 0}},
	} {
		cfg := small("uniform")
		cfg.entities, cfg.join = 120, 0
		l := start(t, cfg, 0)
		second := l.manager.newLeaf(1)
		second.Created = true
		if err := l.manager.tree.Split(bsp.CellID{Term: term, N: 1}, bsp.AxisX, 0, second, true); err != nil {
			t.Fatal(err)
		}
		l.apps[1].hold(second.Cell)
		if c.retiring {
			if err := l.manager.tree.Retire(bsp.CellID{Term: term, N: 1}); err != nil {
				t.Fatal(err)
			}
		}
		l.receive(l.manager.tree)
		for i := range l.entities {
			l.entities[i].at = point{c.x, 0}
		}
		var got []int
		for range c.want {
			l.offload = 0
			l.check()
			got = append(got, l.offload)
			l.now += checkPeriod
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: handed over %v, not %v", c.name, got, c.want)
		}
	}
}

func TestFlagFaults(t *testing.T) {
	_, err := parseFlags(strings.Fields("-scenario war -entities 0 -cellapps 0 -seconds 0 -size 3 -noise 2 -jitter -1 -join -1 -warmup -1 -period 0.1s -target 3 -rate -1 -policy best more"), io.Discard)
	for _, want := range []string{"-scenario", "-entities", "-cellapps", "-seconds", "-size", "-noise", "-jitter", "-join", "-warmup", "-period", "TargetLoad", "OffloadRate", "-policy", "more"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v\ndoes not say %s", err, want)
		}
	}
	if _, err := parseFlags(nil, io.Discard); err != nil {
		t.Errorf("without flags: %v", err)
	}
}

// A second of 30,000 entities has to take milliseconds, or no one would run ten minutes of it.
func BenchmarkSecondOfStar(b *testing.B) {
	l, err := newLab(config{scenario: "star", entities: 30_000, cellApps: 80, seconds: mostSeconds, seed: 1, noise: 0.01}, nil)
	if err != nil {
		b.Fatal(err)
	}
	for l.now < 150*time.Second {
		if _, err := l.step(); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		if _, err := l.step(); err != nil {
			b.Fatal(err)
		}
	}
}

// TestEconomyGivesBack: as the crowd leaves, so do cells, although those who are left walk in and
// out of the retiring ones.
func TestEconomyGivesBack(t *testing.T) {
	c := small("economy")
	c.entities, c.cellApps, c.seconds, c.size = 8000, 80, 1000, 0
	c.profile.TargetLoad = 0.2
	e := economyOf(start(t, c, c.seconds).seconds, c.cellApps, c.profile.TargetLoad)
	// With two cells, neither this bound nor the other can be kept for about a minute of it.
	if e.Lower.Outside > 90 || e.Lower.Lowest < -0.03 {
		t.Errorf("under the lower bound for %d s, by up to %v", e.Lower.Outside, -e.Lower.Lowest)
	}
}

// Policy profile follows a rush. (Cells in its midst were once a seventh above the average for 14
// s, since lines moved to where the crowd had been.) See balance/flow.go.
func TestARushIsFollowed(t *testing.T) {
	c := small("flashcrowd")
	c.entities, c.seconds, c.warmUp = 6000, 300, 60
	l := start(t, c, c.seconds)
	s := l.summarise()
	if s.Over > 5 {
		t.Errorf("a cell was a tenth above the average for %d s in a row", s.Over)
	}
	for _, d := range s.Settle {
		if d.Took < 0 || d.Took > 15 {
			t.Errorf("after %d s it took %d s to settle", d.After, d.Took)
		}
	}
}
