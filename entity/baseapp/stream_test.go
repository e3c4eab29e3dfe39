package baseapp

import (
	"bytes"
	"errors"
	"math"
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/migrate"
)

// heir is a rig of another app than the one whose bases it restores.
func heir(t testing.TB) *rig {
	r := newRig(t)
	r.a.Tick(0)
	r.managers = r.open(cellAppMgr)
	r.say(r.managers, &wire.Welcome{Number: 8, Allocator: 6, BaseAppMgr: baseAppMgr})
	r.say(r.managers, &wire.Members{Apps: []wire.AppRef{
		{Role: wire.CellApp, App: appX}, {Role: wire.CellApp, App: appY}, {Role: wire.CellApp, App: appZ}, {Role: wire.BaseApp, App: appW},
	}, Allocators: []uint32{11, 12, 13, 14}})
	r.tick()
	r.bases = r.open(baseAppMgr)
	r.net.sent = nil
	return r
}

// busy is a base with something of everything, its cell part live on X.
func busy(t testing.TB, r *rig) (entity.ID, *avatar) {
	id, v := r.live()
	v.Gold.Set(7)
	if _, err := v.AddTimer(3*time.Second, 0, "OnAlarm", 42); err != nil {
		t.Fatal(err)
	}
	if err := v.Lookup(ofW, "Avatar", entity.BaseMailbox).Then("OnGift", 5).Within(time.Minute).Call("give", 30); err != nil {
		t.Fatal(err)
	}
	if err := v.Cell().Call("hurt", int32(1)); err != nil {
		t.Fatal(err)
	}
	if err := v.RegisterName("auction", "OnName", 21); err != nil {
		t.Fatal(err)
	}
	if err := v.CreateSpace(room, "OnRoom", 22); err != nil {
		t.Fatal(err)
	}
	r.tell(appW, call(ofW, entity.BasePart, id, 1, ofW))
	r.up(appX, id, 1, 1, backup(1, 0, 1, 0, "copy"))
	r.tick()
	return id, v
}

func TestRestoredBaseGoesOn(t *testing.T) {
	first := joinedRig(t)
	id, v := busy(t, first)
	parts := first.a.byID[id].appendParts(nil)
	// The last moments of the first app are not in the copy.
	v.Gold.Set(9)
	if err := v.Cell().Call("hurt", int32(2)); err != nil {
		t.Fatal(err)
	}

	r := heir(t)
	if err := r.a.restore(&heritage{id: id, lives: 1, parts: parts}); err != nil {
		t.Fatal(err)
	}
	r.wantEvents("restored", "name 21 auction is 0's "+errForgotten.Error(), "room 22 is 0 "+errForgotten.Error())
	if !errors.Is(errForgotten, entity.ErrTimeout) {
		t.Error("what was forgotten has timed out")
	}
	b, w := r.a.byID[id], r.script(id)
	if w.Gold.Get() != 7 || b.life() != lifeGap {
		t.Errorf("%d gold in life %d", w.Gold.Get(), b.life())
	}
	r.wantLink(id, linkAdopting, 1, 0, mercury.Address{})

	// Whoever called it hears at once that this is another life, and how far it has heard.
	r.tick()
	var ack *flow.Ack
	var again *flow.Message
	for _, raw := range r.take(appW) {
		switch code, body, _ := wire.Split(raw); code {
		case wire.FlowAckID:
			m := parsed[flow.Ack](t, body)
			ack = &m
		case wire.FlowID:
			m := parsed[flow.Message](t, body)
			again = &m
		}
	}
	if ack == nil || ack.Life != lifeGap || ack.Number != 1 {
		t.Errorf("it acknowledged %+v", ack)
	}
	if again == nil || again.Incarnation != lifeGap || again.Born != 0 || again.To != ofW {
		t.Errorf("it said again %+v", again)
	}

	// The cell part has handled more than the copy knows of.
	title := b.seal.title(1)
	r.tell(appX, &migrate.Current{ID: id, Order: entity.Order{Incarnation: 1, Hop: 2}, Title: title, Handled: flow.MarkOf(0, 2)})
	r.wantLink(id, linkLive, 1, 2, appX)
	if err := w.Cell().Call("hurt", int32(3)); err != nil {
		t.Fatal(err)
	}
	// The real counts the numbers of the new life from the lowest on, so what it has handled comes again.
	in, heard := flow.NewReceiver(0, 2), 0
	for _, m := range told[flow.Message](r, appX) {
		in.AcceptBorn(m.Incarnation, m.Born, m.Low, m.Number, m.Payload, func([]byte) { heard++ })
		if m.Incarnation != lifeGap || m.Born != lifeGap*min(uint32(m.Number-1), 1) {
			t.Errorf("sent %+v", m)
		}
	}
	if heard != 2 || in.Last() != 3 { // who its client is, and the call
		t.Errorf("the real hears %d messages, up to %d", heard, in.Last())
	}
	r.wantEvents()

	// The answer to what the former life asked comes, and its timer.
	a := flow.Answer{Request: flow.RequestID{Life: 0, Number: 1}, Results: []byte{70, 0, 0, 0}}
	r.tell(appW, &flow.Message{From: ofW, FromPart: entity.BasePart, To: id, ToPart: entity.BasePart, Incarnation: 1, Born: 1, Low: 2, Number: 2, Reply: appW, Payload: a.Append(nil)})
	r.wantEvents("give of " + ofW.String() + ": 70, user 5")
	r.pass(3 * time.Second)
	r.wantEvents("alarm 42 of 1")
}

