package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/host"
)

const (
	// busyTick is how often a server in a run looks at it at least.
	busyTick = 100 * time.Millisecond
	// linger is how long a server that shall end after one run waits for more of its client: it
	// connects anew to measure that.
	linger = time.Second
	// maxBegin bounds the text of a spec.
	maxBegin = 4 << 10
)

// server takes part in one run after another, and answers pings and requests at any time. It lives
// on the goroutine of its process.
type server struct {
	carrier  carrier
	process  *host.Process
	clock    func() time.Duration
	beforeKB int
	run      *session // nil between runs
	blobs    figures  // answers to requests

	once  context.CancelFunc // called when a run has ended; nil to go on
	ended bool               // a run has
	open  int                // connections
	quiet time.Duration      // when the last of them ended
}

// session is one run at the server.
type session struct {
	spec     spec
	chs      []mercury.ChannelID // the first is the one that began the run
	tallies  map[mercury.ChannelID]*tally
	last     mercury.ChannelID // that data came from, and its tally
	tally    *tally
	latency  histogram
	creditor creditor
	closed   int

	ready    bool
	phases   phases
	sender   sender
	from, to mark // of the measured time; zero before
	reported bool
}

// newServer runs a server; once is called at the end of the first run unless it is nil.
func newServer(t transport, o options, r role, once context.CancelFunc) (*server, error) {
	s := &server{clock: o.clock, beforeKB: residentKB(), once: once}
	r.server = true
	var err error
	if s.carrier, err = t.open(o, r); err != nil {
		return nil, err
	}
	s.process, err = o.start(s.carrier, r, s)
	return s, err
}

// Opened implements mercury.Handler: a connection says itself what it is for.
func (s *server) Opened(time.Duration, mercury.ChannelID, mercury.Address) { s.open++ }

// Closed implements mercury.Handler.
func (s *server) Closed(now time.Duration, ch mercury.ChannelID, _ error) {
	s.open--
	s.quiet = now
	r := s.run
	if r == nil || r.tallies[ch] == nil {
		return
	}
	if ch == r.chs[0] {
		s.run, s.ended = nil, s.ended || r.reported
		return
	}
	r.closed++
	delete(r.tallies, ch)
	r.last, r.tally = 0, nil
	if r.sender != nil {
		r.sender.leave(ch)
	}
}

// Message implements mercury.Handler.
func (s *server) Message(now time.Duration, ch mercury.ChannelID, _ bool, msg []byte) {
	if len(msg) == 0 {
		return
	}
	switch kind(msg[0]) {
	case kindData:
		s.data(now, ch, msg)
	case kindCredit:
		if n, ok := readNumber(msg); ok && s.run != nil && s.run.sender != nil {
			s.run.sender.credit(now, n)
		}
	case kindBegin:
		s.begin(ch, msg[1:])
	case kindJoin:
		s.join(now, ch)
	case kindFinish:
		s.finish(now, ch)
	case kindPing:
		_ = s.carrier.Send(ch, []byte{byte(kindPong)}) // Closed follows
	case kindRequest:
		if n, ok := readNumber(msg); ok && n > 0 && n <= maxBlob {
			answer(s.carrier, ch, n, &s.blobs)
		}
	}
}

func (s *server) data(now time.Duration, ch mercury.ChannelID, msg []byte) {
	r := s.run
	if r == nil || !r.ready { // no tally is made for what comes before all have joined
		return
	}
	// A flood is of one connection: looking it up for each of its messages would be a fifth of what
	// they cost.
	if ch != r.last || r.tally == nil {
		r.last, r.tally = ch, r.tallies[ch]
	}
	if r.tally == nil {
		return
	}
	r.tally.take(now, msg)
	if r.spec.Up.flood() {
		r.creditor.take(s.carrier, ch, len(msg))
	}
}

func (s *server) refuse(ch mercury.ChannelID, format string, args ...any) {
	_ = s.carrier.Send(ch, fmt.Appendf([]byte{byte(kindRefused)}, format, args...))
}

