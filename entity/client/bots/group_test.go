package bots

import (
	"net/netip"
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/property"
)

// lonely is a swarm that finds nobody.
func lonely(t *testing.T, cfg Config) *Swarm {
	t.Helper()
	schema, err := property.NewSchema(&property.Definition{Name: "Avatar", HasBase: true, HasClient: true})
	if err != nil {
		t.Fatal(err)
	}
	cfg.LoginApp, cfg.Schema = netip.MustParseAddrPort("127.0.0.1:9"), schema
	s, err := Start(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Stop(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// Each bot is in one group, and no socket has more than its share.
func TestGroups(t *testing.T) {
	for _, c := range []struct{ bots, perSocket, groups, sockets int }{
		{1, 16, 1, 1}, {600, 7, 2, 86}, {1200, 1, 3, 1200}, {512, 30, 2, 18},
	} {
		s := lonely(t, Config{Bots: c.bots, PerSocket: c.perSocket, Logins: 1})
		sockets, next := 0, 0
		for _, g := range s.groups {
			sockets += g.fleet.Len()
			for i := range g.bots {
				if b := &g.bots[i]; b.Number != next || b.slot != i || b.slot/c.perSocket >= g.fleet.Len() {
					t.Fatalf("bot %d is number %d in slot %d of %d sockets", next, b.Number, b.slot, g.fleet.Len())
				}
				next++
			}
		}
		if len(s.groups) != c.groups || sockets != c.sockets || next != c.bots {
			t.Errorf("%+v: %d groups, %d sockets, %d bots", c, len(s.groups), sockets, next)
		}
	}
}

// A bot that is refused asks again after twice the time, up to a bound, and from anew once it was in. What is
// no passing trouble counts as lost.
func TestRetries(t *testing.T) {
	s := lonely(t, Config{Bots: 17, Logins: 1})
	err := s.Each(func(b *Bot) {
		if b.Number != 16 { // which does not wait longer than others
			return
		}
		for i, want := range []time.Duration{1, 2, 4, 8, 16, 16} {
			b.closed(&protocol.Refused{Code: protocol.WorldFull})
			if wait := b.group.due[b.slot] - b.group.now; wait != want*time.Second || !b.waiting {
				t.Errorf("after refusal %d it waits for %v", i+1, wait)
			}
		}
		b.arrives(nil)
		b.closed(mercury.ErrTimeout)
		if wait := b.group.due[b.slot] - b.group.now; wait != time.Second {
			t.Errorf("who was in waits for %v", wait)
		}
		b.waiting = false
		b.closed(&protocol.Refused{Code: protocol.BadCredentials})
		if b.lost != 1 || b.waiting {
			t.Errorf("a wrong password: %d lost", b.lost)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	st, err := s.Stats()
	if err != nil || len(st.Refusals) != 2 || st.Refusals[0] != (Refusal{0, 1, mercury.ErrTimeout.Error()}) || st.Refusals[1].Logins != 6 {
		t.Errorf("%+v, %v", st.Refusals, err)
	}
}
