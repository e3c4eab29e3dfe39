package sim

import (
	"fmt"
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity/client"
	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/mercury"
)

// TestBaseAppDiesAtTheDoor: a BaseApp dies at each of the first moments of a session, from the answer to the
// login on. The client is told with that answer who goes on, and a copy of its proxy is there by then: so
// no session ends, and nobody logs in again.
func TestBaseAppDiesAtTheDoor(t *testing.T) {
	for i, s := range []struct {
		name  string
		to    string // whom the message comes to, at which the BaseApp dies
		id    protocol.ID
		after time.Duration // or so much later
	}{
		{"login answered", "visitor", protocol.LoginOKID, 0},
		{"attach", "baseapp", protocol.AttachID, 0},
		{"attach handled", "baseapp", protocol.AttachID, time.Millisecond},
		{"attached", "visitor", protocol.AttachedID, 0},
		{"soon after", "visitor", protocol.AttachedID, 5 * time.Millisecond},
		{"later", "visitor", protocol.AttachedID, 20 * time.Millisecond},
		{"in the next tick", "visitor", protocol.AttachedID, 110 * time.Millisecond},
		{"in the third", "visitor", protocol.AttachedID, 220 * time.Millisecond},
	} {
		for _, world := range []struct{ apps, late int }{{2, 0}, {3, 0}, {3, 1}} {
			t.Run(fmt.Sprintf("%s, %d BaseApps, %d", s.name, world.apps, world.late), func(t *testing.T) {
				o := Options{Seed: uint64(8960 + 10*i + world.late), CellApps: 2, BaseApps: world.apps, Replicas: 1, Players: 2, Rovers: 2, Balance: still(2)}
				play(t, o, func(r *rig) {
					v := &visitors{rig: r, loginApp: portLogin}
					r.wait(backupPeriod + time.Duration(world.late)*50*time.Millisecond)
					var host *Process
					var dieAt time.Duration
					r.hook = func(p *Process, ch mercury.ChannelID, msg []byte) []byte {
						from := r.peer(p, ch)
						if from == nil || len(msg) == 0 || protocol.ID(msg[0]) != s.id || !p.takes(s.to) || !p.takes("visitor") && !from.takes("visitor") || dieAt > 0 {
							return msg
						}
						if host = p; s.to == "visitor" {
							host = from
						}
						if s.id == protocol.LoginOKID {
							var m protocol.LoginOK
							if err := protocol.Messages(msg, func(_ protocol.ID, body []byte) error { return m.Parse(body) }); err != nil {
								t.Error(err)
								return msg
							}
							host = r.byPlace[m.Doors[0].Address.At]
						}
						if dieAt = r.now + s.after; s.after > 0 {
							return msg
						}
						host.kill()
						if s.to == "baseapp" {
							return nil
						}
						return msg
					}
					x := v.come("ann")
					r.until("the BaseApp dies", 10*time.Second, func() bool { return dieAt > 0 && r.now >= dieAt })
					r.hook = nil
					if host.alive {
						host.kill()
					}
					r.until("ann plays", 20*time.Second, func() bool {
						if x.out > 0 || x.State() != client.Playing || x.Interrupted() != nil || !x.InWorld() {
							return x.out > 0
						}
						on, b := r.base(x.Player().ID)
						return on != nil && on != host && !b.Away
					})
					if x.out > 0 || x.in != 1 {
						t.Fatalf("came in %d times, and was put out %d times: %v", x.in, x.out, x.why)
					}
					host.restartAt = r.now + time.Second
					r.wait(15 * time.Second) // heirs and managers have found each other
					if x.out > 0 {
						t.Fatalf("was put out: %v", x.why)
					}
					r.hasOneProxy("ann")
				})
			})
		}
	}
}
