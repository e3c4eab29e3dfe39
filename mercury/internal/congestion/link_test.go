package congestion

import (
	"container/heap"
	"math"
	"math/rand/v2"
	"time"
)

// rateLink is a channel in small over a simulated path, in virtual time: segments of one size,
// packets of one segment, acks of eight packets or after 20 ms or at once on a gap, loss detection
// as the channel's. Both ways lose and delay; the way there has a bottleneck with a buffer. Equal
// parameters and calls give an equal course.
type rateLink struct {
	now    time.Duration
	m      Model
	events rateEvents
	count  int
	chance *rand.Rand

	*bottleneck
	delay     time.Duration // one way
	jitter    time.Duration // added to each delay, up to this, without reordering
	loss      int           // per mille, each way
	wake      time.Duration // the sender runs at multiples of this only
	nap       time.Duration // the receiver reads at multiples of this only
	down      bool          // nothing comes through
	lastThere time.Duration

	// the sender
	size      int
	packets   []linkPacket
	oldest    int // no packet below is in flight
	inFlight  int
	again     []int // segments to send again
	next, end int   // segments sent and queued
	acked     int   // largest acked packet plus 1
	taken     int   // of arrivals, by the sender
	srtt      time.Duration
	timerFrom time.Duration
	backoff   int
	timer     time.Duration // next run of the sender that is planned

	// the receiver
	arrivals   []int // packets in the order of arrival
	arrivedAt  time.Duration
	largest    int
	unacked    int
	ackAt      time.Duration
	got        []bool // segments
	gotCount   int
	lastGot    time.Duration
	sent, drop int           // packets at the bottleneck
	resent     int           // segments sent again
	queued     time.Duration // sum of the time that packets waited before the bottleneck
	worst      time.Duration
}

// bottleneck is what the links over one path share.
type bottleneck struct {
	bandwidth uint64        // bytes/s; 0 for no limit
	buffer    int           // bytes before it
	freeAt    time.Duration // when it has sent all that it holds
}

type linkPacket struct {
	segment int
	size    int
	sentAt  time.Duration
	stamp   Stamp
	done    bool // acked or taken for lost
	lost    bool
}

type rateEvent struct {
	at    time.Duration
	order int
	what  linkWhat
	n     int
	delay time.Duration
}

type linkWhat uint8

const (
	linkRun    linkWhat = iota // the sender runs
	linkArrive                 // packet n comes to the receiver
	linkAckDue                 // the receiver's ack waits no longer
	linkAck                    // an ack of the first n arrivals comes to the sender
)

type rateEvents []rateEvent

func (e rateEvents) Len() int { return len(e) }
func (e rateEvents) Less(i, j int) bool {
	return e[i].at < e[j].at || e[i].at == e[j].at && e[i].order < e[j].order
}
func (e rateEvents) Swap(i, j int) { e[i], e[j] = e[j], e[i] }
func (e *rateEvents) Push(x any)   { *e = append(*e, x.(rateEvent)) }
func (e *rateEvents) Pop() any {
	last := (*e)[len(*e)-1]
	*e = (*e)[:len(*e)-1]
	return last
}

const linkMTU = 1400

func newRateLink(seed uint64) *rateLink {
	l := &rateLink{size: linkMTU, delay: 25 * time.Millisecond, largest: -1, bottleneck: &bottleneck{}, chance: rand.New(rand.NewPCG(seed, 1))}
	l.m.Init(linkMTU, 0)
	l.now = time.Hour // the runner's clock does not begin with the channel
	return l
}

func (l *rateLink) plan(at time.Duration, what linkWhat, n int, delay time.Duration) {
	l.count++
	heap.Push(&l.events, rateEvent{at: at, order: l.count, what: what, n: n, delay: delay})
}

// queue gives the sender n segments more.
func (l *rateLink) queue(n int) {
	l.end += n
	l.got = append(l.got, make([]bool, n)...)
	l.plan(l.now, linkRun, 0, 0)
}

