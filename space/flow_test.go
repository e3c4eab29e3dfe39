package space

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/internal/logs"
	"github.com/cellscape/cellscape/migrate"
	"github.com/cellscape/cellscape/property"
)

func TestExposure(t *testing.T) {
	r := newRig(t, 1)
	a := r.create(7, -50, 1)
	r.create(8, -60, 1)
	r.create(9, -390, 1) // out of sight
	r.tick(2)
	for _, id := range []entity.ID{7, 8} {
		r.avatar(id).Diary.Set("")
	}
	r.call(7, hitMethod, arg(1)...)
	r.clientCall(7, 7, ownMethod, arg(2)...)
	r.clientCall(7, 7, allMethod, arg(3)...)
	r.clientCall(7, 8, allMethod, arg(4)...)
	r.tick(2)
	r.diary(7, "hit 1;own 2 by 7;all 3 by 7;")
	r.diary(8, "all 4 by 7;")
	if a.count.Refused != 0 || a.count.ClientCallsHandled != 3 {
		t.Errorf("refused %d, client calls %d", a.count.Refused, a.count.ClientCallsHandled)
	}
	r.clientCall(7, 7, hitMethod, arg(5)...) // not exposed
	r.clientCall(7, 8, ownMethod, arg(6)...) // another's own method
	r.clientCall(7, 9, allMethod, arg(7)...) // not in sight
	r.clientCall(7, 7, 99)                   // no such method
	r.clientCall(7, 7, allMethod, 1)         // arguments do not fit
	r.tick(2)
	if a.count.Refused != 5 {
		t.Errorf("refused %d of 5", a.count.Refused)
	}
	r.diary(7, "hit 1;own 2 by 7;all 3 by 7;refused 0.9.1(7): space: the client does not see entity 0.9;")
	r.diary(8, "all 4 by 7;")
	// Another entity's base may not speak for this one.
	m := flow.MethodCall{Method: hitMethod, Args: arg(1)}
	a.population.HandleFlow(&flow.Message{From: 8, FromPart: entity.BasePart, To: 7, ToPart: entity.CellPart, Incarnation: 1, Low: 1, Number: 1,
		Payload: m.Append(nil, flow.CallCellPayload)}, r.base)
	if a.count.Refused != 6 {
		t.Error("a forged sender was heard")
	}
}

