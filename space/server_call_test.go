package space

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/property"
)

// cellOf is the mailbox of another's cell part.
func (r *rig) cellOf(caller, target entity.ID) entity.Mailbox {
	return r.real(caller).Lookup(target, "Avatar", entity.CellMailbox)
}

// two are avatars on two cells, with empty diaries.
func (r *rig) two() {
	r.t.Helper()
	r.create(7, -50, 1)
	r.create(8, 300, 1)
	r.tick(5)
	r.clean()
}

func (r *rig) clean() {
	for id := range r.bases {
		if r.real(id) != nil {
			r.avatar(id).Diary.Set("")
		}
	}
}

// A script calls any cell part, whether it is on the same cell, on another, or nobody has told where.
func TestCellPartsCallEachOther(t *testing.T) {
	r := newRig(t, 3)
	r.create(9, -60, 1)
	r.two()
	for _, target := range []entity.ID{8, 9} {
		if err := r.cellOf(7, target).Call("hit", 5); err != nil {
			t.Fatal(err)
		}
		if err := r.cellOf(7, target).Then("OnPaid", 42).Call("pay", 30); err != nil {
			t.Fatal(err)
		}
		r.tick(3)
		r.diary(target, "hit 5;pay 30 for 0.7;")
	}
	r.diary(7, "pay of 0.8: 70 left by avatar, user 42;pay of 0.9: 70 left by avatar, user 42;")
	r.calm()
	r.waitsForNothing(7)
}

// A mailbox of another type than the entity's would call the method that has the same index there.
func TestCallAsAnotherType(t *testing.T) {
	r := newRig(t, 2)
	r.two()
	for _, target := range []entity.ID{7, 8} {
		as := r.real(7).Lookup(target, "Beacon", entity.CellMailbox)
		switch err := as.Then("OnPaid", 1).Call("shine", 5); {
		case target == 8 && err != nil:
			t.Fatal(err)
		case target == 7 && !errors.Is(err, entity.ErrNoMethod):
			t.Errorf("its own call: %v", err)
		}
		refused := r.apps[1].count.Refused
		if err := as.Call("shine", 5); target == 8 && err != nil {
			t.Fatal(err)
		}
		r.tick(3)
		if n := r.apps[1].count.Refused - refused; target == 8 && n != 1 {
			t.Errorf("%d calls without an answer were counted as refused", n)
		}
	}
	r.diary(8, "")
	if got := r.avatar(7).Diary.Get(); !strings.Contains(got, "it is of type Avatar, and was called as Beacon") {
		t.Errorf("the caller has %q", got)
	}
}

// Each call that is not handled says why, once.
func TestCallsSayWhyTheyFail(t *testing.T) {
	r := newRig(t, 2)
	r.two()
	for i, want := range []string{"bad luck (13)", errDeaf.Error(), "entity: the call was refused", "84 left by avatar, user 0"} {
		n := uint32(13 + i)
		if err := r.cellOf(7, 8).Then("OnPaid", 0).Call("pay", n); err != nil {
			t.Fatal(err)
		}
		r.tick(3)
		if got := r.avatar(7).Diary.Get(); !strings.HasPrefix(got, "pay of 0.8: "+want) {
			t.Errorf("%d: the caller heard %q, want %q", n, got, want)
		}
		r.clean()
	}
	r.tick(10)
	r.avatar(7).Diary.Set("")
	if r.real(8) != nil {
		t.Fatal("it lives on")
	}
	if err := r.cellOf(7, 8).Then("OnPaid", 0).Call("pay", 1); err != nil {
		t.Fatal(err)
	}
	r.tick(3)
	r.diary(7, "pay of 0.8: entity: there is no such entity: the target has ended;")
	r.calm()
}

// What cannot be asked is refused at the call.
func TestCallsThatCannotBeMade(t *testing.T) {
	r := newRig(t, 1)
	r.two()
	box := r.cellOf(7, 8)
	for name, c := range map[string]struct{ got, want error }{
		"no callback":   {box.Then("OnNothing", 0).Call("pay", 1), entity.ErrNoCallback},
		"another's":     {box.Then("OnTimer", 0).Call("pay", 1), entity.ErrNoCallback},
		"no method":     {box.Call("fly"), entity.ErrNoMethod},
		"no type":       {r.real(7).Lookup(8, "Nobody", entity.CellMailbox).Call("hit", 1), entity.ErrNoPart},
		"of the client": {r.real(7).Lookup(8, "Avatar", entity.ClientMailbox).Then("OnPaid", 0).Call("say", 1), entity.ErrNoMethod},
		"no kind":       {r.real(7).Mailbox(property.Mailbox{Entity: 8}).Call("hit", 1), entity.ErrNoPart},
		"not in sight":  {r.real(7).ClientEntity(8).Call("say", 1), ErrNotSeen},
	} {
		if !errors.Is(c.got, c.want) {
			t.Errorf("%s: %v, want %v", name, c.got, c.want)
		}
	}
	if err := box.Then("OnPaid", 0).Within(time.Hour).Call("pay", 1); err == nil {
		t.Error("a call may take an hour")
	}
	r.waitsForNothing(7)
}

