package allowance

import (
	"time"

	"github.com/cellscape/cellscape/internal/invariant"
	"github.com/cellscape/cellscape/mercury"
)

const (
	// Period is the time between two looks: a few round trips, and some packets of a game.
	Period = 500 * time.Millisecond
	// QueueDelay is how much longer than the path's own a round trip is while a queue stands: twice
	// what a game's client notices in others, and above the jitter of radio.
	QueueDelay = 250 * time.Millisecond
	// deepQueue is how much longer it is when there is no need to look a second time.
	deepQueue = 3 * QueueDelay
	// Settle is how long the effect of a cut is waited for, beside the round trip of the moment, of
	// which mostTrip counts: what comes back until then tells of what was sent before the cut.
	Settle   = 1500 * time.Millisecond
	mostTrip = 10 * time.Second
	// Return is how long the way back takes to what was too much.
	Return = 8 * time.Second
	// Feel is how long the next half of that takes, so that a queue is noticed while it is short.
	Feel = 4 * time.Second
	// Doubling is the time in which the allowance doubles beyond that.
	Doubling = 2 * time.Second

	// Least is in bytes a second: a modem of 1995. Below it a client is not playable anyway, and how
	// few bytes show is chance.
	Least = 1 << 10
	// Most is in bytes a second, above any budget that is of use: whoever reaches it is not limited.
	Most = 4 << 20

	// cutTo is the part of the rate that a cut leaves, in thousandths. The rest empties the queue, and
	// pays for the headers of packets, which the surveys count and budgets do not. A queue that would
	// not be gone in Drain makes for less, down to leastCut.
	cutTo, leastCut = 750, 250
	// Drain is how long a queue may take to go.
	Drain = 3 * time.Second
	// lossPackets is how many packets loss is judged by. Of as many, a path that loses one in twelve
	// whatever is sent loses a quarter once in a thousand times.
	lossPackets = 40
	// lossShare is one part in so many.
	lossShare = 4
	// fewBytes is what may wait anywhere: an entity met, or a tick's bundle.
	fewBytes = 4 << 10
	// futileCuts is after how many cuts without effect a long round trip is the path's own.
	futileCuts = 3
)

// FullAgain is the longest time from when a path has become wide and its queue has gone, with its
// allowance at rate, until the allowance is at least budget, both in bytes a second.
func FullAgain(rate, budget int) time.Duration {
	t := Settle + Return + Feel + 2*Period
	for rate = max(Least, rate); rate < budget; rate *= 2 {
		t += Doubling
	}
	return t
}

// Look is what is seen of a client at one time.
type Look struct {
	mercury.Survey
	// Sent is how many bytes of messages the channel was given so far.
	Sent uint64
}

type state uint8

// The states of an Allowance.
const (
	free     state = iota // there is no limit
	settling              // the effect of a cut is waited for
	rising                // the limit grows
)

// Allowance is the state machine for one client; see the package doc. The zero value has no limit.
type Allowance struct {
	state state
	rate  int // bytes a second; 0 while free
	low   int // after the last cut
	mark  int // what was carried then

	begun    bool
	at       time.Duration // of the last look
	last     Look
	cutAt    time.Duration // of the last cut
	settled  time.Duration // when its effect had shown
	packets  uint64        // counted for the loss, and lost
	lost     int64
	base     time.Duration // the path's own round trip
	queued   bool          // a queue stood at the last look
	cutRTT   time.Duration // at the last cut for a long round trip
	futile   int
	cuts     uint64 // so far
	longTrip bool   // a round trip is long now
}

// Rate is how many bytes a second the client may be sent; 0 means that there is no limit.
func (a *Allowance) Rate() int { return a.rate }

// Cuts counts how often the path was found full.
func (a *Allowance) Cuts() uint64 { return a.cuts }

// Due reports whether a Period has passed since the last look.
func (a *Allowance) Due(now time.Duration) bool { return !a.begun || now-a.at >= Period }

// Look takes what is seen at now, and sets the rate.
func (a *Allowance) Look(now time.Duration, l Look) {
	took := now - a.at
	before, was := a.last, *a
	a.at, a.last = now, l
	if a.base == 0 || l.RTT > 0 && l.RTT < a.base {
		a.base = l.RTT
	}
	if l.MinRTT > 0 && !was.begun {
		a.base = l.MinRTT
	}
	if a.begun && took > 0 && l.Packets >= before.Packets && l.Sent >= before.Sent {
		a.judge(now, took, &before, &l)
	}
	a.begun = true
	if invariant.On {
		a.assert(&was)
	}
}

