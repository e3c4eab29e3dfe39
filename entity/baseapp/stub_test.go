package baseapp

import (
	"slices"
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/migrate"
)

// endedProxy is an app with a proxy that has ended, of which a holder that does not answer has a copy.
func endedProxy(t *testing.T) (*copier, entity.ID) {
	c := newCopier(t)
	c.pass(2 * time.Second)
	_, id, v := c.play("ann")
	c.pass(time.Second)
	if c.confirmed(id) == 0 {
		t.Fatal("no copy is confirmed")
	}
	c.net.sent = nil
	c.mute[appW] = true
	v.Destroy()
	return c, id
}

// An account is free when the holder has said that it has forgotten the proxy, and a login waits for that.
func TestEndIsAcknowledged(t *testing.T) {
	c, id := endedProxy(t)
	if m := one(t, told[migrate.BaseGone](c.rig, appW)); m.ID != id {
		t.Errorf("told of %v", m.ID)
	}
	c.relogin("ann")
	if n := len(told[wire.ProxyGone](c.rig, baseAppMgr)); n != 0 || len(c.a.accounts) != 1 {
		t.Fatalf("freed %d accounts too early, %d are left", n, len(c.a.accounts))
	}
	c.tell(appV, &migrate.BaseForgotten{ID: id}) // it was not asked
	if len(c.a.stubs.list) != 1 {
		t.Fatal("the word of another counts")
	}
	c.tell(appW, &migrate.BaseForgotten{ID: id})
	var freed, answered int
	for _, msg := range c.ids(baseAppMgr) {
		switch msg {
		case wire.ProxyGoneID:
			freed++
		case wire.ProxyMadeID:
			answered++
		}
	}
	if freed != 1 || answered != 1 || len(c.a.accounts) != 0 || len(c.a.stubs.byID) != 0 {
		t.Errorf("freed %d, answered %d", freed, answered)
	}
	c.tell(appW, &migrate.BaseForgotten{ID: id}) // again
}

// ids returns what was sent to an app.
func (c *copier) ids(to mercury.Address) (ids []wire.ID) {
	for _, msg := range c.rig.take(to) {
		id, _, err := wire.Split(msg)
		parse(c.t, err)
		ids = append(ids, id)
	}
	return ids
}

// What may be lost is told again; a holder that dies is not waited for, nor for ever one that lives.
func TestEndIsToldAgain(t *testing.T) {
	t.Run("broken", func(t *testing.T) {
		c, id := endedProxy(t)
		c.rig.take(appW)
		c.a.copyChannelBroke(appW)
		c.tick()
		if m := one(t, told[migrate.BaseGone](c.rig, appW)); m.ID != id {
			t.Errorf("told of %v", m.ID)
		}
	})
	t.Run("silent", func(t *testing.T) {
		c, _ := endedProxy(t)
		c.relogin("ann")
		c.gone = nil
		c.pass(forgetPatience - time.Second)
		if n := len(c.gone); n < 5 || n > 12 || len(c.a.accounts) != 1 {
			t.Errorf("told %d times, %d accounts", n, len(c.a.accounts))
		}
		errors := c.a.report.Errors
		c.pass(2 * time.Second)
		if len(c.a.accounts) != 0 || len(c.a.stubs.list) != 0 || c.a.report.Errors != errors+1 {
			t.Errorf("%d accounts, %d errors", len(c.a.accounts), c.a.report.Errors-errors)
		}
	})
	t.Run("dead", func(t *testing.T) {
		c, _ := endedProxy(t)
		c.say(c.managers, &wire.AppDead{Role: wire.BaseApp, App: appW})
		c.tick()
		if len(c.a.accounts) != 0 || len(c.a.stubs.list) != 0 {
			t.Errorf("%d accounts, %d stubs", len(c.a.accounts), len(c.a.stubs.list))
		}
	})
}

// The first holder is told last: only if it has forgotten the base, nobody brings it back.
func TestFirstHolderForgetsLast(t *testing.T) {
	c := newCopier(t, func(cfg *Config) { cfg.BackupReplicas = 2 })
	c.baseApp(appV, 7)
	c.pass(4 * time.Second)
	id := c.make()
	c.pass(time.Second)
	first := c.a.copying.ruling.rules.First(c.a.net.Self(), id)
	next := appV
	if first == appV {
		next = appW
	}
	c.net.sent = nil
	c.a.byID[id].Destroy()
	if a, b := len(told[migrate.BaseGone](c.rig, first)), len(told[migrate.BaseGone](c.rig, next)); a != 0 || b != 1 {
		t.Fatalf("first told %d times, next %d", a, b)
	}
	c.tell(next, &migrate.BaseForgotten{ID: id})
	if n := len(told[migrate.BaseGone](c.rig, first)); n != 1 || len(c.a.stubs.list) != 1 {
		t.Fatalf("then first told %d times, %d stubs", n, len(c.a.stubs.list))
	}
	c.tell(first, &migrate.BaseForgotten{ID: id})
	if len(c.a.stubs.list) != 0 {
		t.Error("not forgotten")
	}
}

