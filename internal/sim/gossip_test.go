package sim

import (
	"slices"
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/migrate"
)

// TestGossips: scripts call each other while CellApps, a BaseApp and the CellAppMgr die and come back.
func TestGossips(t *testing.T) {
	play(t, Options{Seed: 70, Players: 1, Rovers: 1, Wild: Wild{Gossips: 8}, Balance: still(2)}, func(r *rig) {
		for _, p := range []*Process{r.cellApps[0], r.cellApps[1], r.manager, r.cellApps[0], r.baseApps[0], r.cellApps[1]} {
			r.wait(5 * time.Second)
			p.crash()
			r.wait(2 * time.Second)
			p.restartAt = r.now + time.Second
		}
		r.wait(8 * time.Second)
		t.Logf("%d gossips, answers: %v", len(r.world.gossips), r.world.answers)
		if r.world.answers["results"] < 200 || r.world.answers["game error"] < 20 || r.world.answers["no entity"] < 20 || r.world.answers["later"] < 50 ||
			r.world.answers["whispers"] < 100 || r.world.answers["to waifs"] < 50 {
			t.Errorf("too few answers: %v", r.world.answers)
		}
	})
}

// TestMadeAfterItsEnd: a base ends while a CellApp has not heard yet that it is to make the cell part.
// A call to that part is answered that it has ended. Then the order arrives after all, and the cell part
// hears the next call until the BaseApp has it dropped. (The checker took that for a call lost in silence.)
func TestMadeAfterItsEnd(t *testing.T) {
	play(t, Options{Seed: 71, CellApps: 1, Players: 1, Rovers: 1, Wild: Wild{Gossips: 2}}, func(r *rig) {
		r.world.hush = true
		caller, base := r.gossip(r.world.gossips[0])
		var made entity.ID
		var late func()
		r.hook = func(p *Process, ch mercury.ChannelID, msg []byte) []byte {
			var m migrate.Create
			if len(msg) == 0 || !slices.Contains(r.cellApps, p) || kind(msg) != wire.CreateID || m.Parse(msg[1:]) != nil {
				return msg
			}
			kept := append([]byte(nil), msg...)
			made, late = m.ID, func() { p.app.Message(r.now, ch, true, kept) }
			return nil
		}
		if err := base.CreateBase(entity.BaseInfo{Type: "Gossip", Init: befriend}, "OnFellow", 0); err != nil {
			t.Fatal(err)
		}
		r.until("a cell part is ordered", 5*time.Second, func() bool { return late != nil })
		_, base = r.gossip(made)
		base.end()
		r.until("the base has ended", 10*time.Second, func() bool { on, _ := r.base(made); return on == nil })
		refused := r.world.answers["no entity"]
		speak(caller.tongue(), made, entity.CellMailbox, true)
		r.until("the call is refused", 5*time.Second, func() bool { return r.world.answers["no entity"] > refused })

		r.on(func(m tampered) (pass, done bool) { return m.id != wire.RefuseRealID, false })
		late()
		speak(caller.tongue(), made, entity.CellMailbox, false)
		r.until("the next call is heard", time.Second, func() bool {
			orphan, _ := r.gossip(made)
			return orphan != nil && orphan.tongue().heard(pairOf(caller.ID(), entity.CellPart, entity.CellMailbox)).n == 2
		})
		r.wait(time.Second)
		r.hook = nil
		r.until("it is gone", 10*time.Second, func() bool { orphan, _ := r.gossip(made); return orphan == nil })
		r.world.hush = false
	})
}

// gossip finds both parts of a gossip; nil for one that is not there.
func (r *rig) gossip(id entity.ID) (cell *gossipCell, base *gossipBase) {
	r.eachGossip(func(_ *Process, s *gossipCell, b *gossipBase) {
		if s != nil && s.ID() == id {
			cell = s
		}
		if b != nil && b.ID() == id {
			base = b
		}
	})
	return cell, base
}
