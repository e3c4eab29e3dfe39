package loginapp

import (
	"slices"
	"testing"
	"time"

	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
)

// Another start of the CellAppMgr is told who is here, and the BaseAppMgr stays what it was:
// players can log in before and after. An older start is not heeded.
func TestAnotherCellAppMgr(t *testing.T) {
	r := newRig(t, func(c *Config) { c.Auth = AcceptAll{} })
	r.join()
	answer := func(salt uint32) {
		r.net.Ended[r.manager] = true
		r.l.Closed(r.now, r.manager, mercury.ErrPeerRestarted)
		r.net.Sent = nil
		r.tick(2 * time.Second)
		r.manager = r.net.Last
		again := mercury.Address{At: cellAppMgr.At, Salt: salt}
		r.net.Answer(r.manager, again)
		r.l.Opened(r.now, r.manager, again)
	}
	asks := func() bool {
		ch := r.connect()
		r.say(ch, r.login("ann", "right"))
		r.work()
		return slices.ContainsFunc(r.net.Take(r.base), func(msg []byte) bool { return wire.ID(msg[0]) == wire.CreateProxyID })
	}
	answer(77)
	var got []wire.ID
	for _, msg := range r.net.Take(r.manager) {
		got = append(got, wire.ID(msg[0]))
	}
	if !slices.Equal(got, []wire.ID{wire.JoinID, wire.RejoinID, wire.RejoinEndID}) {
		t.Errorf("it says %v", got)
	}
	if !asks() {
		t.Error("nobody can log in until the new manager has answered")
	}
	r.fromManager(r.manager, &wire.Welcome{Number: 1, Term: 2, CellAppMgr: cellAppMgr})
	if !r.l.Counts().Joined || !asks() {
		t.Error("nobody can log in")
	}
	answer(cellAppMgr.Salt)
	r.fromManager(r.manager, &wire.Welcome{Number: 1, Term: 1, CellAppMgr: cellAppMgr, BaseAppMgr: baseApp})
	if !asks() {
		t.Error("the old manager is heeded")
	}
}