// A call times out while nobody answers, and the answer that comes later is counted.
func TestCallTimesOut(t *testing.T) {
	r := newRig(t, 2)
	r.two()
	r.hold = flowing(8, 7)
	if err := r.cellOf(7, 8).Then("OnPaid", 0).Within(time.Second).Call("pay", 1); err != nil {
		t.Fatal(err)
	}
	r.tick(12)
	r.diary(7, "pay of 0.8: entity: no answer came in time;")
	r.hold = nil
	r.calm()
	r.diary(7, "pay of 0.8: entity: no answer came in time;")
	if n := r.apps[0].count.LateAnswers; n != 1 {
		t.Errorf("%d late answers", n)
	}
}

// What a real asked travels with it, and is in its backups: the answer comes once, also to a restored
// one that had heard it before.
func TestAnswersFollowTheCaller(t *testing.T) {
	r := newRig(t, 3)
	r.create(7, -50, 1)
	r.create(8, 500, 1)
	r.tick(5)
	r.clean()
	r.hold = flowing(8, 7)
	if err := r.cellOf(7, 8).Then("OnPaid", 3).Call("pay", 1); err != nil {
		t.Fatal(err)
	}
	r.tick(1)
	r.move(7, 60)
	r.tick(20)
	if rec := r.apps[1].population.find(7); rec == nil || rec.real == nil {
		t.Fatal("it has not moved")
	}
	r.clean()
	b := *r.backUp(7)
	r.hold = nil
	r.tick(2)
	want := "pay of 0.8: 99 left by avatar, user 3;"
	r.diary(7, want)
	// It dies with what it has heard.
	r.apps[1].cell.drop(r.real(7))
	r.restore(7, 60, b.Parts, b.Handled)
	r.tick(20)
	r.diary(7, "restored;client true;"+want)
	r.calm()
}

// What a backup has kept for others is not handled twice.
func TestRestoredCallerIsNotHeardTwice(t *testing.T) {
	r := newRig(t, 2)
	r.two()
	for n := range uint32(3) {
		if err := r.cellOf(7, 8).Call("hit", n); err != nil {
			t.Fatal(err)
		}
	}
	b := *r.backUp(7)
	if err := r.cellOf(7, 8).Call("hit", 3); err != nil {
		t.Fatal(err)
	}
	r.tick(2)
	r.diary(8, "hit 0;hit 1;hit 2;hit 3;")
	r.apps[0].cell.drop(r.real(7))
	r.restore(7, -50, b.Parts, b.Handled)
	for n := range uint32(2) {
		if err := r.cellOf(7, 8).Call("hit", 10+n); err != nil {
			t.Fatal(err)
		}
	}
	r.tick(20)
	r.diary(8, "hit 0;hit 1;hit 2;hit 3;hit 10;hit 11;")
}

// The calls that a message of the base causes are handled once each when a restored caller makes them
// again, also several of one target.
func TestCausedCallsAreHandledOnce(t *testing.T) {
	r := newRig(t, 2)
	r.two()
	r.tick(1)
	b := *r.bases[7].backup
	hook := func(a *Avatar, what string) {
		if strings.HasPrefix(what, "hit") {
			_ = a.Lookup(8, "Avatar", entity.CellMailbox).Call("hit", 1)
			_ = a.Lookup(8, "Avatar", entity.CellMailbox).Then("OnPaid", 0).Call("pay", 2)
		}
	}
	r.avatar(7).hook = hook
	r.call(7, hitMethod, arg(9)...)
	r.pump()
	r.tick(2)
	r.diary(8, "hit 1;pay 2 for 0.7;")
	handled := b.Handled
	r.apps[0].cell.drop(r.real(7))
	sent := r.bases[7].out.Last()
	r.hold = func(p packet) bool { m, is := p.m.(*flow.Message); return is && m.FromPart == entity.BasePart }
	r.restore(7, -50, b.Parts, handled)
	r.avatar(7).hook = hook
	r.hold = nil
	r.resend(7)
	r.tick(20)
	if r.bases[7].out.Last() != sent {
		t.Fatal("something new was sent")
	}
	r.diary(8, "hit 1;pay 2 for 0.7;")
	if got := r.avatar(7).Diary.Get(); !strings.HasSuffix(got, "hit 9;pay of 0.8: 98 left by avatar, user 0;") {
		t.Errorf("the caller has %q", got)
	}
}

