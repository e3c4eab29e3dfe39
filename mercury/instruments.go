package mercury

import (
	"errors"
	"math/rand/v2"
	"net/netip"
	"time"
)

// SetMonitor has m told of every packet of a channel; nil for nobody.
func (e *Endpoint) SetMonitor(m Monitor) { e.monitor = m }

// SetFilter has f asked about every datagram that arrives; nil lets all pass.
func (e *Endpoint) SetFilter(f Filter) { e.filter = f }

// Impair spoils what the Endpoint sends from now on, for testing: chance comes from rng. The zero Impairment ends it; what is held
// back then still goes out.
func (e *Endpoint) Impair(i Impairment, rng *rand.Rand) error {
	if err := i.Validate(); err != nil {
		return err
	}
	if rng == nil {
		return errors.New("mercury: Impair without a source of chance: give a *rand.Rand")
	}
	if e.impairer == nil {
		e.impairer = &impairer{}
	}
	e.impairer.Impairment, e.impairer.rng = i, rng
	return nil
}

// impaired is emit behind the impairer.
func (e *Endpoint) impaired() func(netip.AddrPort, []byte) {
	return func(to netip.AddrPort, p []byte) { e.impairer.pass(e.now, to, p) }
}

// emitDue hands out what the impairer holds back no longer.
func (e *Endpoint) emitDue(emit func(netip.AddrPort, []byte)) {
	q := e.impairer
	q.due(e.now, emit)
	if q.Impairment == (Impairment{}) && len(q.heap) == 0 {
		e.impairer = nil
	}
}

// impairedAt is when the impairer has something to give out.
func (e *Endpoint) impairedAt() (time.Duration, bool) {
	if e.impairer == nil {
		return 0, false
	}
	return e.impairer.next()
}
