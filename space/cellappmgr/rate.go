package cellappmgr

import (
	"slices"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/internal/gametime"
	"github.com/cellscape/cellscape/internal/wire"
)

// How fast the game time of a space runs is one decision for all its cells, though each wants what
// its own CellApp needs:
//
//	cells     1000  512  1000        what they want (CellsReport)
//	least           512
//	limited         750              falls by a quarter, rises by a tenth at once
//	told      SpaceRate n: from rateLead on, 750
//	                |
//	          +-----+-----+
//	        cell  cell  cell         change over together
//
// Each change continues the game time of the one before, so that the numbered changes make one
// function of the manager's time. A cell that is made later gets the last of them with AddCell; a
// cell whose report shows that it does not have it gets it again.

const (
	// ratePeriod is the time between two changes: more than rateLead, so that no cell has two of
	// them ahead of it.
	ratePeriod = time.Second
	// rateLead is how long before it takes effect a change is told: time for a lost packet to be
	// sent again, twice in a data centre.
	rateLead = 500 * time.Millisecond
	// leastRate is the slowest rate, in thousandths, whatever a cell wants: the world must not
	// stand still.
	leastRate = gametime.NormalRate / 20
)

// rates is how fast a space runs.
type rates struct {
	clock   gametime.Clock // as told last
	changed time.Duration
	outrun  bool // a cell has a newer Clock, from an earlier manager
}

func (r *rates) rate() uint16 {
	return r.clock.Runs()
}

// setRates changes the rates of spaces towards what their cells want.
func (m *CellAppMgr) setRates(now time.Duration) {
	if m.frozen {
		return
	}
	var slowed, normal repaced
	m.paced = slices.DeleteFunc(m.paced, func(s *space) bool {
		want, ok := s.wantedRate()
		r := &s.rates
		if ok && (r.clock.Number == 0 || now-r.changed >= ratePeriod) {
			if was, next := r.rate(), limitRate(r.rate(), want); next != was || r.outrun {
				m.changeRate(now, s, next)
				switch {
				case next == was: // only the number is new
				case was == gametime.NormalRate:
					slowed.add(s)
				case next == gametime.NormalRate:
					normal.add(s)
				}
			}
		}
		s.paced = !s.ending && (r.outrun || r.rate() < gametime.NormalRate || want < gametime.NormalRate)
		return !s.paced
	})
	if slowed.spaces > 0 {
		m.log.Warn("a space is slowed down: one of its CellApps has more to do than it can", "space", slowed.first, "others", slowed.spaces-1)
	}
	if normal.spaces > 0 {
		m.log.Info("a space runs at its normal rate again", "space", normal.first, "behind", normal.behind, "others", normal.spaces-1)
	}
}

// repaced is what there is to log of the spaces whose rate has changed alike at one time: all the rooms of
// a CellApp do so together, and there may be thousands.
type repaced struct {
	first  entity.SpaceID
	spaces int
	behind time.Duration // the most
}

func (p *repaced) add(s *space) {
	if p.spaces++; p.spaces == 1 {
		p.first = s.cfg.ID
	}
	p.behind = max(p.behind, s.rates.clock.At-s.rates.clock.Game)
}

// pace looks after the rate of a space from now on if the rate is not normal, or if a cell wants it
// lower or knows a newer one.
func (m *CellAppMgr) pace(s *space, wanted uint16) {
	if !s.paced && (s.rates.outrun || wanted > 0 && wanted < gametime.NormalRate || s.rates.rate() < gametime.NormalRate) {
		s.paced = true
		m.paced = append(m.paced, s)
	}
}

// wantedRate is the lowest rate that a cell of the space wants; ok is false while none has
// reported.
func (s *space) wantedRate() (want uint16, ok bool) {
	want = gametime.NormalRate
	for _, c := range s.cells {
		if !c.reported {
			continue
		}
		ok = true
		if c.report.Rate > 0 {
			want = min(want, max(c.report.Rate, leastRate))
		}
	}
	return want, ok
}

// limitRate is the next rate on the way from one to another: down fast, since the CellApp is late
// already; up slowly, since the load grows with the rate.
func limitRate(from, to uint16) uint16 {
	if to < from {
		return max(to, from-from/4)
	}
	return min(to, from+max(1, from/10))
}

func (m *CellAppMgr) changeRate(now time.Duration, s *space, rate uint16) {
	r := &s.rates
	at := m.clusterTime(now) + rateLead
	number := max(r.clock.Number, uint64(m.cfg.Term)<<32) + 1 // numbers of a newer term are above all older ones
	r.clock = gametime.Clock{Number: number, At: at, Game: r.clock.GameAt(at), Rate: rate}
	r.changed, r.outrun = now, false
	for i, c := range s.cells {
		if s.firstOf(c.app) == i {
			m.sendRate(now, s, c.app)
		}
	}
}

// firstOf is the index of the first cell that an app has of the space.
func (s *space) firstOf(app *member) int {
	for i, c := range s.cells {
		if c.app == app {
			return i
		}
	}
	return -1
}

func (m *CellAppMgr) sendRate(now time.Duration, s *space, to *member) {
	m.send(to, &wire.SpaceRate{Space: s.cfg.ID, Clock: s.rates.clock})
	for _, c := range s.cells {
		if c.app == to {
			c.rateToldAt = now
		}
	}
}

// remindRate sends the rate again to an app that was sent it a while ago and still does not have
// it.
func (m *CellAppMgr) remindRate(now time.Duration, s *space, c *cell) {
	if c.report.Clock < s.rates.clock.Number && now-max(c.rateToldAt, s.rates.changed, c.orderedAt) > resend {
		m.sendRate(now, s, c.app)
	}
}