// A base was ending, had its cell part destroyed, and its app died. It came back from a copy that
// knows nothing of that, and ends: its client is not to play without a cell part. One that had only
// its cell part destroyed goes on without it.
func TestRestoredBaseGoesOnEnding(t *testing.T) {
	for _, ending := range []bool{true, false} {
		for _, resumes := range []bool{true, false} {
			first, g, v := seated(t)
			b := first.a.byID[v.ID()]
			parts, title := b.appendParts(nil), b.seal.title(1)

			r := heir(t)
			if err := r.a.restore(&heritage{id: b.id, lives: 1, parts: parts}); err != nil {
				t.Fatal(err)
			}
			g.r, g.texts = r, nil
			r.net.sent, r.events = nil, nil
			if resumes {
				g.resumes(2)
				r.net.sent = nil
			}
			r.tell(appX, &migrate.Current{ID: b.id, Order: entity.Order{Incarnation: 1}, Title: title})
			r.up(appX, b.id, 1, 1, (&flow.Gone{Ending: ending}).Append(nil))
			if !ending {
				r.wantEvents("lost cell")
				r.wantLink(b.id, linkNone, 1, 0, mercury.Address{})
				continue
			}
			r.wantEvents("lost cell", "destroyed")
			if _, ok := r.view(b.id); ok {
				t.Error("it lives")
			}
			if !resumes {
				g.resumes(2)
			}
			g.wantRefused(protocol.Destroyed)
		}
	}
}

// A restored base whose real does not show itself has it made again, in an incarnation that no former
// life can have begun, and from the copy that was carried.
func TestRestoredBaseMakesItsCellPartAgain(t *testing.T) {
	first := joinedRig(t)
	id, _ := busy(t, first)
	r := heir(t)
	if err := r.a.restore(&heritage{id: id, lives: 1, parts: first.a.byID[id].appendParts(nil)}); err != nil {
		t.Fatal(err)
	}
	r.pass(adoptGrace + 2*DefaultTick)
	c := r.located(id, appY)
	if c.Order.Incarnation != 2+adoptGap || string(c.Parts) != "copy" || !c.Restored || c.Base != self {
		t.Errorf("made by %+v", c)
	}
	r.tell(appX, &migrate.Current{ID: id, Order: entity.Order{Incarnation: 1, Hop: 9}, Title: r.a.byID[id].seal.title(1)})
	r.wantRefuse(appX, id, entity.Order{Incarnation: 1, Hop: 9})
	r.tell(appY, &migrate.Current{ID: id, Order: c.Order, Title: c.Title})
	r.wantLink(id, linkLive, c.Order.Incarnation, 0, appY)
}

// An heir that dies before anybody has a copy of it may have begun an incarnation, and so may one of which the
// only copy was made before that. The next heir begins another.
func TestNextHeirBeginsAnotherIncarnation(t *testing.T) {
	first := joinedRig(t)
	id, _ := busy(t, first)
	parts := first.a.byID[id].appendParts(nil)
	begun := func(r *rig) (incarnation uint32) {
		t.Helper()
		r.pass(adoptGrace + 2*DefaultTick)
		return r.located(id, appY).Order.Incarnation
	}
	restored := func(lives uint32, parts []byte) *rig {
		t.Helper()
		r := heir(t)
		if err := r.a.restore(&heritage{id: id, lives: lives, parts: parts}); err != nil {
			t.Fatal(err)
		}
		return r
	}
	dies := restored(1, parts)
	copied := dies.a.byID[id].appendParts(nil) // while it still waits for its cell part
	former := begun(dies)
	for name, next := range map[string]*rig{"without a copy": restored(2, parts), "with an early copy": restored(1, copied)} {
		if got := begun(next); got != former+adoptGap {
			t.Errorf("%s: incarnation %d, the heir before began %d", name, got, former)
		}
	}
}

