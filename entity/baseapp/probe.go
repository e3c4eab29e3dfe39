package baseapp

import (
	"time"

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
func (b *base) probe() {
	a := b.app
	silent := a.now - b.heardAt
	due := silent >= RealLease || silent >= AnswerLease && b.link.Out.Unreceived() > 0
	if !due || a.now < b.probeAt || a.probes >= ProbesPerTick {
		return
	}
	a.probes++
	b.probeAt = a.now + ProbeAgain
	a.send(b.link.App(), &migrate.Probe{ID: b.id, Order: b.link.Order(), Base: a.net.Self()})
}
