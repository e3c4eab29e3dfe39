package sim

import (
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
)

// TestKickWithADyingBaseApp: a player is kicked who cannot be reached, the cell part ends, and the
// BaseApp dies before it hears of that. Its heir has a copy in which the player plays. The player is
// told that the session is over, and plays anew.
func TestKickWithADyingBaseApp(t *testing.T) {
	play(t, Options{Seed: 7310, CellApps: 2, BaseApps: 3, Replicas: 1, Players: 3, Balance: still(2)}, func(r *rig) {
		pl := r.players[0]
		id := pl.id()
		dying, _ := r.base(id)
		r.wait(3 * backupPeriod)
		r.partFromBases(pl.p, time.Minute)
		ended := false
		r.hook = func(p *Process, _ mercury.ChannelID, msg []byte) []byte {
			var m flow.Message
			if what, body, err := wire.Split(msg); err == nil && what == wire.FlowID && m.Parse(body) == nil &&
				p == dying && m.From == id && m.To == id && flow.Payload(m.Payload[0]) == flow.GonePayload {
				ended = true
				return nil
			}
			return msg
		}
		for b := range r.bases() {
			if b.ID != id {
				continue
			}
			r.world.onKick(dying, pl.user(), "kick")
			if err := b.app.Script(id).(*walkerBase).Kick("kick"); err != nil {
				t.Fatal(err)
			}
		}
		r.until("the cell part says that it has ended", 2*time.Second, func() bool { return ended })
		dying.crash()
		r.hook = nil
		r.until("another one goes on", 10*time.Second, func() bool { on, _ := r.base(id); return on != nil && on != dying })
		r.rejoin(func(cut) bool { return true })
		r.until("it plays anew", 30*time.Second, func() bool { return pl.playing() && pl.id() != id })
		if on, _ := r.base(id); on != nil {
			t.Error("the base is there without its cell part")
		}
		dying.restartAt = r.now + time.Second
	})
}
