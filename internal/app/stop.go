package app

import "github.com/cellscape/cellscape/internal/wire"

// TakeStop takes an order about the stop of the world. It reports false for one that is older than the newest
// that came: what an app is told over two channels may come in another order.
func (m *Member) TakeStop(o *wire.Stop) bool {
	if o.Number < m.stop.Number {
		return false
	}
	m.stop = *o
	return true
}

// Stopping is the step of the stop that the app was last told to be in, and why the world stops.
func (m *Member) Stopping() (wire.StopStep, string) { return m.stop.Step, m.stop.Reason }

// SayStop answers the last TakeStop with what the app is in.
func (m *Member) SayStop(s *wire.StopState) {
	s.Number = m.stop.Number
	m.Send(s)
}