func TestCallsOut(t *testing.T) {
	r := newRig(t, 1)
	r.create(7, -50, 1)
	r.create(8, -60, 1)
	r.tick(3)
	a := r.avatar(7)
	n := len(r.bases[7].got)
	for _, err := range []error{
		a.Base().Call("report", uint32(5)), a.OwnClient().Call("say", uint32(6)), a.OtherClients().Call("say", uint32(7)), a.AllClients().Call("say", uint32(8)),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := a.AllClients().Call("show", strings.Repeat("x", 200<<10)); err == nil {
		t.Error("a call that no client can take is accepted")
	}
	r.tick(3)
	if p := r.bases[7].got[n]; flow.Payload(p[0]) != flow.CallBasePayload {
		t.Errorf("the base got %x", p)
	}
	if got := r.hears(7); got != "0.7 6 0.7 8 " {
		t.Errorf("the own client heard %q", got)
	}
	if got := r.hears(8); got != "0.7 7 0.7 8 " {
		t.Errorf("the other client heard %q", got)
	}
}

// hears gives the calls that an entity's client got, and which entities left it.
func (r *rig) hears(id entity.ID) (said string) {
	r.t.Helper()
	list, bodies := r.bundles(id)
	for i := range list {
		var call protocol.Call
		switch {
		case list[i] == protocol.CallID && call.Parse(bodies[i]) == nil:
			said += fmt.Sprint(call.ID, call.Args[0], " ")
		case list[i] == protocol.LeaveID || list[i] == protocol.KeepID:
			said += "leaves "
		}
	}
	return said
}

// What an entity says right before its end is heard, in OnDestroy too: by its base, its own client, and
// whoever sees it, on both sides of a line, before it leaves.
func TestLastCallsAreHeard(t *testing.T) {
	for _, based := range []bool{true, false} {
		t.Run(fmt.Sprint("based ", based), func(t *testing.T) {
			r := newRig(t, 2)
			r.create(8, -30, 1)
			r.create(9, 30, 1)
			id := entity.ID(7)
			if based {
				r.create(id, -20, 1)
			} else {
				var err error
				if id, err = r.at(-20).cell.Spawn("Avatar", property.Vector3{X: -20}, property.Vector3{}, nil); err != nil {
					t.Fatal(err)
				}
			}
			r.tick(10)
			a := r.avatar(id)
			call := func(box entity.Mailbox, method string, n uint32) {
				t.Helper()
				if err := box.Call(method, n); err != nil {
					t.Errorf("call %d: %v", n, err)
				}
			}
			a.end = func() {
				call(a.AllClients(), "say", 2)
				call(r.cellOf(id, 8), "hit", 4)
				if based {
					call(a.OwnClient(), "say", 3)
					call(a.Base(), "report", 5)
				}
				if _, err := a.AddTimer(0, 0, "OnTimer", 0); !errors.Is(err, entity.ErrGone) {
					t.Errorf("a timer for after the end: %v", err)
				}
			}
			call(a.AllClients(), "say", 1)
			a.Destroy()
			r.tick(10)
			want := fmt.Sprintf("%[1]v 1 %[1]v 2 leaves ", id)
			for _, other := range []entity.ID{8, 9} {
				if got := r.hears(other); got != want {
					t.Errorf("client %d heard %q, want %q", other, got, want)
				}
			}
			r.diary(8, "created;client true;hit 4;")
			if !based {
				return
			}
			if got := r.hears(7); got != "0.7 1 0.7 2 0.7 3 " {
				t.Errorf("the own client heard %q", got)
			}
			if !slices.ContainsFunc(r.bases[7].got, func(p []byte) bool { return flow.Payload(p[0]) == flow.CallBasePayload }) {
				t.Error("the base heard nothing")
			}
		})
	}
}

// TestFullFlowIsOneLine: messages that a flow has no room for are counted and felt by their sender
// each, and logged once a second, whoever of the app sends them.
func TestFullFlowIsOneLine(t *testing.T) {
	r := newRig(t, 1)
	a := r.create(7, -50, 1)
	r.create(8, -60, 1)
	r.tick(3)
	var text bytes.Buffer
	a.cell.log = slog.New(slog.NewTextHandler(&text, nil))
	failed := uint64(0)
	for range flow.MaxKept + 50 {
		for _, id := range []entity.ID{7, 8} {
			if err := r.avatar(id).Base().Call("report", uint32(5)); err != nil {
				failed++
			}
		}
	}
	lines := strings.Count(text.String(), "flow message not sent")
	if failed < 100 || a.count.Errors != failed || lines != 1 {
		t.Errorf("%d calls failed, %d were counted, %d lines logged", failed, a.count.Errors, lines)
	}
	a.cell.now += logs.Period
	_ = r.avatar(8).Base().Call("report", uint32(5))
	if want := fmt.Sprintf("unlogged=%d", failed-1); !strings.Contains(text.String(), want) {
		t.Errorf("no %s in the log:\n%s", want, text.String())
	}
}

// TestFlowsAcrossOffload moves an entity to and fro while its base, and another entity's client,
// call it: each call is heard once, in order.
func TestFlowsAcrossOffload(t *testing.T) {
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 1))
		r := newRig(t, 3)
		r.create(7, -50, 1)
		r.create(8, 20, 1)
		r.tick(3)
		r.avatar(7).Diary.Set("")
		want, wantAll := "", ""
		r.hold = func(p packet) bool { return p.to.At.Addr() != addr(100).At.Addr() && rng.IntN(3) == 0 }
		for n := range 60 {
			if r.real(7) != nil && rng.IntN(4) == 0 {
				r.move(7, []float32{-60, 30, 20, 15}[rng.IntN(4)])
			}
			r.call(7, hitMethod, arg(byte(n))...)
			want += fmt.Sprintf("hit %d;", n)
			before := r.apps[1].count.Refused
			r.clientCall(8, 7, allMethod, arg(byte(n))...)
			r.tick(1)
			if r.apps[1].count.Refused == before {
				wantAll += fmt.Sprintf("all %d by 8;", n)
			}
		}
		r.hold = nil
		r.tick(40)
		var hits, alls string
		for s := range strings.SplitSeq(r.avatar(7).Diary.Get(), ";") {
			switch {
			case strings.HasPrefix(s, "hit"):
				hits += s + ";"
			case strings.HasPrefix(s, "all"):
				alls += s + ";"
			}
		}
		if hits != want {
			t.Fatalf("seed %d: base's calls:\n%s\nwant\n%s", seed, hits, want)
		}
		if alls != wantAll {
			t.Fatalf("seed %d: client's calls:\n%s\nwant\n%s", seed, alls, wantAll)
		}
		r.calm()
		if r.real(7).Order().Hop == 0 {
			t.Fatalf("seed %d: it never moved", seed)
		}
	}
}

