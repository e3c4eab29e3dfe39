package baseapp

import (
	"slices"
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/migrate"
)

// ending is a base that ends when it is called.
func (r *rig) ending() entity.ID {
	r.t.Helper()
	id, _ := r.spawn()
	r.do["hidden"] = func(v *avatar) { v.Destroy() }
	return id
}

// acks are the acks that an app was sent of a flow to a base, the last words among them.
func (r *rig) acks(to mercury.Address, of entity.ID) (list []flow.Ack) {
	r.t.Helper()
	for _, a := range told[flow.Ack](r, to) {
		if a.From == of {
			list = append(list, a)
		}
	}
	return list
}

// A call of a base of this app in which the target ends has been handled, and is answered.
func TestCallThatEndsItsBase(t *testing.T) {
	r := joinedRig(t)
	a, v := r.spawn()
	b, _ := r.spawn()
	r.do["give 30 for "+a.String()] = func(v *avatar) { v.Destroy() }
	to := v.Lookup(b, "Avatar", entity.BaseMailbox)
	for range 2 {
		if err := to.Then("OnGift", 3).Call("give", 30); err != nil {
			t.Fatal(err)
		}
	}
	r.pass(5 * time.Second)
	if r.heard("give 30") != 1 || r.heard("give of "+b.String()+": 70, user 3") != 1 || r.heard("give of "+b.String()+": entity: there is no such entity") != 1 {
		t.Errorf("they heard %q", r.events)
	}
	if n := r.a.report.Refused; n != 1 {
		t.Errorf("%d calls were given up, want the second", n)
	}
	if n := len(r.a.talking.active) + len(r.a.talking.departed); n != 0 {
		t.Errorf("%d flows do not rest", n)
	}
}

// A base acks what it has handled before it ends. Who misses that hears it with the end.
func TestLastWordsOfBase(t *testing.T) {
	r := joinedRig(t)
	id := r.ending()
	r.tell(appW, call(ofW, entity.BasePart, id, 5, ofW))
	if a := one(t, r.acks(appW, id)); a.Gone || a.Number != 5 || a.Settled != 5 {
		t.Errorf("the last ack is %+v", a)
	}
	for range 2 {
		r.tell(appW, call(ofW, entity.BasePart, id, 5, ofW)) // the ack was lost
		if a := one(t, r.acks(appW, id)); !a.Gone || a.Incarnation != 1 || a.Stream != 1 || a.Number != 5 {
			t.Errorf("it is told %+v", a)
		}
	}
	m := call(ofW, entity.BasePart, id, 6, ofW)
	m.Incarnation, m.Born = 2, 2
	r.tell(appW, m) // its sender was restored
	if a := one(t, r.acks(appW, id)); !a.Gone || a.Incarnation != 2 || a.Stream != 1 || a.Number != 5 {
		t.Errorf("the restored one is told %+v", a)
	}
	m.Incarnation, m.Born = 0, 0
	r.tell(appW, m) // an older one than was heard
	if a := one(t, r.acks(appW, id)); !a.Gone || a.Incarnation != 0 || a.Number != 0 {
		t.Errorf("an older one is told %+v", a)
	}
	r.pass(flow.LastWordsLease + time.Second)
	r.tell(appW, call(ofW, entity.BasePart, id, 5, ofW))
	if a := one(t, r.acks(appW, id)); !a.Gone || a.Number != 0 {
		t.Errorf("after the lease it is told %+v", a)
	}
}

// What came before its turn, and waits for the call in which the base ends, is not handled.
func TestEarlyCallOfBaseThatEnds(t *testing.T) {
	r := joinedRig(t)
	id := r.ending()
	for _, n := range []uint64{2, 1} {
		m := call(ofW, entity.BasePart, id, n, ofW)
		m.Low = 1
		r.tell(appW, m)
	}
	if a := one(t, r.acks(appW, id)); a.Number != 1 {
		t.Errorf("the last ack is %+v", a)
	}
	r.tell(appW, call(ofW, entity.BasePart, id, 2, ofW))
	if a := one(t, r.acks(appW, id)); !a.Gone || a.Number != 1 {
		t.Errorf("it is told %+v", a)
	}
	if n := r.heard("hidden"); n != 1 {
		t.Errorf("%d calls were handled", n)
	}
}

