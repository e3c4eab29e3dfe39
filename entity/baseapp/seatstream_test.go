package baseapp

import (
	"errors"
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/internal/codec"
)

// moved replaces what a base knows of its client by what it would read from a stream of before.
func moved(t testing.TB, r *rig, b *base, stream []byte) {
	t.Helper()
	if b.seat != nil {
		if c := b.seat.client; c != nil {
			c.base = nil
			c.close()
		}
		b.seat.client = nil
		b.leaveSeat()
	}
	rd := codec.NewReader(stream)
	b.readClient(&rd)
	b.passOverSessions(1)
	if err := errors.Join(rd.Close(), b.awaitClient()); err != nil {
		t.Fatal(err)
	}
}

// relays has the cell part say texts to the client.
func (b *base) relays(texts ...string) {
	for _, text := range texts {
		b.seat.relayed([]byte(text))
	}
}

// A base that is made from its stream waits for its client, which goes on: the cell part says again what
// came after the stream, and the client hears nothing twice.
func TestSeatTravels(t *testing.T) {
	r, g, v := seated(t)
	b := r.a.byID[v.ID()]
	b.relays("one")
	b.tell((&protocol.Call{ID: b.id, Args: append([]byte{0}, "two"...)}).Append(nil))
	g.settle()
	g.hears()
	b.relays("three")
	v.Gold.Set(5)
	stream := b.appendClient(nil)
	b.relays("four")
	b.tell((&protocol.Call{ID: b.id, Args: append([]byte{0}, "lost with its base"...)}).Append(nil))
	g.wantTexts("one", "two", "three", "four", "lost with its base")

	moved(t, r, b, stream)
	b.relays("four") // again, before the client is back
	g.resumes(2)
	b.relays("five")
	b.tell((&protocol.Call{ID: b.id, Args: append([]byte{0}, "new"...)}).Append(nil))
	before := g.has
	g.wantTexts("five", "new")
	if g.last.From != (protocol.Counts{4, 3}) || g.has != (protocol.Counts{6, 4}) {
		t.Errorf("resumed from %v to %v, had %v", g.last.From, g.has, before)
	}
	g.hears()
	if n := b.seat.tail.Len(); n != 0 || b.seat.restored {
		t.Errorf("%d messages are kept", n)
	}
}

// What a client has said is settled when others hold a copy of the base that was made from the
// stream, not before.
func TestSettlesNothingOfAStream(t *testing.T) {
	r, g, v := seated(t)
	b := r.a.byID[v.ID()]
	g.say((&protocol.BaseCall{Method: 9}).Append(nil))
	moved(t, r, b, b.appendClient(nil))
	if s := b.seat; s.uploads != 1 || s.settled != 0 {
		t.Errorf("%d messages are handled, %d settled", s.uploads, s.settled)
	}
	b.saved(1)
	b.confirmed(1)
	if b.seat.settled != 1 {
		t.Errorf("%d messages are settled", b.seat.settled)
	}
}

// A client may come back before the cell part has said again what it has.
func TestRepeatsAfterTheResume(t *testing.T) {
	r, g, v := seated(t)
	b := r.a.byID[v.ID()]
	stream := b.appendClient(nil)
	b.relays("one", "two")
	g.wantTexts("one", "two")
	moved(t, r, b, stream)
	g.resumes(2)
	b.relays("one")
	g.settle()
	g.loses()
	g.resumes(3)
	b.relays("two", "three")
	g.wantTexts("three")
	g.hears()
}

// A cell part that was restored after the stream is shown anew, whatever the client has of it.
func TestRepeatsOfAnotherIncarnation(t *testing.T) {
	for _, before := range []bool{true, false} {
		r, g, v := seated(t)
		b := r.a.byID[v.ID()]
		stream := b.appendClient(nil)
		b.relays("old one", "old two")
		g.wantTexts("old one", "old two")
		moved(t, r, b, stream)
		if !before {
			g.resumes(2)
			b.relays("old one")
		}
		b.told = 99
		b.resetClient()
		b.relays("new one")
		if before {
			g.resumes(2)
		}
		g.wantTexts("new one")
		g.hears()
		b.relays("new two")
		g.wantTexts("new two")
		g.hears()
		if n := b.seat.tail.Len(); n != 0 || r.net.ended[g.ch] {
			t.Errorf("%d messages are kept", n)
		}
	}
}

// A base may go on with an incarnation whose view its client was told to forget in a past that has not been:
// the rest of that view would be of nobody whom the client knows, and would count as what it has had of the next.
func TestViewThatWasForgottenIsNotGoneOnWith(t *testing.T) {
	for _, before := range []bool{true, false} {
		r, g, v := seated(t)
		b := r.a.byID[v.ID()]
		say := func(text string) { b.relay(&flow.Bundle{Session: b.session, Bytes: []byte(text)}) }
		say("one")
		stream := b.appendClient(nil)
		say("two")
		b.told = 3 // as by another incarnation
		b.seat.forgetCell()
		b.tell(protocol.AppendReset(nil))
		b.relays("of another", "more of that")
		g.wantTexts("one", "two", "of another", "more of that")
		g.view, g.resets = 3, 0

		moved(t, r, b, stream)
		b.link.unknown = adoptGap // as of a restored base
		if before {
			say("two")
			say("three")
		}
		g.resumes(2)
		r.up(appX, b.id, 1, 1, bundle(b.session, "four")) // it has not heard yet that it is lost
		g.wantTexts()
		if b.link.State() != linkLost {
			t.Fatalf("the cell part is %v", b.link.State())
		}
		r.pass(offerGrace + 2*DefaultTick)
		r.located(b.id, appY)
		r.current(appY, b.id, b.link.Order().Incarnation, 0, 0)
		say("all anew")
		g.wantTexts("all anew")
		if g.resets != 1 {
			t.Errorf("the client was told %d times to forget what it has", g.resets)
		}
		g.view = b.link.Order().Incarnation
		g.hears()
		g.loses()
		say("and on")
		g.resumes(3)
		g.wantTexts("and on")
		if n := b.seat.tail.Len(); r.net.ended[g.ch] || n != 1 || b.link.State() != linkLive {
			t.Errorf("%d messages are kept", n)
		}
	}
}

