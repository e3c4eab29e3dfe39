package host

import (
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/secure"
)

// SealStats returns what the Guard of the present start has counted, at the first carrier of
// datagrams: all zero for a process without Secure. It waits as Do does, with the same error.
func (p *Process) SealStats() (s secure.Stats, err error) {
	err = p.Do(func(App) {
		if g := p.seal(); g != nil {
			s = g.Stats()
		}
	})
	return s, err
}

// seal is the first Guard there is; nil for none.
func (p *Process) seal() *secure.Guard {
	for _, g := range p.seals {
		if g != nil {
			return g
		}
	}
	return nil
}

// CarrierStats tells how one carrier of a process fares.
type CarrierStats struct {
	Place
	mercury.CarrierStats
	// Seal is what the carrier's Guard has counted; all zero without one.
	Seal secure.Stats
}

// Carriers tells how the carriers of the present start fare, in their order. It waits as Do does,
// with the same error.
func (p *Process) Carriers() (all []CarrierStats, err error) {
	err = p.Do(func(App) { all = p.carrierStats() })
	return all, err
}

// carrierStats is Carriers on the app's goroutine.
func (p *Process) carrierStats() (all []CarrierStats) {
	for i, c := range p.carriers {
		s := CarrierStats{Place: Place{c.Network(), c.Self()}, CarrierStats: c.CarrierStats()}
		s.Refused += p.net.spent[i]
		if g := p.seals[i]; g != nil {
			s.Seal = g.Stats()
		}
		all = append(all, s)
	}
	return all
}
