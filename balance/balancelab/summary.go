package main

import (
	"math"
	"slices"
	"time"
)

// summary is the result of a run. Deviations are shares of the average load, over the seconds after
// the warm-up.
type summary struct {
	Scenario string  `json:"scenario"`
	Policy   string  `json:"policy"`
	Seed     uint64  `json:"seed"`
	Entities int     `json:"entities"`
	CellApps int     `json:"cellapps"`
	Seconds  int     `json:"seconds"`
	Size     float64 `json:"size_m"`
	Target   float64 `json:"target_load"`
	Noise    float64 `json:"noise"`
	Join     int     `json:"join_s"`

	Period        float64 `json:"period_s"`
	MetaPeriod    float64 `json:"meta_period_s"`
	MinDifference float64 `json:"min_difference"`
	MinMove       float64 `json:"min_move"`
	OffloadBudget int     `json:"offload_budget"`

	WarmUp   int `json:"warmup_s"`
	Measured int `json:"measured_s"`

	Above   extreme `json:"above"` // (max-avg)/avg
	Below   extreme `json:"below"` // (avg-min)/avg
	Within5 float64 `json:"within_5_percent"`
	Within3 float64 `json:"within_3_percent"`
	// Over is the largest number of seconds in a row for which one cell was over overAt times the
	// average.
	Over   int      `json:"over_a_tenth_s"`
	Settle []settle `json:"settle"`

	Moved       float64 `json:"offloads_per_entity_minute"`
	Ghosts      float64 `json:"ghosts_per_real"`
	Cells       usage   `json:"cells"`
	Cost        float64 `json:"load_to_uncut"`
	Bytes       float64 `json:"geometry_bytes_per_cellapp_second"`
	Lines       float64 `json:"lines_moved_per_second"`
	Adds        int     `json:"cells_added"`
	Retirements int     `json:"cells_retired"`
	Cancels     int     `json:"retirements_cancelled"`
	Crowded     int     `json:"crowded_reports"`
	Wanting     int     `json:"wanting_reports"`
	Blocked     int     `json:"blocked_reports"`
	Ignored     int     `json:"figures_ignored"`

	Economy *economyMargins `json:"economy,omitempty"`
	// Manager is the only part that differs from run to run.
	Manager managerCPU `json:"manager_cpu"`
}

// extreme is the worst value of something, and the value that a hundredth of the seconds exceed.
type extreme struct {
	Worst float64 `json:"worst"`
	P99   float64 `json:"p99"`
	Mean  float64 `json:"mean"`
}

// settle is how long after a disturbance every later second, up to the next one, is within 5 %.
type settle struct {
	After int `json:"after_s"`
	Took  int `json:"took_s"` // never is -1
}

// usage compares the number of cells with the fewest that would have done.
type usage struct {
	Mean float64 `json:"mean"`
	Most int     `json:"most"`
	// ByTarget is for an average of TargetLoad, with the load that there was; BySafety for
	// SafetyBound, uncut.
	ByTarget float64 `json:"fewest_by_target_mean"`
	BySafety float64 `json:"fewest_by_safety_mean"`
}

// managerCPU is the time that the policy's answers took, in microseconds.
type managerCPU struct {
	Mean  float64 `json:"mean_us"`
	P99   float64 `json:"p99_us"`
	Worst float64 `json:"worst_us"`
	Calls int     `json:"calls"`
}

const (
	// leastWarmUp is the shortest warm-up that the lab finds, in seconds; calmWarmUp is for how
	// long before its end no cell was added.
	leastWarmUp = 120
	calmWarmUp  = 30
	// economyWarmUp is that of scenario economy, in which cells come and go all the time.
	economyWarmUp = 30

	// settledAt is the deviation within which a crowd counts as balanced, the share most often asked for.
	settledAt = 0.05
)

// warmUp returns how many seconds do not count: as many as the configuration says, or at least 120
// and until no cell has been added for 30 s. A run that does not get that far is judged by its
// second half.
func (l *lab) warmUp() int {
	switch {
	case l.cfg.warmUp > 0:
		return l.cfg.warmUp
	case l.cfg.scenario == "economy" && len(l.seconds) > economyWarmUp:
		return economyWarmUp
	}
	calm := 0
	for i := range l.seconds {
		if calm++; l.seconds[i].adds > 0 {
			calm = 0
		}
		if i+1 >= leastWarmUp && calm >= calmWarmUp {
			return i + 1
		}
	}
	return len(l.seconds) / 2
}

