package sim

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cellscape/cellscape/bsp"
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/migrate"
	"github.com/cellscape/cellscape/property"
)

// Each scenario is a named case on a clean network. Its own code says only what is special about
// it: all are required to end with every promise kept.

// TestKilledCellApp: a CellApp dies, and nothing that was sent to its entities with bases is lost,
// neither by bases nor by clients.
func TestKilledCellApp(t *testing.T) {
	play(t, Options{Seed: 1}, func(r *rig) {
		id := r.id()
		on, _, v := r.real(id)
		order, sent, worn := v.Order(), r.tally(id).Sent, r.players[0].worn
		on.crash()
		r.until("the player has a real again", 10*time.Second, func() bool {
			again, _, v := r.real(id)
			return again != nil && order.Before(v.Order())
		})
		if _, _, v := r.real(id); v.Order().Incarnation != order.Incarnation+1 {
			t.Errorf("restored as %v after %v: want the next incarnation", v.Order(), order)
		}
		r.wait(3 * time.Second)
		if n := r.tally(id).Sent; n <= sent || r.players[0].worn <= worn {
			t.Errorf("nothing was sent meanwhile: %d and %d messages", n-sent, r.players[0].worn-worn)
		}
	})
}

// TestFalseVerdict: a CellApp that was only slow is declared dead, hears of it when it comes back,
// and starts anew under another salt.
func TestFalseVerdict(t *testing.T) {
	play(t, Options{Seed: 2}, func(r *rig) {
		on, _, _ := r.real(r.id())
		was := on.Address()
		on.pause(5 * time.Second)
		r.until("the CellApp has started anew", 10*time.Second, func() bool { return on.alive && on.salt != was.Salt })
		r.wait(3 * time.Second)
		if d := r.observer.last.Deaths; d != 1 {
			t.Errorf("%d deaths, want the one of %s", d, on.Name)
		}
	})
}

// TestSlowCellApp: a pause below the limit does not count as a death.
func TestSlowCellApp(t *testing.T) {
	play(t, Options{Seed: 3}, func(r *rig) {
		on, _, v := r.real(r.id())
		order := v.Order()
		on.pause(2 * time.Second)
		r.wait(4 * time.Second)
		if _, _, v := r.real(r.id()); r.observer.last.Deaths != 0 || v.Order().Incarnation != order.Incarnation {
			t.Errorf("%d deaths; the real was %v and is %v", r.observer.last.Deaths, order, v.Order())
		}
	})
}

// TestAllButOne: all CellApps but one die at once; everyone lives on the last one.
func TestAllButOne(t *testing.T) {
	play(t, Options{Seed: 4}, func(r *rig) {
		on, _, _ := r.real(r.id())
		for _, p := range r.cellApps {
			if p != on {
				p.crash()
			}
		}
		want := len(r.players) + r.opts.Rovers
		r.until("all live on one CellApp", 15*time.Second, func() bool {
			n := 0
			for v := range r.reals() {
				if v.Def().HasBase {
					n++
				}
			}
			return n == want
		})
	})
}

// TestEveryCellApp: the last CellApp dies, too; the world waits in its bases for CellApps to come
// back.
func TestEveryCellApp(t *testing.T) {
	play(t, Options{Seed: 5}, func(r *rig) {
		for _, p := range r.cellApps {
			p.crash()
		}
		r.wait(8 * time.Second)
	})
}

// TestSlowManager: the CellAppMgr stands still for 5 s. Nobody dies of it, and reals go on moving
// between cells.
func TestSlowManager(t *testing.T) {
	play(t, Options{Seed: 6}, func(r *rig) {
		here, there, n := r.across(-40), r.across(40), 0
		r.lead(here)
		r.players[0].steer = func() property.Vector3 {
			if n++; n/40%2 == 0 {
				return there
			}
			return here
		}
		before := r.migrations()
		r.manager.pause(5 * time.Second)
		r.wait(5 * time.Second)
		if r.migrations() == before {
			t.Error("nothing moved between cells while the manager stood still")
		}
		r.wait(5 * time.Second)
		if d := r.observer.last.Deaths; d != 0 {
			t.Errorf("%d died of it", d)
		}
		for _, pl := range r.players {
			if !pl.playing() {
				t.Errorf("%s was thrown out: %v", pl.name, pl.client.Err())
			}
		}
	})
}

func (r *rig) migrations() (n uint64) {
	for _, a := range r.liveCellApps() {
		n += a.Counters().Migrations
	}
	return n
}

