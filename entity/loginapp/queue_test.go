package loginapp

import (
	"fmt"
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
)

// newFull is a LoginApp of a full world that lets all in, one day.
func newFull(t testing.TB, queue int) *rig {
	r := newRig(t, func(c *Config) { c.Queue, c.Auth = queue, AcceptAll{} })
	r.join()
	r.fill(true)
	return r
}

func (r *rig) fill(full bool) {
	r.fromManager(r.manager, &wire.Logins{Refused: full, Reason: "a crowd"})
}

// enqueue logs a user in over a new channel, as far as Auth.
func (r *rig) enqueue(user string) mercury.ChannelID {
	ch := r.connect()
	r.say(ch, r.login(user, "any"))
	r.work()
	var others [][]byte
	for _, msg := range r.net.Take(r.base) {
		_, body, err := wire.Split(msg)
		var c wire.CreateProxy
		if err != nil || c.Parse(body) != nil || !c.Back {
			others = append(others, msg)
			continue
		}
		m := wire.ProxyMade{Request: c.Request, Code: uint8(protocol.WorldFull), Refusals: c.Refusals}
		if r.in[user] {
			m = wire.ProxyMade{Request: c.Request, Refusals: c.Refusals, ID: 5, Doors: []protocol.Door{{Network: protocol.UDP, Address: baseApp}}}
		}
		r.fromManager(r.base, &m)
	}
	r.earlier = append(r.earlier, others...)
	return ch
}

// told is what a client was sent since the last look: "2/3" for a position, "in", or a refusal.
func (r *rig) told(ch mercury.ChannelID) (all string) {
	r.t.Helper()
	for _, msg := range r.net.Take(ch) {
		if err := protocol.Messages(msg, func(id protocol.ID, body []byte) error {
			var w protocol.Waiting
			var no protocol.Refused
			if all != "" {
				all += " "
			}
			switch id {
			case protocol.WaitingID:
				err := w.Parse(body)
				all += fmt.Sprintf("%d/%d", w.Position, w.Of)
				return err
			case protocol.RefusedID:
				err := no.Parse(body)
				all += no.Code.String()
				return err
			}
			all += "in"
			return nil
		}); err != nil {
			r.t.Fatal(err)
		}
	}
	return all
}

func (r *rig) wantTold(ch mercury.ChannelID, want string) {
	r.t.Helper()
	if got := r.told(ch); got != want {
		r.t.Errorf("told %q, want %q", got, want)
	}
}

// admitted are the accounts for which proxies were asked since the last look; each is made.
func (r *rig) admitted() (accounts string) {
	r.t.Helper()
	for _, c := range r.asked() {
		accounts += c.Account
		r.fromManager(r.base, &wire.ProxyMade{Request: c.Request, ID: 5, Doors: []protocol.Door{{Network: protocol.UDP, Address: baseApp}}})
	}
	return accounts
}

// Clients wait in order, are told where they are, and come in one in a tick when there is room. Who comes
// in the meantime comes last.
func TestQueue(t *testing.T) {
	r := newFull(t, 3)
	a, b := r.enqueue("a"), r.enqueue("b")
	r.wantTold(a, "1/1")
	r.wantTold(b, "2/2")
	r.tick(TellPeriod)
	r.wantTold(a, "1/2")
	r.wantTold(b, "2/2")
	if n := r.l.Counts(); n.Waiting != 2 || n.Pending != 0 || r.admitted() != "" {
		t.Errorf("counts %+v", n)
	}
	r.fill(false)
	c := r.enqueue("c")
	r.wantTold(c, "3/3")
	d := r.enqueue("d")
	r.wantTold(d, protocol.WorldFull.String())
	for _, want := range []string{"a", "b", "c", ""} {
		r.tick(DefaultTick)
		if got := r.admitted(); got != want {
			t.Errorf("%q come in, want %q", got, want)
		}
	}
	for _, ch := range []mercury.ChannelID{a, b, c} {
		r.wantTold(ch, "in")
	}
	e := r.enqueue("e") // at once
	if r.admitted() != "e" || r.told(e) != "in" {
		t.Error("a world with room lets nobody in")
	}
	if len(r.l.queue.account) != 0 {
		t.Errorf("accounts that wait: %v", r.l.queue.account)
	}
}

