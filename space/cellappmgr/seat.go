package cellappmgr

import (
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"slices"
	"time"

	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/space/cluster/status"
)

// SeatConfig is what a Seat is made of.
type SeatConfig struct {
	// Config is that of the managers that lead here. Its Term is the lowest to lead in; 0 for any.
	Config
	// Places are all places where a manager of the cluster may lead, in the same order for all, with
	// the one of Transport among them. None means that there is no other. One whose address is not known
	// yet is not valid; see Seat.Rehoused.
	Places []netip.AddrPort
	// Lease says who leads. Default: the votes of the managers at Places.
	Lease Lease
	// Fresh says that no world of an earlier manager can run, so that nobody has to be heard first: as
	// when all processes of the world start together.
	Fresh bool
	// Past is what the Seats before this one in the same OS process remember. Give all of them the same;
	// nil for a Seat that has none and leaves nothing.
	Past *Past
	// Leads is called when a manager begins to lead here, and Ends when it has ended. They run on the
	// goroutine of the Seat, and must not call it.
	Leads func(term uint32)
	Ends  func(why string)
}

// Seat is a process at which a CellAppMgr may lead; see the package comment. It leads, or stands by
// while another does.
type Seat struct {
	cfg   SeatConfig
	log   *slog.Logger
	lease Lease
	polls *election // the Lease if it is one

	mgr   *CellAppMgr // nil while it stands by
	few   fewSince
	grant Grant
	least uint32
	anew  bool // it has led, and is of no more use

	channels []mercury.ChannelID // that are open, without those to other managers
	fellows  []fellow            // the other managers, in the order of Places
	calls    []mercury.ChannelID // to those of them that are told that this one leads
	tellAt   time.Duration
	lastLook uint64        // the last token of Config.Lookout, of all managers here
	next     time.Duration // when Tick is due
	buf      []byte
	ended    bool  // the world was stopped
	fault    error // why this manager cannot be one of the cluster's
	saved    *saved

	counts SeatCounts
}

// Past is what a Seat leaves to the one that is made after it in the same OS process, with the same
// clock. The zero value is that of the first.
type Past struct {
	least uint32 // the lowest term to lead in
	polls ballotPaper
	led   bool
	saved *saved
	claims
}

// SeatCounts are what a Seat has counted since its start.
type SeatCounts struct {
	// Led is how often a manager began to lead here.
	Led uint64
	// Turned is how many joined here while it stood by, and were sent on.
	Turned uint64
	// Foreign messages were of another manager, and came from elsewhere or could not be read.
	Foreign uint64
	// Unconfirmed is how often an app claimed a term that no other app knew, and was refused.
	Unconfirmed uint64
}

// fellow is another manager of the cluster.
type fellow struct {
	voter  int // index in Places
	at     netip.AddrPort
	ch     mercury.ChannelID // dialled; 0 for none
	open   bool
	dialAt time.Duration
	told   []wire.AppRef // what it was told last over ch
	// toldSaved says that it was told over ch that the world is saved, and knows that it has said
	// that it knows.
	toldSaved, knows bool

	heirloom []wire.AppRef // whom it knew when it led

	refuses  bool   // it has said that it cannot share a cluster with this one
	foreign  string // why that is so of it, as was logged
	unparsed bool   // that it says what cannot be read was logged
}

// redial is the time between two attempts to reach another manager.
const redial = time.Second

// tellEach is the time between two looks whether the other managers must be told of new members.
const tellEach = time.Second

