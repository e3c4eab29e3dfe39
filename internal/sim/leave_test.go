package sim

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/baseapp"
	"github.com/cellscape/cellscape/entity/store"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
)

// leave has a BaseApp retire, and returns its bases, and the players of those.
func (r *rig) leave(p *Process) (bases []entity.ID, own []*player) {
	for b := range r.bases() {
		if b.p == p {
			bases = append(bases, b.ID)
		}
	}
	for _, pl := range r.players {
		for _, id := range bases {
			if pl.id() == id {
				own = append(own, pl)
			}
		}
	}
	p.app.(*baseapp.BaseApp).Retire("maintenance")
	return bases, own
}

// gone waits until a BaseApp has left.
func (r *rig) left(p *Process, d time.Duration) {
	r.t.Helper()
	app := p.app.(*baseapp.BaseApp)
	r.until("the BaseApp has left", d, func() bool { return app.Retired() })
}

// TestLeave: a BaseApp retires while everyone plays. Its bases go on elsewhere, and its players
// hardly notice: all checkers run, and no connection counts as lost.
func TestLeave(t *testing.T) {
	for seed := uint64(1); seed <= 3; seed++ {
		t.Run(string(rune('0'+seed)), func(t *testing.T) {
			play(t, Options{Seed: 8200 + seed, CellApps: 2, BaseApps: 3, Replicas: 1, Players: 6, Rovers: 9, Balance: still(2)}, func(r *rig) {
				r.wait(2 * backupPeriod)
				bases, own := r.leave(r.baseApps[0])
				if len(bases) < 4 || len(own) == 0 {
					t.Fatalf("%d bases leave, %d of them players'", len(bases), len(own))
				}
				r.left(r.baseApps[0], 60*time.Second)
				for _, pl := range own {
					if s := pl.client.Stats(); s.Switched != 1 || s.Interrupted != 0 {
						t.Errorf("%s: switched %d times, interrupted %d times", pl.name, s.Switched, s.Interrupted)
					}
				}
				r.wait(5 * time.Second)
				r.baseApps[0].crash()
				r.baseApps[0].restartAt = r.now + time.Second
			})
		})
	}
}

// leaveStep is a moment in the leaving of a BaseApp: a message comes to a process.
type leaveStep struct {
	id wire.ID
	to string // the role; "origin" is the app that leaves
	// manager says that it is to the CellAppMgr, or from it.
	manager bool
}

var leaveSteps = []leaveStep{
	{wire.LeavingID, "baseapp", false}, {wire.LeavingID, "baseappmgr", false}, {wire.BackupRuleID, "cellappmgr", true}, {wire.BackupRuleID, "baseapp", false},
	{wire.BackupRuleHeldID, "origin", true}, {wire.BaseCopyID, "baseapp", false}, {wire.BaseCopyHeldID, "origin", false}, {wire.DepartID, "cellappmgr", true},
	{wire.DepartedID, "origin", true}, {wire.AppDeadID, "baseapp", true}, {wire.AppDeadID, "baseappmgr", true}, {wire.AppDeadID, "cellapp", true},
}

// at does something when a message of a leaving comes to a process: the first time, and then each third. If
// do reports true, the message comes.
func (r *rig) at(s leaveStep, origin *Process, most int, do func(p *Process, ch mercury.ChannelID) bool) (times *int) {
	times = new(int)
	seen := 0
	r.hook = func(p *Process, ch mercury.ChannelID, msg []byte) []byte {
		if len(msg) == 0 || !r.fromApp(p, ch) || wire.ID(msg[0]) != s.id || !(s.to == "origin" && p == origin || p != origin && p.takes(s.to)) {
			return msg
		}
		if from := r.peer(p, ch); s.id == wire.BaseCopyID && (from != origin || !origin.app.(*baseapp.BaseApp).StandsStill() && !origin.app.(*baseapp.BaseApp).Moves()) {
			return msg
		}
		if seen++; *times < most && seen%3 == 1 {
			*times++
			if !do(p, ch) {
				return nil
			}
		}
		return msg
	}
	return times
}

// stepAt is at or atMove.
type stepAt func(s leaveStep, origin *Process, most int, do func(p *Process, ch mercury.ChannelID) bool) (times *int)

