package cellappmgr

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/cellscape/cellscape/internal/app"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
)

// later is what a build of a later version speaks.
var later = wire.Versions{Oldest: wire.Version + 1, Newest: wire.Version + 3}

// A process of another version is told why it may not join, whatever its role and whatever else its Join
// says, and so is an observer. One that speaks several versions, this one among them, joins.
func TestOtherVersion(t *testing.T) {
	r := newRig(t, nil)
	says := []string{fmt.Sprintf("versions %d to %d", later.Oldest, later.Newest), fmt.Sprintf("version %d:", wire.Version), "stop the whole world"}
	for i, role := range []wire.Role{wire.CellAppMgr, wire.CellApp, wire.BaseApp, wire.LoginApp, wire.DBApp, wire.BaseAppMgr, wire.Observer, 99} {
		p := r.connect(role, at(10+i))
		msg := wire.Encode(nil, &wire.Join{Role: role, Digest: digest, Speaks: later, Term: uint32(i)})
		p.raw(append(msg, "and more"...))
		got := one[wire.Refused](p)
		for _, want := range says {
			if !strings.Contains(got.Reason, want) {
				t.Errorf("a %v is told %q, which does not say %q", role, got.Reason, want)
			}
		}
		none[wire.Welcome](p)
		r.logged("refused to join", says[0], at(10).String())
	}
	if c := r.m.Counts(); c.Malformed+c.Unproved > 0 || r.m.Superseded() {
		t.Errorf("%+v", c)
	}
	early := r.connect(wire.CellApp, at(30))
	early.send(&wire.Join{Role: wire.CellApp, Digest: digest})
	if got := one[wire.Refused](early); !strings.Contains(got.Reason, "no version") {
		t.Errorf("one from before there were versions is told %q", got.Reason)
	}
	both := r.connect(wire.CellApp, at(31))
	both.send(&wire.Join{Role: wire.CellApp, Digest: digest, Speaks: wire.Versions{Oldest: wire.Version, Newest: wire.Version + 1}})
	one[wire.Welcome](both)
}

// A manager that comes up under a world of another build, or of other definitions, does not begin a world of
// its own at that one's managers' place. Nor does it leave its own world for one process of another.
func TestForeignWorld(t *testing.T) {
	for name, tt := range map[string]struct {
		join wire.Join
		own  bool // an app of its own world comes back, too
	}{
		"another build":               {wire.Join{Role: wire.CellApp, Term: 1, Digest: digest, Speaks: later}, false},
		"other definitions":           {wire.Join{Role: wire.BaseApp, Term: 1, Digest: [16]byte{9}, Speaks: wire.Spoken()}, false},
		"one beside its own world":    {wire.Join{Role: wire.CellApp, Term: 1, Digest: digest, Speaks: later}, true},
		"one that was never welcomed": {wire.Join{Role: wire.CellApp, Digest: digest, Speaks: later}, false},
		"an observer":                 {wire.Join{Role: wire.Observer, Term: 1, Speaks: later}, false},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, nil)
			cfg := r.m.cfg
			cfg.Term = 2
			ended := ""
			s, err := NewSeat(SeatConfig{Config: cfg, Ends: func(why string) { ended = why }})
			if err != nil {
				t.Fatal(err)
			}
			s.Tick(0)
			r.m = s.Manager() // hears who sends
			r.join(wire.BaseAppMgr, 2)
			r.connect(tt.join.Role, at(3)).send(&tt.join)
			if tt.own {
				r.comeBack(wire.BaseApp, 4, 1, wire.Rejoin{Allocator: 1<<13 | 1<<1 | 1})
			}
			now := time.Duration(0)
			for ; now < 20*time.Second && !s.Ended(); now += 100 * time.Millisecond {
				s.Tick(now)
			}
			fault := !tt.own && tt.join.Term > 0 && tt.join.Role != wire.Observer
			switch err := s.Fault(); {
			case !fault:
				if err != nil || s.Ended() || !r.m.runs() {
					t.Errorf("it ends: %v", err)
				}
			case !errors.Is(err, app.ErrRefused) || !strings.Contains(err.Error(), at(3).String()) || !s.Ended() || ended == "" || s.Dismissed():
				t.Errorf("it goes on: %v", err)
			}
			s.Tick(now + time.Second)
			if fault && s.Term() != 0 {
				t.Error("it leads again")
			}
		})
	}
}

