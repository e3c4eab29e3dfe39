package congestion

import "time"

const (
	// queueSlack is the growth of the round trip that is no queue but two processes that woke late.
	queueSlack = 4 * time.Millisecond
	// Startup spreads a window over a part of the round trip, here in quarters of a window per
	// round trip: over a quarter while it quadruples, so that a round's acks come within half of
	// it; over half while it doubles; hardly faster than acks come once bursts have met with heavy
	// loss, since a shallow buffer may refuse bursts on a path that carries their rate.
	quickPace, startupPace, gentlePace = 16, 8, 5
	// resumePace is for a window that no acks are under way for: over the whole round trip.
	resumePace = 4
	// guessedRTT spreads the first window before a round trip is known.
	guessedRTT = 50 * time.Millisecond
	// startupRounds without growth end startup.
	startupRounds = 3
)

// grow is startup's growth of the window: more bytes were acked. It doubles the window each round.
//
// As in SUSS (Arghavani et al., SIGCOMM 2024) it quadruples while the acks of a round all come
// within the first half of a round trip and the round trip has not grown: then the round's flight
// was less than half of what the path holds.
func (m *Model) grow(now, rtt time.Duration, more int) {
	if rtt == 0 {
		rtt = m.round.least
	}
	queue := m.queued(rtt)
	m.quick = !queue && !m.gentle && now-m.round.startAt <= m.least/2+wakeSlack && !m.lossy(mildLoss)
	factor, enough := 2, 2*m.inPath()
	switch {
	case m.lossy(heavyLoss):
		return
	case m.quick:
		factor = 4
		more *= 3
	case m.gentle:
		more /= 2
		enough = m.inPath() * 5 / 4
	}
	if queue && int(m.bytes) >= enough+m.slack() {
		return // the path is full: more would be loss until the end of startup is certain
	}
	// A window that the application does not use has not been tried, and does not grow.
	peak := int(max(m.round.peak, m.round.peakBefore))
	m.bytes = max(m.bytes, int32(min(int(m.bytes)+more, factor*peak, MaxWindow)))
}

// endStartupRound judges a round of startup; heavy tells of heavy loss in it.
func (m *Model) endStartupRound(heavy bool) {
	r := &m.round
	switch {
	case m.stalled(startupRounds, 4), r.least > 3*m.least+wakeSlack, heavy && (m.queued(r.least) || m.gentle && r.queue):
		m.enter(rateDrain)
	case heavy:
		m.gentle = true
		m.bytes, m.bound = min(m.bytes, m.bound), 0
	}
}

// startupRate is the pacing rate of startup.
func (m *Model) startupRate() uint64 {
	rtt := m.least
	if rtt == 0 {
		rtt = guessedRTT
	}
	pace := startupPace
	switch {
	case m.gentle || m.lossy(heavyLoss):
		pace = gentlePace
	case m.limitedUntil != 0:
		pace = resumePace
	case m.quick:
		pace = quickPace
	}
	bytes := pace * int(m.bytes)
	if pace != gentlePace {
		bytes = max(bytes, quickPace*min(int(m.bytes), initialRateWindow*int(m.mtu)))
	}
	return mulDiv(uint64(bytes/4), uint64(time.Second), uint64(rtt))
}
