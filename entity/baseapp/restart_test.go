package baseapp

import (
	"slices"
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/migrate"
	"github.com/cellscape/cellscape/property"
)

// rich is a base with some gold, of which another app holds a copy.
func rich(t *testing.T) (*copier, entity.ID, *avatar) {
	c := newCopier(t)
	c.pass(time.Second)
	id := c.make()
	v := c.script(id)
	v.Gold.Set(7)
	c.tell(appW, call(ofW, entity.BasePart, id, 1, ofW))
	c.pass(3 * time.Second)
	return c, id, v
}

// ask is a call with a result, which is the method "give".
func (c *copier) ask(to entity.ID, number uint64) *flow.Message {
	m := call(ofW, entity.BasePart, to, number, ofW)
	give := slices.IndexFunc(c.script(to).Def().BaseMethods, func(m *property.Method) bool { return m.Name == "give" })
	x := flow.ServerCall{Type: avatarType, Caller: ofW, CallerPart: entity.BasePart, Request: flow.RequestID{Life: 1, Number: number}, Within: time.Minute, Part: entity.BasePart, Method: uint16(give), Args: []byte{30, 0, 0, 0}}
	m.Payload = x.Append(nil)
	return m
}

// answers are the answers and the acks that ofW was sent since the last call.
func (c *copier) answers() (answers []flow.Answer, last flow.Ack) {
	for _, raw := range c.rig.take(appW) {
		switch id, body, _ := wire.Split(raw); id {
		case wire.FlowID:
			m := parsed[flow.Message](c.t, body)
			if p, body, err := flow.SplitPayload(m.Payload); err == nil && p == flow.AnswerPayload {
				answers = append(answers, parsed[flow.Answer](c.t, body))
			}
		case wire.FlowAckID:
			last = parsed[flow.Ack](c.t, body)
		}
	}
	return answers, last
}

// A base whose script panics goes on from its newest copy. What came since comes again, and nobody
// is answered by the life that has panicked.
func TestGoesOnFromItsCopy(t *testing.T) {
	c, id, v := rich(t)
	v.Gold.Set(9)
	what := "give 30 for " + ofW.String()
	c.do[what] = func(v *avatar) {
		delete(c.do, what)
		v.Secret.Set(5)
		panic("boom")
	}
	c.net.sent = nil
	c.tell(appW, c.ask(id, 2))
	c.tick()
	w := c.script(id)
	if w == v || w.Gold.Get() != 7 || w.Secret.Get() != 0 || c.a.byID[id].life() != 1 || c.heard("restored") != 1 {
		t.Fatalf("%d gold in life %d, after %q", w.Gold.Get(), c.a.byID[id].life(), c.events)
	}
	if n := c.a.Counters(); n.Restarted != 1 || n.Errors != 1 {
		t.Errorf("counted %+v", n)
	}
	if got, ack := c.answers(); len(got) != 0 || ack.Life != 1 || ack.Number != 1 {
		t.Errorf("it answered %+v, and acknowledged %+v", got, ack)
	}
	c.tell(appW, c.ask(id, 2))
	if got, _ := c.answers(); len(got) != 1 || got[0].Err() != nil || c.heard(what) != 2 || c.heard("hidden") != 1 {
		t.Errorf("it answered %+v, after %q", got, c.events)
	}
	if err := v.Mailbox(v.Cell().Value()).Call("hidden"); err == nil {
		t.Error("the script of the former life may call")
	}
	v.Destroy()
	c.pass(2 * copyPatience) // the first copy of its next life was not answered
	if b := c.a.byID[id]; b == nil || b.copied.confirmed == 0 || b.copied.restarts != 0 {
		t.Error("it lives on, and others hold a copy of its next life")
	}
}