// TestKilledBaseApp: a BaseApp dies. Its players are thrown out and log in at the other one, its
// entities leave the world, and everyone else goes on.
func TestKilledBaseApp(t *testing.T) {
	play(t, Options{Seed: 7}, func(r *rig) {
		dead, other := r.baseApps[0], r.baseApps[1]
		lost, stay := map[entity.ID]bool{}, 0
		logins := map[*player]int{}
		for _, pl := range r.players {
			p, b := r.base(pl.id())
			if p == dead {
				lost[b.ID] = true
			} else {
				logins[pl] = pl.logins
				stay++
			}
		}
		if len(lost) == 0 || stay == 0 {
			t.Fatalf("%d players on the one, %d on the other: want some on both", len(lost), stay)
		}
		dead.crash()
		r.wait(time.Second)
		r.until("everyone plays at the other BaseApp", 40*time.Second, func() bool {
			for _, pl := range r.players {
				if lost[pl.id()] {
					return false
				}
			}
			return r.allPlaying()
		})
		for _, pl := range r.players {
			if p, _ := r.base(pl.id()); p != other {
				t.Errorf("%s has its base on %v", pl.name, p)
			}
			if n, ok := logins[pl]; ok && n != pl.logins {
				t.Errorf("%s was at the other BaseApp and had to log in again: %v", pl.name, pl.client.Err())
			}
		}
		for v := range r.views() {
			if base, _ := r.base(v.ID()); lost[v.ID()] || v.IsReal() && v.Def().HasBase && base == nil {
				t.Errorf("%s still has %s, whose base is gone", v.p.Name, v.ID())
			}
		}
	})
}

// TestSecondLogin: while an account plays, a second login to it is refused with a reason, and the
// first does not notice.
func TestSecondLogin(t *testing.T) {
	play(t, Options{Seed: 8, Players: 2}, func(r *rig) {
		pl := r.players[0]
		g := r.visit(fmt.Sprintf("%s.%d", pl.name, pl.logins), r.world.schema)
		r.until("the second is refused", 10*time.Second, func() bool { return g.closed != nil })
		wantRefusal(t, g.closed, protocol.AlreadyLoggedIn)
		r.wait(2 * time.Second)
		if !pl.playing() || r.losses > 0 {
			t.Errorf("the first was thrown out: %v", pl.client.Err())
		}
	})
}

