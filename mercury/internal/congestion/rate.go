// Package congestion estimates what a path carries: a model of its rate and of the round trip when
// it is empty, which bounds what is in flight and paces what leaves (Model); a second bound for
// bulk, which gives way to all else (Scavenger); the share of packets lost (LossMeter); and the
// round trip with its spread (RTT). It knows nothing of packets but their sizes and times, reads no
// clock and draws no chance.
package congestion

import "time"

// The rate model answers two questions of a channel: how many bytes may be in flight, and how fast
// may they leave. It follows BBR (draft-cardwell-iccrg-bbr-congestion-control): both follow from
// the rate at which the peer got data and from the round trip of an empty path, not from single
// losses, because a radio link loses packets at any rate and a game must not pay for that.
//
//	startup --(the rate has stopped growing, or a queue and heavy loss)--> drain
//	drain   --(the queue is gone)----------------------------------------> cruise
//	cruise  --(each cruiseRounds)--> up --(a queue, or no growth)--> down --(the queue is gone)--> cruise
//	cruise, up, down --(the least round trip is old, or the rate has fallen)--> settle --(settleTime)--> cruise
//	any     --(the rate is older than rateLife; silence; the path moved)--> startup
//
// Invariants:
//   - A sample taken while the application had nothing to send can raise the rate, never lower it.
//   - The window is at least minRateWindow packets, or the floor, unless rounds of heavy loss
//     follow each other or the peer fell silent.
//   - All state is in the struct: no clock, no chance, no memory but a Stamp beside each packet in flight.

const (
	// initialRateWindow packets are let go before anything is known: as many as quic-go does, a
	// third of what a default socket buffer holds.
	initialRateWindow = 32
	// minRateWindow lets a game's tick through whatever the estimate says.
	minRateWindow = 32
	// leastRateWindow remains when round after round is lost for a good part: enough to detect
	// losses by later acks.
	leastRateWindow = 8
	// MaxWindow bounds the growth in bytes where nothing else does: 250 MB/s at 250 ms.
	MaxWindow = 64 << 20
	// minRate in bytes/s is a modem: below it the timeouts of the channel would close it anyway.
	minRate = 8 << 10
	// rateLife is how long a rate is believed after the last sample that confirmed it; then it is
	// halved, and again each rateLife.
	rateLife = 10 * time.Second
	// wakeSlack is how late acks may come because a process wakes in milliseconds: without it a
	// path of 0.1 ms would stand still between two wakes.
	wakeSlack = 5 * time.Millisecond
	// maxUnit bounds what counts as a packet where the MTU is that of a local path: 32 datagrams of
	// 64 KiB overrun a socket buffer. carefulBurst of it, the least that a full bucket holds, is
	// still the largest datagram.
	maxUnit = 16 << 10
	// windowPackets are added to the window for acks that cover several packets.
	windowPackets = 8
)

// ratePhase is what the model is about.
type ratePhase uint8

const (
	rateStartup ratePhase = iota // find the rate, by doubling or quadrupling the window each round
	rateDrain                    // let the queue that startup built run empty
	rateCruise                   // send at the rate found
	rateUp                       // a little more, to see whether there is more
	rateDown                     // a little less, to empty the queue that rateUp built
	rateSettle                   // half, to see the round trip of the empty path
)

// Model is the rate model of one direction of a channel. init makes it ready.
type Model struct {
	delivered    uint64        // bytes acked so far
	deliveredAt  time.Duration // when that was last counted, or when a flight began after nothing was in flight
	firstSentAt  time.Duration // when the packet was sent that was acked last, or as deliveredAt
	limitedUntil uint64        // the application limits what is sent until delivered is above this; 0 while it does not
	round        rateRound

	best         [2]uint64     // highest samples in bytes/s of the rounds since filterAt, and of those before
	filterAt     time.Duration // when the filter last turned
	rateAt       time.Duration // when a sample last confirmed the rate; 0 for never
	least        time.Duration // round trip of the empty path; 0 for unknown
	leastAt      time.Duration // when a sample last confirmed least
	recent       time.Duration // least sample since leastAt
	settled      time.Duration // rateSettle ends then; 0 while the queue is not gone
	grown        uint64        // rate at which growth was last seen, in rateStartup and rateUp
	lostFrom     uint64        // losses of packets sent when less was delivered have been answered
	bound        int32         // bytes in flight that heavy loss allows; 0 for no bound
	bytes        int32         // the window
	pacer        Pacer
	mtu          int32 // of the path, or maxUnit
	phase        ratePhase
	phaseRounds  uint8 // rounds since the phase began; in rateStartup and rateUp since growth was seen
	filterRounds uint8 // rounds since filterAt
	heavyRounds  uint8 // rounds of heavy loss in a row
	fallenRounds uint8 // rounds in a row that show a queue and much less than the rate
	path         uint8 // counts moves of the peer
	floor        floor // of the window, in the place of minRateWindow
	quick        bool  // startup quadruples
	gentle       bool  // startup has met with heavy loss: it goes on without bursts
}

