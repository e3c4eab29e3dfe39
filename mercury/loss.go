package mercury

import (
	"time"

	"github.com/cellscape/cellscape/mercury/internal/congestion"
)

const (
	// lateAtLeast is the first patience after packets were seen to overtake each other.
	lateAtLeast = 250 * time.Microsecond
	// lateHolds is how long a patience is kept after the last overtaking that needed it; then it
	// halves.
	lateHolds = 10 * time.Second
)

// lateness decides how long to wait for a packet that was overtaken. As in RFC 8985 (RACK, 6.2) the
// time of sending counts, not the distance in numbers. A packet is lost once a packet that was not
// sent earlier was acked and enough time has passed since, as much as packets on this path have
// been seen to overtake each other by. On a path that keeps the order that is no time at all.
type lateness struct {
	newest   uint64        // largest number acked so far, plus 1
	newestAt time.Duration // when that was sent
	ackedAt  time.Duration // when its ack came
	patience time.Duration
	seenAt   time.Duration // when patience was last needed
	lossAt   time.Duration // when the oldest overtaken packet is taken for lost; 0 for none
}

// wait is how long a packet that was overtaken is waited for. As in RFC 8985 it is no more than a
// round trip, of now: on a path that was slow, packets overtook each other by seconds, and when it was
// fast again, all that was lost waited as long for half a minute.
func (l *lateness) wait(rtt *congestion.RTT) time.Duration {
	return min(l.patience, mostPatience(rtt))
}

func mostPatience(rtt *congestion.RTT) time.Duration { return max(rtt.Smooth, lateAtLeast) }

// due is when p, sent at that time and overtaken, is taken for lost.
func (l *lateness) due(at time.Duration, rtt *congestion.RTT) time.Duration {
	return l.ackedAt - (l.newestAt - at) + l.wait(rtt)
}

// onAcked is called for each acked packet, even one that was considered lost.
func (l *lateness) onAcked(now time.Duration, p *sentPacket, rtt *congestion.RTT) {
	if p.number >= l.newest {
		l.newest, l.newestAt, l.ackedAt = p.number+1, p.at, now
		return
	}
	// It was overtaken and has arrived after all, this much later than the one that overtook it.
	by := now - (l.ackedAt - (l.newestAt - p.at))
	if by <= 0 || now == l.ackedAt {
		return // acked together: only the ack was late
	}
	l.seenAt = now
	if want := max(by+by/4, lateAtLeast); want > l.patience {
		l.patience = min(want, mostPatience(rtt))
	}
}

// settle reduces a patience that was not needed for a while.
func (l *lateness) settle(now time.Duration) {
	if l.patience > 0 && now-l.seenAt > lateHolds {
		l.seenAt = now
		if l.patience /= 2; l.patience < lateAtLeast {
			l.patience = 0
		}
	}
}

// detectLoss marks overtaken packets as lost after they were waited for long enough.
func (c *channel) detectLoss(e *Endpoint) {
	out := &c.out
	l := &out.late
	l.lossAt = 0
	l.settle(e.now)
	for i := range out.sent.len() {
		p := out.sent.at(i)
		if p.number+1 >= l.newest {
			break
		}
		if p.state != inFlight {
			continue
		}
		if due := l.due(p.at, &out.rtt); due <= e.now {
			c.onPacketLost(e, p, i > 0 && out.sent.at(i-1).state == lost)
		} else if l.lossAt == 0 || due < l.lossAt {
			l.lossAt = due
		}
	}
	c.dropSettled(e)
	c.checkPath(e)
	if c.pending(e) || c.paceAt == 0 && c.paced() {
		e.touch(c)
	}
}
