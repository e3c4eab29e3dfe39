package app_test

import (
	"errors"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/cellscape/cellscape/internal/app"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
)

// lastJoin is the Join that the member sent last.
func lastJoin(t *testing.T, l *line) wire.Join {
	t.Helper()
	var j wire.Join
	if wire.ID(l.last[0]) != wire.JoinID || j.Parse(l.last[1:]) != nil {
		t.Fatalf("sent %x, want a Join", l.last)
	}
	return j
}

// A member tells another start of the manager which term it knows, and heeds no one of an older
// one.
func TestMemberKnowsTerms(t *testing.T) {
	var l line
	links := app.Links{Transport: &l}
	m := app.NewMember(&links, addr4.At, wire.Join{Role: wire.CellApp})
	steps := []struct {
		name     string
		salt     uint32 // of the manager that answers
		says     uint32 // the term in the Join
		welcomes uint32 // the term in its Welcome; 0 for none
		heeds    bool
	}{
		{"a first one", 1, 0, 0, false},
		{"not welcomed yet, any start will do", 2, 0, 3, true},
		{"the one that it knows", 2, 0, 3, true},
		{"another start", 5, 3, 0, false},
		{"which has not answered", 5, 3, 4, true},
		{"the older, which was stalled", 2, 4, 3, false},
		{"the newer again", 5, 0, 4, true},
	}
	now := time.Duration(0)
	for _, s := range steps {
		now += 2 * time.Second
		l.peer = mercury.Address{At: addr4.At, Salt: s.salt}
		m.Tick(now)
		ch := mercury.ChannelID(l.dials)
		if !m.Opened(ch) || m.Heeds() {
			t.Fatalf("%s: not opened, or heeded before its Welcome", s.name)
		}
		if j := lastJoin(t, &l); j.Term != s.says || m.Rejoins() != (s.says > 0) {
			t.Errorf("%s: joined with term %d, rejoins %v", s.name, j.Term, m.Rejoins())
		}
		if s.welcomes > 0 && m.Welcomed(now, &wire.Welcome{Number: 7, Allocator: 8, Term: s.welcomes}) != s.heeds {
			t.Errorf("%s: its welcome was taken: %v", s.name, !s.heeds)
		}
		if m.Heeds() != s.heeds {
			t.Errorf("%s: heeded: %v", s.name, m.Heeds())
		}
		if s.welcomes > 0 && !s.heeds && (m.Is(ch) || m.Open()) {
			t.Errorf("%s: the channel to it is kept", s.name)
		}
		m.Closed(now, ch, nil)
	}
	if r := m.Rejoin(); r.Number != 7 || r.Allocator != 8 {
		t.Errorf("rejoins with %+v", r)
	}
	if !m.Outdated(3) || m.Outdated(4) {
		t.Error("terms are not compared")
	}
}

// Refused, a member that was welcomed before looks for another manager; one that never was waits
// for its operator.
func TestMemberRefused(t *testing.T) {
	var l line
	links := app.Links{Transport: &l}
	m := app.NewMember(&links, addr4.At, wire.Join{Role: wire.CellApp})
	l.peer = addr4
	m.Tick(0)
	m.Opened(1)
	m.Refused(0, "other definitions")
	if !m.Open() {
		t.Error("a new start gives up")
	}
	if err := m.Trouble(); !errors.Is(err, app.ErrRefused) || !strings.Contains(err.Error(), "other definitions") {
		t.Errorf("trouble %v", err)
	}
	m.Welcomed(0, &wire.Welcome{Term: 1})
	if m.Trouble() != nil {
		t.Errorf("a member has trouble: %v", m.Trouble())
	}
	m.Refused(time.Second, "an old term")
	m.Tick(1500 * ms)
	if m.Open() || l.dials != 1 {
		t.Errorf("open %v, %d dials", m.Open(), l.dials)
	}
	m.Tick(2 * time.Second)
	if l.dials != 2 {
		t.Error("it does not try again")
	}
}

