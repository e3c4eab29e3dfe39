package baseapp

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/entity/stored"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/property"
)

// give gives the client of one script to another, which has no cell part.
func give(t testing.TB, from *avatar, to entity.ID) {
	t.Helper()
	if err := from.GiveClientTo(property.Mailbox{Entity: uint64(to)}, "OnGiven"); err != nil {
		t.Fatal(err)
	}
}

// only is what g.heard tells of a message that is too long to tell whole.
func only(id protocol.ID) string { return fmt.Sprintf("[%d]", id) }

// The client forgets the one entity and is shown the other, when it is ready. The account goes with it.
func TestGiveClientTo(t *testing.T) {
	r, g, v := seated(t)
	to, w := r.spawn()
	r.events = nil
	if err := v.Download(3, "patch", []byte("patch"), "OnPatch"); err != nil {
		t.Fatal(err)
	}
	r.take(r.net.peers[g.ch])
	r.take(baseAppMgr)
	give(t, v, to)
	if len(r.events) != 3 || r.events[1] != "client death 18" || r.events[2] != "given to "+to.String() {
		t.Errorf("the scripts heard %q", r.events)
	}
	r.events = nil
	if heard := g.heard(); len(heard) < 2 || heard[0] != only(protocol.NewTokenID) || heard[1] != only(protocol.ResetEntitiesID) {
		t.Errorf("the client heard %q", heard)
	}
	r.wantSession(0)
	if m := one(t, told[wire.Proxies](r, baseAppMgr)); len(m.Entries) != 1 || m.Entries[0] != (wire.Proxy{Account: "ann", ID: to, Origin: v.ID(), Turn: 1}) {
		t.Errorf("the manager was told %+v", m)
	}
	if v.HasClient() || !w.HasClient() || v.Account() != "" || w.Account() != "ann" {
		t.Error("who has the client?")
	}
	// What the client said to the giver is for nobody.
	g.say((&protocol.BaseCall{Method: 0, Args: buyArgs(r)}).Append(nil))
	g.say(protocol.AppendAuditRequest(nil))
	r.wantEvents()
	g.say(protocol.AppendEnableEntities(nil))
	r.wantEvents("enabled")
	g.wantHeard("[33]")
	g.say((&protocol.BaseCall{Method: 0, Args: buyArgs(r)}).Append(nil))
	r.wantEvents("buy hat 1")
	r.up(appX, v.ID(), 1, 1, bundle(1, "of the giver"))
	g.wantHeard()
	// Another login comes to the new one, and the giver may get the client back.
	r.relogin("ann")
	if m := r.made(); m.ID != to {
		t.Errorf("made %+v", m)
	}
	give(t, w, v.ID())
	if !v.HasClient() || v.Account() != "ann" || r.a.byID[v.ID()].turn != 2 {
		t.Error("it did not come back")
	}
}

// The session goes on if the channel is lost on the way, with either token.
func TestGivenWhileAway(t *testing.T) {
	for _, knows := range []bool{false, true} {
		r, g, v := seated(t)
		to, w := r.spawn()
		if !knows {
			g.loses()
		}
		give(t, v, to)
		if knows {
			for _, msg := range r.take(r.net.peers[g.ch]) {
				if err := protocol.Messages(msg, func(id protocol.ID, body []byte) error {
					var m protocol.NewToken
					switch id {
					case protocol.ResetEntitiesID:
						g.has[protocol.BaseStream]++
					case protocol.NewTokenID:
						err := m.Parse(body)
						g.token = m.Token
						return err
					}
					return nil
				}); err != nil {
					t.Fatal(err)
				}
			}
			g.hears() // which does not show that the token has come
			g.loses()
		}
		g.resumes(2)
		g.settle()
		g.say(protocol.AppendEnableEntities(nil))
		if !w.HasClient() || !r.a.byID[to].shown() || r.net.ended[g.ch] {
			t.Errorf("knows %t: the session ended", knows)
		}
	}
}