// payAgain has an Avatar pay the cell part of 8 from within a method, as pay does from outside.
func (r *rig) payAgain(a *Avatar, n uint32) {
	if err := a.Lookup(8, "Avatar", entity.CellMailbox).Then("OnPaid", int64(n)).Call("pay", n); err != nil {
		r.t.Fatal(err)
	}
}

// An answer that is ahead of the base, which lets a restored caller make the call again, waits for the
// call: nobody would answer that a second time.
func TestAnswerWaitsForTheCallMadeAgain(t *testing.T) {
	r := newRig(t, 2)
	r.two()
	r.pay(7, 8, 1) // so both know each other
	r.calm()
	b := *r.backUp(7)
	hook := func(a *Avatar, what string) {
		if strings.HasPrefix(what, "hit") {
			r.payAgain(a, 2)
		}
	}
	r.avatar(7).hook = hook
	r.call(7, hitMethod, arg(9)...)
	r.pump()
	r.tick(2)
	r.diary(8, "pay 1 for 0.7;pay 2 for 0.7;")
	r.apps[0].cell.drop(r.real(7))
	ahead := 0
	r.hold = func(p packet) bool {
		m, is := p.m.(*flow.Message)
		if is && m.From == 8 && m.To == 7 {
			ahead++
		}
		return is && m.From == 7 && m.FromPart == entity.BasePart
	}
	r.restore(7, -50, b.Parts, b.Handled)
	r.avatar(7).hook = hook
	r.tick(30)
	if ahead == 0 {
		t.Fatal("nothing was ahead")
	}
	r.hold = nil
	r.resend(7)
	r.tick(int(flow.ResendMost / tickPeriod))
	r.calm()
	r.diary(8, "pay 1 for 0.7;pay 2 for 0.7;")
	if got := r.avatar(7).Diary.Get(); !strings.HasSuffix(got, "hit 9;pay of 0.8: 98 left by avatar, user 2;") {
		t.Errorf("the caller has %q", got)
	}
	if a := r.apps[0]; a.count.LateAnswers != 0 || a.count.EarlyAnswers == 0 {
		t.Errorf("%d answers were late, %d early", a.count.LateAnswers, a.count.EarlyAnswers)
	}
}

// The base of the restored caller goes on in another life, and does not know the message any more
// that had caused the call: its first word ends the wait, and what comes after the answer is heard.
func TestAnswerToWhatTheBaseHasForgotten(t *testing.T) {
	r := newRig(t, 2)
	r.two()
	r.pay(7, 8, 1) // so both know each other
	r.calm()
	b := *r.backUp(7)
	r.avatar(7).hook = func(a *Avatar, what string) { r.payAgain(a, 2) }
	r.hold = flowing(8, 7)
	r.call(7, hitMethod, arg(9)...)
	r.pump()
	r.tick(2)
	r.diary(8, "pay 1 for 0.7;pay 2 for 0.7;")
	r.apps[0].cell.drop(r.real(7))
	r.hold = nil
	last := b.Handled.Number()
	r.bases[7].out = flow.NewSender(last) // as its copy has it
	r.restore(7, -50, b.Parts, b.Handled)
	waits := func() int { return r.real(8).known(7, entity.CellPart).out.Unreceived() }
	r.tick(int(flow.ResendMost / tickPeriod))
	if a := r.apps[0]; waits() == 0 || a.count.EarlyAnswers == 0 {
		t.Fatalf("%d messages wait, %d answers were early", waits(), a.count.EarlyAnswers)
	}
	word := flow.Session{Number: r.bases[7].session, Room: 900}
	r.queue = append(r.queue, packet{r.base, r.bases[7].app, &flow.Message{
		From: 7, FromPart: entity.BasePart, To: 7, ToPart: entity.CellPart, Incarnation: 1, Born: 1, Low: last + 1, Number: last + 1,
		Reply: r.base, Payload: word.Append(nil, flow.SetClientPayload),
	}})
	r.pump()
	r.tick(int(flow.ResendMost / tickPeriod))
	if a := r.apps[0]; waits() != 0 || a.count.LateAnswers != 1 {
		t.Errorf("%d messages wait, %d answers were late", waits(), a.count.LateAnswers)
	}
}

