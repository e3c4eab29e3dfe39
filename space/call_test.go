package space

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/entity/flow"
)

// A call has the same name when it is handled again after a restore, at the cell part and at the
// base, and so has what it causes elsewhere.
func TestCallsKeepTheirNames(t *testing.T) {
	r := newRig(t, 1)
	r.create(7, -20, 1)
	r.create(8, -30, 1)
	r.tick(5)
	backup := *r.bases[8].backup
	names := map[entity.ID][]string{}
	follow := func(id entity.ID) {
		r.avatar(id).hook = func(a *Avatar, s string) {
			names[id] = append(names[id], fmt.Sprint(s, a.Call()))
			_ = a.Base().Call("report", uint32(1))
		}
	}
	follow(7)
	follow(8)
	r.call(8, hitMethod, arg(1)...)
	r.clientCall(8, 8, ownMethod, arg(2)...)
	r.clientCall(8, 7, allMethod, arg(3)...)
	r.tick(3)
	if c := r.avatar(8).Call(); c != (entity.Call{}) {
		t.Errorf("between calls it handles %v", c)
	}
	first := slices.Clone(names[8])
	causes := r.causes(8)
	if want := []string{"hit 1{0.0 1}", "own 2 by 8{0.8 2}"}; !slices.Equal(first, want) || !slices.Equal(names[7], []string{fmt.Sprintf("all 3 by 8{0.8 %d}", flow.MarkOf(1, 2))}) {
		t.Errorf("names %v and %v", first, names[7])
	}
	if !slices.Equal(causes, []uint64{1, 2}) || !slices.Equal(r.causes(7), []uint64{0}) {
		t.Errorf("causes at the bases: %v and %v", causes, r.causes(7))
	}
	r.bases[8].got, names[8] = nil, nil
	r.apps[0].cell.drop(r.real(8))
	r.hold = func(p packet) bool { _, is := p.m.(*flow.Message); return is && p.from == r.base }
	r.restore(8, -30, backup.Parts, backup.Handled)
	follow(8)
	r.hold = nil
	r.tick(3)
	if !slices.Equal(names[8], first) || !slices.Equal(r.causes(8), causes) {
		t.Errorf("after the restore: %v, causes %v", names[8], r.causes(8))
	}
	if len(names[7]) != 1 || r.apps[0].count.Repeats != 1 {
		t.Errorf("the repeat was handled, too: %v", names[7])
	}
}

// A base and its cell part are restored, one after the other. The client says again what the base's
// copy lacks, and the base passes it on in another message than before: the target knows it all the
// same. What the client says next is handled.
func TestClientCallSaidAgainToRestoredBase(t *testing.T) {
	r := newRig(t, 1)
	r.create(7, -20, 1)
	r.create(8, -30, 1)
	r.tick(5)
	backup := *r.bases[8].backup
	r.avatar(7).Diary.Set("")
	upload := func(n uint64, arg byte) {
		m := flow.ClientCall{Target: 7, Session: 1, Number: n, Method: uint16(r.scripts.Schema().Type("Avatar").CellMethods[allMethod].ExposedIndex), Args: []byte{arg, 0, 0, 0}}
		r.say(8, m.Append(nil))
		r.tick(2)
	}
	upload(1, 1)
	r.apps[0].cell.drop(r.real(8))
	r.bases[8].out.Settle(r.now, r.bases[8].out.Last())
	r.restore(8, -30, backup.Parts, flow.MarkOf(0, r.bases[8].out.Last()))
	r.tick(5)
	upload(1, 1)
	upload(2, 2)
	r.diary(7, "all 1 by 8;all 2 by 8;")
	if n := r.apps[0].count.Repeats; n != 1 {
		t.Errorf("%d repeats", n)
	}
}

// causes are those of the calls that a base got from its cell part.
func (r *rig) causes(id entity.ID) (list []uint64) {
	for _, p := range r.bases[id].got {
		var m flow.MethodCall
		if flow.Payload(p[0]) == flow.CallBasePayload && m.Parse(p[1:]) == nil {
			list = append(list, m.Cause)
		}
	}
	return list
}