func TestFlowAtOldPlaceGoesOn(t *testing.T) {
	r := newRig(t, 2)
	r.create(7, -50, 0)
	r.tick(3)
	r.hold = func(p packet) bool { _, ok := p.m.(*migrate.Current); return ok } // the base does not hear of it
	r.move(7, 50)
	r.tick(4)
	if r.ghost(1, 7) == nil || r.bases[7].app != addr(1) {
		t.Fatal("it has not moved, or the base knows")
	}
	r.call(7, hitMethod, arg(1)...)
	r.pump()
	r.diary(7, "created;leaving;entering;entered;hit 1;")
	// So does an ack.
	r.hold = nil
	real := r.real(7)
	if err := real.Base().Call("report", uint32(1)); err != nil {
		t.Fatal(err)
	}
	r.queue = nil
	n := real.base().out.Last()
	r.apps[0].population.HandleAck(&flow.Ack{To: 7, ToPart: entity.CellPart, From: 7, FromPart: entity.BasePart, Incarnation: 1, Number: n, Settled: n}, r.base)
	r.pump()
	if real.base().out.Kept() != 0 {
		t.Error("an ack at the old place is lost")
	}
}

// Ghosts that point at each other in a circle, left by handoffs that wait or have failed, must not
// pass a message round: one follows the hops of a real as they went up.
func TestMessagesDoNotCircle(t *testing.T) {
	for name, tt := range map[string]struct {
		hops []uint32 // of the ghost on each app, which says that the real is on the next one
		goes int      // to how many other apps a message comes
	}{
		"two at the same":                    {[]uint32{5, 5}, 1},
		"the next is older":                  {[]uint32{5, 4}, 1},
		"three, the handoff has yet to come": {[]uint32{5, 3, 4}, 1},
		"three, up and round":                {[]uint32{3, 4, 5}, 3},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, len(tt.hops)+1)
			r.create(7, 10, 0)
			state := r.real(7).state()
			real := r.real(7)
			real.cell.drop(real)
			r.tick(1)
			state.Order.Incarnation++
			for i, hop := range tt.hops {
				state.Order.Hop = hop
				if err := r.apps[i].population.GhostState(state, r.apps[(i+1)%len(tt.hops)].self); err != nil {
					t.Fatal(err)
				}
			}
			r.queue = nil
			m := &flow.Message{From: 8, FromPart: entity.CellPart, To: 7, ToPart: entity.CellPart, Incarnation: 1, Low: 1, Number: 1, Reply: addr(50)}
			ack := &flow.Ack{To: 7, ToPart: entity.CellPart, From: 8, FromPart: entity.CellPart, Incarnation: 1, Number: 1, Settled: 1}
			inquiry := &flow.Inquiry{Of: 7, OfPart: entity.CellPart, By: 8, ByPart: entity.CellPart, Reply: r.base, Stamp: 1}
			p := r.apps[0].population
			p.HandleFlow(m, addr(50))
			p.HandleAck(ack, addr(50))
			p.HandleInquiry(inquiry)
			passed := 0
			for round := 0; len(r.queue) > 0; round++ {
				if round > 10 {
					t.Fatal("they go round and round")
				}
				queue := r.queue
				r.queue = nil
				passed += len(queue)
				for _, p := range queue {
					r.deliver(p)
				}
			}
			if passed != 3*tt.goes {
				t.Errorf("a message, an ack and a question were passed on %d times, want %d", passed, 3*tt.goes)
			}
			moves, way := 0, p.ClientMove(7, &flow.ClientRest{Session: 1, Sequence: 1, Incarnation: 1})
			for ; !way.To.IsZero() && moves < 10; moves++ {
				on := r.app(way.To).population
				_ = on.Follow(way.Order, func() error {
					way = on.ClientMove(7, &flow.ClientRest{Session: 1, Sequence: 1, Incarnation: 1})
					return nil
				})
			}
			if moves != tt.goes {
				t.Errorf("a move was passed on %d times, want %d", moves, tt.goes)
			}
		})
	}
}