// TestOtherDigest: a client built from other definitions is refused with a reason.
func TestOtherDigest(t *testing.T) {
	schema, err := loadSchema(strings.Replace(soulDef, "INT32", "INT16", 1), critterDef, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	play(t, Options{Seed: 9, Players: 2}, func(r *rig) {
		g := r.visit("stranger", schema)
		r.until("it is refused", 10*time.Second, func() bool { return g.closed != nil })
		wantRefusal(t, g.closed, protocol.BadDigest)
	})
}

func wantRefusal(t *testing.T, err error, code protocol.Code) {
	t.Helper()
	var refused *protocol.Refused
	if !errors.As(err, &refused) || refused.Code != code {
		t.Errorf("closed with %v, want %q", err, code)
	}
}

// TestRogue: one player does everything that a client must not do. It is thrown out and comes back;
// nobody else notices.
func TestRogue(t *testing.T) {
	play(t, Options{Seed: 10, Rogues: 1}, func(r *rig) {
		logins := make([]int, len(r.players))
		for i, pl := range r.players {
			logins[i] = pl.logins
		}
		codes := map[protocol.Code]bool{}
		bad := r.players[0]
		for range 60 {
			r.wait(time.Second)
			var refused *protocol.Refused
			if errors.As(bad.client.Err(), &refused) {
				codes[refused.Code] = true
			}
		}
		if !codes[protocol.Malformed] || !codes[protocol.Flooding] || r.observer.last.Counters.Refused == 0 {
			t.Errorf("the rogue was thrown out for %v: want both rubbish and a flood", codes)
		}
		for i, pl := range r.players {
			if !pl.rogue && (pl.logins != logins[i] || !pl.playing()) {
				t.Errorf("%s suffered: %v", pl.name, pl.client.Err())
			}
		}
	})
}

// TestNoise: strangers send rubbish, and replay what they overheard, to every port. Nobody is
// thrown out, and no stranger is answered with more than it sent.
func TestNoise(t *testing.T) {
	play(t, Options{Seed: 11, Noise: true}, func(r *rig) {
		r.noise.on = true
		r.wait(30 * time.Second)
		if r.losses > 0 || r.observer.last.Deaths > 0 {
			t.Errorf("%d processes or sessions ended", r.losses)
		}
	})
}

// TestJitter: a player that wavers over a line by a few metres is not handed to and fro. One that
// stays beyond the line is handed over after the dwell, and one that goes beyond the band at once.
// Worlds of odd seeds have a dwell.
func TestJitter(t *testing.T) {
	play(t, Options{Seed: 13, CellApps: 2, Balance: still(2)}, func(r *rig) {
		hops := func() uint32 { _, _, v := r.real(r.id()); return v.Order().Hop }
		r.lead(r.across(-30))
		before := hops()
		n := 0
		here, there := r.across(-5), r.across(5)
		r.players[0].steer = func() property.Vector3 {
			if n++; n/4%2 == 0 {
				return there
			}
			return here
		}
		beyond := 0
		for range 200 {
			r.wait(100 * time.Millisecond)
			_, cell, v := r.real(r.id())
			if cell.Tree().At(float64(v.Position().X), float64(v.Position().Z)).Cell != cell.ID() {
				beyond++
			}
		}
		if n := hops() - before; n > 0 || beyond < 50 {
			t.Errorf("handed over %d times, while %d of 200 times beyond the line", n, beyond)
		}
		r.lead(there)
		r.wait(2 * time.Second)
		if n := hops() - before; n != 1 {
			t.Errorf("handed over %d times after a rest 5 m beyond the line, want once", n)
		}
		r.lead(r.across(-20))
		r.wait(300 * time.Millisecond)
		if n := hops() - before; n != 2 {
			t.Errorf("handed over %d times after a walk 20 m back, want twice", n)
		}
	})
}

// handoff is the offload that a script waits for.
type handoff struct {
	id             entity.ID
	order          entity.Order // at the destination
	from, to, base *Process
}

// TestHandoff kills each party of a handoff at each of its steps. Whatever was killed, in the end
// there is one real, and nothing sent to it was lost.
func TestHandoff(t *testing.T) {
	cases := []struct {
		name string
		// onload is called when the Onload reaches its destination, and says whether it is handled.
		// ack is called when the OnloadAck reaches the origin, and current when the Current reaches
		// the base, each before it is handled.
		onload       func(r *rig, h *handoff) bool
		ack, current func(r *rig, h *handoff)
		// later is called 50 ms after the Onload.
		later func(r *rig, h *handoff)
	}{
		{name: "destination before Onload", onload: func(r *rig, h *handoff) bool { h.to.kill(); return false }},
		{name: "destination after Onload, nobody heard",
			onload: func(r *rig, h *handoff) bool { r.part(h.to, h.from); r.part(h.to, h.base); return true },
			later:  func(r *rig, h *handoff) { h.to.crash() }},
		{name: "destination before Ack, base heard",
			onload:  func(r *rig, h *handoff) bool { r.part(h.to, h.from); return true },
			current: func(r *rig, h *handoff) { h.to.kill() }},
		{name: "destination after Ack, before Current",
			onload: func(r *rig, h *handoff) bool { r.part(h.to, h.base); return true },
			ack:    func(r *rig, h *handoff) { h.to.kill() }},
		{name: "destination after Ack and Current", later: func(r *rig, h *handoff) { h.to.crash() }},
		{name: "origin before Onload", onload: func(r *rig, h *handoff) bool { h.from.kill(); return false }},
		{name: "origin after Onload", onload: func(r *rig, h *handoff) bool { h.from.kill(); return true }},
		{name: "origin after Onload, base does not hear",
			onload: func(r *rig, h *handoff) bool { h.from.kill(); r.part(h.to, h.base); return true },
			later:  func(r *rig, h *handoff) { r.wait(2 * time.Second); r.join(h.to, h.base) }},
		{name: "origin after Ack", ack: func(r *rig, h *handoff) { h.from.kill() }},
		{name: "both before Onload", onload: func(r *rig, h *handoff) bool { h.from.kill(); h.to.kill(); return false }},
		{name: "both after Onload", later: func(r *rig, h *handoff) { h.from.crash(); h.to.crash() }},
		{name: "both after Onload, nobody heard",
			onload: func(r *rig, h *handoff) bool { r.part(h.to, h.from); r.part(h.to, h.base); return true },
			later:  func(r *rig, h *handoff) { h.from.crash(); h.to.crash() }},
		{name: "base before Onload", onload: func(r *rig, h *handoff) bool { h.base.kill(); return true }},
		{name: "base before Current", current: func(r *rig, h *handoff) { h.base.kill() }},
		{name: "nobody, Current is late",
			onload: func(r *rig, h *handoff) bool { r.part(h.to, h.base); return true },
			later:  func(r *rig, h *handoff) { r.wait(2 * time.Second); r.join(h.to, h.base) }},
		{name: "nobody, Ack is late",
			onload: func(r *rig, h *handoff) bool { r.part(h.to, h.from); return true },
			later:  func(r *rig, h *handoff) { r.wait(2 * time.Second); r.join(h.to, h.from) }},
		{name: "destination slow enough to be declared dead", later: func(r *rig, h *handoff) { h.to.pause(5 * time.Second) }},
		{name: "origin slow enough to be declared dead",
			onload: func(r *rig, h *handoff) bool { h.from.pause(5 * time.Second); return true }},
		{name: "destination slow with the Onload unread",
			onload: func(r *rig, h *handoff) bool { return true },
			later:  func(r *rig, h *handoff) { h.to.pause(5 * time.Second); h.base.pause(time.Second) }},
	}
	for i, k := range cases {
		if i%everyHandoff != 0 {
			continue
		}
		t.Run(k.name, func(t *testing.T) {
			o := Options{Seed: uint64(100 + i), CellApps: 3, Players: 6, Rovers: 4, Balance: still(2)}
			play(t, o, func(r *rig) {
				h := r.awaitHandoff(r.across(-30), r.across(60), k.onload, k.ack, k.current)
				if k.later != nil {
					r.wait(50 * time.Millisecond)
					k.later(r, h)
				}
				r.wait(6 * time.Second)
				r.join(r.procs...)
				if h.base.alive {
					if on, _, _ := r.real(h.id); on == nil {
						_, b := r.base(h.id)
						t.Errorf("no real 6 s later; its base: %+v", b)
					}
				}
			})
		})
	}
}

// TestOrphanedGhosts: a handoff is cut short by the death of its destination, and the player leaves
// before its entity is restored. So no newer real ever shows itself to the ghosts elsewhere, which
// point at the origin.
func TestOrphanedGhosts(t *testing.T) {
	cases := []struct {
		name   string
		onload func(r *rig, h *handoff) bool
		ack    func(r *rig, h *handoff)
	}{
		{"Onload lost", func(r *rig, h *handoff) bool { h.to.kill(); return false }, nil},
		{"taken over, haunts not told", func(r *rig, h *handoff) bool {
			for _, p := range r.cellApps {
				if p != h.from && p != h.to {
					r.part(p, h.to)
				}
			}
			return true
		}, func(r *rig, h *handoff) { h.to.kill() }},
	}
	for _, k := range cases {
		t.Run(k.name, func(t *testing.T) {
			play(t, Options{Seed: 18, CellApps: 3, Players: 3, Rovers: 3, Balance: still(3)}, func(r *rig) {
				here, there := r.corner(15)
				h := r.awaitHandoff(here, there, k.onload, k.ack, nil)
				r.until("a CellApp is dead", 5*time.Second, func() bool { return !h.to.alive })
				r.players[0].logout()
				ghosts := func() (n int) {
					for v := range r.views() {
						if v.ID() == h.id {
							n++
						}
					}
					return n
				}
				if n := ghosts(); n != 2 {
					t.Errorf("%d ghosts when the destination died, want one here and one on the third CellApp", n)
				}
				r.until("the ghosts are gone", 20*time.Second, func() bool { return ghosts() == 0 })
				r.join(r.procs...)
			})
		})
	}
}

// TestBelievedOrigin: a CellApp that cannot reach the base takes a real over. The real goes so far
// that its origin does not even have a ghost of it, and dies with its CellApp. The base, which
// believes in the origin, has to hear that there is no real.
func TestBelievedOrigin(t *testing.T) {
	play(t, Options{Seed: 16, CellApps: 3, Players: 6, Rovers: 4, Balance: still(2)}, func(r *rig) {
		h := r.awaitHandoff(r.across(-30), r.across(250), func(r *rig, h *handoff) bool { r.part(h.to, h.base); return true }, nil, nil)
		r.until("the origin has no ghost", 20*time.Second, func() bool {
			gone := true
			for v := range r.views() {
				gone = gone && (v.p != h.from || v.ID() != h.id)
			}
			return gone
		})
		if _, b := r.base(h.id); b.App != h.from.Address() {
			t.Fatalf("the base does not believe in the origin: %+v", b)
		}
		h.to.crash()
		r.until("there is a real again", 8*time.Second, func() bool { on, _, _ := r.real(h.id); return on != nil })
	})
}

// TestLateCreate: a CellApp is told to make a real, but hears of it only when the base has long
// made a newer one elsewhere, whose ghost came and went here. It must not bring the old one to
// life.
func TestLateCreate(t *testing.T) {
	play(t, Options{Seed: 17, CellApps: 3, Players: 6, Rovers: 4, Balance: still(3)}, func(r *rig) {
		id := r.id()
		on, _, _ := r.real(id)
		var late func()
		r.hook = func(p *Process, ch mercury.ChannelID, msg []byte) []byte {
			var m migrate.Create
			if late != nil || kind(msg) != wire.CreateID || m.Parse(msg[1:]) != nil || m.ID != id {
				return msg
			}
			kept := append([]byte(nil), msg...)
			late = func() { p.app.Message(r.now, ch, true, kept) }
			return nil
		}
		on.crash()
		r.until("the order is lost, and another given", 15*time.Second, func() bool {
			again, _, _ := r.real(id)
			return late != nil && again != nil
		})
		_, _, v := r.real(id)
		order := v.Order()
		late()
		r.wait(5 * time.Second)
		if _, _, v := r.real(id); v.Order().Incarnation != order.Incarnation {
			t.Errorf("the real was %v and is %v", order, v.Order())
		}
	})
}

// corner finds a place on a line with a third cell nearby, and returns two places at a distance
// from the line, one on each side.
func (r *rig) corner(d float32) (here, there property.Vector3) {
	r.t.Helper()
	var tree *bsp.Tree
	for v := range r.views() {
		tree = v.cell.Tree()
	}
	for n := range tree.Nodes() {
		for along := float32(-half); along < half; along += 20 {
			here, there = property.Vector3{X: float32(n.Line) - d, Z: along}, property.Vector3{X: float32(n.Line) + d, Z: along}
			if n.Axis != bsp.AxisX {
				here, there = property.Vector3{X: along, Z: float32(n.Line) - d}, property.Vector3{X: along, Z: float32(n.Line) + d}
			}
			a, b := tree.At(float64(here.X), float64(here.Z)), tree.At(float64(there.X), float64(there.Z))
			near := 0
			for range tree.Overlapping(bsp.Around(float64(here.X), float64(here.Z), 80)) {
				near++
			}
			if a != b && near == 3 {
				return here, there
			}
		}
	}
	r.t.Fatalf("three cells meet nowhere: %v", tree)
	return here, there
}

// awaitHandoff leads the first player over a line, and lets the given functions see the messages of
// its handoff.
func (r *rig) awaitHandoff(here, there property.Vector3, onload func(*rig, *handoff) bool, ack, current func(*rig, *handoff)) *handoff {
	r.t.Helper()
	r.lead(here)
	r.wait(2 * time.Second)
	h := &handoff{id: r.id()}
	h.from, _, _ = r.real(h.id)
	h.base, _ = r.base(h.id)
	r.hook = func(p *Process, ch mercury.ChannelID, msg []byte) []byte {
		switch id := kind(msg); id {
		case wire.OnloadID, wire.OnloadAckID, wire.CurrentID:
			e, order := orderOf(id, msg)
			switch {
			case e != h.id:
			case id == wire.OnloadID && h.to == nil && r.peer(p, ch) == h.from:
				h.to, h.order = p, order
				if onload != nil && !onload(r, h) {
					return nil
				}
			case h.to == nil || order != h.order:
			case id == wire.OnloadAckID && p == h.from && ack != nil:
				ack(r, h)
			case id == wire.CurrentID && p == h.base && current != nil:
				current(r, h)
			}
		}
		return msg
	}
	r.send(there)
	r.until("the handoff", 20*time.Second, func() bool { return h.to != nil })
	return h
}

// TestParted: two CellApps cannot reach each other for so long that their channel breaks, though
// everyone else reaches both: nobody is dead, and what was lost with the channel has to be made
// good.
func TestParted(t *testing.T) {
	partFor(t, 14, func(r *rig) (a, b *Process) { return r.cellApps[0], r.cellApps[1] }, func(r *rig) {
		if d := r.observer.last.Deaths; d > 0 {
			r.t.Errorf("%d died of it", d)
		}
	})
}

// partFor parts two processes for each of several times, and then joins them again.
func partFor(t *testing.T, seed uint64, whom func(*rig) (a, b *Process), then func(*rig)) {
	t.Helper()
	for _, d := range []time.Duration{3 * time.Second, 8 * time.Second, 11 * time.Second, 14 * time.Second, 30 * time.Second} {
		t.Run(d.String(), func(t *testing.T) {
			play(t, Options{Seed: seed, CellApps: 3, Players: 12, Balance: still(3)}, func(r *rig) {
				r.part(whom(r))
				r.wait(d)
				r.join(r.procs...)
				then(r)
			})
		})
	}
}

// TestPartedFromBase does the same between a CellApp and a BaseApp.
func TestPartedFromBase(t *testing.T) {
	partFor(t, 15, func(r *rig) (a, b *Process) { return r.cellApps[0], r.baseApps[0] }, func(*rig) {})
}