func TestGiveClientToNobody(t *testing.T) {
	r, _, v := seated(t)
	nobody, w := r.spawn()
	for name, to := range map[string]uint64{"itself": uint64(v.ID()), "elsewhere": 12345} {
		if err := v.GiveClientTo(property.Mailbox{Entity: to}, ""); !errors.Is(err, entity.ErrNotGiven) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := v.GiveClientTo(property.Mailbox{Entity: uint64(nobody)}, "OnNothing"); !errors.Is(err, entity.ErrNoCallback) {
		t.Error(err)
	}
	if err := w.GiveClientTo(property.Mailbox{Entity: uint64(v.ID())}, ""); !errors.Is(err, entity.ErrNoPart) {
		t.Error(err)
	}
	give(t, v, nobody)
	if err := w.GiveClientTo(property.Mailbox{Entity: uint64(v.ID())}, ""); !errors.Is(err, entity.ErrNoPart) {
		t.Errorf("before the client is ready: %v", err)
	}
}

// Of a giver's copy from before and a target's from after, the target's counts, whichever is read first.
func TestGivenAwayInOneCopy(t *testing.T) {
	for _, giverFirst := range []bool{true, false} {
		r, _, v := seated(t)
		to, _ := r.spawn()
		b, c := r.a.byID[v.ID()], r.a.byID[to]
		giver := b.appendParts(nil)
		give(t, v, to)
		target := c.appendParts(nil)
		other := joinedRig(t)
		order := []struct {
			id    entity.ID
			parts []byte
		}{{b.id + 1<<40, giver}, {c.id + 1<<40, target}}
		if !giverFirst {
			order[0], order[1] = order[1], order[0]
		}
		for _, x := range order {
			if err := other.a.restore(&heritage{id: x.id, lives: 1, parts: x.parts}); err != nil {
				t.Fatal(err)
			}
		}
		b, c = other.a.byID[b.id+1<<40], other.a.byID[c.id+1<<40]
		if b.seat != nil || b.account != "" || c.seat == nil || c.account != "ann" || other.a.accounts["ann"] != c {
			t.Errorf("giver first %t: the giver has %q, the target %q", giverFirst, b.account, c.account)
		}
	}
}

// heldBy has ann log in while the store says that an entity has her row, and returns the answer.
func (k *keeper) heldBy(id entity.ID) wire.ProxyMade {
	k.t.Helper()
	k.say(k.bases, &wire.MakeProxy{Request: 9, Account: "ann", Plays: wire.Plays{Type: "Avatar", Row: 42}})
	m := k.asked(wire.StoreLoad)
	k.answer(&m, wire.StoreAnswer{Code: stored.Held, Holder: id})
	return k.made()
}

// alone is a keeper with an account that has given its client to a character, which has ended. The
// account was loaded from row 42, and lives on.
func alone(t *testing.T, change ...func(*Config)) (*keeper, entity.ID, *avatar) {
	k := newKeeper(t, change...)
	_, v := k.kept()
	if err := v.Write("OnKept", 1); err != nil {
		t.Fatal(err)
	}
	m := k.asked(wire.StoreWrite)
	data := m.Data
	k.answer(&m, wire.StoreAnswer{})
	k.say(k.bases, &wire.MakeProxy{Request: 9, Account: "ann", Plays: wire.Plays{Type: "Avatar", Row: 43}})
	m = k.asked(wire.StoreLoad)
	k.answer(&m, wire.StoreAnswer{Row: 42, Version: 2, Data: data})
	p := k.connect(1)
	p.attach(k.made().Token)
	account := k.script(m.Entity)
	to, character := k.spawn()
	give(t, account, to)
	p.say(protocol.AppendEnableEntities(nil))
	character.Destroy()
	k.pass(2 * time.Second)
	k.calls()
	k.events = nil
	if account.Account() != "" || k.a.accounts["ann"] != nil {
		t.Fatalf("%q has an account", account.Account())
	}
	return k, m.Entity, account
}

// A login to an account that lives on without its client comes to that. It was refused as long as the
// account lived, because its row was taken: nobody could say by whom.
func TestLoginToAnAccountThatGaveItsClientAway(t *testing.T) {
	k, id, account := alone(t)
	if m := k.heldBy(id); protocol.Code(m.Code) != protocol.AlreadyLoggedIn || m.ID != id || m.Request != 9 {
		t.Fatalf("answered %+v", m)
	}
	again := &wire.Relogin{Request: 8, Account: "ann", Holder: id, Plays: wire.Plays{Type: "Avatar", Row: 42, Data: []byte("vip")}}
	k.say(k.bases, again)
	m := k.made()
	if m.Code != 0 || m.ID != id || account.Account() != "ann" || string(account.LoginData()) != "vip" {
		t.Fatalf("answered %+v, the account is of %q", m, account.Account())
	}
	k.say(k.bases, again) // the first answer was lost
	m = k.made()
	p := k.connect(2)
	p.attach(m.Token)
	k.wantEvents("enabled")
	if !account.HasClient() || k.a.byID[id].origin == id {
		t.Error("it has no client, or what is left of the former one may claim its account")
	}
	b := k.a.byID[id]
	other := joinedRig(t)
	if err := other.a.restore(&heritage{id: id, lives: 1, parts: b.appendParts(nil)}); err != nil {
		t.Fatal(err)
	}
	if o := other.a.accounts["ann"]; o == nil || o.origin != b.origin || o.session != b.session {
		t.Errorf("after its death it is %+v", o)
	}
}

// What has the row of the account, and is none that has given its client away, does not get one. The login
// waits for the row, as for the last write of somebody who has just left.
func TestLoginToWhatIsNoFormerAccount(t *testing.T) {
	k, id, account := alone(t)
	plays := wire.Plays{Type: "Avatar", Row: 42}
	loaded, _ := k.spawn()
	k.a.byID[loaded].keep.row = 42
	for _, m := range []wire.Relogin{
		{Holder: id, Plays: wire.Plays{Type: "Avatar", Row: 43}}, {Holder: id, Plays: wire.Plays{Type: "Rock", Row: 42}}, {Holder: id},
		{Holder: id + 1000, Plays: plays}, {Holder: loaded, Plays: plays}, {Plays: plays},
	} {
		m.Request, m.Account = 8, "ann"
		k.say(k.bases, &m)
		k.wantLogin(protocol.Destroyed)
	}
	k.say(k.bases, &wire.MakeProxy{Request: 8, Account: "ann", Plays: plays, Wait: true})
	for range 3 {
		m := k.asked(wire.StoreLoad)
		k.answer(&m, wire.StoreAnswer{Code: stored.Held, Holder: id})
		k.pass(loadAgain)
	}
	k.a.cfg.Relogin = RefuseLogin // that is about an account that has a client
	k.pass(loadPatience)
	k.calls()
	k.net.sent = nil
	k.onAttempt = func(*avatar) Relogin { return RefuseLogin }
	k.say(k.bases, &wire.Relogin{Request: 8, Account: "ann", Holder: id, Plays: plays})
	k.wantLogin(protocol.AlreadyLoggedIn)
	k.onAttempt = func(v *avatar) Relogin { v.Destroy(); return AwaitDestroy }
	k.say(k.bases, &wire.Relogin{Request: 8, Account: "ann", Holder: id, Plays: plays})
	m := k.asked(wire.StoreWrite)
	k.answer(&m, wire.StoreAnswer{})
	k.tick()
	k.wantLogin(protocol.Destroyed)
	if account.Account() != "" {
		t.Error("it had the account")
	}
}

// That an account had a client goes with it to another app, without one: it gets no number of a
// session twice, and a login finds it there.
func TestFormerSessionsAreCarried(t *testing.T) {
	k, id, _ := alone(t)
	b := k.a.byID[id]
	other := joinedRig(t)
	if err := other.a.restore(&heritage{id: id, lives: 1, parts: b.appendParts(nil)}); err != nil {
		t.Fatal(err)
	}
	if o := other.a.byID[id]; o.session != b.session || o.sessions <= b.sessions || o.account != "" || b.session == 0 {
		t.Errorf("session %d of %d, and was %d of %d", o.session, o.sessions, b.session, b.sessions)
	}
}