// Init makes m ready for a path of which nothing is known. mtu is the size of a full packet in
// bytes. floor is what may be in flight whatever the round trips say, in bytes, where more than
// minRateWindow packets; 0 for none.
func (m *Model) Init(mtu, floor int) {
	*m = Model{mtu: int32(min(mtu, maxUnit)), floor: floorOf(floor)}
	m.bytes = int32(m.leastWindow(initialRateWindow))
	m.derive()
}

// leastWindow is the least window of so many packets or of the floor.
func (m *Model) leastWindow(packets int) int { return max(packets*int(m.mtu), m.floor.bytes()) }

// SetMTU is for a path whose MTU was found to be another.
func (m *Model) SetMTU(mtu int) {
	m.mtu = int32(min(mtu, maxUnit))
	m.bytes = max(m.bytes, leastRateWindow*m.mtu)
	m.derive()
}

// OnMoved begins anew: the peer has another path now. Acks of what was sent before say nothing
// about it.
func (m *Model) OnMoved() {
	delivered, path := m.delivered, m.path+1
	m.Init(int(m.mtu), int(m.floor.whole)<<floorShift)
	m.delivered, m.path = delivered, path
	m.round.end = delivered
}

// OnSilence answers persistent congestion (RFC 9002, 7.6): nothing was acked for two timeouts, so
// that neither rate nor round trip hold any more.
func (m *Model) OnSilence(now time.Duration) {
	m.restart()
	m.bytes = leastRateWindow * m.mtu
	m.best = [2]uint64{}
	m.least, m.recent = 0, 0
	m.rateAt = now
	m.derive()
}

// Limited says that the application (or the peer's window) leaves room in the path: nothing more
// waits that could be sent, with inFlight bytes in flight. Samples that follow from it only raise
// the rate. Call it when a flush ends with an empty queue.
func (m *Model) Limited(inFlight int) {
	if inFlight >= int(m.bytes) {
		return
	}
	before := m.limitedUntil
	m.limitedUntil = max(m.delivered+uint64(inFlight), 1)
	if before == 0 && m.phase == rateStartup {
		m.derive() // the pace of a flight that follows a pause
	}
}

// age halves a rate that nothing has confirmed for rateLife, and looks for it anew. onSend and
// endAck call it: an idle channel needs no call of its own.
func (m *Model) age(now time.Duration) {
	if m.rateAt == 0 || now-m.rateAt < rateLife {
		return
	}
	n := (now - m.rateAt) / rateLife
	m.rateAt += n * rateLife
	m.best[0] >>= uint(n)
	m.best[1] >>= uint(n)
	m.restart()
	m.bytes = max(m.bytes>>uint(n), int32(m.leastWindow(initialRateWindow)))
	m.derive()
}

// restart goes back to startup with what is known of rate and window.
func (m *Model) restart() {
	m.phase, m.phaseRounds, m.grown = rateStartup, 0, 0
	m.bound, m.heavyRounds, m.fallenRounds = 0, 0, 0
	m.quick, m.gentle = false, false
}

// Window is the number of bytes that may be in flight.
func (m *Model) Window() int { return int(m.bytes) }

// Rate is the rate of pacing in bytes/s. It is never 0 after init: before the first round trip a
// guess of it spreads the first window.
func (m *Model) Rate() uint64 { return m.pacer.rate }

// Bottleneck is the rate of the path in bytes/s as far as it is known: for statistics, it may be of
// the application's making.
func (m *Model) Bottleneck() uint64 { return max(m.best[0], m.best[1]) }

// Delivered is the number of bytes acked so far.
func (m *Model) Delivered() uint64 { return m.delivered }

// MinRTT is the round trip of the empty path, 0 for unknown.
func (m *Model) MinRTT() time.Duration { return m.least }

// Allowed is the number of bytes that may leave now. A packet may leave when it is at least the
// packet's size.
func (m *Model) Allowed(now time.Duration) int { return m.pacer.allowed(now) }

// Spend takes size bytes that leave now. It may overdraw: what must not wait is paid for by what
// follows.
func (m *Model) Spend(now time.Duration, size int) { m.pacer.spend(now, size) }

// SpendBeside is Spend for a packet of what waits for no pace, such as unreliable messages and
// acks. Together such packets take no more than half of the pace, whatever leaves, and nothing
// while the model looks for more: what they took could not show that there is more.
func (m *Model) SpendBeside(now time.Duration, size int) {
	if m.phase != rateUp {
		m.pacer.spendBeside(now, size)
	}
}

// NextAt is when a packet of size bytes may leave; when that is not now, it is when several may, to
// spare wakes.
func (m *Model) NextAt(now time.Duration, size int) time.Duration {
	return m.pacer.nextAt(now, size)
}

// Found reports whether startup is over, so that the rate means something.
func (m *Model) Found() bool { return m.phase != rateStartup }
