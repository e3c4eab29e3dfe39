package main

import (
	"fmt"
	"strings"
)

// String is the summary for people.
func (s *summary) String() string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("\n%s, policy %s: %d entities, %d CellApps, %d s, seed %d, %.0f km; the first %d s do not count", s.Scenario, s.Policy, s.Entities, s.CellApps, s.Seconds, s.Seed, s.Size/1000, s.WarmUp)
	line("above the average   worst %.1f %%, p99 %.1f %%, mean %.1f %%", 100*s.Above.Worst, 100*s.Above.P99, 100*s.Above.Mean)
	line("below the average   worst %.1f %%, p99 %.1f %%, mean %.1f %%", 100*s.Below.Worst, 100*s.Below.P99, 100*s.Below.Mean)
	line("all cells within    ±5 %% in %.1f %% of the seconds, ±3 %% in %.1f %%", 100*s.Within5, 100*s.Within3)
	line("a tenth above it    for at most %d s in a row by one cell", s.Over)
	for _, d := range s.Settle {
		if d.Took < 0 {
			line("disturbance         over at %d s, never settled", d.After)
		} else {
			line("disturbance         over at %d s, settled %d s later", d.After, d.Took)
		}
	}
	line("cells               %.1f on average, %d at most; the target load needs %.1f, the safety bound %.1f", s.Cells.Mean, s.Cells.Most, s.Cells.ByTarget, s.Cells.BySafety)
	line("cells changed       %d added, %d retired, %d retirements cancelled", s.Adds, s.Retirements, s.Cancels)
	line("load                %.3f of that of the uncut world, %.2f ghosts per real", s.Cost, s.Ghosts)
	line("handed over         %.3f times per entity and minute", s.Moved)
	line("lines               %.1f moved a second; geometry %.0f bytes per CellApp and second", s.Lines, s.Bytes)
	line("signals             %d crowded, %d wanting, %d blocked, %d figures ignored", s.Crowded, s.Wanting, s.Blocked, s.Ignored)
	if e := s.Economy; e != nil {
		line("over lower bound    %+.4f to %+.4f, outside for %d s", e.Lower.Lowest, e.Lower.Highest, e.Lower.Outside)
		line("under upper bound   %+.4f to %+.4f, outside for %d s", e.Upper.Lowest, e.Upper.Highest, e.Upper.Outside)
	}
	if s.Manager.Calls > 0 {
		line("manager             %.0f µs a plan on average, p99 %.0f µs, worst %.0f µs", s.Manager.Mean, s.Manager.P99, s.Manager.Worst)
	}
	return b.String()
}