// leavesThough has a BaseApp leave within a time, though something happens at a step of that. never is the
// fault if it does not happen.
func (r *rig) leavesThough(never string, s leaveStep, at stepAt, most int, within time.Duration, do func(p *Process, ch mercury.ChannelID) bool) {
	r.t.Helper()
	r.wait(2 * backupPeriod)
	origin := r.baseApps[0]
	r.leave(origin)
	n := at(s, origin, most, do)
	r.left(origin, within)
	r.hook = nil
	if *n == 0 {
		r.t.Error(never)
	}
	r.wait(repaired)
}

// TestLeaveBroken: channels break exactly at what is said about a leaving.
func TestLeaveBroken(t *testing.T) {
	for i, s := range leaveSteps {
		if s.manager {
			continue // it takes an app for dead whose channel ends like that
		}
		t.Run(s.id.String()+" to "+s.to, func(t *testing.T) {
			play(t, Options{Seed: uint64(8300 + i), CellApps: 2, BaseApps: 3, Replicas: 1, Players: 5, Rovers: 6, Balance: still(2)}, func(r *rig) {
				r.leavesThough("nothing broke", s, r.at, 3, 90*time.Second, func(p *Process, ch mercury.ChannelID) bool {
					r.snap(p, ch)
					return false
				})
			})
		})
	}
}

// managersDie has the CellAppMgr die at a step, and the first login process if both are to. It
// reports whether the message that the step is still comes to p.
func (r *rig) managersDie(s leaveStep, p *Process, both bool) bool {
	for _, m := range []*Process{r.manager, r.logins[0]} {
		if m == r.manager || both {
			m.dying = true
			m.restartAt = r.now + 500*time.Millisecond
		}
	}
	return !p.dying && s.id != wire.DepartedID
}

// TestLeaveManagerDies: a manager dies exactly then, and another takes its place.
func TestLeaveManagerDies(t *testing.T) {
	long(t)
	for i, s := range leaveSteps {
		t.Run(s.id.String()+" to "+s.to, func(t *testing.T) {
			play(t, Options{Seed: uint64(8400 + i), CellApps: 2, BaseApps: 3, Replicas: 1, Players: 5, Rovers: 6, Balance: still(2)}, func(r *rig) {
				r.leavesThough("nobody died", s, r.at, 1, 90*time.Second, func(p *Process, ch mercury.ChannelID) bool { return r.managersDie(s, p, i%2 == 0) })
			})
		})
	}
}

// others waits until bases live, and none of them at an app that gave them away.
func (r *rig) others(origin *Process, bases []entity.ID) {
	r.t.Helper()
	r.until("others have the bases", 30*time.Second, func() bool {
		n := 0
		for b := range r.bases() {
			if b.p != origin && slices.Contains(bases, b.ID) && b.Live {
				n++
			}
		}
		return n == len(bases)
	})
}

// diesLeaving has the BaseApp that leaves die, or its heir, when a message of the leaving comes (at or
// atMove). The bases live on with others, within the time that it may take to leave.
func (r *rig) diesLeaving(who string, s leaveStep, at stepAt, within time.Duration) {
	r.t.Helper()
	r.wait(2 * backupPeriod)
	r.observer.freeze(true)
	r.wait(3 * backupPeriod)
	origin := r.baseApps[0]
	bases, _ := r.leave(origin)
	var dead *Process
	n := at(s, origin, 1, func(p *Process, ch mercury.ChannelID) bool {
		dead = origin
		if who == "heir" {
			dead = r.baseApps[1]
		}
		dead.dying = true
		return p != dead
	})
	r.until("somebody dies", 30*time.Second, func() bool { return *n > 0 && !dead.alive })
	r.hook = nil
	if who == "heir" {
		r.left(origin, within)
	}
	r.others(origin, bases)
	r.observer.freeze(false)
	r.wait(5 * time.Second)
	dead.restartAt = r.now + time.Second
}