// An account that has a proxy comes in at once, though the world is full and others wait. (A player whose
// program had ended waited behind all others, while the entity stood in the world.)
func TestWhoIsInNeedNotWait(t *testing.T) {
	r := newFull(t, 3)
	a := r.enqueue("a")
	r.in = map[string]bool{"b": true}
	b := r.enqueue("b")
	c := r.enqueue("c")
	r.wantTold(a, "1/1")
	r.wantTold(b, "in")
	r.wantTold(c, "2/2")
}

// A world that fills again closes for those who are still in the queue.
func TestQueueStopsWhenFullAgain(t *testing.T) {
	r := newFull(t, 0)
	r.enqueue("a")
	r.enqueue("b")
	r.fill(false)
	r.tick(DefaultTick)
	r.fill(true)
	r.tick(TellPeriod)
	if got := r.admitted(); got != "a" || r.l.Counts().Waiting != 1 {
		t.Errorf("%q came in, %d wait", got, r.l.Counts().Waiting)
	}
}

// Without a BaseAppMgr nobody is let in, nobody is refused, and nobody is forgotten.
func TestQueueWithoutBaseAppMgr(t *testing.T) {
	r := newFull(t, 0)
	a := r.enqueue("a")
	r.net.Ended[r.base] = true
	r.l.Closed(r.now, r.base, mercury.ErrTimeout)
	r.fill(false)
	r.tick(DefaultTick)
	r.wantTold(a, "1/1")
	r.tick(2 * time.Second)
	r.base = r.net.Dials[len(r.net.Dials)-1]
	r.wantJoin(r.base, baseAppMgr)
	r.fromManager(r.base, &wire.Welcome{})
	r.tick(DefaultTick)
	if got := r.admitted(); got != "a" || r.told(a) != "in" {
		t.Errorf("%q came in", got)
	}
}

// Whoever leaves the queue, by the end of the channel or by saying what it should not, moves the others up.
func TestLeaveQueue(t *testing.T) {
	r := newFull(t, 3)
	a, b, c := r.enqueue("a"), r.enqueue("b"), r.enqueue("c")
	r.l.Closed(r.now, a, mercury.ErrPeerClosed)
	r.told(b)
	r.told(c)
	r.say(b, r.login("b", "any"))
	r.wantTold(b, protocol.Malformed.String())
	if !r.net.Ended[b] {
		t.Error("a flooding client keeps its channel")
	}
	r.tick(TellPeriod)
	r.wantTold(c, "1/1")
	r.enqueue("d")
	r.enqueue("e")
	r.fill(false)
	for range 4 {
		r.tick(DefaultTick)
	}
	if got := r.admitted(); got != "cde" || len(r.l.queue.account) != 0 {
		t.Errorf("%q came in", got)
	}
}

// However often an account logs in, it has one place; the newest channel has it.
func TestAccountHasOnePlace(t *testing.T) {
	r := newFull(t, 3)
	first := r.enqueue("a")
	other := r.enqueue("b")
	r.told(first)
	for range 5 {
		next := r.enqueue("a")
		r.wantTold(first, protocol.Replaced.String())
		r.wantTold(next, "1/2")
		r.l.Closed(r.now, first, mercury.ErrPeerClosed) // it no longer has the place
		first = next
	}
	r.wantTold(other, "2/2")
	r.fill(false)
	for range 4 {
		r.tick(DefaultTick)
	}
	if got := r.admitted(); got != "ab" {
		t.Errorf("%q came in", got)
	}
	r.wantTold(first, "in")
}

// Nobody waits for ever, not even an account that logs in again and again.
func TestMaxWait(t *testing.T) {
	r := newFull(t, 0)
	a := r.enqueue("a")
	r.tick(MaxWait - time.Minute)
	a2, b := r.enqueue("a"), r.enqueue("b")
	r.told(a)
	r.told(a2)
	r.tick(time.Minute)
	r.wantTold(a2, protocol.WorldFull.String())
	r.wantTold(b, "2/2 1/1")
	r.tick(CloseAfter)
	if !r.net.Ended[a2] || r.net.Ended[b] {
		t.Error("the wrong channel is closed")
	}
	r.tick(MaxWait)
	if got := r.told(b); got != "1/1 "+protocol.WorldFull.String() || r.l.Counts().Waiting != 0 {
		t.Errorf("told %q", got)
	}
}

