package sim

import (
	"cmp"
	"fmt"
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity/client"
	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
)

// loginStep is a moment in a login: a message comes to a process, from the cluster or from the client.
type loginStep struct {
	name   string
	to     string // the role
	client bool   // it is the client's message
	id     uint8
	seed   uint64 // 0 for any
}

var loginSteps = []loginStep{
	{"login", "loginapp", true, uint8(protocol.LoginID), 0},
	{"CreateProxy", "baseappmgr", false, uint8(wire.CreateProxyID), 0},
	{"MakeProxy", "baseapp", false, uint8(wire.MakeProxyID), 19932},
	{"ProxyMade", "baseappmgr", false, uint8(wire.ProxyMadeID), 13933},
	{"ProxyMade", "loginapp", false, uint8(wire.ProxyMadeID), 0},
	{"attach", "baseapp", true, uint8(protocol.AttachID), 0},
}

// TestLoginDies: a process dies at each step of a login: the one that the step's message comes to,
// or the one that it is from. The client tries until it is in; then its account has one proxy. In
// the seeds that stand there a BaseAppMgr that was started again had another one made, before it
// knew of the first.
func TestLoginDies(t *testing.T) {
	for i, s := range loginSteps {
		for _, who := range []string{"receiver", "sender"} {
			if s.client && who == "sender" {
				continue
			}
			t.Run(fmt.Sprintf("%s to %s, %s dies", s.name, s.to, who), func(t *testing.T) {
				play(t, Options{Seed: cmp.Or(s.seed, uint64(8930+i)), CellApps: 2, BaseApps: 3, Replicas: 1, Players: 2, Rovers: 2, Balance: still(2)}, func(r *rig) {
					v := &visitors{rig: r, loginApp: portLogin}
					r.wait(backupPeriod)
					var dead *Process
					r.hook = func(p *Process, ch mercury.ChannelID, msg []byte) []byte {
						from := r.peer(p, ch)
						if dead != nil || from == nil || len(msg) == 0 || msg[0] != s.id || !p.takes(s.to) || s.client != from.takes("visitor") {
							return msg
						}
						if dead = p; who == "sender" {
							dead = from
						}
						dead.kill()
						dead.restartAt = r.now + time.Second
						if dead == p {
							return nil
						}
						return msg
					}
					r.comesIn(v, "ann")
					if dead == nil {
						t.Fatal("nobody died")
					}
					r.wait(15 * time.Second) // heirs and managers have found each other
					r.hasOneProxy("ann")
				})
			})
		}
	}
}

// comesIn has a client try again and again until it plays.
func (r *rig) comesIn(v *visitors, name string) {
	r.t.Helper()
	for began := r.now; r.now-began < 40*time.Second; r.wait(500 * time.Millisecond) {
		x := v.come(name)
		r.until("the door has answered", 30*time.Second, func() bool { return x.out > 0 || x.State() == client.Playing && x.Player() != nil })
		if x.out == 0 {
			return
		}
	}
	r.t.Fatalf("%s has not come in", name)
}

// hasOneProxy checks that an account has exactly one base among all BaseApps.
func (r *rig) hasOneProxy(account string) {
	r.t.Helper()
	n := 0
	for b := range r.bases() {
		if b.Account == account {
			n++
		}
	}
	if n != 1 {
		r.t.Errorf("%s has %d proxies", account, n)
	}
}
