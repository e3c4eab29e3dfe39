package cellappmgr

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
)

// TestSeatStandsBy: a Seat that does not lead sends away who joins, and hears votes of other managers
// alone.
func TestSeatStandsBy(t *testing.T) {
	r := newRig(t, nil)
	cfg := r.m.cfg
	cfg.Term = 0
	own, other := cfg.Transport.Self().At, netip.MustParseAddrPort("10.9.9.9:9")
	if _, err := NewSeat(SeatConfig{Config: cfg, Places: []netip.AddrPort{other}}); err == nil {
		t.Error("a Seat at none of the Places is made")
	}
	s, err := NewSeat(SeatConfig{Config: cfg, Places: []netip.AddrPort{other, own, netip.MustParseAddrPort("10.9.9.8:9")}})
	if err != nil {
		t.Fatal(err)
	}
	for now := time.Duration(0); now < 10*time.Second; now += 100 * time.Millisecond {
		s.Tick(now)
	}
	if s.Manager() != nil || s.Term() != 0 || s.Dismissed() {
		t.Fatal("it leads without votes")
	}
	if n := strings.Count(r.log.String(), "too few of them run"); n != 1 {
		t.Errorf("%d lines say in ten seconds that too few managers run, want one", n)
	}
	peer := r.join(wire.CellApp, 2)
	ch := peer.ch
	s.Opened(time.Minute, ch, peer.addr)
	s.Message(time.Minute, ch, true, wire.Encode(nil, &wire.LeaseVote{Term: 1, Round: 1, Granted: true}))
	s.Message(time.Minute, ch, true, wire.Encode(nil, &wire.LeaseAsk{Speaks: wire.Spoken(), Digest: cfg.Schema.Digest, Term: 200, Round: 1}))
	s.Message(time.Minute, ch, true, wire.Encode(nil, &wire.Members{}))
	if c := s.Counts(); c.Foreign != 3 || s.polls.high != 0 || s.polls.vote.term > 1 || s.Term() != 0 {
		t.Errorf("%+v, %+v", c, s.polls.ballotPaper)
	}
	s.Message(time.Minute, ch, true, wire.Encode(nil, &wire.Join{Speaks: wire.Spoken(), Role: wire.CellApp}))
	s.Message(time.Minute, ch, true, []byte{255})
	if c := s.Counts(); c.Turned != 1 {
		t.Errorf("%+v", c)
	}
}

// TestSeatHeirloom: a manager that has led long ago says whom it knows. That takes nothing from whom the last
// leader knew: all are called.
func TestSeatHeirloom(t *testing.T) {
	r := newRig(t, nil)
	cfg := r.m.cfg
	cfg.Term = 0
	leader, former, app := r.join(wire.CellApp, 2), r.join(wire.CellApp, 3), r.join(wire.CellApp, 4)
	s, err := NewSeat(SeatConfig{Config: cfg, Places: []netip.AddrPort{cfg.Transport.Self().At, leader.addr.At, former.addr.At}})
	if err != nil {
		t.Fatal(err)
	}
	tell := func(from *peer, apps ...mercury.Address) {
		m := wire.Members{}
		for _, a := range apps {
			m.Add(wire.AppRef{Role: wire.CellApp, App: a}, 0)
		}
		s.Message(0, from.ch, true, wire.Encode(nil, &m))
	}
	tell(leader, app.addr)
	tell(former, former.addr)
	if s.callAll(); len(s.calls) != 2 {
		t.Errorf("%d are called, want both", len(s.calls))
	}
	tell(leader, app.addr, former.addr)
	tell(former, former.addr)
	s.calls = nil
	if s.callAll(); len(s.calls) != 2 {
		t.Errorf("%d are called, want each once", len(s.calls))
	}
	if s.calls = nil; s.Counts().Foreign != 0 {
		t.Errorf("%+v", s.Counts())
	}
	if s.callAll(); len(s.calls) != 0 {
		t.Errorf("%d are called again", len(s.calls))
	}
}

