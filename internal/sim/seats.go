package sim

import (
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/cellscape/cellscape/entity/baseappmgr"
	"github.com/cellscape/cellscape/mercury/mercurytest"
	"github.com/cellscape/cellscape/space/cellappmgr"
)

// seat is an OS process in which managers may lead: a Seat for the CellAppMgr, and a BaseAppMgr and
// a DBApp, if the world has a store, that live as long as one leads there.
type seat struct {
	mgr, base *Process
	db        *Process // nil without a store, and where there is one place only
	place     netip.AddrPort
	term      uint32 // in which it leads, as its hooks say; 0 while it does not
	from      time.Duration
	past      *cellappmgr.Past // of this OS process
}

// addSeats adds the processes of n seats.
func (c *Cluster) addSeats(n int) {
	for i := range n {
		s, mgrPort, basePort, name := &seat{past: new(cellappmgr.Past)}, portManager, portBaseAppMgr, ""
		if i > 0 {
			mgrPort, name = portSeats+2*(i-1), fmt.Sprint(i+1)
			basePort = mgrPort + 1
		}
		s.place = mercurytest.Place(mgrPort)
		s.mgr = c.add("cellappmgr"+name, mgrPort, func(p *Process) (App, error) { return c.makeSeat(s, p) })
		s.base = c.add("baseappmgr"+name, basePort, func(p *Process) (App, error) {
			return baseappmgr.New(c.baseAppMgrConfig(p, s.place))
		})
		if n > 1 && c.opts.Wild.stores() {
			s.db = c.add("dbapp"+name, portSeatDBs+i, func(p *Process) (App, error) { return c.makeDBAppAt(p, s.place, false) })
		}
		c.seats = append(c.seats, s)
	}
	c.manager = c.seats[0].mgr
	c.logins = append(c.logins, c.seats[0].base)
}

// places are where managers may lead; none without seats.
func (c *Cluster) places() (list []netip.AddrPort) {
	for _, s := range c.seats {
		list = append(list, s.place)
	}
	return list
}

func (c *Cluster) makeSeat(s *seat, p *Process) (App, error) {
	s.term = 0
	s.endBeside()
	var places []netip.AddrPort
	if len(c.seats) > 1 {
		places = c.places()
	}
	return cellappmgr.NewSeat(cellappmgr.SeatConfig{
		Config: c.managerConfig(p), Places: places, Past: s.past,
		Leads: func(term uint32) { c.leads(s, term) },
		Ends: func(string) {
			s.term = 0
			c.trace.Event(c.now, "ends", "%s", p.Name)
			s.endBeside()
			for _, x := range s.beside() {
				x.restartAt = 0
			}
		},
	})
}

// beside are the processes that live as long as a manager leads.
func (s *seat) beside() []*Process {
	if s.db == nil {
		return []*Process{s.base}
	}
	return []*Process{s.base, s.db}
}

func (s *seat) endBeside() {
	for _, p := range s.beside() {
		if p.alive {
			p.crash()
		}
	}
}

// leads checks that nobody else does, and that the term is new.
func (c *Cluster) leads(s *seat, term uint32) {
	c.trace.Event(c.now, "leads", "%s in term %d", s.mgr.Name, term)
	for _, x := range c.seats {
		// One that is paused has stopped by its lease, whatever it will find when it wakes up.
		if x != s && x.term > 0 && x.mgr.alive && !x.mgr.paused() {
			c.fail(fmt.Errorf("%s leads in term %d while %s does in term %d", s.mgr.Name, term, x.mgr.Name, x.term))
		}
	}
	if term <= c.terms && len(c.seats) > 1 {
		c.fail(fmt.Errorf("%s leads in term %d after term %d", s.mgr.Name, term, c.terms))
	}
	s.term, s.from = term, c.now
	c.terms = max(c.terms, term) // one that has forgotten them all begins with the first, until apps have told it
	c.manager, c.logins[0] = s.mgr, s.base
	for _, p := range s.beside() {
		p.restartAt = c.now + time.Millisecond
	}
	if s.db != nil {
		c.dbApp = s.db
	}
}

// unled reports whether a process waits until a manager leads beside it.
func (c *Cluster) unled(p *Process) bool {
	return slices.ContainsFunc(c.seats, func(s *seat) bool { return slices.Contains(s.beside(), p) })
}

// leader is the CellAppMgr that leads, nil if none does.
func (c *Cluster) leader() *cellappmgr.CellAppMgr {
	if !c.manager.alive {
		return nil
	}
	switch m := c.manager.app.(type) {
	case *cellappmgr.CellAppMgr:
		return m
	case *cellappmgr.Seat:
		return m.Manager()
	}
	return nil
}

// crashSeat ends a process in which managers may lead, and with it all that is in it.
func (c *Cluster) crashSeat(s *seat) {
	s.mgr.crash()
	s.endBeside()
	for _, p := range s.beside() {
		p.restartAt = 0
	}
	s.term, s.past = 0, new(cellappmgr.Past)
}

// seatOf is the seat of the present manager.
func (c *Cluster) seatOf() *seat {
	i := slices.IndexFunc(c.seats, func(s *seat) bool { return s.mgr == c.manager })
	return c.seats[i]
}

// strikeSeat does something to a seat, mostly to the one that leads, as long as a majority of the
// others stays well: its processes crash and come back, or pause, or reach the other seats no more.
func (c *Cluster) strikeSeat() {
	well := 0
	for _, s := range c.seats {
		if s.mgr.alive && !s.mgr.paused() {
			well++
		}
	}
	s := c.seatOf()
	if c.fate.IntN(3) == 0 {
		s = c.seats[c.fate.IntN(len(c.seats))]
	}
	if !s.mgr.alive || s.mgr.paused() || len(c.seats) > 1 && 2*(well-1) <= len(c.seats) {
		return
	}
	d := time.Duration(50+c.fate.IntN(6000)) * time.Millisecond
	switch c.fate.IntN(3) {
	case 0:
		c.crashSeat(s)
		s.mgr.restartAt = c.now + d
	case 1:
		s.mgr.pause(d)
		if s.base.alive {
			s.base.pause(d)
		}
	case 2:
		for _, x := range c.seats {
			if x != s {
				c.cuts = append(c.cuts, cut{s.mgr, x.mgr, c.now + d})
				c.part(s.mgr, x.mgr)
			}
		}
		c.trace.Event(c.now, "cut", "%s from the other seats for %v", s.mgr.Name, d)
	}
}