// Managers of other builds and other definitions refuse each other's asks, and hear nothing else of each
// other. One that so many refuse that it can neither lead nor follow ends, and says why.
func TestForeignManager(t *testing.T) {
	r := newRig(t, nil)
	cfg := r.m.cfg
	cfg.Term = 0
	own, a, b := cfg.Transport.Self().At, at(2), at(3)
	s, err := NewSeat(SeatConfig{Config: cfg, Places: []netip.AddrPort{own, a.At, b.At}})
	if err != nil {
		t.Fatal(err)
	}
	s.Tick(0)
	first, second := r.connect(wire.CellAppMgr, a), r.connect(wire.CellAppMgr, b)
	now := 2 * time.Second
	says := func(p *peer, m wire.Message) { s.Message(now, p.ch, false, wire.Encode(nil, m)) }
	for name, ask := range map[string]*wire.LeaseAsk{
		"another version":   {Speaks: later, Digest: cfg.Schema.Digest, Term: 5},
		"other definitions": {Speaks: wire.Spoken(), Digest: [16]byte{9}, Term: 5},
	} {
		says(first, ask)
		says(first, ask)
		if got := take[wire.Refused](first)[1]; got.Reason != ask.Disagreement(cfg.Schema.Digest) {
			t.Errorf("%s: %q", name, got.Reason)
		}
		none[wire.LeaseVote](first)
	}
	if n := strings.Count(r.log.String(), "refused another manager"); n != 2 {
		t.Errorf("the log says it %d times", n)
	}
	says(first, &wire.LeaseVote{Term: 1, Highest: 90})
	says(first, &wire.Members{Apps: []wire.AppRef{{Role: wire.CellApp, App: at(9)}}})
	if s.polls.high != 0 || len(s.fellows[0].heirloom) > 0 {
		t.Error("it is heard nevertheless")
	}
	says(second, &wire.LeaseAsk{Speaks: wire.Spoken(), Digest: cfg.Schema.Digest, Term: 5})
	one[wire.LeaseVote](second)

	for range 3 {
		says(first, &wire.Refused{Reason: "another build"})
	}
	if s.Ended() || strings.Count(r.log.String(), "another manager refuses this one") != 1 {
		t.Fatal("one of two others ends it, or the log does not say so once")
	}
	says(second, &wire.Refused{Reason: "another build"})
	if err := s.Fault(); !s.Ended() || !errors.Is(err, app.ErrRefused) || !strings.Contains(err.Error(), "2 of 3 managers") || !strings.Contains(err.Error(), "another build") {
		t.Errorf("refused by all others it ends with %v", err)
	}
	says(second, &wire.LeaseAsk{Speaks: wire.Spoken(), Digest: cfg.Schema.Digest, Term: 7})
	none[wire.LeaseVote](second)
	s.Tick(time.Minute)
}

// What a manager says that cannot be read is logged once: it may be from before there were versions.
func TestUnreadableManager(t *testing.T) {
	r := newRig(t, nil)
	cfg := r.m.cfg
	cfg.Term = 0
	s, err := NewSeat(SeatConfig{Config: cfg, Places: []netip.AddrPort{cfg.Transport.Self().At, at(2).At, at(3).At}})
	if err != nil {
		t.Fatal(err)
	}
	p := r.connect(wire.CellAppMgr, at(2))
	for range 5 {
		s.Message(time.Second, p.ch, false, []byte{byte(wire.LeaseAskID), 3, 1, 0})
	}
	if n := strings.Count(r.log.String(), "run all managers from the same build"); n != 1 || s.Counts().Foreign != 5 {
		t.Errorf("the log says it %d times; %+v", n, s.Counts())
	}
	// It comes back as another build.
	s.fellows[0].ch = p.ch
	s.Closed(time.Second, p.ch, mercury.ErrPeerClosed)
	if s.fellows[0].unparsed {
		t.Error("the next process there is taken for it")
	}
}
