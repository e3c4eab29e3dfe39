package sim

import (
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/baseapp"
	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/mercurytest"
	"github.com/cellscape/cellscape/property"
)

// TestClientSaysWhatServersSay: the program of a client says what only the server says, says twice that it
// is ready, or pings without end. It loses its session, and nobody else notices.
func TestClientSaysWhatServersSay(t *testing.T) {
	door := protocol.Door{Network: "udp", Address: mercury.Address{At: mercurytest.Place(impostorPort)}}
	flood := func(n int) (b []byte) {
		for range n {
			b = protocol.AppendPing(b)
		}
		return b
	}
	lies := []struct {
		name string
		msg  func(pl *player) []byte
		// fine says that it is no lie.
		fine bool
	}{
		{name: "Switch", msg: func(*player) []byte { return (&protocol.Switch{Doors: []protocol.Door{door}}).Append(nil) }},
		{name: "NewToken", msg: func(*player) []byte { return (&protocol.NewToken{Token: protocol.Token{1}}).Append(nil) }},
		{name: "ResetEntities", msg: func(*player) []byte { return protocol.AppendResetEntities(nil) }},
		{name: "Transit", msg: func(pl *player) []byte {
			return (&protocol.Transit{Offset: property.Vector3{X: 100}, Companions: []entity.ID{pl.client.Player().ID}}).Append(nil)
		}},
		{name: "Pong", msg: func(*player) []byte { return protocol.AppendPong(nil) }},
		{name: "Fallback", msg: func(*player) []byte { return (&protocol.Fallback{Doors: []protocol.Door{door}}).Append(nil) }},
		{name: "EnableEntities again", msg: func(*player) []byte { return protocol.AppendEnableEntities(nil) }},
		{name: "EnableEntities with a body", msg: func(*player) []byte { return withBody(protocol.EnableEntitiesID) }},
		{name: "Ping with a body", msg: func(*player) []byte { return withBody(protocol.PingID) }},
		{name: "a few Pings", msg: func(*player) []byte { return flood(3) }, fine: true},
		{name: "a flood of Pings", msg: func(*player) []byte { return flood(5000) }},
	}
	play(t, Options{Seed: 4350, CellApps: 2, Players: 5, Rovers: 4, Balance: still(2)}, func(r *rig) {
		pl := r.players[0]
		others := func() int { return r.sessions() - pl.logins }
		was := others()
		for _, lie := range lies {
			r.until(pl.name+" plays", 20*time.Second, func() bool { return pl.ch != 0 && pl.playing() && pl.client.InWorld() })
			r.wait(200 * time.Millisecond)
			before, refused := pl.logins, r.refusedByBases()
			pl.rude = true
			if err := pl.p.ep.Send(pl.ch, lie.msg(pl)); err != nil {
				t.Fatalf("%s: %v", lie.name, err)
			}
			if lie.fine {
				if r.wait(4 * time.Second); pl.logins != before {
					t.Errorf("%s ended the session", lie.name)
				}
				continue
			}
			r.until("it loses its session by "+lie.name, 10*time.Second, func() bool { return pl.logins > before })
			if r.refusedByBases() == refused {
				t.Errorf("%s was not counted", lie.name)
			}
		}
		if now := others(); now != was {
			t.Errorf("the others logged in %d times", now-was)
		}
		r.nobodyRestored()
		r.wait(5 * time.Second)
	})
}

func withBody(id protocol.ID) []byte {
	b, mark := protocol.Begin(nil, id)
	return protocol.End(append(b, 1), mark)
}

// refusedByBases is how much BaseApps have refused.
func (r *rig) refusedByBases() (n uint64) {
	for _, p := range r.baseApps {
		if a, ok := p.app.(*baseapp.BaseApp); ok {
			n += a.Counters().Refused
		}
	}
	return n
}
