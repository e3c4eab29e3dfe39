package baseappmgr

import (
	"cmp"
	"time"

	"github.com/cellscape/cellscape/internal/wire"
)

// New bases are made where the fewest are. So BaseApps differ only when one has come later, when
// players of one have stayed and those of another gone, or when the bases of one have more to do.
// Then bases move, a part at a time, while everyone plays. First the work of the BaseApps is
// compared, which is the processor time that they tell, and then the number of their bases:
//
//	               more than Above and LeastLoad or Least above the average
//	(left alone) ----------------------------------------------------------> shedding
//	     ^                                                                     | Shed to one below the average, each
//	     +----- no more than a quarter of that above it -----------------------+ shedPeriod, when both have told
//	                                                                             their loads
//
// Work comes before numbers: a BaseApp with few bases is only given as many as leave its work near
// the average, or they would have to go back.
//
// An order that is lost, or that cannot be followed now, is made up for by the next one. So nothing
// waits for its end, and a BaseAppMgr that starts again goes on from the loads alone. Work is a
// mean over some seconds: what an order moves is reckoned in at once, by the mean work of a base,
// so that no second order is given for the same work.

const (
	// DefaultShedAbove, DefaultShedLeastLoad and DefaultShedLeast are the defaults of ShedConfig.
	DefaultShedAbove     = 0.25
	DefaultShedLeastLoad = 0.1
	DefaultShedLeast     = 200

	// shedPeriod is the time between two orders: longer than a part moves, and a load is told.
	shedPeriod = 3 * time.Second

	// workSmoothing is the weight of a new report of work: a mean over some five seconds, so that a
	// second in which memory is collected moves no base.
	workSmoothing = 0.2

	// leastPart is the least part of its bases for which a BaseApp is given an order: a hundredth.
	leastPart = 100
)

// ShedConfig says when a BaseApp gives bases to others.
type ShedConfig struct {
	// Off says that no bases move by load. Default: they do.
	Off bool
	// Above is by what share of the average a BaseApp must be above it, in work or in the number of
	// bases, before bases move. They do until it is within a quarter of that. Default
	// DefaultShedAbove.
	Above float64
	// LeastLoad is how much that must be at least of work, as a part of a core. Default DefaultShedLeastLoad.
	LeastLoad float64
	// Least is how many bases that must be at least. A client is sent elsewhere by each move of its base, so
	// few are not worth it. Default DefaultShedLeast.
	Least int
}

func (c *ShedConfig) setDefaults() {
	c.Above = cmp.Or(c.Above, DefaultShedAbove)
	c.LeastLoad = cmp.Or(c.LeastLoad, DefaultShedLeastLoad)
	c.Least = cmp.Or(c.Least, DefaultShedLeast)
}

// measure is by what BaseApps are compared.
type measure uint8

const (
	byWork measure = iota // cores
	byNumber
	measures
)

func (a *knownApp) by(k measure) float64 {
	if k == byWork {
		return a.work
	}
	return float64(a.bases)
}

// worked notes the work that a BaseApp tells, and reports whether it is known: the first report
// only begins it.
func (a *knownApp) worked(now time.Duration, r *wire.BaseLoad) (known bool) {
	share, known := a.busy.Report(now, r.CPU)
	switch {
	case !known:
	case a.measured:
		a.work += workSmoothing * (share - a.work)
	default:
		a.work, a.measured = share, true
	}
	return known
}

// level is the average of the BaseApps by a measure, and how much more is too much.
type level struct{ average, most float64 }

func (m *BaseAppMgr) level(k measure, apps []*knownApp) level {
	var l level
	for _, a := range apps {
		l.average += a.by(k) / float64(len(apps))
	}
	least := float64(m.cfg.Shed.Least)
	if k == byWork {
		least = m.cfg.Shed.LeastLoad
	}
	l.most = max(m.cfg.Shed.Above*l.average, least)
	return l
}

// shed orders a BaseApp that has more than others to give bases away.
func (m *BaseAppMgr) shed(now time.Duration) {
	if m.cfg.Shed.Off || now < m.shedAt {
		return
	}
	m.shedAt = now + shedPeriod
	var apps []*knownApp
	for _, a := range m.baseApps {
		if !a.away && !a.leaving {
			apps = append(apps, a)
		}
	}
	if len(apps) < 2 {
		return
	}
	work := m.level(byWork, apps)
	if !m.shedBy(byWork, work, work.average, apps) {
		m.shedBy(byNumber, m.level(byNumber, apps), work.average+work.most/4, apps)
	}
}

// shedBy orders the BaseApp that is most above the average to give bases to one that is below it, and reports
// whether there are such. The work of none becomes more than upTo for that.
func (m *BaseAppMgr) shedBy(k measure, l level, upTo float64, apps []*knownApp) bool {
	var from *knownApp
	for _, a := range apps {
		above := a.by(k) - l.average
		a.shedding[k] = above > l.most || a.shedding[k] && above > l.most/4
		if a.shedding[k] && (from == nil || a.by(k) > from.by(k)) {
			from = a
		}
	}
	below := apps[:0:0]
	for _, a := range apps {
		if a.by(k) < l.average && a.by(byWork) <= upTo {
			below = append(below, a)
		}
	}
	if from == nil || len(below) == 0 {
		return false
	}
	to := below[m.sheds%len(below)]
	m.sheds++ // the next time another one: not all may be able to take what is there
	n := int(min(from.by(k)-l.average, l.average-to.by(k)) * float64(from.bases) / from.by(k))
	if k == byNumber && from.work > 0 {
		n = min(n, int((upTo-to.work)*float64(from.bases)/from.work))
	}
	if !from.reported || !to.reported || n < max(1, from.bases/leastPart) || m.links.Reply(from.ch, &wire.Shed{To: to.at, Bases: uint32(n)}) != nil {
		return true
	}
	m.log.Info("a BaseApp has more than others, and gives bases away", "from", from.at, "bases", from.bases, "load", from.work,
		"to", to.at, "there", to.bases, "load_there", to.work, "move", n)
	from.reported, to.reported = false, false
	gone := from.work * float64(n) / float64(from.bases)
	from.work, to.work = from.work-gone, to.work+gone
	return true
}