// The incarnation that a restored base hears of need not be the last that its former life began: that may
// have ended it and made others, of which nobody has told yet. The next one is another than those.
func TestNextAfterAnAdoptedIncarnation(t *testing.T) {
	first := joinedRig(t)
	id, _ := busy(t, first)
	r := heir(t)
	if err := r.a.restore(&heritage{id: id, lives: 1, parts: first.a.byID[id].appendParts(nil)}); err != nil {
		t.Fatal(err)
	}
	b := r.a.byID[id]
	r.tell(appX, &migrate.Current{ID: id, Order: entity.Order{Incarnation: 1}, Title: b.seal.title(1)})
	r.wantLink(id, linkLive, 1, 0, appX)
	b.link.Gone(r.a.now)
	if err := b.link.Create(r.a.now, cellCopy{Space: 1}); err != nil {
		t.Fatal(err)
	}
	if got := b.link.Order().Incarnation; got != 2+adoptGap {
		t.Errorf("it begins incarnation %d, want %d", got, 2+adoptGap)
	}
}

// Between the copy and the death, the former life may have begun another incarnation.
func TestRestoredBaseAdoptsALaterIncarnation(t *testing.T) {
	first := joinedRig(t)
	id, _ := busy(t, first)
	parts := first.a.byID[id].appendParts(nil)
	for name, say := range map[string]func(r *rig, b *base){
		"it lives": func(r *rig, b *base) {
			r.tell(appY, &migrate.Current{ID: id, Order: entity.Order{Incarnation: 3}, Title: b.seal.title(3)})
			r.wantLink(id, linkLive, 3, 0, appY)
			r.up(appY, id, 3, 1, backup(3, 0, 1, 0, "later"))
			if c := b.link.Copy(); string(c.Parts) != "later" {
				t.Errorf("the copy is %q", c.Parts)
			}
		},
		"it was lost": func(r *rig, b *base) {
			r.tell(appY, &migrate.Lost{ID: id, Order: entity.Order{Incarnation: 3}, Title: b.seal.title(3), Reason: "x"})
			r.wantLink(id, linkLost, 3, 0, mercury.Address{})
		},
		"it was on its way": func(r *rig, b *base) {
			r.tell(appY, &migrate.Offer{ID: id, Order: entity.Order{Incarnation: 3, Hop: 1}, Title: b.seal.title(3), Saves: 1, Space: 1, Parts: []byte("offer")})
			r.wantLink(id, linkLost, 3, 0, mercury.Address{})
			if c := b.link.Copy(); string(c.Parts) != "offer" {
				t.Errorf("the copy is %q", c.Parts)
			}
		},
		"a liar says so": func(r *rig, b *base) {
			r.untitled = true
			r.tell(appY, &migrate.Current{ID: id, Order: entity.Order{Incarnation: 3}, Title: 12345})
			r.wantLink(id, linkAdopting, 1, 0, mercury.Address{})
		},
		"an older one says so": func(r *rig, b *base) {
			r.tell(appY, &migrate.Current{ID: id, Order: entity.Order{}, Title: b.seal.title(0)})
			r.wantLink(id, linkAdopting, 1, 0, mercury.Address{})
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := heir(t)
			if err := r.a.restore(&heritage{id: id, lives: 1, parts: parts}); err != nil {
				t.Fatal(err)
			}
			say(r, r.a.byID[id])
		})
	}
}

// What is restored can be restored again.
func TestStreamOfARestoredBase(t *testing.T) {
	first := joinedRig(t)
	id, _ := busy(t, first)
	parts := first.a.byID[id].appendParts(nil)
	for life := uint32(1); life < 4; life++ {
		r := heir(t)
		if err := r.a.restore(&heritage{id: id, lives: 1, parts: parts}); err != nil {
			t.Fatal(err)
		}
		b := r.a.byID[id]
		if b.life() != life*lifeGap || b.link.out.Born(1, b.life()) != 0 {
			t.Errorf("life %d; its first message was born in %d", b.life(), b.link.out.Born(1, b.life()))
		}
		again := b.appendParts(nil)
		if bytes.Equal(again, parts) {
			t.Error("another life has the same stream")
		}
		parts = again
		if err := r.a.restore(&heritage{id: id, lives: 1, parts: parts}); err == nil {
			t.Error("it was restored beside itself")
		}
	}
}

