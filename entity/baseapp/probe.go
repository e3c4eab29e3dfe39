package baseapp

import (
	"time"

	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/migrate"
)

const (
	// RealLease is how long a base believes in a real without hearing of it. It is longer than the
	// default period of backups, with which each real says where it is.
	RealLease = 15 * time.Second

	// AnswerLease is the same while the real owes the base an ack.
	AnswerLease = 5 * time.Second

	// ProbeAgain is how long a base waits for an answer before it asks again.
	ProbeAgain = 5 * time.Second

	// MemberLease is how long a base hears nothing of its real before it asks the CellAppMgr
	// whether the CellApp is still a member. For as long, the origin of a handoff remembers where
	// the real went and can answer.
	MemberLease = 30 * time.Second

	// ProbesPerTick bounds the questions of one tick. After a stall of this process it has heard
	// nothing of any real, and would ask about all at once.
	ProbesPerTick = 64
)

// hearFrom notes that a base has heard of its real from an app. Only the app where the base
// believes it counts; a late message of another app does not show that the real is there.
func (b *base) hearFrom(app mercury.Address) {
	if app == b.link.App() {
		b.heardAt = b.app.now
	}
}

// probe asks about a real that the base has not heard of for long. An app that lost the real says
// so until it is answered. But if that app died or forgot, the base would believe in the real for
// ever. The CellApp may also have handed the real on, retired and ended, and the base never heard
// of the new real. Only the CellAppMgr can tell it that.
//
// One that was told to make the real, and has not said that it did, is asked in the same way.
func (b *base) probe() {
	a := b.app
	silent, overdue := a.now-b.heardAt, b.link.Overdue(a.now)
	due := overdue || b.link.Live() && (silent >= RealLease || silent >= AnswerLease && b.link.out.Unreceived() > 0)
	if !due || a.now < b.probeAt || a.probes >= ProbesPerTick {
		return
	}
	a.probes++
	b.ask(b.link.App())
	if overdue || silent >= MemberLease {
		a.doubt(b.link.App())
	}
}

// doubt asks the CellAppMgr whether a CellApp is a member. One question in a tick serves all bases
// that are due.
func (a *BaseApp) doubt(app mercury.Address) {
	if app != a.doubted {
		a.doubted = app
		a.cellMgr.Send(&wire.AppSilent{App: app})
	}
}

// cellAppLeft counts reals on a CellApp that has left as lost, but only those that their bases have
// not heard of for long, and those that it has not made in time. The app does not count as dead, so
// its last messages are still handled.
func (a *BaseApp) cellAppLeft(app mercury.Address) {
	lost := 0
	for _, b := range a.list {
		silent := b.link.Live() && a.now-b.heardAt >= MemberLease || b.link.Overdue(a.now)
		if !b.removed && silent && b.link.LostWith(a.now, app) {
			lost++
			if b.traced() {
				b.step("cell lost", "app", app, "reason", "its CellApp has left")
			}
		}
	}
	if lost == 0 {
		return
	}
	a.log.Warn("bases lost reals that they believed on a CellApp that has left", "app", app, "reals", lost)
	a.afterLoss()
}

// ask asks an app about the real, but not too often. Only the app where the base believes the real
// can lose it; any other is asked whether it has a newer one.
func (b *base) ask(app mercury.Address) {
	a := b.app
	if a.now < b.probeAt {
		return
	}
	b.probeAt = a.now + ProbeAgain
	m := migrate.Probe{ID: b.id, Order: b.link.Order(), Base: a.net.Self()}
	if app != b.link.App() {
		m.Hops = 1
	}
	a.send(app, &m)
}

// heldBy notes that the real is on an app, or was a moment ago.
func (b *base) heldBy(app mercury.Address) {
	if b.holders[0] != app {
		b.holders = [...]mercury.Address{app, b.holders[0], b.holders[1]}
	}
}

// holds reports whether an app may speak for the cell part: it holds the real, was told to make it,
// or held it lately, so that its messages may still arrive. An app that takes the real over says so
// first, with a Current on the same channel; if that is lost with the channel, the base asks. While
// the real is lost and the base waits for whoever goes on with it, or the base was restored, any CellApp
// may speak for it.
func (b *base) holds(app mercury.Address) bool {
	s := b.link.State()
	return s == linkLost || s == linkAdopting || app == b.link.App() || app == b.holders[0] || app == b.holders[1] || app == b.holders[2]
}

// mayLose reports whether an app may say that the real of an order is lost. If the real has shown
// itself on another app, only that app or the manager's verdict on it may. Of another order, who was
// given the real may say so. Anyone else only assumed its death, or knows nothing.
func (b *base) mayLose(app mercury.Address, m *migrate.Lost) bool {
	if app == b.link.App() {
		return true
	}
	return (!b.link.Live() || m.Order != b.link.Order()) && b.entitled(m.Order, m.Title)
}