// Churn leaves nothing behind.
func TestQueueIsClean(t *testing.T) {
	r := newFull(t, 2)
	for i := range 100 {
		ch := r.enqueue(fmt.Sprint("user ", i))
		r.l.Closed(r.now, ch, mercury.ErrPeerClosed)
		r.tick(time.Second)
	}
	r.tick(CloseAfter + LoginTimeout)
	left := len(r.l.queue.places) + len(r.l.queue.account) + len(r.l.logins.byChannel)
	for _, q := range r.l.logins.queues {
		left += len(q)
	}
	if left != 0 {
		t.Errorf("%d entries left", left)
	}
}

// asked are the questions for proxies since the last look.
func (r *rig) asked() (all []wire.CreateProxy) {
	r.t.Helper()
	list := append(r.earlier, r.net.Take(r.base)...)
	r.earlier = nil
	for _, msg := range list {
		id, body, err := wire.Split(msg)
		var c wire.CreateProxy
		if err != nil || id != wire.CreateProxyID || c.Parse(body) != nil {
			r.t.Fatalf("message %v %v", id, err)
		}
		all = append(all, c)
	}
	return all
}

// answered answers the only question since the last look, which is of an account.
func (r *rig) answered(account string, code protocol.Code, refusals uint32) {
	r.t.Helper()
	all := r.asked()
	if len(all) != 1 || all[0].Account != account {
		r.t.Fatalf("asked %+v, want one question for %q", all, account)
	}
	r.fromManager(r.base, &wire.ProxyMade{Request: all[0].Request, Code: uint8(code), Refusals: refusals, ID: 5, Doors: []protocol.Door{{Network: protocol.UDP, Address: baseApp}}})
}

// newRoom is a LoginApp of a world that may be full by the number of its players.
func newRoom(t testing.TB, queue int) *rig {
	r := newRig(t, func(c *Config) { c.Queue, c.Auth = queue, AcceptAll{} })
	r.join()
	return r
}

// Players for whom the BaseAppMgr has no room wait in the order in which Auth accepted them, though
// they asked at once, and come in one after another as there is room.
func TestNoRoom(t *testing.T) {
	r := newRoom(t, 3)
	a, b := r.enqueue("a"), r.enqueue("b")
	all := r.asked()
	refuse := func(q wire.CreateProxy) {
		r.fromManager(r.base, &wire.ProxyMade{Request: q.Request, Code: uint8(protocol.WorldFull), Refusals: 1})
	}
	refuse(all[0])
	c := r.enqueue("c")
	refuse(all[1])
	r.wantTold(a, "1/1")
	r.wantTold(c, "2/2")
	r.wantTold(b, "2/3")
	d := r.enqueue("d")
	r.wantTold(d, protocol.WorldFull.String())

	r.tick(DefaultTick)
	if len(r.asked()) != 0 {
		t.Error("asked again at once")
	}
	for range 3 { // once in each period
		r.tick(wire.RoomPeriod)
		r.answered("a", protocol.WorldFull, 2)
		r.told(a)
	}
	r.tick(wire.RoomPeriod)
	if q := r.asked(); len(q) != 1 || q[0].Refusals != 2 {
		t.Fatalf("asked %+v", q)
	} else {
		r.tick(DefaultTick) // b is asked for before the answer for a is here
		r.answered("b", protocol.WorldFull, 3)
		refuse(q[0])
	}
	r.told(a)
	r.told(b)
	for i, want := range []string{"a", "b", "c"} {
		r.tick(wire.RoomPeriod)
		r.answered(want, 0, 3)
		r.wantTold([]mercury.ChannelID{a, b, c}[i], "in")
	}
	if len(r.l.queue.places)+len(r.l.queue.account) != 0 {
		t.Error("places are left")
	}
}