// An app does not leave before all have forgotten what has ended on it.
func TestNoLeaveWithStubs(t *testing.T) {
	c, id := endedProxy(t)
	c.mute[appW], c.mindful = false, true
	c.pass(2 * time.Second)
	c.a.Retire("test")
	c.asks = nil
	c.pass(15 * time.Second)
	if len(c.asks) != 0 || len(c.a.stubs.list) != 1 || c.a.RetireWaits() != "others to forget bases that have ended" {
		t.Fatalf("asked %d times, %d stubs, waits for %q", len(c.asks), len(c.a.stubs.list), c.a.RetireWaits())
	}
	c.tell(appW, &migrate.BaseForgotten{ID: id})
	c.asked(20 * time.Second)
}

// Whoever calls a base that has ended hears of it when no heir can bring it back: if the app dies
// before, the call comes again.
func TestCallsWaitForTheEnd(t *testing.T) {
	c, id := endedProxy(t)
	c.tell(appX, call(ofX, entity.CellPart, id, 1, ofX))
	c.tell(appX, call(ofX, entity.CellPart, id, 1, ofX))
	for range maxStubCallers {
		c.tell(appX, call(ofX, entity.CellPart, id, 2, ofX))
	}
	c.tell(appX, &flow.Inquiry{Of: id, OfPart: entity.BasePart, By: ofX, ByPart: entity.CellPart, Reply: appX, Stamp: 1})
	c.rig.tick()
	if ids := c.ids(appX); slices.Contains(ids, wire.FlowAckID) || slices.Contains(ids, wire.FlowRemainderID) {
		t.Fatalf("callers hear of an end that may be undone, or what remains of its flows: %v", ids)
	}
	c.tell(appW, &migrate.BaseForgotten{ID: id})
	if a := one(t, told[flow.Ack](c.rig, appX)); !a.Gone || a.To != ofX || a.From != id || a.FromPart != entity.BasePart {
		t.Errorf("it hears %+v", a)
	}
	c.tell(appX, call(ofX, entity.CellPart, id, 3, ofX))
	if a := one(t, told[flow.Ack](c.rig, appX)); !a.Gone {
		t.Errorf("afterwards it hears %+v", a)
	}
}

// The end of a cell part is undone if the app dies before a copy of the base knows of it. Until then callers
// hear nothing.
func TestCallsWaitForTheEndOfACellPart(t *testing.T) {
	c := newCopier(t)
	c.pass(2 * time.Second)
	id, v := c.live()
	c.pass(time.Second)
	if c.confirmed(id) == 0 {
		t.Fatal("no copy is confirmed")
	}
	if err := v.DestroyCell(); err != nil {
		t.Fatal(err)
	}
	c.up(appX, id, 1, 1, (&flow.Gone{}).Append(nil))
	c.wantLink(id, linkNone, 1, 0, nowhere)
	m := call(ofX, entity.CellPart, id, 1, ofX)
	m.ToPart, m.Reply = entity.CellPart, appX
	c.net.sent = nil
	c.mute[appW] = true
	for range 3 {
		c.tell(appX, m)
		c.tell(appX, &flow.Inquiry{Of: id, OfPart: entity.CellPart, By: ofX, ByPart: entity.CellPart, Reply: appX, Stamp: 1})
		c.rig.tick()
	}
	if ids := c.ids(appX); slices.Contains(ids, wire.FlowAckID) || slices.Contains(ids, wire.FlowRemainderID) {
		t.Fatalf("callers hear of an end that may be undone, or what remains of its flows: %v", ids)
	}
	c.mute[appW] = false
	c.pass(time.Second)
	c.net.sent = nil
	c.tell(appX, m)
	if a := one(t, told[flow.Ack](c.rig, appX)); !a.Gone || a.To != ofX || a.From != id || a.FromPart != entity.CellPart {
		t.Errorf("it hears %+v", a)
	}
}
