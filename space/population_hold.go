package space

import (
	"time"

	"github.com/cellscape/cellscape/entity/flow"
)

// Hold(true) is for a world that stops: no script is called any more, so that what is backed up from now on
// is the last state. Only flows go on, as far as they ask for backups and carry them. What else comes is not
// acknowledged, and its sender keeps it. Hold(false) lets all go on.
func (p *Population) Hold(on bool) { p.held = on }

// Held reports whether no script is called.
func (p *Population) Held() bool { return p.held }

// heardHeld reports whether a message of a flow is taken although no script may be called.
func heardHeld(m *flow.Message) bool {
	return len(m.Payload) > 0 && flow.Payload(m.Payload[0]) == flow.BackupNowPayload
}

// tickHeld is the tick of a population that is held.
func (p *Population) tickHeld(now, cluster time.Duration) {
	p.now, p.ahead = now, cluster-now
	for _, c := range p.cells {
		c.now = now
		for i := range c.reals {
			c.reals[i].real.settleFlows()
		}
		c.backUp()
	}
}

// NameUnsettled names some of those whose messages are under way.
func (p *Population) NameUnsettled(name func(format string, args ...any)) {
	const most = 4 // of each cell: a person reads them
	for _, c := range p.cells {
		named := 0
		for _, rec := range c.reals {
			n := 0
			for i := range rec.real.flows {
				n += rec.real.flows[i].out.Unreceived()
			}
			if n > 0 && named < most {
				named++
				name("%s %s has %d messages under way", rec.e.Def.Name, rec.e.ID, n)
			}
		}
	}
}