// NewSeat returns a Seat at which nobody leads yet, or what Config.Validate and Places have as faults.
func NewSeat(cfg SeatConfig) (*Seat, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	if cfg.Past == nil {
		cfg.Past = new(Past)
	}
	least := max(cfg.Term, cfg.Past.least)
	cfg.Config = cfg.withDefaults()
	cfg.Fresh = cfg.Fresh && !cfg.Past.led
	s := &Seat{cfg: cfg, log: cfg.Log, lease: cfg.Lease, least: least, saved: cfg.Past.saved}
	own := slices.Index(cfg.Places, cfg.Transport.Self().At)
	switch {
	case len(cfg.Places) > wire.MaxManagers:
		return nil, fmt.Errorf("cellappmgr: there are %d Places: give at most %d", len(cfg.Places), wire.MaxManagers)
	case len(cfg.Places) > 0 && own < 0:
		return nil, fmt.Errorf("cellappmgr: this manager is at %v, and Places are %v: give its own place, too", cfg.Transport.Self().At, cfg.Places)
	}
	for i, at := range cfg.Places {
		if i != own {
			s.fellows = append(s.fellows, fellow{voter: i, at: at, dialAt: -redial})
		}
	}
	switch {
	case s.lease != nil:
	case len(s.fellows) == 0:
		s.lease = alone{}
	default:
		s.polls = newElection(own, len(cfg.Places), s.ask)
		s.polls.ballotPaper = cfg.Past.polls
		s.lease = s.polls
	}
	return s, nil
}

// Manager is the manager that leads here, nil while the Seat stands by.
func (s *Seat) Manager() *CellAppMgr { return s.mgr }

// Term is the one in which a manager leads here, 0 while the Seat stands by.
func (s *Seat) Term() uint32 {
	if s.mgr == nil {
		return 0
	}
	return s.grant.Term
}

// Dismissed says that the process wants to be made anew, under a new salt: a manager has ended here that
// apps may know. So what they know belongs to one term.
func (s *Seat) Dismissed() bool { return s.anew }

// Counts returns what has been counted so far.
func (s *Seat) Counts() SeatCounts { return s.counts }

// Status is that of the world, or only of this process while it stands by.
func (s *Seat) Status() status.World {
	if s.mgr == nil {
		return status.World{}
	}
	return s.mgr.Status()
}

// isOver reports whether nothing is done any more.
func (s *Seat) isOver() bool { return s.anew || s.fault != nil }

// check stops leading when the lease is over, before anything else is done.
func (s *Seat) check(now time.Duration) {
	if s.mgr != nil && now >= s.grant.Until {
		s.leave(now, "its lease is over: too few of the other managers answer, or this one was stalled")
	}
}

// Tick does what is due, and returns when it wants to be called again.
func (s *Seat) Tick(now time.Duration) (next time.Duration) {
	s.next = s.tick(now)
	return s.next
}

// NextTick is when Tick is due, by what has come until now.
func (s *Seat) NextTick() time.Duration {
	if s.mgr == nil || s.isOver() {
		return s.next
	}
	return s.mgr.NextTick()
}

func (s *Seat) tick(now time.Duration) (next time.Duration) {
	if s.check(now); s.isOver() {
		return now + s.cfg.Tick
	}
	s.dialFellows(now)
	s.claim(now)
	s.endSaved(now)
	if s.mgr == nil {
		s.warnOfFew(now)
		return now + s.cfg.Tick
	}
	s.few = fewSince{}
	s.tellFellows(now)
	next = s.mgr.Tick(now)
	if err := s.mgr.fault; err != nil {
		s.fail(now, err)
		return next
	}
	s.tellSaved()
	s.endStop()
	return next
}

// endStop ends the process when the world was stopped and all others have ended. Managers that stand by are
// told, since there is nothing left to lead.
func (s *Seat) endStop() {
	if s.ended || !s.mgr.Ended() {
		return
	}
	s.ended = true
	s.buf = wire.Encode(s.buf[:0], &wire.Stop{Number: s.mgr.stopping.number, Step: wire.StopEnded, Reason: s.mgr.stopping.reason})
	for i := range s.fellows {
		if f := &s.fellows[i]; f.open {
			if err := s.cfg.Transport.Send(f.ch, s.buf); err != nil {
				s.log.Warn("another manager was not told that the world has ended; it would lead an empty one", "place", f.at, "error", err)
			}
		}
	}
	s.log.Warn("the world has ended", "reason", s.mgr.stopping.reason)
}

// Shutdown begins the controlled stop of the world. It reports false if no manager leads here.
func (s *Seat) Shutdown(now time.Duration, reason string) bool {
	if s.check(now); s.mgr == nil || !s.mgr.runs() {
		return false
	}
	s.mgr.Shutdown(now, reason)
	return true
}

// Stop is how far the controlled stop of the world is, as far as it is led here.
func (s *Seat) Stop() status.Stop {
	if s.mgr == nil {
		return status.Stop{}
	}
	return s.mgr.Stop()
}