// TestLeaveAppDies: an app dies exactly then: the one that leaves, or the one that the message comes to or
// is from. All that happened is in copies, so nothing is lost, whoever has the bases in the end.
func TestLeaveAppDies(t *testing.T) {
	long(t)
	for i, s := range leaveSteps {
		for _, who := range []string{"origin", "heir"} {
			t.Run(s.id.String()+" to "+s.to+", "+who+" dies", func(t *testing.T) {
				play(t, Options{Seed: uint64(8500 + i), CellApps: 2, BaseApps: 4, Replicas: 1, Players: 6, Rovers: 6, Balance: still(2)}, func(r *rig) {
					r.diesLeaving(who, s, r.at, 90*time.Second)
				})
			})
		}
	}
}

// TestLeaveWaitsForCopies: nobody says that he holds the last copies. The BaseApp does not leave: it goes on
// after a second, and leaves when they are held.
func TestLeaveWaitsForCopies(t *testing.T) {
	play(t, Options{Seed: 8600, CellApps: 2, BaseApps: 3, Replicas: 1, Players: 5, Rovers: 6, Balance: still(2)}, func(r *rig) {
		r.wait(2 * backupPeriod)
		origin := r.baseApps[0]
		app := origin.app.(*baseapp.BaseApp)
		withheld, asked := 0, 0
		r.hook = func(p *Process, ch mercury.ChannelID, msg []byte) []byte {
			switch {
			case p == origin && kind(msg) == wire.BaseCopyHeldID && app.StandsStill():
				withheld++
				return nil
			case p == r.manager && kind(msg) == wire.DepartID:
				asked++
			}
			return msg
		}
		r.leave(origin)
		r.until("it stands still", 60*time.Second, app.StandsStill)
		r.until("it goes on", 2*time.Second, func() bool { return !app.StandsStill() })
		r.until("it stands still again", 30*time.Second, app.StandsStill)
		r.wait(500 * time.Millisecond)
		if withheld == 0 || asked > 0 {
			t.Errorf("%d answers were withheld, and it asked %d times to depart", withheld, asked)
		}
		r.hook = nil
		r.left(origin, 60*time.Second)
		r.wait(repaired)
	})
}

// TestLeaveWithLedgers: a BaseApp retires while its bases are written, load others and end, and the
// DBApp dies or stalls then. What is kept goes on elsewhere: nothing that was confirmed is lost,
// and no row stays checked out.
func TestLeaveWithLedgers(t *testing.T) {
	for i, trouble := range []string{"none", "crash", "stall", "death"} {
		t.Run(trouble, func(t *testing.T) {
			o := Options{Seed: uint64(8700 + i), CellApps: 2, BaseApps: 3, Replicas: 1, Players: 3, Rovers: 3, Balance: still(2), Wild: Wild{Ledgers: 9, Loans: true}}
			play(t, o, func(r *rig) {
				r.wait(2 * backupPeriod)
				r.leave(r.baseApps[0])
				switch trouble {
				case "crash":
					r.dbApp.crash()
					r.dbApp.restartAt = r.now + 3*time.Second
				case "stall":
					r.dbApp.pause(5 * time.Second)
				case "death": // of another BaseApp, so that the bases go on here at first
					r.wait(time.Second)
					r.baseApps[1].crash()
					r.baseApps[1].restartAt = r.now + 2*time.Second
				}
				r.left(r.baseApps[0], 60*time.Second)
				books := r.world.books
				confirmed, loaded := books.confirmed, books.loaded
				r.wait(10 * time.Second)
				r.baseApps[0].crash()
				r.baseApps[0].restartAt = r.now + time.Second
				if books.confirmed-confirmed < 10 || books.loaded == loaded {
					t.Errorf("since the BaseApp left, %d writes were confirmed and %d ledgers loaded", books.confirmed-confirmed, books.loaded-loaded)
				}
				r.wait(35 * time.Second) // those that it had are freed
				r.heldByTheLiving()
			})
		})
	}
}

// heldByTheLiving checks that each row that is checked out lives.
func (r *rig) heldByTheLiving() {
	r.t.Helper()
	live := map[entity.ID]bool{}
	for b := range r.bases() {
		live[b.ID] = true
	}
	page, err := r.world.books.kept.Query(context.Background(), store.Query{Type: "Ledger", Limit: store.MaxPage})
	if err != nil {
		r.t.Fatal(err)
	}
	for _, x := range page.Rows {
		if !x.Holder.Nobody() && !live[x.Holder.Entity] {
			r.t.Errorf("%v is checked out by %v, which does not live", x.Key, x.Holder)
		}
	}
}
