package main

import (
	"fmt"
	"math"
	"time"

	"github.com/cellscape/cellscape/balance/load"
	"github.com/cellscape/cellscape/bsp"
)

// second is what was seen of one second, at its end. Loads are true loads as fractions of a core:
// of this second, not smoothed, without noise.
type second struct {
	at time.Duration
	// least, mean and most are over the CellApps whose cell is created and does not retire: cells
	// counts those, leaves all that the space has.
	least, mean, most float64
	cells, leaves     int
	// over is the largest number of seconds in a row for which one of the cells has by now been
	// over overAt.
	over int
	// total is the load of all CellApps; alone is that of the same crowd in a world without lines.
	total, alone                float64
	entities, offloaded, ghosts int
	tally
}

// above and below are how far the most and the least loaded cell are from the average, as shares of
// it.
func (s *second) above() float64 { return apart(s.most-s.mean, s.mean) }
func (s *second) below() float64 { return apart(s.mean-s.least, s.mean) }

func (s *second) worst() float64 { return max(s.above(), s.below()) }

func apart(difference, mean float64) float64 {
	if mean == 0 {
		return 0
	}
	return difference / mean
}

// within reports whether every cell is within a share of the average.
func (s *second) within(share float64) bool { return s.worst() <= share }

func (s *second) String() string {
	return fmt.Sprintf("%5.0f %5d %6.3f %6.3f %6.3f %+7.1f%% %+7.1f%% %6d %9d %7d",
		s.at.Seconds(), s.cells, s.least, s.mean, s.most, 100*s.above(), -100*s.below(), s.moves, s.offloaded, s.ghosts)
}

// heading names the columns of second.String.
const heading = "    t cells    min    avg    max     above    below  lines offloaded  ghosts"

// cores turns load into a fraction of a core.
func cores(l int64) float64 { return float64(l) / float64(load.Core) }

// record notes the second that ends now.
func (l *lab) record() {
	s := second{at: l.now, leaves: l.manager.tree.Len(), entities: l.last - l.first, offloaded: l.offload, tally: l.manager.tally}
	l.manager.tally, l.offload = tally{}, 0
	least, most, sum, total, alone := int64(math.MaxInt64), int64(0), int64(0), int64(0), int64(0)
	for i := range l.apps {
		a := &l.apps[i]
		total += a.raw
		s.ghosts += a.ghosts
		if a.ready && a.known && !a.retiring {
			s.cells++
			least, most, sum = min(least, a.raw), max(most, a.raw), sum+a.raw
		}
	}
	for i := range l.present() {
		alone += l.present()[i].alone
	}
	s.total, s.alone = cores(total), cores(alone)
	if s.cells > 0 {
		s.least, s.most, s.mean = cores(least), cores(most), cores(sum)/float64(s.cells)
	}
	s.over = l.over(s.mean)
	l.seconds = append(l.seconds, s)
	l.cut()
}

// overAt is the share of the average from which a cell should soon be relieved while others have
// room.
const overAt = 1.1

// over counts for each CellApp, and returns the most.
func (l *lab) over(mean float64) (most int) {
	for i := range l.apps {
		a := &l.apps[i]
		if a.over++; !a.ready || !a.known || a.retiring || cores(a.raw) <= overAt*mean {
			a.over = 0
		}
		most = max(most, a.over)
	}
	return most
}

// cut is a picture of the space at one time.
type cut struct {
	at    time.Duration
	cells []cutCell
	dots  []point
}

type cutCell struct {
	rect     bsp.Rect
	load     float64
	retiring bool
}

// dotsPerCut is how many of the crowd a picture shows.
const dotsPerCut = 500

// cut keeps a picture when one is due: pictures are spread evenly over the run, the last at its
// end.
func (l *lab) cut() {
	n, taken := l.cfg.frames, len(l.cuts)
	if taken >= n || l.now < l.cfg.length()*time.Duration(taken+1)/time.Duration(n) {
		return
	}
	c := cut{at: l.now}
	for r, leaf := range l.tree.Leaves() {
		if r = r.Intersect(l.manager.world); !r.Empty() {
			c.cells = append(c.cells, cutCell{r, cores(l.apps[appOf(leaf)].raw), leaf.Retiring})
		}
	}
	crowd := l.present()
	// The step is odd, since scenarios deal out roles by the last bits of the number.
	step := len(crowd)/dotsPerCut | 1
	for i := 0; i < len(crowd); i += step {
		c.dots = append(c.dots, crowd[i].at)
	}
	l.cuts = append(l.cuts, c)
}