// TestSeatAlone: without others a Seat leads at once, in a term above that of an app which knows one.
func TestSeatAlone(t *testing.T) {
	r := newRig(t, nil)
	cfg := r.m.cfg
	cfg.Term = 0
	terms := []uint32{}
	past := new(Past)
	s, err := NewSeat(SeatConfig{Config: cfg, Past: past, Leads: func(term uint32) { terms = append(terms, term) }})
	if err != nil {
		t.Fatal(err)
	}
	s.Tick(0)
	if s.Term() != 1 || !s.Manager().recovery.on {
		t.Fatalf("term %d; it waits for a world: %v", s.Term(), s.Manager() != nil && s.Manager().recovery.on)
	}
	peer := r.join(wire.CellApp, 2)
	s.Opened(time.Second, peer.ch, peer.addr)
	s.Message(time.Second, peer.ch, true, wire.Encode(nil, &wire.Join{Speaks: wire.Spoken(), Role: wire.CellApp, Digest: cfg.Schema.Digest, Term: 7}))
	if s.Term() != 8 || len(terms) != 2 || len(s.Manager().recovery.returning) != 1 {
		t.Fatalf("terms %v", terms)
	}
	// One that runs already has given orders in its term: the next start takes the higher one.
	s.Manager().recovery.on = false
	s.Message(2*time.Second, peer.ch, true, wire.Encode(nil, &wire.Join{Speaks: wire.Spoken(), Role: wire.CellApp, Digest: cfg.Schema.Digest, Term: 8}))
	if !s.Dismissed() || s.Manager() != nil {
		t.Fatal("it leads on in a term that an app knows of another")
	}
	s.Message(2*time.Second, peer.ch, true, []byte{255})
	again, err := NewSeat(SeatConfig{Config: cfg, Past: past, Fresh: true})
	if err != nil {
		t.Fatal(err)
	}
	again.Tick(3 * time.Second)
	if again.Term() != 9 || !again.Manager().recovery.on {
		t.Errorf("then term %d", again.Term())
	}
	// What one app alone claims is believed in small steps.
	peer = r.join(wire.CellApp, 4)
	take[wire.Welcome](peer)
	again.Opened(3*time.Second, peer.ch, peer.addr)
	again.Message(3*time.Second, peer.ch, true, wire.Encode(nil, &wire.Join{Speaks: wire.Spoken(), Role: wire.CellApp, Digest: cfg.Schema.Digest, Term: MaxTerm}))
	if again.Term() != 9 || again.Counts().Unconfirmed != 1 {
		t.Errorf("then term %d, %+v", again.Term(), again.Counts())
	}
	if no := take[wire.Refused](peer); len(no) != 1 {
		t.Errorf("it is told %+v", no)
	}
	other := r.join(wire.BaseApp, 3)
	again.Opened(4*time.Second, other.ch, other.addr)
	again.Message(4*time.Second, other.ch, true, wire.Encode(nil, &wire.Join{Speaks: wire.Spoken(), Role: wire.BaseApp, Digest: cfg.Schema.Digest, Term: 100}))
	if again.Term() != 101 {
		t.Errorf("two apps know term 100, and then it is %d", again.Term())
	}
	var _ mercury.Handler = again
}

// TestSeatRehoused: another manager is started again at another address. It is dialled there, and heard, and
// what has taken its former address is not.
func TestSeatRehoused(t *testing.T) {
	r := newRig(t, nil)
	r.net.answers = true
	cfg := r.m.cfg
	cfg.Term = 0
	own, first, second, third := cfg.Transport.Self().At, at(2), at(3), at(4)
	s, err := NewSeat(SeatConfig{Config: cfg, Places: []netip.AddrPort{own, first.At, {}}})
	if err != nil {
		t.Fatal(err)
	}
	s.Tick(0)
	if a, b := &s.fellows[0], &s.fellows[1]; a.ch == 0 || b.ch != 0 {
		t.Fatalf("it dials %+v, %+v", a, b)
	}
	f := &s.fellows[0]
	s.Opened(0, f.ch, first)
	s.Rehoused([]netip.AddrPort{own, second.At, third.At})
	if !f.open {
		t.Error("the channel is given up while it lives")
	}
	if s.Tick(redial); s.fellows[1].ch == 0 {
		t.Error("a manager whose address has come to be known is not dialled")
	}
	ask := wire.Encode(nil, &wire.LeaseAsk{Speaks: wire.Spoken(), Digest: cfg.Schema.Digest, Term: 2, Round: 1})
	was := r.connect(wire.CellAppMgr, first)
	if s.Message(time.Second, was.ch, true, ask); s.Counts().Foreign != 1 || !f.open {
		t.Errorf("its former address is heard: %+v", s.Counts())
	}
	is := r.connect(wire.CellAppMgr, second)
	s.Message(time.Second, is.ch, true, ask)
	if s.Counts().Foreign != 1 || f.open {
		t.Errorf("its new address is not heard, or the channel to the former is kept: %+v, %+v", s.Counts(), f)
	}
	if s.Tick(2 * redial); f.ch == 0 {
		t.Error("it is not dialled at its new address")
	}
	s.Rehoused(nil)
	if len(s.cfg.Places) != 3 {
		t.Error("it forgets its places")
	}
}
