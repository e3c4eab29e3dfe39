package baseapp

import (
	"testing"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/migrate"
)

// By the outer door nobody speaks as an app, whatever address is shown there, and by the inner one
// nobody comes in as a client.
func TestOuterDoorIsForClients(t *testing.T) {
	outside := make(map[mercury.ChannelID]bool)
	r := joinedRig(t, func(c *Config) { c.Outside = func(ch mercury.ChannelID) bool { return outside[ch] } })
	id, _ := r.live()
	for _, m := range []wire.Message{
		&migrate.Lost{ID: id, Order: entity.Order{Incarnation: 1}}, &wire.AppDead{Role: wire.CellApp, App: appX},
		&wire.Dismissed{Term: 9}, &wire.MakeProxy{Account: "eve"}, name(wire.CellApp, stranger),
	} {
		for _, posing := range []mercury.Address{appX, cellAppMgr, baseAppMgr, stranger} {
			before := r.a.Counters().Refused
			ch := r.net.accept(posing)
			outside[ch] = true
			r.a.Opened(r.now, ch, posing)
			r.say(ch, m)
			if !r.net.ended[ch] || r.a.Counters().Refused != before+1 {
				t.Errorf("%T of %v: ended %v, %d refused", m, posing, r.net.ended[ch], r.a.Counters().Refused-before)
			}
		}
	}
	r.wantLink(id, linkLive, 1, 0, appX)
	made := r.login("ann")
	inner := r.connect(1)
	inner.attach(made.Token)
	if v, _ := r.view(made.ID); v.Session != 0 || !r.net.ended[inner.ch] {
		t.Error("a client came in by the inner door")
	}
	outer := r.connect(2)
	outside[outer.ch] = true
	outer.attach(made.Token)
	if v, _ := r.view(made.ID); v.Session != 1 {
		t.Error("no client came in by the outer door")
	}
}