// A target that has no flow with a restored caller in its backup hears of the new life by the call that
// is made again, and says its answer again at once.
func TestAnswerToACallerThatForgotTheFlow(t *testing.T) {
	r := newRig(t, 2)
	r.create(7, -300, 1) // nobody there has a ghost of it
	r.create(8, 300, 1)
	r.tick(5)
	r.clean()
	b := *r.backUp(7)
	hook := func(a *Avatar, what string) {
		if strings.HasPrefix(what, "hit") {
			_ = a.Lookup(8, "Avatar", entity.CellMailbox).Then("OnPaid", 0).Call("pay", 2)
		}
	}
	r.avatar(7).hook = hook
	r.call(7, hitMethod, arg(9)...)
	r.tick(2)
	r.diary(7, "hit 9;pay of 0.8: 98 left by avatar, user 0;")
	r.apps[0].cell.drop(r.real(7))
	r.hold = func(p packet) bool { m, is := p.m.(*flow.Message); return is && m.FromPart == entity.BasePart }
	r.restore(7, -300, b.Parts, b.Handled)
	r.avatar(7).hook = hook
	r.hold = nil
	r.resend(7)
	r.tick(5)
	r.diary(8, "pay 2 for 0.7;")
	if got := r.avatar(7).Diary.Get(); !strings.HasSuffix(got, "hit 9;pay of 0.8: 98 left by avatar, user 0;") {
		t.Errorf("the caller has %q", got)
	}
	r.calm()
}

// A restored cell part tells the bases of others that it is another one, though it has not heard where
// they are: what they have said since its backup, they must say again.
func TestRestoredTellsTheBasesOfOthers(t *testing.T) {
	r := newRig(t, 2)
	r.two()
	call := flow.ServerCall{Caller: 8, CallerPart: entity.BasePart, Part: entity.CellPart, Method: hitMethod, Args: arg(1)}
	r.queue = append(r.queue, packet{r.base, r.bases[7].app, &flow.Message{From: 8, FromPart: entity.BasePart, To: 7, ToPart: entity.CellPart,
		Incarnation: 1, Born: 1, Low: 1, Number: 1, Reply: r.base, Payload: call.Append(nil)}})
	r.pump()
	r.diary(7, "hit 1;")
	b := *r.backUp(7)
	r.apps[0].cell.drop(r.real(7))
	told := 0
	r.hold = func(p packet) bool {
		if a, is := p.m.(*flow.Ack); is && p.to == r.base && a.To == 8 && a.ToPart == entity.BasePart && a.From == 7 && a.Life == 2 && a.Number == 1 {
			told++
		}
		return false
	}
	r.restore(7, -50, b.Parts, b.Handled)
	r.tick(2)
	if told != 1 {
		t.Errorf("it told the base %d times", told)
	}
}

// A caller hears at once that its target has ended, also of what that has handled and what it could no
// longer answer.
func TestTargetEndsBeforeItsAnswerIsHeard(t *testing.T) {
	r := newRig(t, 2)
	r.two()
	for n := range int64(2) {
		if n == 1 { // the first was handled, and its answer died with the cell part
			r.tick(3)
			r.apps[1].cell.drop(r.real(8))
			r.hold = nil
			r.queue = nil
			r.bases[8].got = append(r.bases[8].got, (&flow.Gone{}).Append(nil))
		} else {
			r.hold = flowing(8, 7)
		}
		if err := r.cellOf(7, 8).Then("OnPaid", n).Call("pay", 1); err != nil {
			t.Fatal(err)
		}
	}
	r.tick(int(2 * flow.ResendAfter / tickPeriod))
	if got, want := r.avatar(7).Diary.Get(), "pay of 0.8: entity: there is no such entity: the target has ended;"; got != want+want {
		t.Errorf("it heard %q, want that both failed", got)
	}
	r.waitsForNothing(7)
}

// A cell part calls its own methods at once, with an answer, and not without end.
func TestOwnCalls(t *testing.T) {
	r := newRig(t, 1)
	r.two()
	a := r.avatar(7)
	if err := a.Cell().Then("OnPaid", 5).Call("pay", 3); err != nil {
		t.Fatal(err)
	}
	r.diary(7, "pay 3 for 0.7;pay of 0.7: 97 left by avatar, user 5;")
	deep := 0
	var last error
	a.hook = func(a *Avatar, what string) {
		if strings.HasPrefix(what, "hit") {
			deep++
			if err := a.Cell().Call("hit", 1); err != nil {
				last = err
			}
		}
	}
	_ = a.Cell().Call("hit", 1)
	if deep != maxNested || !errors.Is(last, entity.ErrTooMany) {
		t.Errorf("%d deep: %v", deep, last)
	}
}

