package baseappmgr

import (
	"testing"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
)

func (r *rig) claim(ch mercury.ChannelID, name string, id entity.ID) (wire.NameHeld, bool) {
	r.say(ch, &wire.RegisterName{Request: 1, Name: name, ID: id, Type: 3, Claim: true})
	return r.named(ch)
}

func (r *rig) find(ch mercury.ChannelID, name string) (wire.NameHeld, bool) {
	r.say(ch, &wire.FindName{Request: 2, Name: name})
	return r.named(ch)
}

// Of two who claim a name one gets it. The other hears nothing until there is a base, and so does who
// looks for it.
func TestClaims(t *testing.T) {
	r := newRig(t)
	x, y := r.joinTold(baseX), r.joinTold(baseY)
	for range 2 { // to ask again is the same
		if h, ok := r.claim(x, "auction", 7); !ok || h.ID != 7 || h.App != baseX {
			t.Errorf("%+v, %v", h, ok)
		}
	}
	if h, ok := r.claim(y, "auction", 8); ok {
		t.Errorf("a second claim is answered: %+v", h)
	}
	if h, ok := r.register(y, "auction", 9); ok {
		t.Errorf("a base that wants what is claimed is answered: %+v", h)
	}
	if h, ok := r.find(y, "auction"); ok {
		t.Errorf("found before there is a base: %+v", h)
	}
	if h, ok := r.register(x, "auction", 7); !ok || h.ID != 7 {
		t.Errorf("%+v, %v", h, ok)
	}
	r.claim(x, "auction", 7) // a late repetition takes nothing back
	for _, ask := range []func(mercury.ChannelID) (wire.NameHeld, bool){
		func(ch mercury.ChannelID) (wire.NameHeld, bool) { return r.claim(ch, "auction", 8) },
		func(ch mercury.ChannelID) (wire.NameHeld, bool) { return r.find(ch, "auction") },
	} {
		if h, ok := ask(y); !ok || h.ID != 7 || h.App != baseX {
			t.Errorf("once there is a base: %+v, %v", h, ok)
		}
	}
}

// A claim that is given up, or whose app has died, is the next one's.
func TestClaimEnds(t *testing.T) {
	r := newRig(t)
	x, y, z := r.joinTold(baseX), r.joinTold(baseY), r.joinTold(baseZ)
	r.members(baseX, baseY, baseZ)
	r.claim(x, "auction", 7)
	r.say(x, &wire.NameGone{Name: "auction", ID: 7})
	if h, ok := r.claim(y, "auction", 8); !ok || h.ID != 8 {
		t.Errorf("given up: %+v, %v", h, ok)
	}
	r.say(r.manager, &wire.AppDead{Role: wire.BaseApp, App: baseY, Allocator: 1})
	if h, ok := r.claim(z, "auction", 9); !ok || h.ID != 9 {
		t.Errorf("dead: %+v, %v", h, ok)
	}
}

// A manager that is new learns of claims as of names. A base that lives goes before one that is yet to
// be made, whoever tells first.
func TestBasesGoBeforeClaims(t *testing.T) {
	r := newRig(t)
	x, y := r.join(wire.BaseApp, baseX), r.join(wire.BaseApp, baseY)
	r.say(x, &wire.Names{Entries: []wire.Named{{Name: "auction", ID: 7, Type: 3, Claim: true}}, Last: true})
	if h, ok := r.find(y, "auction"); ok {
		t.Errorf("found %+v", h)
	}
	r.say(y, &wire.Names{Entries: []wire.Named{{Name: "auction", ID: 8, Type: 3}}, Last: true})
	var lost wire.NameLost
	if id, body := r.got(x); id != wire.NameLostID || lost.Parse(body) != nil || lost.ID != 7 || lost.Holder != 8 || lost.App != baseY {
		t.Errorf("who claims it hears %+v", lost)
	}
	if h, ok := r.find(x, "auction"); !ok || h.ID != 8 {
		t.Errorf("found %+v, %v", h, ok)
	}
	r.say(x, &wire.Names{Entries: []wire.Named{{Name: "auction", ID: 7, Type: 3, Claim: true}}, Last: true})
	if id, body := r.got(x); id != wire.NameLostID || lost.Parse(body) != nil || lost.ID != 7 {
		t.Errorf("who claims it hears %+v", lost)
	}
	if h, ok := r.find(x, "auction"); !ok || h.ID != 8 {
		t.Errorf("found %+v, %v", h, ok)
	}
}