// A caller is told what a base had handled that has ended, and does not give that up.
func TestCallerHearsLastWords(t *testing.T) {
	r := joinedRig(t)
	id, v := r.spawn()
	to := v.Lookup(ofW, "Avatar", entity.BaseMailbox)
	for range 2 {
		if err := to.Then("OnGift", 0).Call("give", 1); err != nil {
			t.Fatal(err)
		}
	}
	m := told[flow.Message](r, appW)
	r.tell(appW, &flow.Ack{To: id, ToPart: entity.BasePart, From: ofW, FromPart: entity.BasePart, Gone: true, Number: m[0].Number, Settled: m[0].Number})
	r.tick()
	if n := r.heard("give of " + ofW.String() + ": entity: there is no such entity"); n != 1 || r.a.report.Refused != 1 {
		t.Errorf("%d calls fail, %d are given up", n, r.a.report.Refused)
	}
	answer := flow.Answer{Request: flow.RequestID{Number: 1}, Results: []byte{70, 0, 0, 0}}
	x := call(ofW, entity.BasePart, id, 1, ofW)
	x.Payload = answer.Append(nil)
	r.tell(appW, x)
	if n := r.heard("give of " + ofW.String() + ": 70"); n != 1 {
		t.Errorf("the other one is answered %d times: %q", n, r.events)
	}
}

// A base knows what its cell part had handled that has ended.
func TestLastWordsOfCellPart(t *testing.T) {
	r := joinedRig(t)
	id, _ := r.live()
	gone := flow.Gone{Heard: []flow.LastWord{{From: 77, FromPart: entity.CellPart, Stream: 2, Number: 9}}}
	r.up(appX, id, 1, 1, gone.Append(nil))
	r.take(appY)
	for stream, want := range map[uint32]uint64{1: 0, 2: 9, 3: 9} {
		c := flow.MethodCall{Cause: 1}
		r.tell(appY, &flow.Message{From: 77, FromPart: entity.CellPart, To: id, ToPart: entity.CellPart, Incarnation: stream, Low: 1, Number: 9,
			Reply: appY, Payload: c.Append(nil, flow.RemoteCallPayload)})
		if a := one(t, r.acks(appY, id)); !a.Gone || a.Incarnation != stream || a.Number != want {
			t.Errorf("stream %d is told %+v", stream, a)
		}
	}
}

// As long as a copy may bring the base back, what it has handled is not settled.
func TestLastAckOfProtectedBase(t *testing.T) {
	c := newCopier(t)
	c.pass(2 * time.Second)
	id := c.ending()
	c.pass(time.Second)
	c.net.sent = nil
	c.mute[appW] = true
	c.tell(appX, call(ofX, entity.CellPart, id, 5, ofX))
	m := call(ofX, entity.CellPart, id, 5, ofX)
	if a := one(t, c.rig.acks(m.Reply, id)); a.Gone || a.Number != 5 || a.Settled != 0 {
		t.Errorf("the last ack is %+v", a)
	}
}

// The next cell part, also one that the heir of the base makes, goes on where the former one ended.
func TestNextCellPartKnowsWhatWasHandled(t *testing.T) {
	for _, late := range []bool{false, true} {
		r := joinedRig(t)
		id, v := r.live()
		gone := flow.Gone{Heard: []flow.LastWord{{From: 77, FromPart: entity.CellPart, Stream: 2, Number: 9, Cause: 3, Turn: 4, Upload: 5}}}
		r.up(appX, id, 1, 1, gone.Append(nil))
		if late {
			r.pass(flow.LastWordsLease)
		}
		var heir base
		heir.app = r.a
		if err := codec.Parse(codec.Append(nil, r.a.byID[id].codeTalks), heir.codeTalks); err != nil || !slices.Equal(heir.former.Heard, gone.Heard) {
			t.Errorf("its heir has %+v, %v", heir.former, err)
		}
		var heard flow.Gone
		err := migrate.EachPart(r.create(id, v).Parts, func(tag migrate.Tag, body []byte) error {
			if tag != migrate.HeardPart {
				return nil
			}
			return heard.Parse(body)
		})
		if err != nil || slices.Equal(heard.Heard, gone.Heard) == late {
			t.Errorf("late %v: the next one is told %+v, %v", late, heard, err)
		}
	}
}
