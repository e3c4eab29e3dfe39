package baseapp

import (
	"errors"
	"slices"
	"strings"
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

// pair are two BaseApps that reach each other. The test plays the managers, which know of both.
type pair struct {
	t    testing.TB
	a, b *rig
	mute bool // what they say to each other is kept
	// drops says which payloads are lost on their way.
	drops func(flow.Payload) bool
	dead  *rig
}

func newPair(t testing.TB, change ...func(*Config)) *pair {
	p := &pair{t: t}
	join := func(at mercury.Address, number, allocator uint32) *rig {
		r := newRig(t, append([]func(*Config){func(c *Config) {
			c.BackupPeriod = time.Second
			c.Transport.(*fakeTransport).at = at
			c.Secrets = secretsOf(byte(number))
		}}, change...)...)
		r.a.Tick(0)
		r.managers = r.open(cellAppMgr)
		r.say(r.managers, &wire.Welcome{Number: number, Allocator: allocator, BaseAppMgr: baseAppMgr})
		r.say(r.managers, &wire.Members{Apps: []wire.AppRef{{Role: wire.CellApp, App: appX}, {Role: wire.BaseApp, App: self}, {Role: wire.BaseApp, App: appW}}, Allocators: []uint32{11, 5, 14}})
		r.tick()
		r.bases = r.open(baseAppMgr)
		r.net.sent = nil
		return r
	}
	p.a, p.b = join(self, 7, 5), join(appW, 8, 14)
	p.pass(3 * time.Second) // each holds copies for the other
	return p
}

// secretsOf gives tokens that are different on each app.
func secretsOf(app byte) func([]byte) {
	n := byte(0)
	return func(b []byte) {
		n++
		for i := range b {
			b[i] = app
		}
		b[0] = n
	}
}

// pass lets time pass for both. What one says to the other arrives.
func (p *pair) pass(d time.Duration) {
	for end := p.a.now + d; p.a.now < end; {
		for _, r := range []*rig{p.a, p.b} {
			if r != p.dead {
				r.tick()
			} else {
				r.now += DefaultTick
			}
		}
		p.carry()
	}
}

func (p *pair) carry() {
	for moved := !p.mute; moved; {
		moved = p.carryFrom(p.a, p.b)
		moved = p.carryFrom(p.b, p.a) || moved
	}
}

func (p *pair) carryFrom(from, to *rig) (moved bool) {
	list := from.net.sent
	from.net.sent = nil
	for _, s := range list {
		id, body, err := wire.Split(s.msg)
		switch {
		case s.to == to.net.Self() && p.dead == nil:
			var m flow.Message
			if id == wire.FlowID && m.Parse(body) == nil && p.drops != nil && p.drops(flow.Payload(m.Payload[0])) {
				continue
			}
			moved = true
			ch := to.from[from.net.Self()]
			if ch == 0 {
				ch = to.net.accept(from.net.Self())
				to.from[from.net.Self()] = ch
				to.a.Opened(to.now, ch, from.net.Self())
			}
			to.a.Message(to.now, ch, s.reliable, s.msg)
		case s.to.At == cellAppMgr.At && err == nil && id == wire.BackupRuleID:
			var m migrate.BackupRule
			parse(p.t, m.Parse(body))
			from.say(from.managers, &migrate.BackupRuleHeld{Version: m.Version})
		default:
			from.net.sent = append(from.net.sent, s)
		}
	}
	return moved
}

// die ends one of both, and the other one hears of it.
func (p *pair) die(r *rig, allocator uint32) (other *rig) {
	p.dead = r
	if other = p.a; r == p.a {
		other = p.b
	}
	other.say(other.managers, &wire.AppDead{Role: wire.BaseApp, App: r.net.Self(), Number: 1, Allocator: allocator, Rule: r.a.copying.ruling.rules})
	return other
}

// seatedPair is a pair with a player at a, and a base at b that may have its client.
func seatedPair(t testing.TB, change ...func(*Config)) (p *pair, g *guest, v *avatar, taker *avatar) {
	p = newPair(t, change...)
	made := p.a.login("ann")
	g = &guest{player: p.a.connect(1)}
	g.attach(made.Token)
	v = p.a.script(made.ID)
	_, taker = p.b.spawn()
	p.pass(2 * time.Second)
	g.settle()
	g.hears()
	p.a.events, p.b.events = nil, nil
	return p, g, v, taker
}

func (p *pair) give(v, taker *avatar) {
	p.t.Helper()
	if err := v.GiveClientTo(property.Mailbox{Entity: uint64(taker.ID())}, "OnGiven"); err != nil {
		p.t.Fatal(err)
	}
}

// sent returns where the client was told to go on with its session; nil if nowhere.
func (g *guest) sent() (to *protocol.Switch) {
	g.r.t.Helper()
	for _, msg := range g.r.take(g.r.net.peers[g.ch]) {
		if s := protocol.StreamOf(msg); s != protocol.NoStream {
			g.has[s]++
		}
		if err := protocol.Messages(msg, func(id protocol.ID, body []byte) error {
			if id != protocol.SwitchID {
				return nil
			}
			to = &protocol.Switch{}
			return to.Parse(body)
		}); err != nil {
			g.r.t.Fatal(err)
		}
	}
	return to
}

// follows lets the client go where it was told, and be ready there.
func (g *guest) follows(to *rig) {
	g.r.t.Helper()
	s := g.sent()
	if s == nil || len(s.Doors) != 1 || s.Doors[0].Address != to.net.Self() {
		g.r.t.Fatalf("sent to %+v", s)
	}
	g.r = to
	g.resumes(3)
	g.settle()
	if g.r.net.ended[g.ch] {
		g.r.t.Fatal("it was not let in")
	}
	g.say(protocol.AppendEnableEntities(nil))
	g.settle()
}

// wantHas checks that one of both has the client and the account, and the other nothing of it.
func (p *pair) wantHas(has, not *avatar) {
	p.t.Helper()
	if !has.HasClient() || has.Account() != "ann" || not.HasClient() || not.Account() != "" {
		p.t.Errorf("%v has %v %q, %v has %v %q", has.ID(), has.HasClient(), has.Account(), not.ID(), not.HasClient(), not.Account())
	}
}

func wantAll(t testing.TB, events []string, want ...string) {
	t.Helper()
	if !slices.Equal(events, want) {
		t.Errorf("the scripts heard %q, want %q", events, want)
	}
}

// A client goes to a base on another app and back. What the client says on the way is for nobody
// and comes once.
func TestGiveElsewhere(t *testing.T) {
	p, g, v, w := seatedPair(t)
	g.say((&protocol.BaseCall{Method: 0, Args: buyArgs(p.a)}).Append(nil))
	p.give(v, w)
	if err := v.Client().Call("chat", "too late"); !errors.Is(err, entity.ErrNoPart) {
		t.Errorf("a call to a client that is given away: %v", err)
	}
	if err := v.GiveClientTo(property.Mailbox{Entity: uint64(w.ID())}, "OnGiven"); !errors.Is(err, entity.ErrNotGiven) {
		t.Errorf("twice: %v", err)
	}
	p.a.relogin("ann")
	p.a.wantLogin(protocol.ServerBusy)
	g.say((&protocol.BaseCall{Method: 0, Args: buyArgs(p.a)}).Append(nil)) // not handled, not counted
	p.pass(time.Second)
	wantAll(t, p.a.events, "buy hat 1", "client death 18", "given to "+w.ID().String())
	p.a.relogin("ann")
	p.a.wantLogin(protocol.ServerBusy) // until the manager knows
	if m := told[wire.Proxies](p.b, baseAppMgr); len(m) != 1 || m[0].Entries[0] != (wire.Proxy{Account: "ann", ID: w.ID(), Origin: v.ID(), Turn: 1}) {
		t.Errorf("the manager was told %+v", m)
	}
	p.wantHas(w, v)
	g.follows(p.b)
	if g.last.Handled != 1 {
		t.Errorf("%d handled, want that of the giver", g.last.Handled)
	}
	p.pass(100 * time.Millisecond)
	wantAll(t, p.b.events, "enabled")
	p.b.relogin("ann")
	if m := p.b.made(); m.ID != w.ID() {
		t.Errorf("made %+v", m)
	}
	p.a.events, p.b.events = nil, nil
	g.hears()
	p.give(w, v)
	p.pass(time.Second)
	wantAll(t, p.b.events, "client death 18", "given to "+v.ID().String())
	p.wantHas(v, w)
	g.follows(p.a)
	if turn := p.a.a.byID[v.ID()].turn; turn != 2 {
		t.Errorf("turn %d", turn)
	}
}

// Nothing is given before others hold a copy that knows of it.
func TestGiveWaitsForCopies(t *testing.T) {
	p, _, v, w := seatedPair(t)
	p.mute = true
	p.give(v, w)
	p.pass(200 * time.Millisecond)
	for _, s := range p.a.net.sent {
		if id, _, _ := wire.Split(s.msg); id == wire.FlowID {
			t.Error("it was sent before the copy was held")
		}
	}
	p.mute = false
	p.pass(time.Second)
	p.wantHas(w, v)
}

// A client whose channel is lost finds the taker from where it was, and one that comes while it is
// given waits.
func TestGiveElsewhereWhileAway(t *testing.T) {
	for _, early := range []bool{false, true} {
		p, g, v, w := seatedPair(t)
		g.loses()
		p.give(v, w)
		if early {
			g.resumes(2)
		}
		p.pass(time.Second)
		p.wantHas(w, v)
		if !early {
			g.resumes(2)
		}
		g.follows(p.b)
		if !p.b.a.byID[w.ID()].shown() {
			t.Error("the session ended")
		}
	}
}

// A base that cannot take the client says why, and the client goes on. What it said meanwhile comes again.
func TestGiveElsewhereRefused(t *testing.T) {
	p, g, v, w := seatedPair(t)
	made := p.b.login("bob")
	other := p.b.script(made.ID)
	p.give(v, other)
	g.say((&protocol.BaseCall{Method: 0, Args: buyArgs(p.a)}).Append(nil))
	p.pass(time.Second)
	if len(p.a.events) != 1 || !strings.Contains(p.a.events[0], "it has a client, or awaits one") {
		t.Fatalf("the script heard %q", p.a.events)
	}
	if !p.a.net.ended[g.ch] {
		t.Error("a client that was not heard must come back")
	}
	p.a.events = nil
	g.resumes(2)
	g.settle()
	if g.last.Handled != 0 {
		t.Errorf("%d handled", g.last.Handled)
	}
	// One that has ended does not take it either.
	id := w.ID()
	w.Destroy()
	p.pass(time.Second)
	g.hears()
	p.give(v, w)
	p.pass(time.Second)
	wantAll(t, p.a.events, "not given to "+id.String()+": "+entity.ErrNotGiven.Error()+": "+errEnded.Error())
	if !v.HasClient() || p.a.net.ended[g.ch] {
		t.Error("the client does not go on")
	}
}

// A taker that does not answer in time does not have the client, also if it takes it later.
func TestGiveElsewhereTooLate(t *testing.T) {
	p, g, v, w := seatedPair(t)
	p.drops = func(x flow.Payload) bool { return x == flow.TakenPayload }
	p.give(v, w)
	p.pass(giveTime + time.Second)
	wantAll(t, p.a.events, "not given to "+w.ID().String()+": "+entity.ErrTimeout.Error())
	if !w.HasClient() {
		t.Error("the taker did not take it")
	}
	p.drops = nil
	p.pass(5 * time.Second)
	p.wantHas(v, w)
	if turn := p.a.a.byID[v.ID()].turn; turn != 2 {
		t.Errorf("turn %d", turn)
	}
	p.give(v, w)
	p.pass(time.Second)
	p.wantHas(w, v)
	g.follows(p.b)
}

// Whoever destroys itself on the way ends the session, and the taker has nothing.
func TestGiverEndsOnTheWay(t *testing.T) {
	p, g, v, w := seatedPair(t)
	p.drops = func(x flow.Payload) bool { return x == flow.TakenPayload }
	p.give(v, w)
	p.pass(time.Second)
	if !w.HasClient() {
		t.Fatal("not taken")
	}
	v.Destroy()
	p.drops = nil
	p.pass(5 * time.Second)
	if w.HasClient() || w.Account() != "" {
		t.Error("the taker has a client that is gone")
	}
	g.wantRefused(protocol.Destroyed)
}

// The giver's app dies when the taker has the client. The giver comes back where the taker is, from
// a copy in which it is about to give it.
func TestGiverDies(t *testing.T) {
	for _, taken := range []bool{false, true} {
		p, g, v, w := seatedPair(t)
		id := v.ID()
		p.drops = func(x flow.Payload) bool { return x == flow.TakenPayload || !taken && x == flow.GivePayload }
		p.give(v, w)
		p.pass(500 * time.Millisecond)
		if w.HasClient() != taken {
			t.Fatalf("taken %v", w.HasClient())
		}
		r := p.die(p.a, 5)
		p.pass(time.Second)
		p.wantHas(w, r.script(id))
		if want := []string{"restored", "client death 18", "given to " + w.ID().String()}; !slices.Equal(r.events, want) {
			t.Errorf("taken %v: the scripts heard %q", taken, r.events)
		}
		g.loses()
		g.r = r
		g.resumes(4)
		g.settle()
		g.say(protocol.AppendEnableEntities(nil))
		if !r.a.byID[w.ID()].shown() {
			t.Errorf("taken %v: the session ended", taken)
		}
	}
}

// The taker's app dies when it has taken the client, and before others have a copy with it: its
// heir takes it from what the giver keeps.
func TestTakerDies(t *testing.T) {
	for _, copied := range []bool{false, true} {
		p, g, v, w := seatedPair(t)
		id := w.ID()
		p.give(v, w)
		for n := 0; !w.HasClient() && n < 100; n++ {
			p.pass(DefaultTick)
		}
		if copied {
			p.pass(time.Second)
		}
		r := p.die(p.b, 14)
		p.pass(2 * time.Second)
		p.wantHas(r.script(id), v)
		g.sent() // to an app that is gone
		if !copied && p.a.a.clients[g.ch] != nil {
			g.loses()
		}
		g.resumes(4)
		g.settle()
		g.say(protocol.AppendEnableEntities(nil))
		if !r.a.byID[id].shown() {
			t.Errorf("copied %v: the session ended; %q", copied, r.events)
		}
	}
}

// The taker's app dies before the giver has heard that the client was taken, and the giver's app is
// its heir: the client goes on there as after a lost channel, whatever it says on the old one.
func TestTakerDiesUnheard(t *testing.T) {
	p, g, v, w := seatedPair(t)
	id := w.ID()
	p.drops = func(x flow.Payload) bool { return x == flow.TakenPayload }
	p.give(v, w)
	for n := 0; !w.HasClient() && n < 100; n++ {
		p.pass(DefaultTick)
	}
	p.pass(2 * time.Second) // the giver's app has a copy with it
	if !w.HasClient() || !v.HasClient() {
		t.Fatal("nothing was taken, or the giver has heard of it")
	}
	r := p.die(p.b, 14)
	p.pass(2 * time.Second)
	p.wantHas(r.script(id), v)
	if c := p.a.a.clients[g.ch]; c != nil {
		g.say(protocol.AppendPing(nil))
		t.Error("the client keeps a channel that leads nowhere")
	}
	g.resumes(4)
	g.settle()
	g.say(protocol.AppendEnableEntities(nil))
	if !r.a.byID[id].shown() {
		t.Errorf("the session ended; %q", r.events)
	}
}

// A base whose account another one has by now sends its client there. One of another origin is none
// of its business.
func TestOutdone(t *testing.T) {
	p, g, v, w := seatedPair(t)
	for _, m := range []wire.Outdone{
		{Account: "ann", ID: w.ID(), Origin: v.ID()}, {Account: "ann", ID: w.ID(), Origin: w.ID(), Turn: 9}, {Account: "bob", ID: w.ID(), Origin: v.ID(), Turn: 9},
		{Account: "ann", ID: w.ID(), Origin: v.ID(), Turn: 9}, // it was never given away
	} {
		p.a.say(p.a.bases, &m)
		if !v.HasClient() {
			t.Fatalf("%+v took it its client", m)
		}
	}
	p.give(v, w)
	p.a.say(p.a.bases, &wire.Outdone{Account: "ann", ID: w.ID(), Origin: v.ID(), Turn: 1})
	wantAll(t, p.a.events, "client death 18", "given to "+w.ID().String())
	if s := g.sent(); s == nil || s.Doors[0].Address != appW || v.HasClient() || v.Account() != "" {
		t.Errorf("sent to %+v", s)
	}
}

// FuzzGive feeds a base what another one says of clients that are given.
func FuzzGive(f *testing.F) {
	_, _, v := seated(f)
	s := v.rig.a.byID[v.ID()]
	give := flow.Give{Account: "bob", Origin: 9, Turn: 1, Data: []byte("data"), Seat: s.seat.append(nil)}
	f.Add(give.Append(nil))
	give.Account = "ann"
	f.Add(give.Append(nil))
	f.Add((&flow.Taken{Account: "ann", Turn: 1}).Append(nil))
	f.Add((&flow.Taken{Account: "ann", Turn: 1, Reason: "no"}).Append(nil))
	f.Fuzz(func(t *testing.T, payload []byte) {
		r, g, v := seated(t)
		id, w := r.spawn()
		for n, to := range []entity.ID{id, v.ID()} {
			r.tell(appW, &flow.Message{From: 14<<32 | 7, FromPart: entity.BasePart, To: to, ToPart: entity.BasePart, Incarnation: 1, Low: 1, Number: uint64(1 + n), Reply: appW, Payload: payload})
		}
		r.pass(time.Second)
		if !v.HasClient() || v.Account() != "ann" || r.net.ended[g.ch] {
			t.Error("a player has lost its client to a base that it was not given to")
		}
		if b := r.a.byID[id]; b != nil && w.HasClient() {
			b.appendParts(nil)
		}
	})
}
