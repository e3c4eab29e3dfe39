package sim

import (
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/baseapp"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/migrate"
	"github.com/cellscape/cellscape/space/cellappmgr"
	"github.com/cellscape/cellscape/space/cluster/status"
)

// What is said about who leads, and by one who has led.

// foreign is how many words of managers the seats have had from others.
func (r *rig) foreign() (n uint64) {
	for _, s := range r.seats {
		if app, ok := s.mgr.app.(*cellappmgr.Seat); ok && s.mgr.alive {
			n += app.Counts().Foreign
		}
	}
	return n
}

// TestImpostorAtTheVote: somebody who is no manager, or a CellApp that has joined, votes and asks for votes
// at every seat. Nobody counts it, also while managers are elected.
func TestImpostorAtTheVote(t *testing.T) {
	for i, role := range []wire.Role{0, wire.CellApp} {
		name := "a stranger"
		if role != 0 {
			name = "a " + role.String()
		}
		t.Run(name, func(t *testing.T) {
			play(t, Options{Seed: 4330 + uint64(i), Seats: 3, CellApps: 3, Players: 4, Rovers: 4, Balance: still(3), Sealed: role != 0}, func(r *rig) {
				r.parted = true
				term, leader := r.terms, r.seatOf()
				x := r.impostorWith(nil)
				if role != 0 {
					x.p.crash()
					x = r.impostorWith(r.cellApps[0].roleKeys())
				}
				x.joined = role
				r.wait(5 * time.Second)
				if r.terms != term || r.seatOf() != leader {
					t.Errorf("%s leads in term %d", r.seatOf().mgr.Name, r.terms)
				}
				if n := r.foreign(); n < 20 {
					t.Errorf("the seats have counted %d", n)
				}
				r.crashSeat(leader)
				r.until("another leads", 5*time.Second, func() bool { return r.terms == term+1 })
				r.until("everyone is in its term", 10*time.Second, func() bool { return r.everyoneIn(term + 1) })
				leader.mgr.restartAt = r.now + time.Millisecond
				r.wait(5 * time.Second)
				if r.terms != term+1 {
					t.Errorf("term %d", r.terms)
				}
				x.p.crash()
			})
		})
	}
}

// hangOver is what a manager that has led may still say, in its old term, to anyone: late, or since it
// does not believe that another leads.
func (x *impostor) hangOver(term uint32) []wire.Message {
	self := x.p.Address()
	lies := []wire.Message{
		&wire.LeaseAsk{Speaks: wire.Spoken(), Digest: x.r.world.schema.Digest, Term: term, Round: uint64(x.r.now)}, &wire.LeaseVote{Term: term, Round: uint64(x.r.now), Granted: true, Highest: term},
		&wire.LeaseVote{Term: term + 1, Round: uint64(x.r.now), Granted: true, Highest: term},
		&wire.Welcome{Number: 1, Allocator: 1, Term: term}, &wire.Dismissed{Term: term, Reason: "go"},
		&wire.Members{Apps: []wire.AppRef{{Role: wire.CellApp, App: self}, {Role: wire.BaseApp, App: self}}}, &wire.Freeze{On: true},
		&wire.Stop{Number: 1 << 60, Step: wire.StopEnded, Reason: "go"}, &wire.WorldEnding{Stop: status.Stop{Step: "saved", Done: true}},
		&wire.Located{ID: x.r.id(), Gone: true}, &wire.LocatedArea{Gateway: 2, Space: theSpace, Apps: []mercury.Address{x.r.cellApps[0].Address()}}, &wire.Relogin{Request: 1, Account: x.account()}, &wire.Outdone{Account: x.account(), ID: 77, Origin: x.r.id(), Turn: 1 << 30}, &wire.NameLost{Name: "name", ID: x.r.id(), Holder: 77}, &wire.MakeProxy{Request: 1, Account: "hangover"},
		&wire.SetWatch{Number: 1, Role: wire.CellApp, Path: "witness/bytes_per_tick", Text: "300"},
	}
	for _, p := range append(append([]*Process{}, x.r.baseApps...), x.r.cellApps...) {
		role := wire.CellApp
		if p.takes("baseapp") {
			role = wire.BaseApp
		}
		lies = append(lies, &wire.AppDead{Role: role, App: p.Address(), Number: 1 << 40})
		if role == wire.BaseApp {
			lies = append(lies, &wire.Shed{To: p.Address(), Bases: 1 << 20}, &wire.BasesMoved{App: p.Address(), Number: 1 << 40, Allocator: 1,
				Rule: migrate.Rule{Version: 1 << 40, Replicas: 1, List: []mercury.Address{self}}, Part: migrate.Part{Turn: 1 << 40, Slices: 1<<migrate.Slices - 1, Below: entity.MaxID}})
		}
	}
	for n := range uint64(16) {
		lies = append(lies, &wire.Departed{Request: n})
	}
	return lies
}

