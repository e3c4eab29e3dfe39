package sim

import (
	"slices"
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/property"
)

// face leads the first two players to either side of a line, within sight of each other, and
// returns their entities. The players make no more calls of their own.
func (r *rig) face() (caller, target entity.ID) {
	r.t.Helper()
	for i, at := range []property.Vector3{r.across(-40), r.across(40)} {
		r.players[i].quiet = true
		r.players[i].steer = func() property.Vector3 { return at }
	}
	caller, target = r.players[0].id(), r.players[1].id()
	r.until("the two face each other on two CellApps", time.Minute, func() bool {
		p, _, a := r.real(caller)
		q, _, b := r.real(target)
		return p != nil && q != nil && p != q && property.Distance(a.Position(), b.Position()) < aoiRadius/1.1
	})
	r.wait(2 * time.Second)
	return caller, target
}

// TestCallBackedUpUnheard: a call is in a backup of its target, whose CellApp dies before the
// caller hears of it. The caller sends the call again, and the restored target has to know that it
// has handled it.
func TestCallBackedUpUnheard(t *testing.T) {
	play(t, Options{Seed: 44, CellApps: 3, Players: 4, Rovers: 2, Balance: still(2)}, func(r *rig) {
		caller, target := r.face()
		r.backedUp(target)
		sent := r.greetedBy(target, caller) + 3
		for range 3 {
			if err := r.players[0].greet(target); err != nil {
				t.Fatal(err)
			}
		}
		r.until("the calls are handled, before the next backup", 1500*time.Millisecond, func() bool { return r.greetedBy(target, caller) == sent })
		on, _, v := r.real(target)
		was, killed := v.Order(), false
		r.hook = func(p *Process, ch mercury.ChannelID, msg []byte) []byte {
			if !killed && r.peer(p, ch) == on && isBackupOf(target, msg) {
				killed = true
				on.kill()
			}
			return msg
		}
		r.until("the target is restored", 15*time.Second, func() bool {
			p, _, v := r.real(target)
			return p != nil && v.Order().Incarnation > was.Incarnation
		})
		if n := r.greetedBy(target, caller); n != sent {
			t.Errorf("restored with %d calls handled, of %d that the backup holds", n, sent)
		}
		r.wait(3 * time.Second) // the caller has sent again what it believes the target lacks
	})
}

// TestCallToTheDead: a caller's call to an entity is in the caller's backup, and nowhere else. Then
// the BaseApp of the target and all CellApps die. The caller is restored on a CellApp that joins
// after that, and has to hear there that the target no longer exists.
func TestCallToTheDead(t *testing.T) {
	play(t, Options{Seed: 46, CellApps: 3, BaseApps: 2, Players: 8, Rovers: 2, Balance: still(2)}, func(r *rig) {
		home, _ := r.base(r.id())
		for i, pl := range r.players {
			if dead, _ := r.base(pl.id()); dead != home {
				r.players[1], r.players[i] = pl, r.players[1]
				break
			}
		}
		caller, target := r.face()
		dead, _ := r.base(target)
		if dead == home {
			t.Fatal("all players have their bases on one BaseApp")
		}
		r.hook = func(_ *Process, _ mercury.ChannelID, msg []byte) []byte {
			var m flow.Message
			if kind(msg) == wire.FlowID && m.Parse(msg[1:]) == nil && m.From == caller && m.To == target {
				return nil
			}
			return msg
		}
		if err := r.players[0].greet(target); err != nil {
			t.Fatal(err)
		}
		call := missing(caller, target, r.players[0].ear.greets[target])
		r.wait(time.Second)
		r.backedUp(caller)
		dead.crash()
		dead.restartAt = r.now + time.Second
		for _, p := range r.cellApps {
			p.crash()
			p.restartAt = r.now + 2*deadAfter
		}
		r.until("the call is refused", 40*time.Second, func() bool {
			p, _, v := r.real(caller)
			return p != nil && slices.Contains(list(v, "refusals"), call)
		})
	})
}

// backedUp waits until the base of an entity gets a backup.
func (r *rig) backedUp(id entity.ID) {
	r.t.Helper()
	hook, came := r.hook, false
	r.hook = func(p *Process, ch mercury.ChannelID, msg []byte) []byte {
		came = came || isBackupOf(id, msg)
		if hook != nil {
			return hook(p, ch, msg)
		}
		return msg
	}
	r.until("a backup", 10*time.Second, func() bool { return came })
	r.hook = hook
}
