package baseapp

import (
	"slices"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/property"
)

// # Services
//
// A service has methods and nothing else, for work that needs no entity: a word filter, a rating, a
// gate to another system. Each BaseApp that has a script for it runs a fragment, which is a base of the
// service's definition. All apps know the fragments by what the cluster shares. A call to the service
// (entity.ServiceMailbox) goes to one of them, the same for all calls of a caller as long as there
// are the same ones and that one shows life. One that has acknowledged nothing for half a second gets
// no new calls from that app until it does; what it was sent stays with it (internal/app/fragments.go).
// Calls that come before the first news of a service wait for that, two seconds at most
// (callservice.go).
//
//	          joined                 leaves                      serveGrace
//	resting ---------> serving ----------------> not listed -----------------> ended
//	   ^                  | it has ended
//	   +--- serveAgain ---+ and is not listed any more
//
// Invariants:
//
//   - A fragment is on the app that has made it: it is not copied, does not move, and has no row. It
//     dies with its app, and the CellAppMgr takes it off the list. Calls to it that are not answered then
//     fail with entity.ErrNoEntity.
//   - It is on the list as long as it lives and its app stays. If the list loses it, it is said again.
//   - An app that leaves has it taken off the list first, so that calls which are under way are handled.

const (
	// serveAgain is how long a fragment that has ended, or cannot be made, is left at that: a script that
	// panics at each call is not to fill the log.
	serveAgain = 5 * time.Second
	// serveGrace is how long a fragment of a leaving app handles what others send who have not heard of that.
	serveGrace = 2 * time.Second
)

// serving is a service that runs here.
type serving struct {
	def *property.Definition
	id  entity.ID     // of the fragment; 0 for none
	at  time.Duration // not before
	// until is when the fragment of a leaving app ends; 0 for not.
	until time.Duration
}

// findServices lists those that have scripts.
func (a *BaseApp) findServices() {
	for _, d := range a.cfg.Schema.Services {
		if a.cfg.Scripts.bases.Of(d) != nil {
			a.services = append(a.services, serving{def: d})
		}
	}
}

// tickServices takes the next step of each.
func (a *BaseApp) tickServices() {
	if a.ids == nil || a.dismissed {
		return
	}
	for i := range a.services {
		s := &a.services[i]
		switch b := a.byID[s.id]; {
		case s.id == 0:
			a.beginService(s)
		case b == nil || b.ended() || b.destroying:
			s.id, s.at = 0, a.now+serveAgain
			a.listService(s, 0)
		case a.leave.state != leaveNone:
			a.leaveService(s, b)
		case a.now >= s.at && !slices.Contains(a.shared.Fragments(s.def.Name), s.id):
			a.listService(s, s.id)
		}
	}
}

func (a *BaseApp) beginService(s *serving) {
	if a.now < s.at || !a.mayEnsure() {
		return
	}
	s.at = a.now + serveAgain
	b, err := a.createWith(s.def, property.NewValues(s.def, property.BaseSide, nil), func(b *base) { b.fragment = true })
	if err != nil {
		a.fault("a fragment of a service cannot be made", "service", s.def.Name, "error", err)
		return
	}
	s.id = b.id
	a.listService(s, b.id)
}

// leaveService lets a fragment end, some time after others were told.
func (a *BaseApp) leaveService(s *serving, b *base) {
	switch {
	case s.until == 0:
		s.until = a.now + serveGrace
		a.listService(s, 0)
	case a.now >= s.until:
		b.Destroy()
	}
}

// listService says which fragment is here. The list is looked at again after serveAgain.
func (a *BaseApp) listService(s *serving, id entity.ID) {
	if id != 0 {
		s.at = a.now + serveAgain
	}
	if err := a.shared.Serve(s.def.Name, a.allocator, id); err != nil {
		a.fault("the list of services is not told", "service", s.def.Name, "error", err)
	}
}

// servesStill reports whether a fragment lives here.
func (a *BaseApp) servesStill() bool {
	return slices.ContainsFunc(a.services, func(s serving) bool { return s.id != 0 })
}
