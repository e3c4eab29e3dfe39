package sim

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/baseapp"
	"github.com/cellscape/cellscape/entity/baseappmgr"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
)

// TestLeaveInParts: a BaseApp with more bases than go at a time retires while everyone plays. They go part by
// part, and each player is sent elsewhere once.
func TestLeaveInParts(t *testing.T) {
	for seed := uint64(1); seed <= 2; seed++ {
		t.Run(string(rune('0'+seed)), func(t *testing.T) {
			play(t, Options{Seed: 8700 + seed, CellApps: 2, BaseApps: 3, Replicas: 1, Players: 6, Rovers: 9, MoveBatch: 1, Balance: still(2)}, func(r *rig) {
				r.wait(2 * backupPeriod)
				origin := r.baseApps[0]
				bases, own := r.leave(origin)
				r.left(origin, 90*time.Second)
				if n := origin.app.(*baseapp.BaseApp).Counters().Moved; int(n) < len(bases)-2 {
					t.Errorf("%d of %d bases moved in parts", n, len(bases))
				}
				for _, pl := range own {
					if s := pl.client.Stats(); s.Switched != 1 || s.Interrupted != 0 {
						t.Errorf("%s: switched %d times, interrupted %d times", pl.name, s.Switched, s.Interrupted)
					}
				}
				r.wait(5 * time.Second)
				origin.crash()
				origin.restartAt = r.now + time.Second
			})
		})
	}
}

// TestShed: a BaseApp that comes late gets bases of the others, while their players play.
func TestShed(t *testing.T) {
	o := Options{Seed: 8710, CellApps: 2, BaseApps: 3, Replicas: 1, Players: 6, Rovers: 12, MoveBatch: 2, Shed: baseappmgr.ShedConfig{Above: 0.2, Least: 1}, Balance: still(2)}
	play(t, o, func(r *rig) {
		r.wait(2 * backupPeriod)
		late := r.baseApps[2]
		late.crash()
		r.until("the others have its bases", 60*time.Second, func() bool { return r.basesOn(r.baseApps[0])+r.basesOn(r.baseApps[1]) == r.allBases() })
		late.restartAt = r.now + time.Second
		r.until("it has its share", 90*time.Second, func() bool { return late.alive && 4*r.basesOn(late) >= r.allBases() })
		r.wait(repaired)
	})
}

// TestShedByWork: a BaseApp whose bases have more to do than others gives some away, although it
// has no more of them, while their players play.
func TestShedByWork(t *testing.T) {
	o := Options{Seed: 8711, CellApps: 2, BaseApps: 3, Replicas: 1, Players: 6, Rovers: 12, MoveBatch: 2, Shed: baseappmgr.ShedConfig{Above: 0.2}, Balance: still(2)}
	play(t, o, func(r *rig) {
		r.wait(2 * backupPeriod)
		busy, began := r.baseApps[0], r.basesOn(r.baseApps[0])
		told := r.now
		r.until("it has less to do", 90*time.Second, func() bool {
			busy.toil += (r.now - told) * time.Duration(r.basesOn(busy)) / time.Duration(began)
			told = r.now
			return r.basesOn(busy) <= began/2
		})
		r.wait(repaired)
	})
}

func (r *rig) basesOn(p *Process) (n int) {
	for b := range r.bases() {
		if b.p == p {
			n++
		}
	}
	return n
}

func (r *rig) allBases() (n int) {
	for range r.bases() {
		n++
	}
	return n
}

var moveSteps = []leaveStep{
	{wire.BaseCopyID, "baseapp", false}, {wire.BaseCopyHeldID, "origin", false}, {wire.DepartID, "cellappmgr", true}, {wire.DepartedID, "origin", true},
	{wire.BasesMovedID, "baseapp", true}, {wire.BasesMovedID, "baseappmgr", true}, {wire.BasesMovedID, "cellapp", true},
	{wire.BackupRuleHeldID, "origin", false}, {wire.InheritedID, "baseappmgr", false},
}

// TestMoveBroken: channels break exactly at what is said about a move.
func TestMoveBroken(t *testing.T) {
	for i, s := range moveSteps {
		if s.manager {
			continue // it takes an app for dead whose channel ends like that
		}
		t.Run(s.id.String()+" to "+s.to, func(t *testing.T) {
			play(t, Options{Seed: uint64(8720 + i), CellApps: 2, BaseApps: 3, Replicas: 1, Players: 5, Rovers: 6, MoveBatch: 1, Balance: still(2)}, func(r *rig) {
				r.leavesThough("nothing broke", s, r.atMove, 3, 120*time.Second, func(p *Process, ch mercury.ChannelID) bool {
					r.snap(p, ch)
					return false
				})
			})
		})
	}
}

// atMove is at for the moves of a part.
func (r *rig) atMove(s leaveStep, origin *Process, most int, do func(p *Process, ch mercury.ChannelID) bool) (times *int) {
	times = r.at(s, origin, most, do)
	hook := r.hook
	app := origin.app.(*baseapp.BaseApp)
	began := false
	r.hook = func(p *Process, ch mercury.ChannelID, msg []byte) []byte {
		if began = began || app.Moves(); !began || app.StandsStill() {
			return msg
		}
		return hook(p, ch, msg)
	}
	return times
}