func FuzzRestore(f *testing.F) {
	first := joinedRig(f)
	id, _ := busy(f, first)
	parts := first.a.byID[id].appendParts(nil)
	f.Add(parts)
	f.Add(parts[:len(parts)/2])
	p, proxy, _ := first.playLive()
	_ = p
	f.Add(first.a.byID[proxy].appendParts(nil))
	giver := first.a.byID[proxy]
	giver.giving, giver.gone = &giving{to: id, method: "OnGiven", state: givingSent}, &gone{account: "bob", turn: 3, to: id, tokens: [2]protocol.Token{{1}, {2}}}
	f.Add(giver.appendParts(nil))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, parts []byte) {
		r := heir(t)
		if err := r.a.restore(&heritage{id: id, lives: 1, parts: parts}); err != nil {
			if r.a.byID[id] != nil || len(r.a.list) > 0 || len(r.a.accounts) > 0 {
				t.Fatal("half of a base came to life")
			}
			return
		}
		b := r.a.byID[id]
		r.tell(appX, &migrate.Current{ID: id, Order: entity.Order{Incarnation: b.link.order.Incarnation, Hop: math.MaxUint32}, Title: b.seal.title(b.link.order.Incarnation), Handled: math.MaxUint64})
		r.up(appX, id, b.link.order.Incarnation, 1, backup(1, 0, 1, 0, "copy"))
		r.pass(5 * time.Second)
		if b := r.a.byID[id]; b != nil {
			b.appendParts(nil)
		}
	})
}

// A callback that waits for a backup comes when others have the copy, which is made at once.
func TestBackupCallsBackWhenHeld(t *testing.T) {
	c := newCopier(t, func(cfg *Config) { cfg.BackupPeriod = time.Minute })
	id := c.make()
	c.pass(time.Second)
	if c.confirmed(id) == 0 || !c.a.protected() {
		t.Fatal("nobody holds a copy")
	}
	c.take()
	c.events = nil
	c.mute[appW] = true
	if err := c.script(id).Backup("OnAlarm", 5); err != nil {
		t.Fatal(err)
	}
	c.pass(time.Second)
	if n := len(c.take()); n != 1 {
		t.Errorf("%d copies are sent", n)
	}
	c.wantEvents()
	delete(c.mute, appW)
	c.tell(appW, &migrate.BaseCopyHeld{ID: id, Number: c.a.byID[id].copied.number})
	c.pass(time.Second)
	c.wantEvents("alarm 5 of 0")
}

// A backup of the cell part that its script waits for has the base copied at once, any other with its turn.
func TestCommitOfACellPart(t *testing.T) {
	c := newCopier(t, func(cfg *Config) { cfg.BackupPeriod = time.Minute })
	id, _ := c.live()
	c.pass(time.Second)
	c.take()
	m := flow.Backup{Order: entity.Order{Incarnation: 1}, Saves: 1, Space: 1, Parts: []byte("parts")}
	for n, commit := range []bool{false, true} {
		m.Saves, m.Commit = uint64(n+1), commit
		c.up(appX, id, 1, uint64(n+1), m.Append(nil))
		c.pass(time.Second)
		if got := len(c.take()); got != n {
			t.Errorf("a commit: %v, %d copies", commit, got)
		}
	}
}

// A callback that waits for a backup is called in the next life, too, if the copy is that one.
func TestCommitOfABase(t *testing.T) {
	r := joinedRig(t)
	id, v := r.spawn()
	r.wantEvents("created")
	if err := v.Backup("OnAlarm", 5); err != nil {
		t.Fatal(err)
	}
	if err := v.Backup("Nothing", 5); err == nil {
		t.Error("a callback that is not there was taken")
	}
	parts := r.a.byID[id].appendParts(nil)
	h := heir(t)
	if err := h.a.restore(&heritage{id: id, lives: 1, parts: parts}); err != nil {
		t.Fatal(err)
	}
	h.tick()
	h.wantEvents("restored", "alarm 5 of 0")
}
