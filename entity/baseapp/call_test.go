package baseapp

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/property"
)

// Entities of other apps, by the allocators of joinedRig.
const (
	ofW = entity.ID(14<<32 | 1) // its base is on appW
	ofX = entity.ID(11<<32 | 1) // it has none; appX made it
)

func (r *rig) heard(what string) int {
	n := 0
	for _, e := range r.events {
		if strings.HasPrefix(e, what) {
			n++
		}
	}
	return n
}

// Bases of one app call each other and themselves.
func TestBasesCallEachOther(t *testing.T) {
	r := joinedRig(t)
	a, v := r.spawn()
	b, _ := r.spawn()
	to := v.Lookup(b, "Avatar", entity.BaseMailbox)
	if err := errors.Join(to.Call("hidden"), to.Then("OnGift", 3).Call("give", 30), v.Mailbox(to.Value()).Then("OnGift", 4).Call("give", -1)); err != nil {
		t.Fatal(err)
	}
	r.tick()
	r.tick()
	for _, want := range []string{"hidden", "give 30 for " + a.String(), "give of " + b.String() + ": 70, user 3", "give of " + b.String() + ": no (5)"} {
		if r.heard(want) != 1 {
			t.Errorf("%q: %d times in %q", want, r.heard(want), r.events)
		}
	}
	if err := v.Lookup(a, "Avatar", entity.BaseMailbox).Then("OnGift", 5).Call("give", 1); err != nil || r.heard("give of "+a.String()+": 99, user 5") != 1 {
		t.Errorf("its own call: %v, %q", err, r.events)
	}
	r.pass(PeerLease * 2)
	if n := len(r.a.byID[a].talks) + len(r.a.talking.active) + len(r.a.talking.aging); n != 0 {
		t.Errorf("%d flows are left", n)
	}
}

// A call to a base that is gone is answered at once, and so is one to a base that dies with its app.
func TestCallsToTheGone(t *testing.T) {
	r := joinedRig(t)
	_, v := r.spawn()
	b, gone := r.spawn()
	gone.Destroy()
	if err := v.Lookup(b, "Avatar", entity.BaseMailbox).Then("OnGift", 0).Call("give", 1); err != nil {
		t.Fatal(err)
	}
	r.tick()
	r.tick()
	if r.heard("give of "+b.String()+": entity: there is no such entity") != 1 {
		t.Errorf("it heard %q", r.events)
	}
	if err := v.Lookup(ofW, "Avatar", entity.BaseMailbox).Then("OnGift", 0).Call("give", 1); err != nil {
		t.Fatal(err)
	}
	if m := one(t, told[flow.Message](r, appW)); m.To != ofW || m.ToPart != entity.BasePart || m.Reply != self {
		t.Errorf("sent %+v", m)
	}
	r.say(r.managers, &wire.AppDead{Role: wire.BaseApp, App: appW})
	r.tick()
	if r.heard("give of "+ofW.String()+": entity: there is no such entity") != 1 {
		t.Errorf("it heard %q", r.events)
	}
}

// call is a call of another entity's part.
func call(from entity.ID, part entity.Part, to entity.ID, number uint64, caller entity.ID) *flow.Message {
	x := flow.ServerCall{Type: avatarType, Caller: caller, CallerPart: part, Part: entity.BasePart, Method: 0}
	return &flow.Message{From: from, FromPart: part, To: to, ToPart: entity.BasePart, Incarnation: 1, Born: 1, Low: number, Number: number,
		Reply: appW, Payload: x.Append(nil)}
}