// TestMemberAmong: a member of several managers goes from place to place until it is welcomed, and at
// once to one that dials it.
func TestMemberAmong(t *testing.T) {
	var l line
	links := app.Links{Transport: &l}
	third := netip.MustParseAddrPort("10.0.0.3:1")
	m := app.NewMember(&links, addr4.At, wire.Join{Role: wire.CellApp})
	m.Among(addr4.At, addr6.At, third)
	m.Tick(0)
	if l.to.At != addr4.At {
		t.Fatalf("it dials %v first", l.to)
	}
	m.Tick(app.DialPatience) // nobody answers
	m.Tick(app.DialPatience + app.NextAfter)
	if l.to.At != addr6.At || l.closes != 1 {
		t.Fatalf("then it dials %v; %d closed", l.to, l.closes)
	}
	m.Opened(2)
	now := 2 * time.Second
	m.Closed(now, 2, mercury.ErrPeerClosed) // it stands by
	if err := m.Trouble(); !errors.Is(err, app.ErrStandsBy) || !strings.Contains(err.Error(), addr6.At.String()) {
		t.Errorf("the trouble is %v", err)
	}
	m.Tick(now + app.NextAfter)
	if l.to.At != third {
		t.Fatalf("then it dials %v", l.to)
	}
	m.Opened(3)
	if !m.Welcomed(now, &wire.Welcome{Term: 1}) {
		t.Fatal("the Welcome is refused")
	}
	m.Closed(now, 3, mercury.ErrTimeout) // it may be back soon
	m.Tick(now + app.NextAfter)
	if l.to.At != third {
		t.Errorf("after the loss of its manager it dials %v", l.to)
	}
	l.peer = addr6
	if dials := l.dials; m.Opened(99) || l.dials != dials {
		t.Error("it joins over a channel that is not its own")
	}
	m.Tick(now + app.NextAfter)
	if l.to.At != addr6.At {
		t.Errorf("a manager calls, and it dials %v", l.to)
	}
	l.peer = mercury.Address{At: netip.MustParseAddrPort("10.0.0.4:1"), Salt: 1}
	m.Opened(100)
	m.Tick(now + 2*app.NextAfter)
	if l.to.At != addr6.At {
		t.Errorf("somebody else calls, and it dials %v", l.to)
	}
}

// TestMemberRehoused: managers move to other addresses. A member keeps the channel that it has, and finds them
// when it needs another; one that dials in vain hears of the new address at once.
func TestMemberRehoused(t *testing.T) {
	var l line
	links := app.Links{Transport: &l}
	unknown, fifth := netip.AddrPort{}, netip.MustParseAddrPort("10.0.0.5:1")
	m := app.NewMember(&links, addr4.At, wire.Join{Role: wire.CellApp})
	m.Among(unknown, addr4.At, unknown)
	m.Tick(0)
	if l.to.At != addr4.At {
		t.Fatalf("it dials %v first", l.to)
	}
	m.Rehoused([]netip.AddrPort{unknown, addr6.At, unknown})
	m.Tick(1)
	if l.to.At != addr6.At || l.dials != 2 || l.closes != 1 {
		t.Fatalf("its manager has moved, and it dials %v; %d dials, %d closed", l.to, l.dials, l.closes)
	}
	m.Opened(2)
	m.Welcomed(1, &wire.Welcome{Term: 1})
	m.Rehoused([]netip.AddrPort{unknown, fifth, addr4.At})
	if m.Tick(2); !m.Open() || l.dials != 2 {
		t.Fatal("it has left the manager that it has a channel to")
	}
	now := time.Second
	m.Closed(now, 2, mercury.ErrTimeout)
	now += app.NextAfter
	if m.Tick(now); l.to.At != fifth {
		t.Fatalf("after the loss of its manager it dials %v", l.to)
	}
	m.Closed(now, 3, mercury.ErrTimeout)
	now += app.NextAfter
	if m.Tick(now); l.to.At != addr4.At {
		t.Fatalf("then it dials %v", l.to)
	}
	m.Closed(now, 4, mercury.ErrTimeout)
	for range 2 { // the first place is passed over
		now += app.NextAfter
		m.Tick(now)
	}
	if l.to.At != fifth {
		t.Errorf("then it dials %v", l.to)
	}
	lone := app.NewMember(&links, addr4.At, wire.Join{Role: wire.CellApp})
	if lone.Rehoused([]netip.AddrPort{fifth}); lone.At != addr4.At {
		t.Error("a member of an address goes to a name's")
	}
}