// A script speaks at its own client in the name of whom that sees, and of nobody else.
func TestClientEntity(t *testing.T) {
	r := newRig(t, 1)
	r.create(7, -50, 1)
	r.create(8, -60, 1)
	r.tick(5)
	if err := r.real(7).ClientEntity(8).Call("say", 4); err != nil {
		t.Fatal(err)
	}
	r.tick(2)
	heard := 0
	ids, bodies := r.bundles(7)
	for i, id := range ids {
		var m protocol.Call
		if id == protocol.CallID && m.Parse(bodies[i]) == nil && m.ID == 8 {
			heard++
		}
	}
	if heard != 1 {
		t.Errorf("heard %d times", heard)
	}
	r.move(8, 500)
	r.tick(5)
	if err := r.real(7).ClientEntity(8).Call("say", 4); !errors.Is(err, ErrNotSeen) {
		t.Errorf("out of sight: %v", err)
	}
}

// Whoever walks to and fro over a line gives up a target that is nowhere no later than others, and
// forgets flows that rest.
func TestFlowsOfAWalkerEnd(t *testing.T) {
	r := newRig(t, 2)
	r.two()
	walk := func(d time.Duration) {
		for step := range int(d / tickPeriod) {
			if step%40 == 0 {
				r.move(7, 60-float32(step/40%2)*120)
			}
			r.tick(1)
		}
	}
	if err := r.cellOf(7, 8).Call("hit", 1); err != nil {
		t.Fatal(err)
	}
	if err := r.cellOf(7, 99).Then("OnPaid", 0).Within(time.Minute).Call("pay", 1); err != nil {
		t.Fatal(err)
	}
	walk(FlowGiveUp + 2*time.Second)
	if hops := r.real(7).Order().Hop; hops < 4 {
		t.Fatalf("it was handed over %d times", hops)
	}
	if got := r.avatar(7).Diary.Get(); !strings.Contains(got, "pay of 0.99: "+errNowhere.Error()) {
		t.Errorf("it heard %q", got)
	}
	walk(r.real(7).lease())
	if n := len(r.real(7).flows); n != 1 {
		t.Errorf("%d flows are left", n)
	}
}

// A cell part without a base is found where its mailbox says that it was made, and followed; that it
// endsAsTarget destroys a cell part that 7 calls by a mailbox: the next call says so.
func (r *rig) endsAsTarget(id entity.ID, box entity.Mailbox) {
	r.t.Helper()
	r.real(id).Destroy()
	r.tick(3)
	if err := box.Then("OnPaid", 2).Call("pay", 1); err != nil {
		r.t.Fatal(err)
	}
	r.tick(3)
	r.diary(7, "pay of 0.1001: entity: there is no such entity: the target has ended;")
}

// has ended is told at once.
func TestCallsOfEntitiesWithoutBase(t *testing.T) {
	r := newRig(t, 3)
	r.create(7, -50, 1)
	r.tick(2)
	a := r.apps[2]
	id, err := a.cell.Spawn("Avatar", property.Vector3{X: 500}, property.Vector3{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.clean()
	box := r.real(7).Mailbox(r.real(id).MailboxValue())
	if err := box.Then("OnPaid", 1).Call("pay", 1); err != nil {
		t.Fatal(err)
	}
	r.tick(3)
	r.diary(7, "pay of 0.1001: 99 left by avatar, user 1;")
	r.clean()
	r.endsAsTarget(id, box)
}

// A cell part without a base that has gone far away is still called from where it was, and so is
// one that came back and went elsewhere; that it has ended is told by nobody but the app where it
// has.
func TestCallsOfWhoWentAway(t *testing.T) {
	r := newRig(t, 3)
	r.create(7, -50, 1)
	r.tick(2)
	id, err := r.apps[0].cell.Spawn("Avatar", property.Vector3{X: -60}, property.Vector3{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.tick(2)
	box := r.real(7).Mailbox(r.real(id).MailboxValue())
	pay := func() {
		t.Helper()
		r.clean()
		if err := box.Then("OnPaid", 1).Call("pay", 1); err != nil {
			t.Fatal(err)
		}
		r.tick(5)
		r.diary(7, "pay of 0.1001: 99 left by avatar, user 1;")
	}
	pay()
	for _, x := range []float32{500, -60, 100, 500} {
		r.move(id, x)
		r.tick(120) // until the first app has no ghost of it
		pay()
	}
	r.move(id, -60)
	r.tick(120)
	r.clean()
	r.endsAsTarget(id, box)
	if to := r.apps[0].population.wentTo(id).To; !to.IsZero() {
		t.Errorf("it is still followed to %v", to)
	}
}