// run lets time pass until done says so, or for d.
func (l *rateLink) run(d time.Duration, done func() bool) {
	end := l.now + d
	for l.nextEvent() <= end {
		if done != nil && done() {
			return
		}
		l.step()
	}
	l.now = end
}

// nextEvent is when something happens next.
func (l *rateLink) nextEvent() time.Duration {
	if l.events.Len() == 0 {
		return math.MaxInt64
	}
	return l.events[0].at
}

// step lets the next event happen.
func (l *rateLink) step() {
	e := heap.Pop(&l.events).(rateEvent)
	l.now = max(l.now, e.at)
	switch e.what {
	case linkRun:
		l.send()
	case linkArrive:
		l.arrive(e.n)
	case linkAckDue:
		if l.unacked > 0 && l.ackAt == e.at {
			l.ack()
		}
	case linkAck:
		l.takeAck(e.n, e.delay)
		l.send()
	}
}

// transfer sends a blob of n bytes and returns how long it takes until the last of it is there.
func (l *rateLink) transfer(n int) time.Duration {
	began := l.now
	l.m.Limited(l.inFlight)
	segments := (n + 1339) / 1340
	l.queue(segments)
	l.run(time.Minute, func() bool { return l.gotCount == l.end })
	return l.lastGot - began
}

func (l *rateLink) lost() bool { return l.chance.IntN(1000) < l.loss || l.down }

func (l *rateLink) oneWay() time.Duration {
	if l.jitter == 0 {
		return l.delay
	}
	return l.delay + time.Duration(l.chance.Int64N(int64(l.jitter)))
}

// send is one run of the sender.
func (l *rateLink) send() {
	if l.wake > 0 && l.now%l.wake != 0 {
		l.planRun(l.now)
		return
	}
	l.detectTimeouts()
	for len(l.again) > 0 || l.next < l.end {
		if l.inFlight+l.size > l.m.Window() {
			l.planTimeout()
			return
		}
		if l.m.Allowed(l.now) < l.size {
			l.planRun(l.m.NextAt(l.now, l.size))
			return
		}
		segment := l.next
		if len(l.again) > 0 {
			segment, l.again = l.again[0], l.again[1:]
			l.resent++
		} else {
			l.next++
		}
		if !l.got[segment] {
			l.sendPacket(segment)
		}
	}
	l.m.Limited(l.inFlight)
	l.planTimeout()
}

func (l *rateLink) sendPacket(segment int) {
	p := linkPacket{segment: segment, size: l.size, sentAt: l.now}
	l.m.OnSend(l.now, l.size, l.inFlight, &p.stamp)
	l.m.Spend(l.now, l.size)
	if l.inFlight == 0 {
		l.timerFrom = l.now
	}
	l.inFlight += l.size
	n := len(l.packets)
	l.packets = append(l.packets, p)
	l.sent++
	if l.lost() {
		return
	}
	at := l.now
	if l.bandwidth > 0 {
		l.freeAt = max(l.freeAt, l.now)
		wait := l.freeAt - l.now
		if held := int(PerTime(l.bandwidth, wait)); held+l.size > l.buffer {
			l.drop++
			return
		}
		l.queued += wait
		l.worst = max(l.worst, wait)
		l.freeAt += timeFor(uint64(l.size), l.bandwidth)
		at = l.freeAt
	}
	l.lastThere = max(l.lastThere, at+l.oneWay())
	if l.nap > 0 {
		l.lastThere = (l.lastThere + l.nap - 1) / l.nap * l.nap
	}
	l.plan(l.lastThere, linkArrive, n, 0)
}

