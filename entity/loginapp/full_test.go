package loginapp

import (
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
)

func noQueue(c *Config) { c.Queue = -1 }

// While the world is full nobody comes in who is not placed yet, and Auth is not bothered; later it
// is as before.
func TestWorldFull(t *testing.T) {
	r := newRig(t, noQueue)
	r.join()
	checking, placing := r.connect(), r.connect()
	r.say(placing, r.login("ann", "right"))
	r.work()
	c := r.created()
	r.say(checking, r.login("bob", "right"))

	r.fromManager(r.manager, &wire.Logins{Refused: true, Reason: "a crowd"})
	r.work()
	if back := r.created(); !back.Back { // it may be of an account that is in
		t.Errorf("asked %+v of a full world", back)
	} else {
		r.fromManager(r.base, &wire.ProxyMade{Request: back.Request, Code: uint8(protocol.WorldFull)})
	}
	r.wantRefused(checking, protocol.WorldFull)
	late := r.connect()
	r.say(late, r.login("bob", "right"))
	r.wantRefused(late, protocol.WorldFull)
	if len(r.jobs) != 0 {
		t.Error("Auth is asked while the world is full")
	}
	// A proxy that is made already is not sent away.
	r.fromManager(r.base, &wire.ProxyMade{Request: c.Request, ID: 5, Doors: []protocol.Door{{Network: protocol.UDP, Address: baseApp}}})
	if code, _ := r.answer(placing); code != 0 {
		t.Errorf("refused with %v", code)
	}

	r.fromManager(r.manager, &wire.Logins{})
	again := r.connect()
	r.say(again, r.login("bob", "right"))
	r.work()
	r.created()
}

// Only the CellAppMgr says so. What it said holds while it is away, and until it welcomes the
// LoginApp again.
func TestWhoSaysThatTheWorldIsFull(t *testing.T) {
	r := newRig(t, noQueue)
	r.join()
	full := func() bool {
		ch := r.connect()
		r.say(ch, r.login("ann", "wrong"))
		r.work()
		code, _ := r.answer(ch)
		return code == protocol.WorldFull
	}
	r.fromManager(r.base, &wire.Logins{Refused: true, Reason: "a BaseAppMgr"})
	if full() || r.l.report.Errors != 1 {
		t.Errorf("the BaseAppMgr closed the world; %d errors", r.l.report.Errors)
	}
	r.fromManager(r.manager, &wire.Logins{Refused: true, Reason: "a crowd"})
	r.net.Ended[r.manager] = true
	r.l.Closed(r.now, r.manager, mercury.ErrTimeout)
	if !full() {
		t.Error("open as soon as the CellAppMgr is away")
	}
	r.tick(2 * time.Second)
	r.manager = r.net.Dials[len(r.net.Dials)-1]
	r.wantJoin(r.manager, cellAppMgr)
	r.fromManager(r.manager, &wire.Welcome{Number: 1, Term: 1, CellAppMgr: cellAppMgr, BaseAppMgr: baseAppMgr})
	if full() {
		t.Error("what an earlier CellAppMgr said holds for ever")
	}
}