// Who has begun to speak to a base after its newest copy was made hears at once of its next life, which has
// heard nothing of that, and says it again.
func TestNewcomersSpeakAgain(t *testing.T) {
	c, id, v := rich(t)
	other := ofW + 1
	c.tell(appW, call(other, entity.BasePart, id, 1, other))
	if c.heard("hidden") != 2 {
		t.Fatalf("it heard %q", c.events)
	}
	c.tick()
	c.net.sent = nil
	c.do["hidden"] = func(*avatar) { panic("boom") }
	c.tell(appW, call(ofW, entity.BasePart, id, 2, ofW))
	delete(c.do, "hidden")
	c.tick()
	if w := c.script(id); w == v || c.a.byID[id].life() != 1 {
		t.Fatalf("life %d, after %q", c.a.byID[id].life(), c.events)
	}
	told := false
	for _, raw := range c.rig.take(appW) {
		if msg, body, _ := wire.Split(raw); msg == wire.FlowAckID {
			if a := parsed[flow.Ack](t, body); a.To == other && a.Life == 1 {
				told = a.Number == 0
			}
		}
	}
	if !told {
		t.Error("who spoke to the former life alone is not told that it has to say it again")
	}
	c.tell(appW, call(other, entity.BasePart, id, 1, other))
	if c.heard("hidden") != 4 {
		t.Errorf("it heard %q", c.events)
	}
}

// What a script panics at each time is passed over: the caller hears that it was refused, and what
// the caller said next is handled.
func TestBasePassesOver(t *testing.T) {
	c, id, _ := rich(t)
	c.do["give 30 for "+ofW.String()] = func(*avatar) { panic("boom") }
	c.net.sent = nil
	var got []flow.Answer
	for n := range flow.MaxPanics + 1 {
		if len(got) > 0 {
			t.Fatalf("answered after %d panics", n)
		}
		c.tell(appW, c.ask(id, 2))
		got, _ = c.answers()
	}
	if len(got) != 1 || got[0].Err() == nil || c.heard("give") != flow.MaxPanics {
		t.Errorf("it answered %+v, after %q", got, c.events)
	}
	if n := c.a.Counters(); n.Restarted != flow.MaxPanics || n.PassedOver != 1 {
		t.Errorf("counted %+v", n)
	}
	c.tell(appW, call(ofW, entity.BasePart, id, 3, ofW))
	if c.heard("hidden") != 2 {
		t.Errorf("what came behind it: %q", c.events)
	}
}

// A script that panics again and again over nothing that can be passed over is given up.
func TestPanicsTooOften(t *testing.T) {
	c, id, v := rich(t)
	if _, err := v.AddTimer(3*time.Second, time.Second, "Tock", 0); err != nil {
		t.Fatal(err)
	}
	c.pass(2 * time.Second)
	c.do["tock"] = func(*avatar) { panic("boom") }
	c.pass(20 * time.Second)
	if n := c.a.Counters(); n.Restarted != freeFaults || n.Errors != freeFaults+1 || c.a.byID[id] != nil {
		t.Errorf("counted %+v, it is there: %v", n, c.a.byID[id] != nil)
	}
}

// It ends at once where it always did: before there is a copy, and when nothing protects it.
func TestPanicWithoutACopy(t *testing.T) {
	c := newCopier(t)
	c.do["created"] = func(*avatar) { panic("boom") }
	if _, err := c.start.CreateBase("Avatar", nil); err == nil {
		t.Error("it was made")
	}
	delete(c.do, "created")
	c, id, _ := rich(t)
	c.say(c.managers, &wire.AppDead{Role: wire.BaseApp, App: appW})
	c.pass(3 * time.Second)
	c.do["tock"] = func(*avatar) { panic("boom") }
	_, _ = c.script(id).AddTimer(0, 0, "Tock", 0)
	c.pass(time.Second)
	if c.a.byID[id] != nil || c.a.Counters().Restarted != 0 {
		t.Error("it goes on from a copy of when others held some")
	}
}

