package app

import (
	"net/netip"
	"testing"

	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
)

// seer is a Lookout that notes where it is to look.
type seer map[uint64]netip.AddrPort

func (s seer) Probe(token uint64, at netip.AddrPort) { s[token] = at }

// A witness looks where it was asked to, says once what it has found, and holds only so many questions.
func TestLooks(t *testing.T) {
	at := mercury.Address{At: netip.MustParseAddrPort("10.0.0.1:2"), Salt: 3}
	var l Looks
	l.Take(&wire.Look{Inquiry: 1, App: at}) // it has no Lookout
	if _, ok := l.Reached(1, mercury.ReachOpen); ok {
		t.Error("an opinion without a look")
	}
	s := seer{}
	l.Lookout = s
	l.Take(&wire.Look{Inquiry: 7, App: at})
	if len(s) != 1 || s[1] != at.At {
		t.Fatalf("it looks at %v", s)
	}
	if got, ok := l.Reached(1, mercury.ReachSilent); !ok || got != (wire.Seen{Inquiry: 7, App: at, Reach: mercury.ReachSilent}) {
		t.Errorf("it says %v, %v", got, ok)
	}
	if _, ok := l.Reached(1, mercury.ReachOpen); ok {
		t.Error("it answers twice")
	}
	for i := range uint64(2 * MaxLooks) {
		l.Take(&wire.Look{Inquiry: i, App: at})
	}
	if len(l.waits) != MaxLooks {
		t.Errorf("%d looks are under way", len(l.waits))
	}
	if _, ok := l.Reached(2, mercury.ReachOpen); ok {
		t.Error("one that was given up is answered")
	}
}