// Without a queue, Auth is not asked soon after the BaseAppMgr has found no room, and later it is.
func TestNoRoomWithoutQueue(t *testing.T) {
	r := newRoom(t, -1)
	a := r.enqueue("a")
	r.answered("a", protocol.WorldFull, 1)
	r.wantTold(a, protocol.WorldFull.String())
	b := r.connect()
	r.say(b, r.login("b", "any"))
	r.wantTold(b, protocol.WorldFull.String())
	if len(r.jobs) != 0 {
		t.Error("Auth is asked while there is no room")
	}
	r.tick(wire.RoomPeriod)
	c := r.enqueue("c")
	r.answered("c", 0, 1)
	r.wantTold(c, "in")
}

// Whoever is asked for keeps the place if the BaseAppMgr is lost, while one that needs not wait is refused.
func TestAskedForWhenTheBaseAppMgrIsLost(t *testing.T) {
	r := newRoom(t, 3)
	a := r.enqueue("a")
	r.answered("a", protocol.WorldFull, 1)
	r.tick(wire.RoomPeriod)
	if len(r.asked()) != 1 {
		t.Fatal("not asked")
	}
	r.told(a)
	r.net.Ended[r.base] = true
	r.l.Closed(r.now, r.base, mercury.ErrTimeout)
	r.tick(2 * time.Second)
	r.base = r.net.Dials[len(r.net.Dials)-1]
	r.wantJoin(r.base, baseAppMgr)
	r.fromManager(r.base, &wire.Welcome{})
	r.tick(DefaultTick)
	if q := r.asked(); len(q) != 1 || q[0].Account != "a" || q[0].Refusals != 0 {
		t.Fatalf("asked %+v", q)
	}
	if r.l.Counts().Waiting != 1 {
		t.Error("it does not wait")
	}
}

// An account that logs in again while it is asked for has one place, and the newest channel gets the proxy.
func TestAskedForAgain(t *testing.T) {
	r := newRoom(t, 3)
	a := r.enqueue("a")
	r.answered("a", protocol.WorldFull, 1)
	r.told(a)
	r.tick(wire.RoomPeriod)
	q := r.asked()
	again := r.enqueue("a")
	r.wantTold(a, protocol.Replaced.String())
	r.wantTold(again, "1/1")
	r.l.Closed(r.now, a, mercury.ErrPeerClosed)
	r.fromManager(r.base, &wire.ProxyMade{Request: q[0].Request, ID: 5, Doors: []protocol.Door{{Network: protocol.UDP, Address: baseApp}}, Refusals: 1})
	r.wantTold(again, "in")

	// Both asked for one account: who came first is refused last, and has the place.
	first, x := r.enqueue("b"), r.enqueue("x")
	qs := r.asked()
	r.fromManager(r.base, &wire.ProxyMade{Request: qs[1].Request, Code: uint8(protocol.WorldFull), Refusals: 2})
	second := r.enqueue("b")
	r.wantTold(x, "1/1")
	r.wantTold(second, "2/2")
	r.fromManager(r.base, &wire.ProxyMade{Request: qs[0].Request, Code: uint8(protocol.WorldFull), Refusals: 2})
	r.wantTold(first, protocol.Replaced.String())
	r.wantTold(second, "1/2")
	r.l.Closed(r.now, second, mercury.ErrPeerClosed)
	r.tick(wire.RoomPeriod)
	r.answered("x", 0, 2)
	r.wantTold(x, "in")
	if len(r.l.queue.places)+len(r.l.queue.account)+r.l.links.Asked() != 0 {
		t.Error("something is left")
	}
}

// Who waits when the world is stopped is told why, like those who play, and so is who comes later.
func TestStopIsToldInTheQueue(t *testing.T) {
	r := newFull(t, 5)
	waiting := r.enqueue("ann")
	r.fromManager(r.manager, &wire.Stop{Number: 1, Step: wire.StopClosing, Reason: "back at noon"})
	late := r.connect()
	r.say(late, r.login("bob", "any"))
	for _, ch := range []mercury.ChannelID{waiting, late} {
		if got := r.refusal(ch); got != (protocol.Refused{Code: protocol.ServerClosing, Reason: "back at noon"}) {
			t.Errorf("%+v", got)
		}
	}
}