// A client that comes late has the view of an incarnation before, and hears of the present one as all others.
func TestClientThatIsBehindHearsOfTheNext(t *testing.T) {
	r, g, v := seated(t)
	b := r.a.byID[v.ID()]
	stream := b.appendClient(nil)
	b.tell((&protocol.Call{ID: b.id, Args: append([]byte{0}, "lost with its base"...)}).Append(nil))
	g.wantTexts("lost with its base")
	moved(t, r, b, stream)
	b.link.unknown = adoptGap
	b.told = 99 // as by the next incarnation
	b.seat.forgetCell()
	b.tell(protocol.AppendReset(nil))
	b.relays("of the next")
	g.resumes(2)
	g.wantTexts("of the next")
	if b.link.State() != linkLive {
		t.Errorf("the cell part is %v", b.link.State())
	}
}

// What a client has said of what it was shown ends with its session: it may have lied.
func TestNextClientIsShownAll(t *testing.T) {
	r, _, v := seated(t)
	b := r.a.byID[v.ID()]
	b.shownTo = 1 << 31
	b.relay(&flow.Bundle{Session: b.session, Bytes: []byte("kept from who lied")})
	b.beginSession()
	before := b.seat.sent[protocol.CellStream]
	b.relay(&flow.Bundle{Session: b.session, Bytes: []byte("for the next")})
	if n := b.seat.sent[protocol.CellStream]; before != 0 || n != 1 {
		t.Errorf("%d bundles for who lied, %d in all", before, n)
	}
}

func TestClientsThatTravelWithoutASeat(t *testing.T) {
	r := joinedRig(t)
	id, _ := r.spawn()
	moved(t, r, r.a.byID[id], r.a.byID[id].appendClient(nil))

	made := r.login("ann")
	b := r.a.byID[made.ID]
	stream := b.appendClient(nil)
	b.forgetToken()
	moved(t, r, b, stream)
	p := r.connect(1)
	p.attach(made.Token)
	p.wantHeard("[32 33]")

	rd := codec.NewReader(stream[:len(stream)-1])
	if b.readClient(&rd); rd.Err() == nil {
		t.Error("half a token was read")
	}
}

// Nobody takes a session of a later life for one of an earlier, even if the lives between were never copied.
func TestSessionsOfFormerLives(t *testing.T) {
	r, _, v := seated(t)
	b := r.a.byID[v.ID()]
	last := b.session
	read := func(stream []byte, lives uint32) *base {
		c := &base{app: r.a}
		rd := codec.NewReader(stream)
		if c.readClient(&rd); rd.Err() != nil {
			t.Fatal(rd.Err())
		}
		c.passOverSessions(lives)
		return c
	}
	stream := b.appendClient(nil)
	second := read(stream, 1)
	for name, third := range map[string]*base{"without a copy": read(stream, 2), "with an early copy": read(second.appendClient(nil), 1)} {
		if third.session != last || second.sessions != last+sessionGap || third.sessions != last+2*sessionGap {
			t.Errorf("%s: %d sessions after %d after %d", name, third.sessions, second.sessions, last)
		}
	}
}

// A base whose next client is on its way awaits both, where it is made again.
func TestNextClientTravels(t *testing.T) {
	r, g, v := seated(t)
	b := r.a.byID[v.ID()]
	r.relogin("ann")
	token := r.made().Token
	stream := b.appendClient(nil)
	b.forgetToken()
	moved(t, r, b, stream)
	g.resumes(2)
	g.wantTexts()
	p := r.connect(3)
	p.attach(token)
	g.wantRefused(protocol.Replaced)
	p.wantHeard("[32 33]")
	if b.session != 2+sessionGap {
		t.Errorf("session %d", b.session)
	}
}

func FuzzReadClient(f *testing.F) {
	r, _, v := seated(f)
	b := r.a.byID[v.ID()]
	f.Add(b.appendClient(nil))
	b.relays("one")
	b.tell([]byte{1, 0})
	f.Add(b.appendClient(nil))
	b.expectClient()
	f.Add(b.appendClient(nil))
	other, _ := r.spawn()
	f.Add(r.a.byID[other].appendClient(nil))
	made := r.login("bob")
	f.Add(r.a.byID[made.ID].appendClient(nil))
	f.Fuzz(func(t *testing.T, stream []byte) {
		r := joinedRig(t)
		id, _ := r.spawn()
		b := r.a.byID[id]
		rd := codec.NewReader(stream)
		b.readClient(&rd)
		if rd.Err() != nil {
			return
		}
		if s := b.seat; s != nil && s.tail.Size() > MaxClientTail {
			t.Fatal("the tail is longer than any")
		}
		again := codec.NewReader(b.appendClient(nil))
		id, _ = r.spawn()
		c := r.a.byID[id]
		if c.readClient(&again); again.Close() != nil {
			t.Fatalf("cannot read what was written: %v", again.Err())
		}
		if err := b.awaitClient(); err != nil {
			t.Fatal(err)
		}
		if (b.seat != nil && b.seat.token != protocol.Token{} || b.attachBy != 0) && c.awaitClient() == nil {
			t.Fatal("a token is good for two")
		}
		r.pass(time.Second)
	})
}