// begin makes a run of what a client asks for.
func (s *server) begin(ch mercury.ChannelID, text []byte) {
	var want spec
	switch {
	case s.run != nil:
		s.refuse(ch, "a run is on: try again when it has ended")
		return
	case len(text) > maxBegin:
		s.refuse(ch, "a spec of %d bytes, at most %d", len(text), maxBegin)
		return
	}
	if err := json.Unmarshal(text, &want); err != nil {
		s.refuse(ch, "%v: take clients and servers of one version", err)
		return
	}
	if err := want.validate(); err != nil {
		s.refuse(ch, "%v", err)
		return
	}
	s.run = &session{
		spec: want, tallies: make(map[mercury.ChannelID]*tally), creditor: creditor{share: want.Backlog / creditShare},
	}
	s.blobs = figures{}
	s.add(ch)
	_ = s.carrier.Send(ch, []byte{byte(kindBegun)})
}

// join adds a connection to the run that is about to start, and starts it with the last.
func (s *server) join(now time.Duration, ch mercury.ChannelID) {
	r := s.run
	switch {
	case r != nil && r.tallies[ch] != nil: // the first says so too, when all others have
	case r == nil || r.ready:
		s.refuse(ch, "there is no run to join")
		return
	default:
		s.add(ch)
	}
	if !r.ready && len(r.chs) >= r.conns() {
		s.start(now)
	}
}

// conns is how many connections take part. Those of a blob come and go, and are only answered.
func (r *session) conns() int {
	if r.spec.Blob > 0 {
		return 1
	}
	return r.spec.Conns
}

func (s *server) add(ch mercury.ChannelID) {
	s.run.chs = append(s.run.chs, ch)
	s.run.tallies[ch] = &tally{}
}

// start starts the times of the run.
func (s *server) start(now time.Duration) {
	r := s.run
	r.ready, r.phases = true, r.spec.phases(now)
	r.last, r.tally = 0, nil
	for _, ch := range r.chs {
		if r.tallies[ch] != nil {
			r.tallies[ch] = newTally(r.phases, r.spec.Up, &r.latency, s.clock)
		}
	}
	r.sender = newSender(s.carrier, slices.Clone(r.chs), r.spec.Down, &r.spec, r.phases, s.clock)
	_ = s.carrier.Send(r.chs[0], []byte{byte(kindReady)})
	s.measure(now)
}

// Tick implements host.App.
func (s *server) Tick(now time.Duration) time.Duration {
	r := s.run
	if r == nil && s.once != nil && s.ended && s.open <= 0 && now-s.quiet >= linger {
		s.once()
	}
	if r == nil || !r.ready {
		return now + idleTick
	}
	s.measure(now)
	next := now + busyTick
	for _, t := range [...]time.Duration{r.phases.measured, r.phases.over} {
		if t > now {
			next = min(next, t)
		}
	}
	if r.sender != nil {
		next = min(next, r.sender.tick(now))
	}
	return next
}

// measure sets the marks at the ends of the measured time.
func (s *server) measure(now time.Duration) {
	r := s.run
	if r.from == (mark{}) && now >= r.phases.measured {
		r.from = s.mark(now)
	}
	if r.to == (mark{}) && now >= r.phases.over {
		r.to = s.mark(now)
	}
}

func (s *server) mark(now time.Duration) mark {
	return mark{at: now, cpu: processCPU(), wire: s.carrier.counters(s.run.chs[0])}
}

// finish ends the run and sends the report. All that the connection sent before has been counted.
func (s *server) finish(now time.Duration, ch mercury.ChannelID) {
	r := s.run
	if r == nil || !r.ready || ch != r.chs[0] {
		s.refuse(ch, "there is no run of this connection to finish")
		return
	}
	r.phases.over = min(r.phases.over, now)
	s.measure(now)
	_ = s.carrier.Send(ch, withJSON(kindReport, s.report()))
	r.reported = true
}

func (s *server) report() *side {
	r := s.run
	d := &side{
		Conns: len(r.chs), Closed: r.closed, Sent: s.blobs, Latency: r.latency.summary(),
		WireAll: s.carrier.counters(s.run.chs[0]), BeforeKB: s.beforeKB, AfterKB: residentKB(),
	}
	d.window(r.from, r.to)
	if r.sender != nil {
		d.Sent = r.sender.sent()
	}
	for _, ch := range r.chs {
		if t := r.tallies[ch]; t != nil {
			d.Received.add(t.figures)
		}
	}
	return d
}