// What answers a message that was passed on follows its own real, not that of the message.
func TestAnswerToPassedOnGoesOn(t *testing.T) {
	r := newRig(t, 2)
	r.create(7, -50, 0)
	r.create(8, 50, 0)
	r.tick(3)
	a := r.apps[0]
	call := flow.MethodCall{Method: 99}
	m := flow.Message{From: 8, FromPart: entity.CellPart, To: 7, ToPart: entity.CellPart, Incarnation: 2, Low: 1, Number: 1, Reply: r.apps[1].self, Payload: call.Append(nil, flow.RemoteCallPayload)}
	a.population.HandleFlow(&m, r.apps[1].self)
	m.Incarnation, m.Reply = 1, a.self // an older one, which was here
	r.queue = nil
	_ = a.population.Follow(entity.Order{Incarnation: 9, Hop: 9}, func() error {
		a.population.HandleFlow(&m, r.apps[1].self)
		return nil
	})
	if len(r.queue) != 1 || r.queue[0].to != r.apps[1].self {
		t.Errorf("to one that has gone from here went %+v", r.queue)
	}
}

// A message of the sender's older incarnation says nothing of where it is now.
func TestStaleMessageDoesNotTurnAcks(t *testing.T) {
	r := newRig(t, 1)
	r.create(7, -50, 0)
	a, real := r.apps[0], r.real(7)
	call := flow.MethodCall{Method: 99}
	m := flow.Message{From: 8, FromPart: entity.CellPart, To: 7, ToPart: entity.CellPart, Incarnation: 2, Low: 1, Number: 1, Reply: addr(50), Payload: call.Append(nil, flow.RemoteCallPayload)}
	a.population.HandleFlow(&m, addr(50))
	old := m
	old.Incarnation, old.Reply = 1, addr(51)
	a.population.HandleFlow(&old, addr(51))
	if p := real.known(8, entity.CellPart); p == nil || p.at != addr(50) {
		t.Errorf("acks go to %+v", p)
	}
	before, flows := a.count.Refused+a.count.Unproved, len(real.flows)
	for _, wrong := range []flow.Message{
		{From: 9, FromPart: entity.BasePart, Incarnation: 1}, {From: 7, FromPart: entity.CellPart, Incarnation: 1}, {From: 9, FromPart: entity.ClientPart, Incarnation: 1},
	} {
		wrong.To, wrong.ToPart, wrong.Low, wrong.Number = 7, entity.CellPart, 1, 1
		a.population.HandleFlow(&wrong, addr(50))
	}
	if n := a.count.Refused + a.count.Unproved; n != before+3 || len(real.flows) != flows {
		t.Errorf("refused %d of 3, %d flows more", n-before, len(real.flows)-flows)
	}
}

func TestAckOfNobodyMakesNoFlow(t *testing.T) {
	r := newRig(t, 1)
	r.create(7, -50, 0)
	n := len(r.real(7).flows)
	r.apps[0].population.HandleAck(&flow.Ack{To: 7, ToPart: entity.CellPart, From: 99, FromPart: entity.CellPart, Incarnation: 1, Number: 5}, r.base)
	if len(r.real(7).flows) != n {
		t.Error("an ack made a flow")
	}
}

func TestCallToGoneTargetIsGivenUp(t *testing.T) {
	r := newRig(t, 1)
	a := r.create(7, -50, 1)
	r.create(8, -60, 0)
	r.tick(2)
	r.clientCall(7, 8, allMethod, arg(1)...)
	r.pump()
	r.real(8).Destroy() // the call is still in the loop
	r.tick(1)
	if a.population.Pending() == 0 {
		t.Fatal("the call was not under way")
	}
	r.tick(int(FlowGiveUp/tickPeriod) + 20)
	if n := a.population.Pending(); n != 0 || a.count.Refused != 1 {
		t.Errorf("pending %d, refused %d", n, a.count.Refused)
	}
}