// Only the app of a base speaks for it, only CellApps for cell parts, and nobody in another's name.
func TestForgedCalls(t *testing.T) {
	r := joinedRig(t)
	id, _ := r.spawn()
	r.tell(appW, call(ofW, entity.BasePart, id, 1, ofW))
	r.tell(appX, call(ofX, entity.CellPart, id, 1, ofX))
	if n := r.heard("hidden"); n != 2 {
		t.Fatalf("%d honest calls of 2 are handled", n)
	}
	n := uint64(1)
	next := func() uint64 { n++; return n } // the lies come in any order
	for name, lie := range map[string]func(){
		"a base of another app":      func() { r.tell(appX, call(ofW, entity.BasePart, id, 2, ofW)) },
		"a base that is here":        func() { r.tell(appW, call(id, entity.BasePart, id, 2, id)) },
		"a cell part from a BaseApp": func() { r.tell(appW, call(ofX, entity.CellPart, id, 2, ofX)) },
		"in the name of another":     func() { r.tell(appW, call(ofW, entity.BasePart, id, 2, ofX)) },
		"a client's call": func() {
			m := call(ofX, entity.CellPart, id, next(), ofX)
			m.Payload = []byte{64, 0, 0, 0}
			r.tell(appX, m)
		},
		"its own cell part's backup": func() {
			m := call(ofX, entity.CellPart, id, next(), ofX)
			m.Payload = backup(1, 0, 1, 1, "x")
			r.tell(appX, m)
		},
		"the end of another's base": func() {
			r.tell(appX, &flow.Ack{To: id, ToPart: entity.BasePart, From: ofW, FromPart: entity.BasePart, Gone: true})
		},
		"an ack of a base from a cell": func() {
			r.tell(appX, &flow.Ack{To: id, ToPart: entity.BasePart, From: ofW, FromPart: entity.BasePart, Number: 9})
		},
	} {
		before := r.a.Counters().Refused
		lie()
		if n := r.heard("hidden"); n != 2 || r.a.Counters().Refused != before+1 {
			t.Errorf("%s: %d calls handled, %d refused", name, n-2, r.a.Counters().Refused-before)
		}
	}
}

// A base that goes leaves behind what nobody has acknowledged; its flows cost nothing once they rest.
func TestDepartedBaseIsStillHeard(t *testing.T) {
	r := joinedRig(t)
	_, v := r.spawn()
	if err := v.Lookup(ofW, "Avatar", entity.BaseMailbox).Call("hidden"); err != nil {
		t.Fatal(err)
	}
	m := one(t, told[flow.Message](r, appW))
	v.Destroy()
	r.pass(3 * flow.ResendAfter)
	if again := told[flow.Message](r, appW); len(again) == 0 || again[0].Number != m.Number {
		t.Errorf("sent again: %+v", again)
	}
	r.tell(appW, &flow.Ack{To: m.From, ToPart: entity.BasePart, From: ofW, FromPart: entity.BasePart, Number: m.Number, Settled: m.Number})
	r.tick()
	if len(r.a.talking.active)+len(r.a.talking.departed) != 0 {
		t.Errorf("%d active, %d departed", len(r.a.talking.active), len(r.a.talking.departed))
	}
}

// A base hears by a call that a restored cell part makes again that it must say its answer again.
func TestAnswerIsSaidAgainToTheRestored(t *testing.T) {
	r := joinedRig(t)
	id, v := r.spawn()
	give := slices.IndexFunc(v.Def().BaseMethods, func(m *property.Method) bool { return m.Name == "give" })
	calls := func(life uint32) (answers []flow.Message) {
		t.Helper()
		x := flow.ServerCall{Type: avatarType, Caller: ofW, CallerPart: entity.CellPart, Cause: 5, Turn: 1, Request: flow.RequestID{Cause: 5, Number: 1}, Within: time.Second,
			Part: entity.BasePart, Method: uint16(give), Args: []byte{30, 0, 0, 0}}
		r.tell(appX, &flow.Message{From: ofW, FromPart: entity.CellPart, To: id, ToPart: entity.BasePart, Incarnation: life, Born: life,
			Low: uint64(life), Number: uint64(life), Reply: appX, Payload: x.Append(nil)})
		r.tick()
		return told[flow.Message](r, appW) // its base passes them on
	}
	first := one(t, calls(1))
	r.tell(appX, &flow.Ack{To: id, ToPart: entity.BasePart, From: ofW, FromPart: entity.CellPart, Life: 1, Number: first.Number})
	r.tick()
	if again := one(t, calls(2)); again.Number != first.Number || !bytes.Equal(again.Payload, first.Payload) {
		t.Errorf("it says %+v, not %+v", again, first)
	}
	if n := r.heard("give"); n != 1 {
		t.Errorf("it was handled %d times", n)
	}
}