// OnCallRefused notes what became of a call.
func (a *Avatar) OnCallRefused(c RefusedCall) {
	a.note("refused %v.%d(%d): %v", c.Target, c.Method, c.Args[0], c.Err)
}

// A call that nobody handles is told to the caller's script, with why.
func TestRefusedCallsAreTold(t *testing.T) {
	r := newRig(t, 1)
	r.create(7, -20, 1)
	r.create(8, -30, 1)
	r.tick(5)
	r.avatar(8).Diary.Set("")
	r.clientCall(8, 9, allMethod, arg(1)...)
	r.tick(1)
	r.diary(8, "refused 0.9.1(1): space: the client does not see entity 0.9;")
	r.avatar(8).Diary.Set("")
	r.clientCall(8, 7, allMethod, arg(2)...)
	r.pump()
	r.real(7).Destroy()
	r.tick(30)
	r.diary(8, fmt.Sprintf("refused 0.7.1(2): %v;", errEnded))
	// One that was restored waits for whom it does not see, and gives up in the end.
	r.avatar(8).Diary.Set("")
	b := *r.bases[8].backup
	r.apps[0].cell.drop(r.real(8))
	r.bases[8].out.Settle(r.now, r.bases[8].out.Last())
	r.restore(8, -30, b.Parts, flow.MarkOf(0, r.bases[8].out.Last()))
	r.tick(5)
	r.avatar(8).Diary.Set("")
	r.clientCall(8, 9, allMethod, arg(3)...)
	r.tick(int(CallPatience/tickPeriod) - 10)
	r.diary(8, "")
	r.tick(30)
	r.diary(8, fmt.Sprintf("refused 0.9.1(3): %v;", errNowhere))
}

// A handoff whose destination dies leaves a frozen copy that is newer than what anybody has heard
// of it: the restored real says the rest, once, also if it dies at once itself.
func TestFrozenCopySaysWhatNobodyHeard(t *testing.T) {
	for _, again := range []bool{false, true} {
		r := newRig(t, 2)
		r.create(7, -50, 1)
		r.tick(3)
		b := r.bases[7]
		say := func(n uint32) {
			_ = r.real(7).Base().Call("report", n)
			_ = r.real(7).OwnClient().Call("say", n)
			_ = r.real(7).Base().Then("OnPaid", 0).Call("report", 10+n)
			ask := flow.ServerCall{Caller: 7, CallerPart: entity.BasePart, Request: flow.RequestID{Life: 1, Number: uint64(n)}, Within: time.Second, Part: entity.CellPart,
				Method: payMethod, Args: arg(byte(n))}
			r.say(7, ask.Append(nil))
			r.pump()
		}
		acks := func(p packet) bool { _, is := p.m.(*flow.Ack); return is }
		r.hold = acks // it is heard, and the real does not know
		say(1)
		r.tick(2)
		heard := b.in.Last()
		r.hold = func(p packet) bool { return acks(p) || p.to == r.base }
		say(2)
		r.tick(1)
		say(3)
		r.move(7, 50)
		r.hold = func(p packet) bool { return acks(p) || p.to == r.base || p.to == addr(2) }
		r.tick(10)
		if r.real(7) != nil {
			t.Fatal("it was not handed on")
		}
		r.queue, r.hold = nil, nil
		r.apps[0].population.CellAppDied(addr(2))
		r.tick(2)
		if len(b.offers) == 0 {
			t.Fatal("no frozen copy was offered")
		}
		offer := b.offers[0]
		r.baseHeard = heard
		r.restore(7, -50, offer.Parts, offer.Handled)
		if again { // it has had no tick yet
			r.die(r.apps[0], 7)
		}
		r.tick(3)
		if got := r.reported(7); got != "1 2 3 " {
			t.Errorf("again %v: the base heard %s", again, got)
		}
		if got, want := r.exchanged(7), "asked 11;answered 1;asked 12;answered 2;asked 13;answered 3;"; got != want {
			t.Errorf("again %v: the base was %s", again, got)
		}
		said := ""
		ids, bodies := r.bundles(7)
		for i, id := range ids {
			var m protocol.Call
			if id == protocol.CallID && m.Parse(bodies[i]) == nil {
				said += fmt.Sprint(m.Args[0], " ")
			}
		}
		if said != "1 2 3 " {
			t.Errorf("again %v: the client heard %s", again, said)
		}
	}
}

