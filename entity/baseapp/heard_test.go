package baseapp

import (
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/internal/wire"
)

// bereft is an app with a base whose cell part has said something, and is lost before a copy has that.
func bereft(t *testing.T) (*copier, entity.ID) {
	c := newCopier(t)
	c.pass(2 * time.Second)
	id, _ := c.live()
	c.pass(2 * time.Second)
	c.mute[appW] = true
	c.up(appX, id, 1, 1, backup(1, 0, 1, 1, "one"))
	if in := &c.a.byID[id].link.in; in.Last() != 1 || in.Settled() != 0 {
		t.Fatalf("handled %d, settled %d", in.Last(), in.Settled())
	}
	c.sent, c.net.sent = nil, nil
	c.say(c.managers, &wire.AppDead{Role: wire.CellApp, App: appX})
	return c, id
}

// What a lost cell part has said is in a confirmed copy before the next one begins.
func TestHeardIsKept(t *testing.T) {
	c, id := bereft(t)
	c.answer()
	if got := c.take(); len(got) != 1 || got[0].ID != id {
		t.Fatalf("at once: %+v", got)
	}
	c.pass(offerGrace + time.Second)
	if s := c.a.byID[id].link.State(); s != linkLost {
		t.Fatalf("without a copy: %v", s)
	}
	c.mute[appW] = false
	c.pass(copyPatience + time.Second)
	if s := c.a.byID[id].link.State(); s != linkLocating {
		t.Errorf("with a copy: %v", s)
	}
}

// A holder that does not answer is not waited for, for ever. Until there is a copy again, the base is Hasty.
func TestHeardPatience(t *testing.T) {
	c, id := bereft(t)
	hasty := func(want bool) {
		t.Helper()
		if v, there := c.view(id); !there || v.Hasty != want {
			t.Errorf("hasty %v, want %v", v.Hasty, want)
		}
	}
	hasty(false)
	c.pass(heardPatience + time.Second)
	if s := c.a.byID[id].link.State(); s != linkLocating {
		t.Errorf("after %v: %v", heardPatience, s)
	}
	hasty(true)
	c.mute[appW] = false
	c.pass(copyPatience + 2*time.Second)
	hasty(false)
}