// Leave says that the process is being stopped. If a manager leads here it goes on to, and those who stand by
// for it learn of it; otherwise none begins to lead here.
func (s *Seat) Leave(now time.Duration) {
	if s.check(now); s.polls != nil {
		s.polls.leave(now)
	}
}

// Awaited reports whether a manager that is being stopped, too, leads by the vote of this one.
func (s *Seat) Awaited(now time.Duration) bool { return s.polls != nil && s.polls.awaited(now) }

// Ended reports whether the process can end: the world was stopped, or there is a Fault.
func (s *Seat) Ended() bool { return s.ended || s.fault != nil }

// Fault says why this manager cannot be one of the cluster's, and has ended; nil if it can. The end of a
// world that it has stopped is one if not all was written.
func (s *Seat) Fault() error {
	if s.fault != nil || !s.ended || s.mgr == nil {
		return s.fault
	}
	report := s.mgr.Stop()
	return report.Err()
}

// fail ends the process.
func (s *Seat) fail(now time.Duration, err error) {
	s.fault = err
	if s.mgr != nil {
		s.end(err.Error(), 0)
		s.lease.Resign(now)
	}
}

// claim asks the lease, and leads or stands by as it says.
func (s *Seat) claim(now time.Duration) {
	g, ok := s.lease.Claim(now, s.least)
	switch {
	case ok && g.Term > MaxTerm:
		s.lease.Resign(now)
	case ok && s.mgr == nil:
		s.grant = g
		s.begin(now)
	case ok && g.Term == s.grant.Term:
		s.grant = g
	case s.mgr != nil:
		s.leave(now, "another may lead")
	}
}

// leave ends the leading for good.
func (s *Seat) leave(now time.Duration, why string) {
	s.keepSaved(now)
	s.end(why, 0)
	s.lease.Resign(now)
	s.anew, s.cfg.Past.led = true, true
	if s.polls != nil {
		s.cfg.Past.polls = s.polls.ballotPaper
	}
}

// begin makes a manager that leads.
func (s *Seat) begin(now time.Duration) {
	cfg := s.cfg.Config
	cfg.Term = s.grant.Term
	m, err := New(cfg)
	if err != nil {
		// Config was checked when the Seat was made, and the term when it was granted.
		s.log.Error("no manager can be made", "error", err)
		s.lease.Resign(now)
		return
	}
	_, m.sole = s.lease.(alone)
	m.seatCounts, m.lastLook = &s.counts, s.lastLook
	m.recovery.on = cfg.RecoveryWindow > 0 && !(s.cfg.Fresh && s.grant.Term == 1)
	m.inheritStop(now, s.saved)
	s.mgr = m
	s.countStandbys()
	s.least = s.grant.Term
	s.counts.Led++
	if len(s.fellows) > 0 || s.counts.Led > 1 {
		s.log.Info("this manager leads", "term", s.grant.Term)
	}
	s.callAll()
	if s.cfg.Leads != nil {
		s.cfg.Leads(s.grant.Term)
	}
}

// end ends the leading. Every channel but one is closed, so that whoever is at its other end goes to
// the manager that leads next.
func (s *Seat) end(why string, but mercury.ChannelID) {
	s.log.Warn("this manager leads no more", "term", s.grant.Term, "why", why)
	for _, a := range s.mgr.members {
		s.mgr.unwatch(a)
	}
	s.lastLook = s.mgr.lastLook
	s.mgr, s.grant = nil, Grant{}
	for _, ch := range s.channels {
		if ch != but {
			s.cfg.Transport.Close(ch)
		}
	}
	s.channels = slices.DeleteFunc(s.channels, func(ch mercury.ChannelID) bool { return ch != but })
	for i := range s.fellows {
		s.fellows[i].told, s.fellows[i].toldSaved, s.fellows[i].knows = nil, false, false
	}
	if s.cfg.Ends != nil {
		s.cfg.Ends(why)
	}
}

