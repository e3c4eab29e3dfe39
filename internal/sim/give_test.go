package sim

import (
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/baseapp"
	"github.com/cellscape/cellscape/property"
)

// give has the base of one entity give its client to another.
func (r *rig) give(from, to entity.ID) {
	r.t.Helper()
	done := false
	r.eachBase(func(_ *Process, a *baseapp.BaseApp, b baseapp.BaseView) {
		if giver, ok := a.Script(b.ID).(interface {
			GiveClientTo(property.Mailbox, string) error
		}); ok && b.ID == from {
			if err := giver.GiveClientTo(property.Mailbox{Entity: uint64(to)}, ""); err != nil {
				r.t.Fatal(err)
			}
			done = true
		}
	})
	if !done {
		r.t.Fatalf("%v cannot give its client", from)
	}
}

// TestGive: the client of a player goes to a rock and back, again and again, and its channel is lost on the way.
// The session goes on, and in the end the client sees what it should.
func TestGive(t *testing.T) {
	play(t, Options{Seed: 78, CellApps: 2, Players: 4, Rovers: 4, Balance: still(2), Wild: Wild{Rocks: 4}}, func(r *rig) {
		pl := r.players[0]
		pl.quiet = true // what it calls while it is given away is for nobody
		r.wait(2 * time.Second)
		own, logins := pl.id(), pl.logins
		on, _ := r.base(own)
		var rock entity.ID
		r.eachBase(func(p *Process, a *baseapp.BaseApp, b baseapp.BaseView) {
			if _, ok := a.Script(b.ID).(*rockBase); ok && p == on && rock == 0 {
				rock = b.ID
			}
		})
		for n := range 6 {
			from, to := own, rock
			if n%2 == 1 {
				from, to = to, from
			}
			if n >= 2 {
				r.loseChannel(pl)
			}
			if n >= 4 {
				r.wait(time.Duration(n) * 3 * time.Millisecond)
			}
			r.give(from, to)
			if n == 3 {
				r.loseChannel(pl)
			}
			r.until("the client has another entity", 30*time.Second, func() bool { return pl.id() == to && pl.client.Interrupted() == nil })
			r.wait(500 * time.Millisecond)
		}
		r.until("it plays", 10*time.Second, pl.playing)
		if pl.logins != logins || pl.id() != own {
			t.Errorf("%d logins, entity %v after %v", pl.logins-logins, pl.id(), own)
		}
	})
}