func (a *Allowance) judge(now, took time.Duration, before, l *Look) {
	if a.state == settling {
		if wait := Settle + min(l.RTT, mostTrip); now-a.cutAt < wait {
			a.packets, a.lost, a.queued = 0, 0, false
			return
		}
		a.state, a.settled = rising, now
	}
	sent := perSecond(l.Sent-before.Sent, took)
	if a.full(before, l, sent) {
		a.cut(now, a.carried(before, l, took, sent), l)
	} else if a.state == rising {
		a.rise(now)
	}
}

// carried is how many bytes a second a full path carries, as far as the transport knows: a queue may
// stand there for longer than anybody sends too much. Otherwise it is less than was sent, and than
// was allowed.
func (a *Allowance) carried(before, l *Look, took time.Duration, sent int) int {
	if got := l.Delivered - min(l.Delivered, before.Delivered); got > 0 {
		return perSecond(got, took)
	}
	if a.state == free {
		return sent
	}
	return min(a.rate, sent)
}

// full reports whether the path carries less than it is given.
func (a *Allowance) full(before, l *Look, sent int) bool {
	a.packets += l.Packets - before.Packets
	a.lost += int64(l.Lost) - int64(before.Lost)
	lossy := false
	if a.packets >= lossPackets {
		lossy = a.lost*lossShare >= int64(a.packets)
		a.packets, a.lost = 0, 0
	}
	waits := l.Waiting > max(fewBytes, sent/4) && l.Waiting > before.Waiting*7/8
	a.longTrip = a.base > 0 && l.RTT >= a.base+QueueDelay && l.RTT > before.RTT-before.RTT/32
	queue := waits || a.longTrip
	deep := waits && l.Waiting > sent || a.longTrip && l.RTT >= a.base+deepQueue
	stands := queue && a.queued || deep
	a.queued = queue
	if stands && !waits && a.hopeless(l.RTT) {
		stands, a.queued = false, false
	}
	return lossy || stands || l.Dropped > before.Dropped
}

// hopeless reports whether cuts have not shortened a long round trip: it is the path's own then.
func (a *Allowance) hopeless(rtt time.Duration) bool {
	if a.cutRTT == 0 || rtt < a.cutRTT-a.cutRTT/8 {
		a.futile = 0
		return false
	}
	if a.futile++; a.futile < futileCuts {
		return false
	}
	a.base, a.futile, a.cutRTT = rtt, 0, 0
	return true
}

func (a *Allowance) cut(now time.Duration, carried int, l *Look) {
	a.cuts++
	if a.state == free {
		a.rate = Most
	}
	a.mark = min(max(Least, carried), Most)
	queue := int64(l.Waiting)
	if a.longTrip {
		queue += int64(a.mark) * int64(min(l.RTT-a.base, time.Minute)) / int64(time.Second)
	}
	drain := queue * int64(time.Second) / int64(Drain)
	mark := int64(a.mark)
	a.low = min(a.rate, max(Least, int(max(mark*cutTo/1000-drain, mark*leastCut/1000))))
	a.rate, a.state, a.cutAt = a.low, settling, now
	a.packets, a.lost, a.queued = 0, 0, false
	if a.cutRTT = 0; a.longTrip {
		a.cutRTT = l.RTT
	}
}

// rise takes the rate along the curve of the package doc.
func (a *Allowance) rise(now time.Duration) {
	t := now - a.settled
	if t <= Return {
		a.rate = a.low + int(int64(a.mark-a.low)*int64(t)/int64(Return))
		return
	}
	half := int64(a.mark) / 2
	if t -= Return; t <= Feel {
		a.rate = min(a.mark+int(half*int64(t)/int64(Feel)), Most)
		return
	}
	rate := int64(a.mark) + half
	for t -= Feel; t > Doubling && rate < Most; t -= Doubling {
		rate *= 2
	}
	if rate += rate * int64(min(t, Doubling)) / int64(Doubling); rate < Most {
		a.rate = int(rate)
		return
	}
	a.state, a.rate = free, 0
}

func perSecond(bytes uint64, in time.Duration) int {
	return int(min(bytes, 1<<32) * uint64(time.Second) / uint64(in))
}
