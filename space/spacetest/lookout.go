package spacetest

import (
	"net/netip"
	"slices"
	"time"

	"github.com/cellscape/cellscape/mercury"
)

// What a process finds that looks at another one: the port of a killed process is closed at once,
// that of a paused one is open, and a place that is cut off says nothing.

const (
	lookTime   = 2 * time.Millisecond
	silentTime = 160 * time.Millisecond
)

// lookout is an App as it looks at others.
type lookout App

// line stands while the process at its other end lives.
type line struct {
	token uint64
	to    *App
	start int // of to
}

// Probe implements mercury.Lookout.
func (l *lookout) Probe(token uint64, at netip.AddrPort) {
	a := (*App)(l)
	a.tell(token, a.w.reach(a, at))
}

// Hold implements cellappmgr.Lines.
func (l *lookout) Hold(token uint64, at netip.AddrPort) {
	a := (*App)(l)
	found := a.w.reach(a, at)
	if found == mercury.ReachOpen {
		to := a.w.appAt(at)
		a.lines = append(a.lines, line{token, to, to.starts})
	}
	a.tell(token, found)
}

// Release implements cellappmgr.Lines.
func (l *lookout) Release(token uint64) {
	l.lines = slices.DeleteFunc(l.lines, func(x line) bool { return x.token == token })
}

// tell has the app told what a look has found.
func (a *App) tell(token uint64, found mercury.Reach) {
	d := lookTime
	if found == mercury.ReachSilent {
		d = silentTime
	}
	a.due = append(a.due, dueWord{a.w.Now() + d, func(now time.Duration) {
		a.app.(interface {
			Reached(now time.Duration, token uint64, found mercury.Reach)
		}).Reached(now, token, found)
	}})
}

func (w *World) appAt(at netip.AddrPort) *App {
	for _, a := range w.apps {
		if a.at == at {
			return a
		}
	}
	return nil
}

func (w *World) reach(from *App, at netip.AddrPort) mercury.Reach {
	a := w.appAt(at)
	switch {
	case a == nil || w.Net.Parted(from.at, at):
		return mercury.ReachSilent
	case a.app == nil:
		return mercury.ReachClosed
	}
	return mercury.ReachOpen
}

// endLines tells those with a line to a process that it has ended.
func (w *World) endLines(to *App) {
	for _, a := range w.apps {
		for _, l := range a.lines {
			if l.to == to && l.start == to.starts {
				a.tell(l.token, mercury.ReachClosed)
			}
		}
		a.lines = slices.DeleteFunc(a.lines, func(l line) bool { return l.to == to && l.start == to.starts })
	}
}
