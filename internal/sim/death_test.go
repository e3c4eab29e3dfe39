package sim

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/space/cellappmgr"
)

// bereave ends a CellApp that has players, and returns how long it took until the last of them had a
// place again.
func (r *rig) bereave(end func(p *Process)) time.Duration {
	r.t.Helper()
	here := make(map[*Process]int)
	at := make([]*Process, len(r.players))
	for i, pl := range r.players {
		at[i], _, _ = r.real(pl.id())
		here[at[i]]++
	}
	var victim *Process
	for _, p := range r.cellApps {
		if victim == nil || here[p] > here[victim] {
			victim = p
		}
	}
	var lost []*player
	for i, pl := range r.players {
		if at[i] == victim {
			lost = append(lost, pl)
		}
	}
	began, before := r.now, make(map[*player]int)
	for _, pl := range lost {
		before[pl] = pl.placed
	}
	end(victim)
	r.until("all have a place again", 10*time.Second, func() bool {
		back := 0
		for _, pl := range lost {
			if pl.placed > before[pl] {
				back++
			}
		}
		return back == len(lost)
	})
	return r.now - began
}

// A CellApp whose process dies is missed for less than 300 ms, and one whose machine dies for less
// than a second.
func TestDeathIsShort(t *testing.T) {
	for name, c := range map[string]struct {
		dark bool
		most time.Duration
	}{"process": {false, 300 * time.Millisecond}, "machine": {true, time.Second}} {
		for seed := range uint64(4) {
			t.Run(name, func(t *testing.T) {
				play(t, Options{Seed: seed, Lookout: true, Balance: still(4)}, func(r *rig) {
					r.wait(4 * time.Second)
					took := r.bereave(func(p *Process) {
						lines := slices.Clone(r.manager.lines)
						p.crash()
						if c.dark {
							p.dark, r.manager.glances, r.manager.lines = true, nil, lines // nobody says that a line has ended
							return
						}
						for p.dark {
							r.endLines(p)
						}
					})
					t.Logf("a place after %v", took)
					if took > c.most {
						t.Errorf("without a place for %v, at most %v", took, c.most)
					}
					if n := r.observer.last.Deaths; n > 1 {
						t.Errorf("%d deaths", n)
					}
				})
			})
		}
	}
}

// The only CellApp of a world is missed no longer: its BaseApps are witnesses.
func TestDeathOfTheOnlyCellAppIsShort(t *testing.T) {
	for seed := range uint64(4) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			play(t, Options{Seed: seed, CellApps: 1, Lookout: true, Balance: still(1)}, func(r *rig) {
				r.wait(4 * time.Second)
				p, began := r.cellApps[0], r.now
				for p.crash(); p.dark; {
					r.endLines(p)
				}
				r.until("the death is known", 10*time.Second, func() bool { return r.manager.app.(*cellappmgr.CellAppMgr).Deaths() == 1 })
				if took := r.now - began; took > 300*time.Millisecond {
					t.Errorf("known after %v", took)
				}
			})
		})
	}
}

// A pause of eight seconds is no death, nor is a network that parts an app from the manager for two
// while others can reach it, nor an app that calls all others dead.
func TestNoDeath(t *testing.T) {
	for name, f := range map[string]func(r *rig, p *Process){
		"pause": func(r *rig, p *Process) { p.pause(8 * time.Second); r.wait(6 * time.Second) },
		"cut": func(r *rig, p *Process) {
			r.part(p, r.manager)
			r.wait(2 * time.Second)
			r.net.Cut(p.at, r.manager.at, false)
		},
		"liar": func(r *rig, p *Process) {
			r.hook = func(q *Process, ch mercury.ChannelID, msg []byte) []byte {
				from, _ := q.ep.Peer(ch)
				var m wire.Seen
				if q == r.manager && wire.ID(msg[0]) == wire.SeenID && r.byPlace[from.At] != r.cellApps[3] && m.Parse(msg[1:]) == nil {
					m.Reach = mercury.ReachClosed
					return wire.Encode(nil, &m)
				}
				return msg
			}
			r.part(p, r.manager)
			r.wait(2 * time.Second)
			r.net.Cut(p.at, r.manager.at, false)
		},
	} {
		for _, role := range []string{"cellapp", "baseapp"} {
			t.Run(name+" of a "+role, func(t *testing.T) {
				play(t, Options{Seed: 5, Lookout: true, Balance: still(4)}, func(r *rig) {
					r.wait(4 * time.Second)
					p := r.cellApps[0]
					if role == "baseapp" {
						p = r.baseApps[0]
					}
					f(r, p)
					r.wait(3 * time.Second)
					if n := r.observer.last.Deaths; n != 0 {
						t.Errorf("%d deaths", n)
					}
				})
			})
		}
	}
}
