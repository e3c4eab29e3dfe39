package baseapp

import (
	"slices"
	"testing"
	"time"

	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
)

// answer ends the channel to the CellAppMgr and answers the next try as a start of it.
func (r *rig) answer(salt uint32) mercury.Address {
	r.t.Helper()
	r.net.ended[r.managers] = true
	r.a.Closed(r.now, r.managers, mercury.ErrPeerRestarted)
	r.now += 2 * time.Second
	r.a.Tick(r.now)
	r.net.sent = nil
	again := mercury.Address{At: cellAppMgr.At, Salt: salt}
	r.managers = r.open(again)
	return again
}

func TestTellsAnotherManager(t *testing.T) {
	r := newRig(t)
	r.a.Tick(0)
	r.managers = r.open(cellAppMgr)
	r.say(r.managers, &wire.Welcome{Number: 7, Allocator: 5, Term: 1, BaseAppMgr: baseAppMgr})
	r.tick()
	id, _ := r.live()
	r.say(r.managers, &wire.Members{Apps: []wire.AppRef{{Role: wire.BaseApp, App: appW}}, Allocators: []uint32{14}})

	again := r.answer(99)
	var j wire.Join
	var m wire.Rejoin
	var end wire.RejoinEnd
	for _, p := range []interface {
		wire.Message
		Parse([]byte) error
	}{&j, &m, &end} {
		if len(r.net.sent) == 0 || wire.ID(r.net.sent[0].msg[0]) != wire.IDOf(p) || p.Parse(r.net.sent[0].msg[1:]) != nil {
			t.Fatalf("no %T in %v", p, r.net.sent)
		}
		r.net.sent = r.net.sent[1:]
	}
	if j.Term != 1 || m.Number != 7 || m.Allocator != 5 || !slices.Equal(m.Peers, []wire.AppRef{{Role: wire.CellApp, App: appX}, {Role: wire.BaseApp, App: appW}}) {
		t.Errorf("%+v %+v", j, m)
	}

	// Until it has shown its term it gives no orders.
	r.say(r.managers, &wire.AppDead{Role: wire.CellApp, App: appX})
	r.say(r.managers, &wire.Freeze{On: true})
	if r.a.frozen || r.a.links.Dead(appX) {
		t.Error("heeded before its welcome")
	}
	r.say(r.managers, &wire.Welcome{Number: 7, Allocator: 5, Term: 2})
	r.tell(again, &wire.Freeze{On: true})
	if !r.a.frozen || r.a.ids == nil {
		t.Error("not heeded after its welcome")
	}

	// The old one comes back.
	r.answer(cellAppMgr.Salt)
	r.say(r.managers, &wire.Dismissed{Term: 1})
	r.say(r.managers, &wire.Welcome{Number: 9, Allocator: 9, Term: 1})
	r.say(r.managers, &wire.Freeze{})
	if r.a.Dismissed() || r.a.Number() != 7 || !r.a.frozen {
		t.Error("the old manager is heeded")
	}
	if r.a.byID[id] == nil {
		t.Error("the base is gone")
	}
}