// Opened implements mercury.Handler.
func (s *Seat) Opened(now time.Duration, ch mercury.ChannelID, peer mercury.Address) {
	if s.check(now); s.isOver() {
		return
	}
	if f := s.fellowBy(ch); f != nil {
		f.open = true
		s.countStandbys()
		return
	}
	if i := slices.Index(s.calls, ch); i >= 0 {
		s.calls = slices.Delete(s.calls, i, i+1)
		s.cfg.Transport.Close(ch) // the app knows now, and joins over a channel of its own
		return
	}
	s.channels = append(s.channels, ch)
	if s.mgr != nil {
		s.mgr.Opened(now, ch, peer)
	}
}

// Closed implements mercury.Handler.
func (s *Seat) Closed(now time.Duration, ch mercury.ChannelID, reason error) {
	if s.check(now); s.isOver() {
		return
	}
	if f := s.fellowBy(ch); f != nil {
		f.lost()
		s.countStandbys()
		return
	}
	s.calls = slices.DeleteFunc(s.calls, func(x mercury.ChannelID) bool { return x == ch })
	s.channels = slices.DeleteFunc(s.channels, func(x mercury.ChannelID) bool { return x == ch })
	if s.mgr != nil {
		s.mgr.Closed(now, ch, reason)
	}
}

// Message implements mercury.Handler.
func (s *Seat) Message(now time.Duration, ch mercury.ChannelID, reliable bool, msg []byte) {
	if s.check(now); s.isOver() {
		return
	}
	if s.ofFellow(now, ch, msg) {
		return
	}
	if s.mgr == nil {
		s.turnAway(ch)
		return
	}
	s.mgr.Message(now, ch, reliable, msg)
	if t := s.mgr.outrankedBy; t > 0 {
		s.claimed(now, t, ch, msg)
	}
}

// claimed takes the word of an app that it knows a term which is not below this one, or refuses it.
func (s *Seat) claimed(now time.Duration, term uint32, ch mercury.ChannelID, msg []byte) {
	s.mgr.outrankedBy = 0
	peer, ok := s.cfg.Transport.Peer(ch)
	if !ok {
		return
	}
	if t := s.cfg.Past.claims.believe(peer.At, term, s.grant.Term); t > 0 {
		s.rise(now, t, ch, msg)
		return
	}
	s.counts.Unconfirmed++
	if unlogged, ok := s.mgr.lines.Allow(now, "unconfirmed"); ok {
		s.log.Warn("an app claims to know a higher term, and no other does yet", "address", peer.String(), "its_term", term, "term", s.grant.Term, "unlogged", unlogged)
	}
	s.mgr.refuse(ch, term)
}

// Reached takes what Config.Lookout has found.
func (s *Seat) Reached(now time.Duration, token uint64, found mercury.Reach) {
	s.check(now)
	if s.mgr != nil {
		s.mgr.Reached(now, token, found)
	}
}

// JobDone takes the result of a job that a manager here has asked for.
func (s *Seat) JobDone(now time.Duration, token uint64, result any) {
	s.check(now)
	if s.mgr != nil {
		s.mgr.JobDone(now, token, result)
	}
}

// turnAway sends whoever speaks to the next place.
func (s *Seat) turnAway(ch mercury.ChannelID) {
	i := slices.Index(s.channels, ch)
	if i < 0 {
		return // what came behind the first word
	}
	s.counts.Turned++
	s.channels = slices.Delete(s.channels, i, i+1)
	s.cfg.Transport.Close(ch)
}

// rise begins anew in a term above one that an app knows, and hears that app again. Whoever else has
// joined in the meantime was told nothing, and joins again. A manager that runs already has given orders
// in its term: then the process is made anew.
func (s *Seat) rise(now time.Duration, known uint32, ch mercury.ChannelID, msg []byte) {
	s.log.Info("a world of an earlier manager runs", "its_term", known, "term", s.grant.Term)
	s.least, s.cfg.Past.least = known+1, known+1
	if s.mgr.runs() {
		s.leave(now, "an app knows a term that is as high")
		return
	}
	s.end("an app knows a term that is as high", ch)
	s.claim(now)
	if s.mgr != nil {
		s.mgr.Opened(now, ch, mercury.Address{})
		s.mgr.Message(now, ch, true, msg)
		return
	}
	s.turnAway(ch)
}

var errForeign = errors.New("cellappmgr: what only another manager may say")
