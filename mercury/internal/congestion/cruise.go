package congestion

import "time"

const (
	// cruiseRounds pass between two looks for more.
	cruiseRounds = 6
	// upRounds without growth end a look for more; the first shows nothing yet, because its acks
	// are of earlier packets.
	upRounds = 2
	// settleTime is how long the round trip of the empty path is listened to, as in BBR's ProbeRTT,
	// but at half the rate instead of at a standstill.
	settleTime = 100 * time.Millisecond
	// fallenLimit rounds that show a queue and much less than the rate say that the path is slower
	// now.
	fallenLimit = 2
)

// endRound judges the round that has ended.
func (m *Model) endRound(now time.Duration) {
	r := &m.round
	if !r.valid {
		return // the application had nothing to send: the path was not seen
	}
	heavy := m.boundLoss()
	m.floor.endRound(heavy)
	m.turnFilter(now)
	switch m.phase {
	case rateStartup:
		m.endStartupRound(heavy)
	case rateUp:
		if m.stalled(upRounds, 8) {
			m.enter(rateDown)
		}
	default:
		m.phaseRounds++
	}
	m.watchFall()
}

// stalled counts the rounds in which the rate did not grow by one part in part, and reports whether
// there are n in a row.
func (m *Model) stalled(n uint8, part uint64) bool {
	if rate := m.Bottleneck(); rate >= m.grown+m.grown/part {
		m.grown, m.phaseRounds = rate, 0
		return false
	}
	m.phaseRounds++
	return m.phaseRounds >= n
}

// watchFall finds out that the path has become slower before ten rounds, lengthened by the queue,
// make the filter forget.
func (m *Model) watchFall() {
	r := &m.round
	if m.phase == rateStartup || r.least <= m.least+m.least/2+wakeSlack || r.best >= m.Bottleneck()/4*3 {
		m.fallenRounds = 0
		return
	}
	if m.fallenRounds++; m.fallenRounds < fallenLimit {
		return
	}
	m.fallenRounds = 0
	m.best = [2]uint64{r.best, 0}
	// It may also be that the path is longer now and the window too small for it: an empty path
	// shows which.
	m.enter(rateSettle)
}

// step moves on from a phase that ends by what is in flight.
func (m *Model) step(now, rtt time.Duration, inFlight int) {
	switch m.phase {
	case rateDrain:
		if inFlight <= m.inPath()+m.slack() || m.phaseRounds >= 4 {
			m.enter(rateCruise)
			m.phaseRounds = cruiseRounds - 2 // startup may have ended a little low
		}
	case rateUp:
		if m.phaseRounds > 0 && rtt > 0 && m.queued(rtt) {
			m.enter(rateDown)
		}
	case rateDown:
		if inFlight <= m.inPath() || m.phaseRounds >= 2 {
			m.enter(rateCruise)
		}
	case rateCruise:
		if m.phaseRounds >= cruiseRounds {
			m.enter(rateUp)
		}
	case rateSettle:
		m.settle(now, inFlight)
	}
}

// settle ends rateSettle once the path has been empty for a round and settleTime.
func (m *Model) settle(now time.Duration, inFlight int) {
	switch {
	case m.settled == 0:
		if inFlight <= m.inPath()*3/4+m.slack() || m.phaseRounds >= 4 {
			m.settled, m.recent, m.phaseRounds = now+settleTime, 0, 0
		}
	case now >= m.settled && m.recent > 0 && (m.phaseRounds > 0 || m.limitedUntil != 0):
		m.least, m.leastAt, m.recent = m.recent, now, 0
		m.enter(rateCruise)
	}
}

func (m *Model) enter(p ratePhase) {
	m.phase, m.phaseRounds, m.settled = p, 0, 0
	m.grown = m.Bottleneck()
	m.quick, m.gentle = false, false
}

// inPath is the bandwidth-delay product in bytes.
func (m *Model) inPath() int {
	return int(min(PerTime(m.Bottleneck(), m.least), MaxWindow))
}

// slack is what the window holds for processes that wake in milliseconds and acks that cover
// several packets.
func (m *Model) slack() int {
	return int(min(PerTime(m.Bottleneck(), wakeSlack), MaxWindow)) + windowPackets*int(m.mtu)
}

// derive sets window and pace by phase, rate and round trip.
func (m *Model) derive() {
	if m.phase == rateStartup {
		m.setPace(m.startupRate())
		return
	}
	full := 2*m.inPath() + m.slack()
	window, rate := full, m.Bottleneck()
	switch m.phase {
	case rateDrain:
		rate /= 2
	case rateUp:
		rate += rate / 4
	case rateDown:
		rate -= rate / 4
	case rateCruise:
		rate -= rate / 64 // samples are a little high rather than low: what they add to the queue would stay
	case rateSettle:
		rate /= 2
		window = m.inPath()/2 + m.slack()
	}
	if m.round.lost > 0 && !m.round.queue && m.phase != rateSettle {
		rate = max(rate, m.lossRate())
	}
	least := m.leastWindow(minRateWindow)
	m.bytes = int32(min(max(window, least), MaxWindow))
	if int(m.bound) >= max(full, least) {
		m.bound = 0
	}
	if m.bound > 0 {
		m.bytes = min(m.bytes, m.bound)
	}
	m.setPace(rate)
}

// setPace hands the pacer rate and burst.
func (m *Model) setPace(rate uint64) {
	if m.bound == 0 {
		rate = max(rate, m.floor.rate())
	}
	packets := burstPackets
	if m.gentle || m.bound > 0 {
		packets = carefulBurst
	}
	// Where the round trip is shorter than a wake may be late, nothing but the bucket carries the
	// rate over to the next wake.
	m.pacer.set(max(rate, minRate), packets*int(m.mtu), max(burstTime, wakeSlack-m.least))
}