// TestMoveManagerDies: a manager dies exactly then, and another takes its place.
func TestMoveManagerDies(t *testing.T) {
	long(t)
	for i, s := range moveSteps {
		t.Run(s.id.String()+" to "+s.to, func(t *testing.T) {
			play(t, Options{Seed: uint64(8740 + i), CellApps: 2, BaseApps: 3, Replicas: 1, Players: 5, Rovers: 6, MoveBatch: 1, Balance: still(2)}, func(r *rig) {
				r.leavesThough("nobody died", s, r.atMove, 1, 120*time.Second, func(p *Process, ch mercury.ChannelID) bool { return r.managersDie(s, p, i%2 == 0) })
			})
		})
	}
}

// TestMoveAppDies: an app dies exactly then: the one that gives bases away, or one of those that
// get them. All that happened is in copies, so nothing is lost, whoever has the bases in the end.
func TestMoveAppDies(t *testing.T) {
	long(t)
	for i, s := range moveSteps {
		for _, who := range []string{"origin", "heir"} {
			t.Run(s.id.String()+" to "+s.to+", "+who+" dies", func(t *testing.T) {
				play(t, Options{Seed: uint64(8760 + i), CellApps: 2, BaseApps: 4, Replicas: 1, Players: 6, Rovers: 6, MoveBatch: 1, Balance: still(2)}, func(r *rig) {
					r.diesLeaving(who, s, r.atMove, 120*time.Second)
				})
			})
		}
	}
}

// TestMoveBackWithoutHeir: the only other BaseApp dies while bases are on their way to it. They go
// on where they were, and their players with them. When it is back, they go.
func TestMoveBackWithoutHeir(t *testing.T) {
	for i, s := range []leaveStep{{wire.BaseCopyID, "baseapp", false}, {wire.BaseCopyHeldID, "origin", false}, {wire.DepartID, "cellappmgr", true}} {
		t.Run(s.id.String(), func(t *testing.T) {
			play(t, Options{Seed: uint64(8790 + i), CellApps: 2, BaseApps: 2, Replicas: 1, Players: 4, Rovers: 6, MoveBatch: 2, Balance: still(2)}, func(r *rig) {
				r.wait(2 * backupPeriod)
				r.observer.freeze(true) // all that happened is in copies, those of the heir's bases, too
				r.wait(3 * backupPeriod)
				origin, heir := r.baseApps[0], r.baseApps[1]
				bases, _ := r.leave(origin)
				n := r.atMove(s, origin, 1, func(p *Process, ch mercury.ChannelID) bool {
					heir.dying = true
					return p != heir
				})
				r.until("the heir is gone, and all bases are here", 60*time.Second, func() bool {
					elsewhere := slices.ContainsFunc(bases, func(id entity.ID) bool { return r.baseOf(id) != origin })
					return *n > 0 && !heir.alive && !elsewhere
				})
				r.hook = nil
				r.observer.freeze(false)
				r.wait(5 * time.Second)
				heir.restartAt = r.now + time.Second
				r.left(origin, 120*time.Second)
				origin.crash()
				origin.restartAt = r.now + time.Second
				r.wait(repaired)
			})
		})
	}
}

// TestShedInBadTimes: bases move all the time, since BaseApps come back empty, while everything
// else goes wrong.
func TestShedInBadTimes(t *testing.T) {
	long(t)
	worlds := map[string]func(o *Options){
		"plain":   func(*Options) {},
		"lodgers": func(o *Options) { o.Lodgers = 3 },
		"cells":   func(o *Options) { o.Crash = true },
		"pauses":  func(o *Options) { o.Pause = true },
		"cuts":    func(o *Options) { o.Cut = true },
		"names":   func(o *Options) { o.Wild.Namers = 4 },
		"breaks":  func(o *Options) { o.Wild.Breaks = true },
		"manager": func(o *Options) { o.CrashManager, o.CrashLogin = true, true },
	}
	for name, change := range worlds {
		for _, seed := range andFurther(0, 1) {
			t.Run(fmt.Sprint(name, " ", seed), func(t *testing.T) {
				t.Parallel()
				o := shedding(seed)
				change(&o)
				runSeed(t, o, "")
			})
		}
	}
}

// shedding returns the options of a world in which bases move all the time.
func shedding(seed uint64) Options {
	return Options{
		Seed: 8900 + seed, CellApps: 2, BaseApps: 3 + int(seed%2), Players: 4, Rovers: 8, Faults: 30 * time.Second,
		CrashBase: true, Replicas: 1 + int(seed%2), MoveBatch: 2, Shed: baseappmgr.ShedConfig{Above: 0.05, Least: 1},
	}
}

// TestMoveLedgers: bases with rows in the store move. Each row is taken over, and written on.
func TestMoveLedgers(t *testing.T) {
	play(t, Options{Seed: 8790, Players: 1, Rovers: 1, BaseApps: 3, Replicas: 1, MoveBatch: 1, Wild: Wild{Ledgers: 9}}, func(r *rig) {
		books := r.world.books
		r.wait(6 * time.Second)
		r.leave(r.baseApps[0])
		r.left(r.baseApps[0], 120*time.Second)
		before := books.confirmed
		r.wait(6 * time.Second)
		if books.confirmed < before+10 {
			t.Errorf("%d writes were confirmed, %d of them since the move; %d were not", books.confirmed, books.confirmed-before, books.refused)
		}
		if n := r.baseApps[0].app.(*baseapp.BaseApp).Counters().Moved; n == 0 {
			t.Error("nothing moved")
		}
	})
}