// While nothing protects a base, all that it handles is settled, and others forget it. A copy of before, or
// of that time, does not have it, and nobody goes on from that when there is another BaseApp again.
func TestPanicWithACopyOfUnprotectedTimes(t *testing.T) {
	c, id, _ := rich(t)
	hear := func(number uint64) {
		m := call(ofX, entity.CellPart, id, number, ofX)
		m.Reply, m.Low = appX, 1
		c.tell(appX, m)
	}
	c.say(c.managers, &wire.AppDead{Role: wire.BaseApp, App: appW})
	c.pass(time.Second)
	hear(1)
	c.rig.tick()
	if a := c.acks(appX, id); len(a) == 0 || a[len(a)-1].Settled != 1 || c.a.protected() {
		t.Fatalf("protected %t, the call is not settled: %+v", c.a.protected(), a)
	}
	c.pass(time.Second)
	c.take()
	c.baseApp(appV, 15)
	c.a.tickRuling() // at the end of the tick there would be a copy
	c.do["hidden"] = func(*avatar) { panic("boom") }
	hear(2)
	if calls, copies := c.heard("hidden"), c.copiesOf(id); calls != 3 || copies != 0 || !c.a.protected() {
		t.Fatalf("%d calls, %d copies, protected %t", calls, copies, c.a.protected())
	}
	c.pass(time.Second)
	if c.a.byID[id] != nil || c.a.Counters().Restarted != 0 {
		t.Error("it goes on from a copy that lacks what is settled")
	}
}

// hurts is a cell part that handles what its base says, and by how much it was hurt.
type hurts struct {
	flow.Receiver
	by []byte
}

func (h *hurts) hear(c *copier, at mercury.Address) {
	for _, m := range told[flow.Message](c.rig, at) {
		h.AcceptBorn(m.Incarnation, m.Born, m.Low, m.Number, m.Payload, func(p []byte) {
			if flow.Payload(p[0]) == flow.CallCellPayload {
				h.by = append(h.by, p[len(p)-4])
			}
		})
	}
}

// What a base said after its copy has left when its script panics: the cell part has handled it, which
// nobody takes back. What the next life says has the numbers of that, and is handled all the same, also
// by a cell part that is restored; what is in the copy is not handled again.
func TestWhatABrokenBaseSaid(t *testing.T) {
	c, id, v := rich(t)
	c.create(id, v)
	c.current(appX, id, 1, 0, 0)
	var x hurts
	say := func(by int32) { parse(t, c.script(id).Cell().Call("hurt", by)) }
	say(1)
	x.hear(c, appX)
	c.pass(3 * time.Second)
	say(2)
	say(3)
	x.hear(c, appX)
	what := "give 30 for " + ofW.String()
	c.do[what] = func(*avatar) {
		delete(c.do, what)
		say(4)
		panic("boom")
	}
	c.tell(appW, c.ask(id, 2))
	x.hear(c, appX)
	handled := x.Handled()
	if life := c.a.byID[id].life(); life != 1 || handled != flow.MarkOf(0, 4) {
		t.Fatalf("life %d, the cell part has handled %x", life, handled)
	}
	c.current(appX, id, 1, 0, handled)
	c.up(appX, id, 1, 1, backup(1, 0, 1, uint64(handled), "parts"))
	say(5)
	x.hear(c, appX)
	if !slices.Equal(x.by, []byte{1, 2, 3, 4, 5}) || x.Handled().Stream() != 1 || x.Handled().Number() > 4 {
		t.Errorf("it was hurt by %v, and has handled %x", x.by, x.Handled())
	}
	c.pass(time.Second) // what the base has heard of the cell part is in a copy
	c.tell(appX, &migrate.Lost{ID: id, Order: entity.Order{Incarnation: 1}})
	c.rig.pass(time.Second)
	m := c.located(id, appY)
	y := hurts{Receiver: flow.NewReceiver(m.Handled.Stream(), m.Handled.Number())}
	c.current(appY, id, m.Order.Incarnation, 0, m.Handled)
	y.hear(c, appY)
	if !slices.Equal(y.by, []byte{5}) {
		t.Errorf("the restored one was hurt by %v", y.by)
	}
}

