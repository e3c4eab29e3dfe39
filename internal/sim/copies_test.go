package sim

import (
	"fmt"
	"testing"
	"time"
)

// TestCopies lets CellApps and managers crash. The newest confirmed copy of each base is at its holders all
// the time, and at rest each base has its copies.
func TestCopies(t *testing.T) {
	for _, seed := range andFurther(1, 2, 3, 4, 5, 6) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			runSeed(t, Options{
				Seed: 7000 + seed, CellApps: 2, BaseApps: 3 + int(seed%2), Players: 4, Rovers: 6, Lodgers: 3, Churn: true, Faults: 30 * time.Second,
				Crash: true, CrashManager: seed%2 == 0, Replicas: 1 + int(seed%2),
				Wild: Wild{Namers: 4 * int(seed%2), Gossips: 4},
			}, "")
		})
	}
}

// TestBasesDie lets BaseApps crash. What a copy was known to have is kept, and everyone and
// everything goes on in the next lives of the bases. In the first seeds bases outlive two deaths,
// holders come back, and clients come back to a base that has forgotten what they know.
func TestBasesDie(t *testing.T) {
	worlds := map[string]struct {
		seeds  []uint64
		change func(o *Options)
	}{
		"plain":   {[]uint64{1, 12, 19, 48}, func(*Options) {}},
		"lodgers": {[]uint64{1, 2}, func(o *Options) { o.Lodgers = 3 }},
		"churn":   {[]uint64{11}, func(o *Options) { o.Churn = true }},
		// CellApps die, too: a cell part is made again for a base that was restored. In the last
		// three both die at about the same time.
		"cells": {[]uint64{101, 130, 155, 163}, func(o *Options) { o.Crash = true }},
		// BaseApps are declared dead that are only slow.
		"pauses":     {[]uint64{11, 13}, func(o *Options) { o.Pause = true }},
		"cuts":       {[]uint64{3}, func(o *Options) { o.Cut = true }},
		"names":      {[]uint64{1, 2, 3, 27, 33}, func(o *Options) { o.Wild.Namers = 4 }},
		"travellers": {[]uint64{1, 4}, func(o *Options) { o.Wild.Travellers = 3 }},
		"settlers":   {[]uint64{0, 2}, func(o *Options) { o.Wild.Settlers = 3 }},
		"gossips":    {[]uint64{1, 2}, func(o *Options) { o.Wild.Gossips = 4 }},
		// A cell part is restored from a backup that only its BaseApp has, which dies then.
		"gossips and cells": {[]uint64{19, 35}, func(o *Options) { o.Crash, o.Wild.Gossips = true, 4 }},
		// A holder is declared dead while it is only slow.
		"slow holders": {[]uint64{61, 83}, func(o *Options) { o.Pause, o.Wild.Namers = true, 4 }},
		// The ids of a BaseApp that had not told all to the next CellAppMgr when it died.
		"gossips and managers": {[]uint64{23}, func(o *Options) { o.CrashManager, o.Wild.Gossips = true, 4 }},
		// CellApps and BaseApps die, and what a cell part was told is safe is kept.
		"savers": {[]uint64{1, 2, 6}, func(o *Options) { o.Crash, o.Wild.Savers = true, 6 }},
		// The CellAppMgr dies at about the same time as a BaseApp of which only others than its cells know.
		"managers": {[]uint64{102, 129}, func(o *Options) {
			o.CrashManager, o.Wild.Travellers, o.Wild.Settlers, o.Wild.Namers = true, 3, 3, 4
		}},
		"breaks": {[]uint64{4}, func(o *Options) { o.Wild.Breaks = true }},
		"both":   {[]uint64{204, 207}, func(o *Options) { o.Crash, o.Wild.Breaks = true, true }},
	}
	for name, w := range worlds {
		for _, seed := range andFurther(w.seeds...) {
			t.Run(fmt.Sprint(name, " ", seed), func(t *testing.T) {
				t.Parallel()
				o := Options{
					Seed: 7000 + seed, CellApps: 2, BaseApps: 3 + int(seed%2), Players: 4, Rovers: 6, Faults: 30 * time.Second,
					CrashBase: true, Replicas: 1 + int(seed%2),
				}
				w.change(&o)
				runSeed(t, o, "")
			})
		}
	}
}
