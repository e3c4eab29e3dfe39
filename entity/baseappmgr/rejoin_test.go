package baseappmgr

import (
	"slices"
	"testing"
	"time"

	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/mercurytest"
)

// Another start of the CellAppMgr is told who is here, and is heeded once it has shown its term; an
// older one is not. Those who have joined stay.
func TestAnotherCellAppMgr(t *testing.T) {
	r := newRig(t)
	base := mercurytest.Host(40, 4)
	away := mercurytest.Host(41, 4)
	r.members(base, away)
	r.join(wire.BaseApp, base)
	answer := func(salt uint32) {
		r.net.Ended[r.manager] = true
		r.m.Closed(r.now, r.manager, mercury.ErrPeerRestarted)
		r.net.Sent = nil
		r.tick(2 * time.Second)
		r.manager = r.net.Last
		again := mercury.Address{At: cellAppMgr.At, Salt: salt}
		r.net.Answer(r.manager, again)
		r.m.Opened(r.now, r.manager, again)
	}
	answer(77)
	var got []wire.ID
	var rejoin wire.Rejoin
	for _, msg := range r.net.Take(r.manager) {
		got = append(got, wire.ID(msg[0]))
		if got[len(got)-1] == wire.RejoinID && rejoin.Parse(msg[1:]) != nil {
			t.Error("malformed")
		}
	}
	for _, at := range []mercury.Address{base, away} { // if one of them has died, nobody else may know
		if !slices.Contains(rejoin.Peers, wire.AppRef{Role: wire.BaseApp, App: at}) {
			t.Errorf("it does not name %v: %v", at, rejoin.Peers)
		}
	}
	if !slices.Equal(got, []wire.ID{wire.JoinID, wire.RejoinID, wire.RejoinEndID}) {
		t.Errorf("it says %v", got)
	}
	r.say(r.manager, &wire.Welcome{Number: 1, Term: 5, CellAppMgr: cellAppMgr})
	if r.m.term != 5 || r.m.Counts().BaseApps != 1 {
		t.Errorf("term %d, %d BaseApps", r.m.term, r.m.Counts().BaseApps)
	}
	answer(cellAppMgr.Salt)
	r.say(r.manager, &wire.Welcome{Number: 1, Term: 4, CellAppMgr: cellAppMgr})
	r.say(r.manager, &wire.AppDead{Role: wire.BaseApp, App: base})
	if r.m.term != 5 || r.m.Counts().BaseApps != 1 {
		t.Errorf("the old manager is heeded: term %d, %d BaseApps", r.m.term, r.m.Counts().BaseApps)
	}
}