// exchanged are the two-way calls and the answers that a base got from its cell part.
func (r *rig) exchanged(id entity.ID) (s string) {
	for _, p := range r.bases[id].got {
		var call flow.ServerCall
		var answer flow.Answer
		switch kind := flow.Payload(p[0]); {
		case kind == flow.ServerCallPayload && call.Parse(p[1:]) == nil:
			s += fmt.Sprintf("asked %d;", call.Args[0])
		case kind == flow.AnswerPayload && answer.Parse(p[1:]) == nil:
			s += fmt.Sprintf("answered %d;", answer.Request.Number)
		}
	}
	return s
}

// reported is what a base was told by report.
func (r *rig) reported(id entity.ID) (s string) {
	for _, p := range r.bases[id].got {
		var m flow.MethodCall
		if flow.Payload(p[0]) == flow.CallBasePayload && m.Parse(p[1:]) == nil {
			s += fmt.Sprint(m.Args[0], " ")
		}
	}
	return s
}

// A script that is told of calls given up may make entities: it is told after the walk.
func TestRefusalIsToldAfterTheWalk(t *testing.T) {
	r := newRig(t, 1)
	for id := entity.ID(7); id <= 40; id++ {
		r.create(id, -20, 1)
	}
	r.tick(5)
	spawned := 0
	for id := entity.ID(8); id <= 40; id++ {
		r.avatar(id).hook = func(a *Avatar, what string) {
			if len(what) > 7 && what[:7] == "refused" {
				spawned++
				if _, err := a.Spawn("Rock", a.Position(), a.Direction(), nil); err != nil {
					t.Error(err)
				}
			}
		}
		r.clientCall(id, 7, allMethod, arg(1)...)
	}
	r.pump()
	r.real(7).Destroy()
	r.hold = func(p packet) bool { m, is := p.m.(*flow.Message); return is && m.To == 7 }
	r.tick(2)
	r.apps[0].dead = append(r.apps[0].dead, addr(99))
	for id := entity.ID(8); id <= 40; id++ { // their bases are elsewhere than the target's, which dies
		r.real(id).known(7, entity.CellPart).home = addr(99)
	}
	r.tick(2)
	if spawned != 33 || r.apps[0].cell.Reals() != 33*2 {
		t.Errorf("%d were told, %d reals", spawned, r.apps[0].cell.Reals())
	}
	for v := range r.apps[0].cell.Views() {
		if v.rec.real == nil {
			t.Error("not a real")
		}
	}
}

// An own call with an argument of fixed size costs no memory.
func TestOwnCallDoesNotAllocate(t *testing.T) {
	r := newRig(t, 1)
	r.create(7, -50, 0)
	r.tick(3)
	a := r.avatar(7)
	box := a.Cell()
	if n := testing.AllocsPerRun(100, func() {
		if err := box.Call("mark", uint32(1)); err != nil {
			t.Error(err)
		}
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
	if a.marks != 101 {
		t.Errorf("%d calls arrived", a.marks)
	}
}

// A call whose arguments are larger than its method should have is made, and counted.
func TestOversizeCall(t *testing.T) {
	r := newRig(t, 1)
	r.create(7, -50, 0)
	a := r.avatar(7)
	mark := a.Def().CellMethod("mark")
	for _, limit := range []int{0, 4, 3} { // bytes of its argument
		mark.WarnBytes = limit
		if err := a.Cell().Call("mark", uint32(1)); err != nil {
			t.Error(err)
		}
	}
	if n := r.apps[0].count.OversizeCalls; n != 1 || a.marks != 3 {
		t.Errorf("%d calls of %d are counted", n, a.marks)
	}
}