func (l *rateLink) arrive(n int) {
	l.arrivals = append(l.arrivals, n)
	p := &l.packets[n]
	if !l.got[p.segment] {
		l.got[p.segment] = true
		l.gotCount++
		l.lastGot = l.now
	}
	gap := n != l.largest+1
	if n > l.largest {
		l.largest, l.arrivedAt = n, l.now
	}
	l.unacked++
	if gap || l.unacked >= 8 {
		l.ack()
	} else if l.unacked == 1 {
		l.ackAt = l.now + 20*time.Millisecond
		l.plan(l.ackAt, linkAckDue, 0, 0)
	}
}

func (l *rateLink) ack() {
	l.unacked = 0
	if !l.lost() {
		l.plan(l.now+l.oneWay(), linkAck, len(l.arrivals), l.now-l.arrivedAt)
	}
}

// takeAck takes in an ack of the first n arrivals, as the channel does: the packets first, then
// what they show to be lost.
func (l *rateLink) takeAck(n int, delay time.Duration) {
	if n <= l.taken {
		return // overtaken
	}
	var rtt time.Duration
	var f Frame
	for _, number := range l.arrivals[l.taken:n] {
		p := &l.packets[number]
		if p.lost {
			l.m.OnSpurious(p.size)
			continue
		}
		p.done = true
		l.inFlight -= p.size
		l.m.OnAcked(l.now, p.sentAt, p.size, &p.stamp, &f)
		if number >= l.acked {
			l.acked = number + 1
			rtt = l.now - p.sentAt - delay
		}
	}
	l.taken = n
	if rtt > 0 {
		if l.srtt == 0 {
			l.srtt = rtt
		}
		l.srtt += (rtt - l.srtt) / 8
	}
	l.backoff, l.timerFrom = 0, l.now
	l.m.EndAck(l.now, rtt, l.inFlight, &f)
	l.detectLoss()
}

func (l *rateLink) patience() time.Duration { return max(l.srtt, time.Millisecond) * 9 / 8 }

// detectLoss follows RFC 9002, 6.1.
func (l *rateLink) detectLoss() {
	for l.oldest < len(l.packets) && l.packets[l.oldest].done {
		l.oldest++
	}
	for i := l.oldest; i+1 < l.acked; i++ {
		p := &l.packets[i]
		if p.done || i+3 >= l.acked && p.sentAt+l.patience() > l.now {
			continue
		}
		p.done, p.lost = true, true
		l.inFlight -= p.size
		l.m.OnLost(l.now, p.size, &p.stamp)
		l.again = append(l.again, p.segment)
	}
}

func (l *rateLink) timeoutAt() time.Duration {
	if l.inFlight == 0 {
		return 0
	}
	rto := 150 * time.Millisecond
	if l.srtt > 0 {
		rto = max(100*time.Millisecond, l.srtt+l.srtt/4+20*time.Millisecond)
	}
	return l.timerFrom + rto<<min(l.backoff, 4)
}

func (l *rateLink) detectTimeouts() {
	l.detectLoss()
	if at := l.timeoutAt(); at == 0 || l.now < at {
		return
	}
	l.timerFrom = l.now
	if l.backoff++; l.backoff >= 2 {
		l.m.OnSilence(l.now)
	}
	for i, n := l.oldest, 0; i < len(l.packets) && n < 2; i++ {
		if p := &l.packets[i]; !p.done {
			l.sendPacket(p.segment)
			n++
		}
	}
}

func (l *rateLink) planTimeout() {
	at := l.timeoutAt()
	for i := l.oldest; i+1 < l.acked; i++ {
		if p := &l.packets[i]; !p.done {
			at = min(at, p.sentAt+l.patience())
			break
		}
	}
	if at > 0 {
		l.planRun(max(at, l.now+1))
	}
}

// planRun plans a run of the sender, unless an earlier one stands.
func (l *rateLink) planRun(at time.Duration) {
	if l.wake > 0 {
		at = (at + l.wake - 1) / l.wake * l.wake
	}
	if l.timer > l.now && l.timer <= at {
		return
	}
	l.timer = at
	l.plan(at, linkRun, 0, 0)
}