// summarise judges the run so far.
func (l *lab) summarise() *summary {
	c := &l.cfg
	warm := l.warmUp()
	seen := l.seconds[min(warm, len(l.seconds)):]
	s := &summary{
		Scenario: c.scenario, Policy: c.policyName, Seed: c.seed, Entities: c.entities, CellApps: c.cellApps,
		Seconds: len(l.seconds), Size: c.size, Target: c.profile.TargetLoad, Noise: c.noise, Join: c.join,
		Period: c.balance.Period.Seconds(), MetaPeriod: c.balance.MetaPeriod.Seconds(),
		MinDifference: c.profile.MinDifference, MinMove: c.profile.MinMove, OffloadBudget: c.border.Budget(c.balance.Period),
		WarmUp: warm, Measured: len(seen), Settle: l.settles(),
	}
	s.Above = extremeOf(seen, (*second).above)
	s.Below = extremeOf(seen, (*second).below)
	s.Within5 = mean(seen, func(x *second) float64 { return truth(x.within(settledAt)) })
	s.Within3 = mean(seen, func(x *second) float64 { return truth(x.within(0.03)) })
	s.Moved = 60 * mean(seen, func(x *second) float64 { return float64(x.offloaded) / float64(max(1, x.entities)) })
	s.Ghosts = mean(seen, func(x *second) float64 { return float64(x.ghosts) / float64(max(1, x.entities)) })
	s.Cost = mean(seen, func(x *second) float64 { return apart(x.total, x.alone) })
	s.Bytes = mean(seen, func(x *second) float64 { return float64(x.bytes) / float64(max(1, x.leaves)) })
	s.Lines = mean(seen, func(x *second) float64 { return float64(x.moves) })
	s.Cells = usageOf(seen, c)
	for i := range seen {
		s.Over = max(s.Over, seen[i].over)
		s.Adds += seen[i].adds
		s.Retirements += seen[i].retires
		s.Cancels += seen[i].cancels
		s.Crowded += seen[i].crowded
		s.Wanting += seen[i].wanting
		s.Blocked += seen[i].blocked
		s.Ignored += seen[i].ignored
	}
	if c.scenario == "economy" {
		s.Economy = economyOf(seen, c.cellApps, c.profile.TargetLoad)
	}
	s.Manager = managerOf(l.manager.took)
	return s
}

// settles finds for how long each disturbance showed after its end.
func (l *lab) settles() []settle {
	all := []settle{}
	disturbances := l.scenario.disturbances()
	for i, d := range disturbances {
		until := l.now
		if i+1 < len(disturbances) {
			until = min(until, disturbances[i+1].begin)
		}
		if d.end < until {
			all = append(all, settle{int(d.end / time.Second), l.settled(d.end, until)})
		}
	}
	return all
}

// settled is after how many seconds, counted from the first time, every second up to the other time
// was within settledAt; -1 means never.
func (l *lab) settled(from, until time.Duration) int {
	last := from // of the seconds outside
	for i := range l.seconds {
		if s := &l.seconds[i]; s.at > from && s.at <= until && !s.within(settledAt) {
			last = s.at
		}
	}
	if last == until {
		return -1
	}
	return int((last - from) / time.Second)
}

func usageOf(seen []second, cfg *config) usage {
	u := usage{
		Mean:     mean(seen, func(x *second) float64 { return float64(x.leaves) }),
		ByTarget: mean(seen, func(x *second) float64 { return math.Ceil(x.total / cfg.profile.TargetLoad) }),
		BySafety: mean(seen, func(x *second) float64 { return math.Ceil(x.alone / cfg.balance.SafetyBound) }),
	}
	for i := range seen {
		u.Most = max(u.Most, seen[i].leaves)
	}
	return u
}

func managerOf(took []time.Duration) managerCPU {
	if len(took) == 0 {
		return managerCPU{}
	}
	us := make([]float64, len(took))
	for i, d := range took {
		us[i] = float64(d.Nanoseconds()) / 1e3
	}
	e := extremeOfValues(us)
	return managerCPU{e.Mean, e.P99, e.Worst, len(us)}
}

func extremeOf(seen []second, of func(*second) float64) extreme {
	values := make([]float64, len(seen))
	for i := range seen {
		values[i] = of(&seen[i])
	}
	return extremeOfValues(values)
}

// extremeOfValues sorts them.
func extremeOfValues(values []float64) extreme {
	n := len(values)
	if n == 0 {
		return extreme{}
	}
	slices.Sort(values)
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return extreme{Worst: values[n-1], P99: values[(n*99+99)/100-1], Mean: sum / float64(n)}
}

func mean(seen []second, of func(*second) float64) float64 {
	sum := 0.0
	for i := range seen {
		sum += of(&seen[i])
	}
	return sum / float64(max(1, len(seen)))
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
