package baseapp

import (
	"slices"
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/space/cluster/status"
)

func TestJoinsBothManagers(t *testing.T) {
	r := newRig(t)
	r.a.Tick(0)
	r.managers = r.open(cellAppMgr)
	if j := one(t, told[wire.Join](r, cellAppMgr)); j.Role != wire.BaseApp || j.Digest != r.schema.Digest {
		t.Errorf("joined by %+v", j)
	}
	if r.a.Joined() {
		t.Error("joined before the welcome")
	}
	r.say(r.managers, &wire.Welcome{Number: 7, Allocator: 5})
	r.tick()
	if len(r.net.dials) != 1 {
		t.Fatal("dialled a BaseAppMgr that is not known yet")
	}
	r.say(r.managers, &wire.Welcome{Number: 7, Allocator: 5, BaseAppMgr: baseAppMgr})
	r.tick()
	r.bases = r.open(baseAppMgr)
	one(t, told[wire.Join](r, baseAppMgr))
	if r.a.Number() != 7 || !r.a.Joined() {
		t.Errorf("number %d", r.a.Number())
	}
	// The BaseAppMgr moves.
	moved := address(33, 5)
	r.say(r.managers, &wire.Welcome{Number: 7, Allocator: 5, BaseAppMgr: moved})
	r.tick()
	r.open(moved)
	one(t, told[wire.Join](r, moved))
}

func TestWelcomeWithoutAllocator(t *testing.T) {
	r := newRig(t)
	r.a.Tick(0)
	r.managers = r.open(cellAppMgr)
	r.say(r.managers, &wire.Welcome{Number: 7})
	if r.a.Joined() || r.start != nil || r.a.Counters().Errors != 1 {
		t.Error("took a place without ids")
	}
}

func TestDismissed(t *testing.T) {
	r := joinedRig(t)
	p, _, _ := r.playLive()
	r.say(r.managers, &wire.Dismissed{Reason: "too slow"})
	if !r.a.Dismissed() {
		t.Fatal("goes on")
	}
	p.wantRefused(protocol.ServerClosing)
	for v := range r.a.Bases() {
		t.Errorf("%v is still there", v.ID)
	}
	r.net.sent = nil
	r.tick()
	r.current(appX, 9, 1, 0, 0)
	if len(r.net.sent) != 0 {
		t.Error("says something")
	}
}

func TestOnlyManagersSpeakAsManagers(t *testing.T) {
	r := joinedRig(t)
	id, _ := r.live()
	r.tell(appY, &wire.Dismissed{})
	r.tell(appY, &wire.AppDead{Role: wire.CellApp, App: appX})
	r.tell(appY, &wire.Freeze{On: true})
	r.tell(appY, &wire.Welcome{Number: 99})
	if rep := r.a.Counters(); rep.Refused != 4 || r.a.Dismissed() || r.a.frozen || r.a.Number() != 7 {
		t.Errorf("%d refused", rep.Refused)
	}
	r.wantLink(id, linkLive, 1, 0, appX)
	// The manager may use a channel of its own.
	r.tell(cellAppMgr, &wire.Freeze{On: true})
	if !r.a.frozen {
		t.Error("the manager was not heard")
	}
	r.say(r.managers, &wire.Refused{Reason: "no"})
	if r.a.Dismissed() {
		t.Error("a refusal to join is no verdict of death")
	}
}

func TestAppDeadOfOthersThanCellApps(t *testing.T) {
	r := joinedRig(t)
	id, _ := r.live()
	r.say(r.managers, &wire.AppDead{Role: wire.BaseApp, App: appX})
	r.wantLink(id, linkLive, 1, 0, appX)
}

func TestAccidentalChannels(t *testing.T) {
	r := joinedRig(t)
	for name, msg := range map[string][]byte{
		"garbage":           {250, 1, 2},
		"join":              wire.Encode(nil, &wire.Join{Speaks: wire.Spoken(), Role: wire.CellApp})[:1],
		"cellapp's message": wire.Encode(nil, &wire.Geometry{}),
	} {
		p := r.connect(1)
		p.say(msg)
		if !r.net.ended[p.ch] || len(r.a.clients) != 0 || len(r.a.silent) != 0 {
			t.Errorf("%s: the channel is kept", name)
		}
	}
	// Malformed messages of apps are counted; their channel carries others' too.
	p := player{r, r.net.accept(appX)}
	p.say([]byte{byte(wire.CurrentID), 255})
	p.say([]byte{byte(wire.GeometryID)})
	p.say(nil)
	if r.net.ended[p.ch] || r.a.Counters().Errors != 1 {
		t.Errorf("ended %v, %d errors", r.net.ended[p.ch], r.a.Counters().Errors)
	}
}