func TestIdleFlowsAreForgotten(t *testing.T) {
	r := newRig(t, 1)
	r.create(7, -50, 1)
	r.create(8, -60, 1)
	r.tick(2)
	r.avatar(8).Diary.Set("")
	r.clientCall(7, 8, allMethod, arg(1)...)
	r.tick(2)
	if len(r.real(7).flows) != 2 || len(r.real(8).flows) != 2 {
		t.Fatal("there is no flow")
	}
	r.tick(int((PeerLease+2*DefaultBackupPeriod)/tickPeriod) + 1)
	if len(r.real(7).flows) != 1 || len(r.real(8).flows) != 1 {
		t.Errorf("idle flows are kept: %d and %d", len(r.real(7).flows), len(r.real(8).flows))
	}
	r.clientCall(7, 8, allMethod, arg(2)...)
	r.tick(2)
	r.diary(8, "all 1 by 7;all 2 by 7;")
	// One end may forget earlier than the other: numbers of a new flow are above the old ones.
	real := r.real(7)
	real.flows = real.flows[:1]
	r.clientCall(7, 8, allMethod, arg(3)...)
	r.tick(2)
	r.diary(8, "all 1 by 7;all 2 by 7;all 3 by 7;")
}

func TestBackupAndRestore(t *testing.T) {
	r := newRig(t, 2)
	r.create(7, -50, 0)
	if r.bases[7].backup == nil {
		t.Fatal("it is not backed up when created")
	}
	r.call(7, hitMethod, arg(1)...)
	r.say(7, []byte{byte(flow.BackupNowPayload)})
	r.tick(2)
	b := r.bases[7]
	if b.backup.Handled != 2 || b.backup.Saves != 2 {
		t.Fatalf("backup: handled %d, saves %d", b.backup.Handled, b.backup.Saves)
	}
	kept := *b.backup
	r.call(7, hitMethod, arg(2)...) // after the backup
	r.tick(1)
	r.diary(7, "created;hit 1;hit 2;")
	late := packet{r.base, addr(1), &flow.Message{From: 7, FromPart: entity.BasePart, To: 7, ToPart: entity.CellPart,
		Incarnation: 1, Low: 3, Number: 3, Reply: r.base, Payload: func() []byte {
			m := flow.MethodCall{Method: hitMethod, Args: arg(2)}
			return m.Append(nil, flow.CallCellPayload)
		}()}}
	r.restore(7, -50, kept.Parts, kept.Handled)
	r.deliver(late) // of the old incarnation: the base sends it again in the new one
	r.tick(2)
	r.diary(7, "created;hit 1;restored;hit 2;")
	if o := r.real(7).Order(); o != (entity.Order{Incarnation: 2}) {
		t.Errorf("order %v", o)
	}
	// A repeated order is confirmed, an older one ignored.
	r.deliver(packet{r.base, addr(1), &migrate.Create{ID: 7, Order: entity.Order{Incarnation: 1}, Base: r.base, Space: 1}})
	r.deliver(packet{r.base, addr(1), &migrate.Create{ID: 7, Order: entity.Order{Incarnation: 2}, Base: r.base, Space: 1}})
	if len(r.queue) != 1 {
		t.Errorf("answers: %v", r.queue)
	}
	r.calm()
}

// What OnCreated did must be in the first backup: a restored real does not hear it again.
func TestFirstBackupContainsOnCreated(t *testing.T) {
	r := newRig(t, 1)
	r.create(7, -50, 1)
	r.restore(7, -50, r.bases[7].backup.Parts, 0)
	r.diary(7, "created;client true;restored;client true;")
}

func TestWatchersSeeTheRestoredOneAnew(t *testing.T) {
	r := newRig(t, 2)
	r.create(7, -5, 0)
	r.create(8, 20, 1) // watches from the other cell
	r.tick(5)
	r.avatar(7).Hp.Set(5)
	r.avatar(7).Hp.Set(6)
	r.tick(5)
	// 8's cell has the ghost, and becomes the home of the restored real.
	r.bases[8].got = nil
	b := r.bases[7]
	r.restore(7, 5, b.backup.Parts, b.backup.Handled)
	r.tick(5)
	list, bodies := r.bundles(8)
	if fmt.Sprint(list) != fmt.Sprint([]protocol.ID{protocol.LeaveID, protocol.EnterID, protocol.RestID}) {
		t.Fatalf("the watcher was told %v", list)
	}
	var m protocol.Enter
	if err := m.Parse(bodies[1]); err != nil || m.ID != 7 {
		t.Errorf("enter %+v, %v", m, err)
	}
	if real := r.real(7); real == nil || real.cell != r.apps[1].cell.Cell {
		t.Error("the old real still lives")
	}
	r.calm()
}

