package cellapp

import (
	"net/netip"
	"slices"
	"time"

	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
)

// Lookout looks at the place of another process. The runner provides it.
type Lookout interface {
	// Probe looks once, and passes what it finds to Reached with the same token, on the CellApp's
	// goroutine and never from within Probe.
	Probe(token uint64, at netip.AddrPort)
}

// maxLooks bounds the looks of one CellApp that are under way: the manager asks for one at a time for
// each app that it suspects, and a whole machine of them may be silent at once. The oldest is given up
// first; the manager no longer waits for it.
const maxLooks = 256

// looking is a question of the manager that waits for a look.
type looking struct {
	token uint64
	wire.Look
}

// look looks at another app for the manager, which suspects it.
func (a *CellApp) look(_ sender, m *wire.Look) {
	if a.cfg.Lookout == nil {
		return // the manager does without this opinion
	}
	if len(a.looks) == maxLooks {
		a.looks = slices.Delete(a.looks, 0, 1)
	}
	a.lastLook++
	a.looks = append(a.looks, looking{a.lastLook, *m})
	a.cfg.Lookout.Probe(a.lastLook, m.App.At)
}

// Reached takes what Config.Lookout has found.
func (a *CellApp) Reached(_ time.Duration, token uint64, found mercury.Reach) {
	i := slices.IndexFunc(a.looks, func(l looking) bool { return l.token == token })
	if i < 0 {
		return // it was given up
	}
	l := a.looks[i]
	a.looks = slices.Delete(a.looks, i, i+1)
	if !a.dismissed {
		a.manager.Send(&wire.Seen{Inquiry: l.Inquiry, App: l.App, Reach: found})
	}
}

// mourn tells the BaseApps that all has been said about the reals of a dead CellApp.
func (a *CellApp) mourn(app mercury.Address) {
	for base := range a.roster.Of(wire.BaseApp) {
		a.links.Send(base, &wire.Mourned{App: app})
	}
}