func TestReport(t *testing.T) {
	work := time.Duration(0)
	r := joinedRig(t, func(c *Config) {
		c.Clock = func() time.Duration { work += time.Millisecond; return work }
		c.CPU = func() time.Duration { return 42 }
	})
	r.playLive()
	_, v := r.spawn()
	r.createCell(v)
	_ = v.Cell().Call("hurt", int32(1))
	_ = v.Cell().Call("hurt", int32(1))
	r.take(cellAppMgr)
	r.pass(2 * time.Second)
	reports := told[wire.Report](r, cellAppMgr)
	if len(reports) != 2 {
		t.Fatalf("%d reports in two seconds", len(reports))
	}
	rep := reports[1]
	if rep.Clients != 1 || rep.Bases != 2 || rep.Pending != 2 || rep.CPU != 42 || rep.FlowSent != 2 || rep.BytesDown == 0 || rep.BytesUp == 0 || rep.Ticks < 20 {
		t.Errorf("report %+v", rep)
	}
	var want status.TickTimes
	for range rep.Ticks {
		want.Count(time.Millisecond)
	}
	if rep.TickTimes != want {
		t.Error("the ticks' work was not measured by the clock")
	}
}

// The manager would look after a BaseApp that says nothing between its reports.
func TestAlive(t *testing.T) {
	r := joinedRig(t)
	r.take(cellAppMgr)
	r.pass(10 * wire.AlivePeriod)
	if n := len(told[wire.Alive](r, cellAppMgr)); n < 5 || n > 8 {
		t.Errorf("said %d times in ten periods that it is there, beside the reports", n)
	}
}

func TestTickBeforeItIsDue(t *testing.T) {
	r := joinedRig(t)
	_, v := r.spawn()
	r.createCell(v)
	next := r.a.Tick(r.now)
	if next != r.now+DefaultTick || r.a.Tick(next-1) != next || len(r.net.sent) != 0 {
		t.Errorf("next is %v at %v", next, r.now)
	}
}

func TestBasesAreVisitedInIDOrder(t *testing.T) {
	r := joinedRig(t)
	var want []entity.ID
	for range 20 {
		id, v := r.spawn()
		r.createCell(v)
		want = append(want, id)
	}
	for i := 19; i >= 0; i -= 3 {
		r.script(want[i]).Destroy()
		want = slices.Delete(want, i, i+1)
	}
	r.tick()
	var asked, seen []entity.ID
	for _, m := range told[wire.Locate](r, cellAppMgr) {
		asked = append(asked, m.ID)
	}
	for v := range r.a.Bases() {
		seen = append(seen, v.ID)
	}
	if !slices.Equal(asked, want) || !slices.Equal(seen, want) {
		t.Errorf("asked for %v, saw %v, want %v", asked, seen, want)
	}
	for range r.a.Bases() {
		break
	}
	if r.a.Script(1) != nil {
		t.Error("a script of nobody")
	}
}

func TestSendingToAFullChannelIsNoFault(t *testing.T) {
	r := joinedRig(t, endWithChannel)
	p, _, v := r.playLive()
	r.net.ended[p.ch] = true // as after ErrFull; Closed is on its way
	if err := v.Client().Call("chat", "x"); err != nil {
		t.Errorf("got %v", err)
	}
	r.a.Closed(r.now, p.ch, mercury.ErrFull)
	r.wantEvents("client death 17")
}

func TestBucket(t *testing.T) {
	var b bucket
	taken := func(now time.Duration, tries int) (n int) {
		for range tries {
			if b.take(now, 1, 10) {
				n++
			}
		}
		return n
	}
	for i, want := range []struct {
		now   time.Duration
		taken int
	}{{0, 10}, {0, 0}, {99 * time.Millisecond, 0}, {100 * time.Millisecond, 1}, {time.Second, 9}, {time.Hour, 10}} {
		if got := taken(want.now, 20); got != want.taken {
			t.Errorf("step %d: took %d, want %d", i, got, want.taken)
		}
	}
}
