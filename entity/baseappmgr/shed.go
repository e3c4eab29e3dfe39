package baseappmgr

import (
	"time"

	"github.com/cellscape/cellscape/internal/wire"
)

// New bases are made where the fewest are, so BaseApps differ only when one has come later, or players of one have
// stayed and those of another gone. Then bases move, a part at a time, while everyone plays:
//
//	               more than Above and Least above the average
//	(left alone) ----------------------------------------------> shedding
//	     ^                                                          | Shed to one below the average, each
//	     +----- no more than a quarter of that above it ------------+ shedPeriod, when both have told their loads
//
// An order that is lost, or that cannot be followed now, is made up for by the next one. So nothing waits for its
// end, and a BaseAppMgr that starts again goes on from the loads alone.

const (
	// DefaultShedAbove and DefaultShedLeast are the defaults of ShedConfig.
	DefaultShedAbove = 0.25
	DefaultShedLeast = 200

	// shedPeriod is the time between two orders: longer than a part moves, and a load is told.
	shedPeriod = 3 * time.Second
)

// ShedConfig says when a BaseApp gives bases to others.
type ShedConfig struct {
	// Off says that no bases move by load. Default: they do.
	Off bool
	// Above is by what share of the average number of bases a BaseApp must be above it before bases move.
	// They do until it is within a quarter of that. Default DefaultShedAbove.
	Above float64
	// Least is how many bases that must be at least. A client is sent elsewhere by each move of its base, so
	// few are not worth it. Default DefaultShedLeast.
	Least int
}

func (c *ShedConfig) setDefaults() {
	if c.Above == 0 {
		c.Above = DefaultShedAbove
	}
	if c.Least == 0 {
		c.Least = DefaultShedLeast
	}
}

// shed orders the BaseApp that is most above the average to give bases to one that is below it.
func (m *BaseAppMgr) shed(now time.Duration) {
	if m.cfg.Shed.Off || now < m.shedAt {
		return
	}
	m.shedAt = now + shedPeriod
	apps, average := m.loads()
	if len(apps) < 2 {
		return
	}
	start := max(m.cfg.Shed.Above*average, float64(m.cfg.Shed.Least))
	var from *knownApp
	below := apps[:0:0]
	for _, a := range apps {
		above := float64(a.bases) - average
		a.shedding = above > start || a.shedding && above > start/4
		if a.shedding && (from == nil || a.bases > from.bases) {
			from = a
		}
		if above < 0 {
			below = append(below, a)
		}
	}
	if from == nil || len(below) == 0 {
		return
	}
	to := below[m.sheds%len(below)]
	m.sheds++ // the next time another one: not all may be able to take what is there
	if !from.reported || !to.reported {
		return
	}
	n := int(min(float64(from.bases)-average, average-float64(to.bases)))
	if n < 1 || m.links.Reply(from.ch, &wire.Shed{To: to.at, Bases: uint32(n)}) != nil {
		return
	}
	from.reported, to.reported = false, false
	m.log.Info("a BaseApp has more bases than others, and gives some away", "from", from.at, "bases", from.bases, "to", to.at, "there", to.bases, "move", n)
}

// loads are the BaseApps that take part, and the average of their bases.
func (m *BaseAppMgr) loads() (apps []*knownApp, average float64) {
	for _, a := range m.baseApps {
		if !a.away && !a.leaving {
			apps = append(apps, a)
			average += float64(a.bases)
		}
	}
	return apps, average / float64(max(1, len(apps)))
}