// A base hears at once that a cell part has ended that had handled its call and has not answered.
func TestCallHandledByOneThatEnds(t *testing.T) {
	r := joinedRig(t)
	id, v := r.spawn()
	if err := v.Lookup(ofW, "Avatar", entity.CellViaBase).Then("OnGift", 0).Call("hurt", 1); err != nil {
		t.Fatal(err)
	}
	m := one(t, told[flow.Message](r, appW))
	r.tell(appX, &flow.Ack{To: id, ToPart: entity.BasePart, From: ofW, FromPart: entity.CellPart, Life: 1, Number: m.Number})
	r.tell(appW, &flow.Ack{To: id, ToPart: entity.BasePart, From: ofW, FromPart: entity.CellPart, Gone: true})
	r.tick()
	if n := r.heard("hurt of " + ofW.String() + ": entity: there is no such entity"); n != 1 {
		t.Errorf("it heard %d times of it: %q", n, r.events)
	}
}

// A client's method is called by way of the base, and needs a client.
func TestCallsOfClientsFromElsewhere(t *testing.T) {
	r := joinedRig(t)
	p, id, _ := r.play("ann")
	chat := func(number uint64, method uint16) {
		x := flow.ServerCall{Type: avatarType, Caller: ofX, CallerPart: entity.CellPart, Part: entity.ClientPart, Method: method, Args: []byte{1, 'x'}}
		m := call(ofX, entity.CellPart, id, number, ofX)
		m.Payload = x.Append(nil)
		r.tell(appX, m)
	}
	r.take(r.net.peers[p.ch])
	before := r.a.Counters().Refused
	chat(1, 0)
	chat(2, 9) // there is no such method
	if n := len(r.take(r.net.peers[p.ch])); n != 1 || r.a.Counters().Refused != before+1 {
		t.Errorf("the client hears %d calls, %d are refused", n, r.a.Counters().Refused-before)
	}
}

// A call whose arguments are larger than its method should have is made, and counted.
func TestOversizeCall(t *testing.T) {
	r := joinedRig(t)
	r.playLive()
	_, v := r.spawn()
	r.createCell(v)
	hurt := r.schema.Type("Avatar").CellMethod("hurt")
	for _, limit := range []int{0, 4, 3} { // bytes of its argument
		hurt.WarnBytes = limit
		if err := v.Cell().Call("hurt", int32(1)); err != nil {
			t.Error(err)
		}
	}
	if n := r.a.Counters().OversizeCalls; n != 1 {
		t.Errorf("%d calls are counted", n)
	}
}

// A mailbox of another type than the entity's would call the method that has the same index there.
func TestCallAsAnotherType(t *testing.T) {
	r := joinedRig(t)
	id, v := r.spawn()
	as := func(typ uint16, part entity.Part, number uint64) {
		x := flow.ServerCall{Caller: ofW, CallerPart: entity.BasePart, Request: flow.RequestID{Life: 1, Number: number}, Within: time.Minute, Part: part, Type: typ}
		m := call(ofW, entity.BasePart, id, number, ofW)
		m.Payload = x.Append(nil)
		r.tell(appW, m)
	}
	as(avatarType-1, entity.BasePart, 1)
	as(avatarType-1, entity.ClientPart, 2)
	as(avatarType+9, entity.BasePart, 3)
	as(avatarType, entity.BasePart, 4)
	if n := r.heard("hidden"); n != 1 {
		t.Errorf("it was called %d times", n)
	}
	want := []string{"of type Avatar, and was called as Engine", "of type Avatar, and was called as Engine", "called as type that nobody has", ""}
	for _, m := range told[flow.Message](r, appW) {
		if flow.Payload(m.Payload[0]) != flow.AnswerPayload {
			continue
		}
		a := parsed[flow.Answer](t, m.Payload[1:])
		text := want[a.Request.Number-1]
		if err := a.Err(); (err == nil) != (text == "") || err != nil && (!errors.Is(err, entity.ErrNoMethod) || !strings.Contains(err.Error(), text)) {
			t.Errorf("call %d is answered by %v", a.Request.Number, err)
		}
		want[a.Request.Number-1] = "answered once"
	}
	if slices.ContainsFunc(want, func(text string) bool { return text != "answered once" }) {
		t.Errorf("not all are answered: %q", want)
	}
	if err := v.Lookup(id, "Engine", entity.BaseMailbox).Call("start"); !errors.Is(err, entity.ErrNoMethod) || !strings.Contains(err.Error(), "called as Engine") {
		t.Errorf("its own call: %v", err)
	}
}