// The client of a base that panics loses its channel, and finds its place by its token.
func TestClientOfABrokenBase(t *testing.T) {
	c := newCopier(t)
	c.pass(time.Second)
	p, id, v := c.play("ann")
	v.Gold.Set(7)
	c.pass(3 * time.Second)
	token := c.a.byID[id].seat.token
	c.do["buy sword 3"] = func(*avatar) {
		delete(c.do, "buy sword 3")
		panic("boom")
	}
	d := v.Def().BaseMethod("buy")
	args := append([]byte{5}, "sword\x03\x00\x00\x00"...)
	m := protocol.BaseCall{Method: uint16(d.ExposedIndex), Args: args}
	p.say(m.Append(nil))
	b := c.a.byID[id]
	switch {
	case c.heard("buy sword 3") != 1 || c.a.Counters().Restarted != 1:
		t.Fatalf("heard %q", c.events)
	case !c.net.ended[p.ch] || b.seat == nil || b.seat.client != nil || c.a.seats[token] != b.seat:
		t.Error("the seat is not kept, or the channel has not ended")
	case c.a.accounts["ann"] != b:
		t.Error("the account is not its own")
	}
}

// A name that the next life does not know of is free for others.
func TestNamesOfABrokenBase(t *testing.T) {
	c, id, v := rich(t)
	c.mute[appW] = true // no copy with the name is held; none is made, either
	if err := v.RegisterName("auction", "OnName", 1); err != nil {
		t.Fatal(err)
	}
	ask := one(t, told[wire.RegisterName](c.rig, baseAppMgr))
	c.say(c.bases, &wire.NameHeld{Request: ask.Request, ID: id, Type: 2, App: self})
	c.do["tock"] = func(*avatar) { panic("boom") }
	_, _ = v.AddTimer(0, 0, "Tock", 0)
	c.tick()
	c.answer()
	if len(c.freed) != 1 || c.freed[0] != "auction" || len(c.a.byID[id].names) != 0 {
		t.Errorf("freed %q", c.freed)
	}
}

// So is one that was asked for before the panic, and is given after it.
func TestNameGivenToABrokenBase(t *testing.T) {
	c, id, v := rich(t)
	if err := v.RegisterName("auction", "OnName", 1); err != nil {
		t.Fatal(err)
	}
	ask := one(t, told[wire.RegisterName](c.rig, baseAppMgr))
	c.do["tock"] = func(*avatar) { panic("boom") }
	_, _ = v.AddTimer(0, 0, "Tock", 0)
	c.tick()
	c.say(c.bases, &wire.NameHeld{Request: ask.Request, ID: id, Type: 2, App: self})
	c.answer()
	if len(c.freed) != 1 || c.freed[0] != "auction" {
		t.Errorf("freed %q", c.freed)
	}
}

// The life that begins here is none that an heir would begin from the same copy, or sessions and
// incarnations of two lives would be mixed up.
func TestLivesAreApart(t *testing.T) {
	c, id, _ := rich(t)
	b := c.a.byID[id]
	parts := b.appendParts(nil)
	c.do["tock"] = func(*avatar) { panic("boom") }
	for n := uint32(1); n <= freeFaults; n++ {
		_, _ = c.script(id).AddTimer(0, 0, "Tock", 0)
		c.tick()
		if b := c.a.byID[id]; b.life() != n {
			t.Errorf("life %d after %d panics", b.life(), n)
		}
	}
	r := heir(t)
	if err := r.a.restore(&heritage{id: id, lives: 1, parts: parts}); err != nil {
		t.Fatal(err)
	}
	if life := r.a.byID[id].life(); life <= c.a.byID[id].life() {
		t.Errorf("an heir begins life %d", life)
	}
}