func TestGhostOfNewIncarnationIsSeenAnew(t *testing.T) {
	r := newRig(t, 2)
	r.create(7, -20, 0)
	r.create(8, 20, 1)
	r.tick(5)
	r.bases[8].got = nil
	r.restore(7, -20, r.bases[7].backup.Parts, 0) // at the same place: 8 sees its ghost
	r.avatar(7).Hp.Set(3)
	r.tick(5)
	list, _ := r.bundles(8)
	if len(list) < 2 || list[0] != protocol.LeaveID || list[1] != protocol.EnterID {
		t.Errorf("the watcher was told %v", list)
	}
	r.calm()
}

func TestDestroyIsTold(t *testing.T) {
	r := newRig(t, 2)
	a := r.create(7, -20, 1)
	r.tick(3)
	if r.ghost(2, 7) == nil {
		t.Fatal("no ghost")
	}
	r.bases[7].deaf = true
	r.say(7, []byte{byte(flow.DestroyPayload)})
	r.tick(15)
	if r.real(7) != nil || r.ghost(2, 7) != nil {
		t.Error("it is still there")
	}
	if a.population.Pending() == 0 {
		t.Error("the base has not heard of it, and nothing is pending")
	}
	r.bases[7].deaf = false
	r.tick(25) // it was sent again in vain once, and waits twice as long then
	got := r.bases[7].got
	if len(got) == 0 || flow.Payload(got[len(got)-1][0]) != flow.GonePayload {
		t.Error("the base does not know")
	}
	if a.population.Pending() != 0 || len(a.population.departed.list) != 0 {
		t.Error("it is told for ever")
	}
}

// Whoever hears of the end of a cell part hears whether its base was ending as well: a next life of
// the base may not know.
func TestEndSaysThatTheBaseEnds(t *testing.T) {
	for what, ending := range map[flow.Payload]bool{flow.DestroyPayload: false, flow.EndPayload: true} {
		r := newRig(t, 1)
		r.create(7, -20, 0)
		r.say(7, []byte{byte(what)})
		r.tick(5)
		var gone flow.Gone
		got := r.bases[7].got
		if last := got[len(got)-1]; flow.Payload(last[0]) != flow.GonePayload || gone.Parse(last[1:]) != nil || gone.Ending != ending {
			t.Errorf("by payload %d: the base is told %v", what, last)
		}
	}
	r := newRig(t, 1) // it ends by itself first
	r.create(7, -20, 0)
	r.real(7).Destroy()
	r.say(7, []byte{byte(flow.EndPayload)})
	r.tick(5)
	var gone flow.Gone
	got := r.bases[7].got
	if last := got[len(got)-1]; flow.Payload(last[0]) != flow.GonePayload || gone.Parse(last[1:]) != nil || gone.Ending {
		t.Errorf("it ended by itself, and the base is told %v", last)
	}
}

// A base that knows a newer life of an entity refuses what is left of the old one, and never acks
// it.
func TestRefusedDepartedFlowEnds(t *testing.T) {
	r := newRig(t, 1)
	a := r.create(7, -20, 0)
	r.bases[7].deaf = true
	r.say(7, []byte{byte(flow.DestroyPayload)})
	r.tick(5)
	a.population.Refuse(&migrate.Refuse{ID: 7, Order: entity.Order{Incarnation: 0, Hop: 9}}, r.base)
	if a.population.Pending() == 0 {
		t.Fatal("an older refusal ends it")
	}
	a.population.Refuse(&migrate.Refuse{ID: 7, Order: entity.Order{Incarnation: 1, Hop: 9}}, r.base)
	if a.population.Pending() != 0 {
		t.Error("what nobody will ack is told for ever")
	}
}

