package client

import (
	"errors"
	"testing"

	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/property"
)

// A game that is ready later says so once, and hears of no entity before.
func TestEnableEntities(t *testing.T) {
	r := newRig(t)
	r.c.cfg.EnableLater = true
	r.attach()
	var m protocol.Attach
	if err := protocol.Messages(r.net.One(t, r.c.ch), func(_ protocol.ID, body []byte) error { return m.Parse(body) }); err != nil || m.Ready {
		t.Fatalf("attaches as %+v, %v", m, err)
	}
	if err := r.c.EnableEntities(); !errors.Is(err, ErrNotPlaying) {
		t.Errorf("before the login: %v", err)
	}
	attached := protocol.Attached{Token: protocol.Token{1}, Time: resumeTime}
	r.say(attached.Append(nil))
	r.say((&protocol.Fallback{}).Append(nil))
	r.wantEvents("logged in")
	if err := r.c.EnableEntities(); err != nil {
		t.Fatal(err)
	}
	if err := r.c.EnableEntities(); !errors.Is(err, ErrNotPlaying) {
		t.Errorf("twice: %v", err)
	}
	_ = r.own.Load(gold, property.Int(5))
	base := protocol.BasePlayer{ID: me, Props: r.own.AppendStream(nil, property.OwnClientBaseStream)}
	r.say(base.Append(nil))
	r.wantEvents("base player 1.1 gold 5")
	own := r.c.Player()
	r.say(base.Append(nil)) // its proxy was restored from before
	if r.wantEvents(); r.c.Player() != own {
		t.Error("another replica")
	}
	base.ID = foe
	r.say(base.Append(nil))
	r.wantMalformed()
}

func TestPlayerBeforeItIsReady(t *testing.T) {
	r := newRig(t)
	r.c.cfg.EnableLater = true
	r.attach()
	base := protocol.BasePlayer{ID: me, Props: r.own.AppendStream(nil, property.OwnClientBaseStream)}
	r.say(base.Append((&protocol.Attached{}).Append(nil)))
	r.wantMalformed()
}

// A client that gets another entity forgets all, and says that it is ready again, unless the game does.
func TestResetEntities(t *testing.T) {
	r := newRig(t)
	r.playOn()
	reset := 0
	r.c.cfg.Events.EntitiesReset = func() { reset++ }
	own := r.c.Player()
	m := protocol.NewToken{Token: protocol.Token{9}}
	r.say(m.Append(nil))
	r.say(protocol.AppendResetEntities(nil))
	if r.c.Player() != nil || r.c.Len() != 0 || r.c.InWorld() || reset != 1 || r.c.life.token != m.Token {
		t.Errorf("it knows %v and %d others, reset %d times", r.c.Player(), r.c.Len(), reset)
	}
	if err := own.Base().Call("buy", "hat"); err == nil {
		t.Error("it calls an entity that it has no more")
	}
	said := 0
	for _, s := range r.net.Sent {
		if protocol.ID(s.Message[0]) == protocol.EnableEntitiesID {
			said++
		}
	}
	if said != 1 {
		t.Errorf("it said %d times that it is ready", said)
	}
	base := protocol.BasePlayer{ID: foe, Props: r.own.AppendStream(nil, property.OwnClientBaseStream)}
	r.say(base.Append(nil))
	if p := r.c.Player(); p == nil || p.ID != foe {
		t.Errorf("it has %v", p)
	}
}
