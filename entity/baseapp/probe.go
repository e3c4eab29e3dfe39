package baseapp

import (
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/migrate"
)

const (
	// RealLease is how long a base believes in a real of which it hears nothing: longer
	// than the default period of backups takes, with which each real says where it is.
	RealLease = 15 * time.Second

	// AnswerLease is that while the real owes it an answer: an ack for what was sent.
	AnswerLease = 5 * time.Second

	// ProbeAgain is how long a base waits for an answer before it asks again.
	ProbeAgain = 5 * time.Second

	// MemberLease is how long a base believes in a real of which it hears nothing without
	// asking the CellAppMgr whether the CellApp is a member at all. It is as long as the
	// origin of a handoff remembers where the real went, and can answer.
	MemberLease = 30 * time.Second

	// ProbesPerTick bounds the questions of one tick: after a stall of this process it
	// has heard nothing of any real.
	ProbesPerTick = 64
)

// hearFrom notes that a base has heard of its real from an app. Only the app where it is
// believed to be counts: what another one says late does not show that it is there.
func (b *base) hearFrom(app mercury.Address) {
	if app == b.link.App() {
		b.heardAt = b.app.now
	}
}

// probe asks after a real in which the base believes though it has not heard of it for
// long. Whoever lost it has said so, and says so until it is answered; but if even that
// was lost, with the process or the memory that said it, the base would believe for ever.
// The CellApp may be none any more: it handed the real on, retired and ended, and of the new
// real the base never heard. Only the CellAppMgr can say so.
func (b *base) probe() {
	a := b.app
	silent := a.now - b.heardAt
	due := silent >= RealLease || silent >= AnswerLease && b.link.out.Unreceived() > 0
	if !due || a.now < b.probeAt || a.probes >= ProbesPerTick {
		return
	}
	a.probes++
	b.ask(b.link.App())
	if silent >= MemberLease {
		a.doubt(b.link.App())
	}
}

// doubt asks the CellAppMgr whether a CellApp is a member, for all bases that are due in a
// tick at once: the answer is for all of them.
func (a *BaseApp) doubt(app mercury.Address) {
	if app != a.doubted {
		a.doubted = app
		a.cellMgr.Send(&wire.AppSilent{App: app})
	}
}

// cellAppLeft loses the reals on a CellApp that is no member, of those bases alone that have
// not heard of theirs for long. It is not buried: what it said last is still heard.
func (a *BaseApp) cellAppLeft(app mercury.Address) {
	lost := 0
	for _, b := range a.list {
		if !b.removed && b.link.Live() && a.now-b.heardAt >= MemberLease && b.link.LostWith(a.now, app) {
			lost++
		}
	}
	if lost == 0 {
		return
	}
	a.log.Warn("bases believed in reals on a CellApp that has left", "app", app, "reals", lost)
	a.afterLoss()
}

// ask asks an app after the real, not too often. Only where it is believed to be it can
// be lost; another app is asked whether it has a newer one.
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

// heldBy notes that the real is, or was a moment ago, on an app.
func (b *base) heldBy(app mercury.Address) {
	if b.holders[0] != app {
		b.holders = [...]mercury.Address{app, b.holders[0], b.holders[1]}
	}
}

// holds reports whether an app may speak for the cell part: it holds the real, is told to
// make it, or held it lately, so that what it said then may still come. One that is about
// to hold it says so first, with a Current on the same channel; if that is lost with its
// channel, it is asked. While the real is lost, and the base waits for whoever goes on
// with it, each CellApp may.
func (b *base) holds(app mercury.Address) bool {
	return b.link.State() == linkLost || app == b.link.App() || app == b.holders[0] || app == b.holders[1] || app == b.holders[2]
}

// mayLose reports whether an app may say that the real of an order is lost. Of one that
// has shown itself on another app, only that one may, or the manager's verdict on it: who
// else says so has taken its death for granted, or knows nothing.
func (b *base) mayLose(app mercury.Address, order entity.Order) bool {
	return !b.link.Live() || order != b.link.Order() || app == b.link.App()
}
