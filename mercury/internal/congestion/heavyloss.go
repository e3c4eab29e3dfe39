package congestion

import "time"

const (
	// heavyLoss is one part in six: more than a bad radio link loses by chance, less than a sender
	// at twice the rate loses at a shallow buffer. Only a round with more bounds what is in flight
	// (BBRv2 does so from 2 % on, where radio links are at home).
	heavyLoss = 6
	// mildLoss is one part in twelve: startup goes on, but does not quadruple.
	mildLoss = 12
	// persistentLoss rounds of heavy loss in a row let the window fall below a tick's.
	persistentLoss = 4
	// fewLost packets in a round say nothing about the path, whatever their share.
	fewLost = 4
)

// OnLost takes in that a packet was taken for lost.
func (m *Model) OnLost(now time.Duration, size int, s *Stamp) {
	if s.path == m.path && s.delivered >= m.lostFrom {
		m.round.lost += uint64(size)
	}
}

// OnSpurious takes in that a packet of size bytes that was taken for lost has come after all,
// instead of onAcked.
func (m *Model) OnSpurious(size int) {
	m.delivered += uint64(size)
	m.round.lost -= min(m.round.lost, uint64(size))
	if m.bound > 0 {
		m.bound += int32(size) // it was bounded for nothing
	}
}

// lossy reports whether more than one part in n of this round was lost.
func (m *Model) lossy(n uint64) bool {
	r := &m.round
	return r.lost >= uint64(fewLost*m.mtu) && r.lost*(n-1) > m.delivered-min(r.end, m.delivered)
}

// boundLoss bounds what is in flight by what came through in a round of heavy loss, and reports
// whether this was one.
func (m *Model) boundLoss() bool {
	r := &m.round
	if r.end == m.lostFrom && r.end > 0 {
		return false // its packets left before the last round of heavy loss was answered: they judge nothing
	}
	if !m.lossy(heavyLoss) {
		m.heavyRounds = 0
		m.bound += m.bound / 8
		return false
	}
	m.heavyRounds = min(m.heavyRounds+1, 250)
	m.lostFrom = m.delivered
	floor := minRateWindow
	if m.heavyRounds >= persistentLoss {
		floor = leastRateWindow
	}
	m.bound = int32(max(min(m.delivered-r.end, MaxWindow), uint64(floor*int(m.mtu))))
	return true
}

// lossRate is a pace that loss without a queue does not go below. Above one loss in five what comes
// through is less than was sent even in rateUp, and without an end to it the rate would sink to
// nothing.
func (m *Model) lossRate() uint64 {
	return mulDiv(uint64(leastRateWindow*m.mtu), uint64(time.Second), uint64(m.least+wakeSlack))
}