// hang says all that to everyone.
func (x *impostor) hang(term uint32, d time.Duration) {
	for until := x.r.now + d; x.r.now < until; x.n++ {
		for _, p := range x.r.procs {
			if p != x.p && p.alive && (p.takes("baseapp") || p.takes("cellapp") || p.takes("cellappmgr") || p.takes("baseappmgr")) {
				x.lie(p, x.hangOver(term))
			}
		}
		x.r.wait(20 * time.Millisecond)
	}
}

// TestFormerLeader: a manager that has led says on what it said in its term, to apps and to other managers,
// while a BaseApp waits for leave of the present one. Nobody heeds it.
func TestFormerLeader(t *testing.T) {
	play(t, Options{Seed: 4340, Seats: 3, CellApps: 2, BaseApps: 3, Replicas: 1, Players: 5, Rovers: 6, Balance: still(2)}, func(r *rig) {
		r.parted = true
		term, old := r.terms, r.seatOf()
		old.mgr.pause(3 * time.Second)
		old.base.pause(3 * time.Second)
		r.until("another leads", 4*time.Second, func() bool { return r.terms == term+1 })
		r.until("everyone is in its term", 10*time.Second, func() bool { return r.everyoneIn(term + 1) })
		r.wait(6 * time.Second)

		origin := r.baseApps[0]
		app := origin.app.(*baseapp.BaseApp)
		withheld := true
		r.hook = func(p *Process, ch mercury.ChannelID, msg []byte) []byte {
			if withheld && p == r.manager && kind(msg) == wire.DepartID {
				return nil
			}
			return msg
		}
		r.leave(origin)
		r.until("a BaseApp stands still", 60*time.Second, app.StandsStill)
		x := &impostor{r: r, p: old.mgr, said: map[wire.ID]int{}, to: map[*Process]mercury.ChannelID{}}
		was := r.sessions()
		x.hang(term, 3*time.Second)
		if app.Retired() || !app.StandsStill() {
			t.Errorf("a BaseApp has gone by the word of a former manager, or has given up: %q", app.RetireWaits())
		}
		withheld = false
		r.left(origin, 30*time.Second)
		x.hang(term, 2*time.Second)
		if r.terms != term+1 {
			t.Errorf("term %d", r.terms)
		}
		if now := r.sessions(); now != was {
			t.Errorf("players logged in %d times", now-was)
		}
		for p, a := range r.liveCellApps() {
			if a.Dismissed() || p.starts > 1 {
				t.Errorf("%s believed that it is dead", p.Name)
			}
		}
		// Those whom it named are not whom the next leader calls.
		second := r.seatOf()
		second.mgr.pause(20 * time.Second) // without a word to the apps
		second.base.pause(20 * time.Second)
		r.until("a third leads", 5*time.Second, func() bool { return r.terms == term+2 })
		led := r.now
		r.until("everyone is in its term", 15*time.Second, func() bool { return r.everyoneIn(term + 2) })
		t.Logf("everyone is in the third term after %v", r.now-led)
		if took := r.now - led; took > 4*time.Second {
			t.Errorf("everyone was in the third term only after %v", took)
		}
	})
}