func TestRefuse(t *testing.T) {
	r := newRig(t, 2)
	a := r.create(7, -20, 0)
	r.tick(3)
	a.population.Refuse(&migrate.Refuse{ID: 7, Order: entity.Order{}}, r.base)
	if r.real(7) == nil {
		t.Fatal("refused for an older order")
	}
	a.population.Refuse(&migrate.Refuse{ID: 7, Order: entity.Order{Incarnation: 1}}, r.base)
	r.tick(2)
	if r.real(7) != nil || r.ghost(2, 7) != nil {
		t.Error("a refused real lives on")
	}
}

func TestPanicLosesOne(t *testing.T) {
	r := newRig(t, 1)
	a := r.create(7, -20, 0)
	r.create(8, -30, 0)
	for _, id := range []entity.ID{7, 8} {
		if _, err := r.avatar(id).AddTimer(0, 0, map[entity.ID]string{7: "OnBomb", 8: "OnTimer"}[id], 5); err != nil {
			t.Fatal(err)
		}
	}
	r.tick(1)
	if r.real(7) != nil || len(r.bases[7].lost) != 1 || r.bases[7].lost[0].Reason != "panic in OnBomb: bomb" || a.count.Errors != 1 {
		t.Errorf("lost: %+v, errors %d", r.bases[7].lost, a.count.Errors)
	}
	r.diary(8, "created;timer 5;")
	r.call(8, boomMethod)
	r.pump()
	if r.real(8) != nil || len(r.bases[8].lost) != 1 {
		t.Error("a panic in a method does not lose its entity")
	}
}

func TestCreateRefused(t *testing.T) {
	r := newRig(t, 1)
	c := r.apps[0].cell
	r.bases[7] = &testBase{}
	core := migrate.AppendPart(nil, migrate.CorePart, (&migrate.Core{}).Append)
	for i, m := range []*migrate.Create{
		{Type: 99, Parts: core}, {Type: 2, Parts: core}, {}, {Parts: migrate.AppendPart(core, migrate.PropsPart, func(b []byte) []byte { return append(b, 1) })},
	} {
		m.ID, m.Order, m.Base, m.Space = 7, entity.Order{Incarnation: uint32(i + 1)}, r.base, 1
		c.population.Create(m, r.base)
		c.population.Settle()
		r.pump()
		if len(r.bases[7].lost) != i+1 || c.Reals() != 0 {
			t.Errorf("create %d: %d losses, %d reals", i, len(r.bases[7].lost), c.Reals())
		}
	}
}

func TestLargeDirectMessagesAreSplit(t *testing.T) {
	r := newRig(t, 1)
	a := r.create(7, -50, 1)
	r.tick(1)
	for range 10 {
		if err := r.avatar(7).OwnClient().Call("show", strings.Repeat("x", 100<<10)); err != nil {
			t.Fatal(err)
		}
	}
	r.tick(1)
	list, _ := r.bundles(7)
	if len(list) != 11 || a.count.Errors != 0 {
		t.Errorf("the client got %d messages of 11, errors %d", len(list), a.count.Errors)
	}
}

// What a client is told in the tick of its greeting does not take a large one along.
func TestLargeGreetingIsSentFirst(t *testing.T) {
	r := newRig(t, 1)
	a := r.create(7, -50, 0)
	for i := range 6 {
		if err := r.real(7).e.Props.Set(chestProp+i, property.StringValue(strings.Repeat("x", 65000))); err != nil {
			t.Fatal(err)
		}
	}
	r.real(7).setSession(flow.Session{Number: 1})
	if err := r.avatar(7).OwnClient().Call("show", strings.Repeat("x", 190<<10)); err != nil {
		t.Fatal(err)
	}
	r.bases[7].session = 1
	r.tick(1)
	if list, _ := r.bundles(7); !slices.Equal(list, []protocol.ID{protocol.CellPlayerID, protocol.CallID}) || a.count.Errors != 0 {
		t.Errorf("the client got %v, errors %d", list, a.count.Errors)
	}
}

func TestCallWithoutBase(t *testing.T) {
	r := newRig(t, 1)
	id, err := r.apps[0].cell.Spawn("Avatar", property.Vector3{X: -5}, property.Vector3{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.avatar(id).Base().Call("report", uint32(1)); err != entity.ErrNoPart {
		t.Errorf("a call to a base that is not there: %v", err)
	}
}
