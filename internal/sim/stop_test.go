package sim

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/store"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/space/cluster/status"
)

// stopping is a cluster that is to end.
type stopping struct {
	*rig
	done    map[uint64]vault // what lived when all was saved
	entries int              // of the data of the space then
}

// end has the world stop while script does harm, and demands of its end that the store has the last state of
// all that the report calls written, and that all processes have ended.
func end(t *testing.T, o Options, script func(s *stopping)) status.Stop {
	t.Helper()
	return beginning(t, o).end(script)
}

// beginning is a world that has begun.
func beginning(t *testing.T, o Options, before ...func(*stopping)) *stopping {
	t.Helper()
	if *verbose {
		o.Log = slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelDebug}))
	}
	s := &stopping{rig: &rig{t: t}}
	o.Tamper = func(p *Process, ch mercury.ChannelID, _ bool, msg []byte) []byte {
		if s.hook != nil {
			return s.hook(p, ch, msg)
		}
		return msg
	}
	c, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	s.Cluster = c
	for _, f := range before {
		f(s)
	}
	if err := c.begin(); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *stopping) end(script func(s *stopping)) status.Stop {
	t, c := s.t, s.Cluster
	t.Helper()
	defer func() {
		if f, ok := recover().(failure); ok {
			t.Fatalf("%v\n%s", f.err, replay(t, ""))
		}
	}()
	s.wait(4 * time.Second)
	c.checkers = nil // they speak of worlds that go on
	c.observer.ends = true
	if script != nil {
		script(s)
	}
	s.until("the world is saved", 60*time.Second, s.saved)
	s.checkKept()
	s.until("all have ended", 20*time.Second, s.allEnded)
	s.checkKept()
	if !c.observer.ending.Done {
		t.Errorf("the operator was told %+v", c.observer.ending)
	}
	return c.observer.ending
}

// saved reports whether a manager calls the world saved, and notes what lived then.
func (s *stopping) saved() bool {
	m := s.leader()
	if m == nil || !m.Stop().Done {
		return false
	}
	if s.done == nil {
		s.done, s.entries = s.vaults(), s.tuned()
	}
	return true
}

func (s *stopping) allEnded() bool {
	for _, p := range s.procs {
		// One that was declared dead before it heard of the stop starts anew, and waits for its operator.
		anew := p.starts > 1 && (p.takes("baseapp") || p.takes("cellapp"))
		if p.alive && p.app != App(s.observer) && !s.isPlayer(p) && !anew {
			return false
		}
	}
	return true
}

func (s *stopping) isPlayer(p *Process) bool {
	for _, pl := range s.players {
		if pl.p == p {
			return true
		}
	}
	return false
}

// checkKept compares the store with what lived when the manager called all saved.
func (s *stopping) checkKept() {
	s.t.Helper()
	kept, err := s.keptVaults()
	if err != nil {
		s.t.Fatal(err)
	}
	if len(s.done) == 0 || len(kept) < len(s.done) {
		s.t.Errorf("%d vaults lived, and %d are kept", len(s.done), len(kept))
	}
	for row, v := range s.done {
		if kept[row] != v {
			s.t.Errorf("vault %d ended as %+v and is kept as %+v", row, v, kept[row])
		}
	}
}

func vaultsOptions(seed uint64) Options {
	return Options{Seed: seed, Players: 2, Rovers: 2, BaseApps: 3, CellApps: 3, Replicas: 1, Balance: still(2), Wild: Wild{Vaults: 12, Gossips: 3}}
}

func TestStop(t *testing.T) {
	t.Parallel()
	r := end(t, vaultsOptions(1), nil)
	if !r.Whole() || r.Sum().Written < 12 || r.Spaces == 0 {
		t.Errorf("the report says %+v", r)
	}
}

// TestStopWithDeaths: a process dies at each step. The stop goes on, and its report is true.
func TestStopWithDeaths(t *testing.T) {
	for step := wire.StopClosing; step <= wire.StopSaved; step++ {
		for _, who := range []string{"cellapp1", "baseapp1", "cellappmgr", "dbapp", "loginapp", "baseappmgr"} {
			t.Run(fmt.Sprintf("%v/%s", step, who), func(t *testing.T) {
				t.Parallel()
				if step > wire.StopClosing && testing.Short() {
					t.Skip("each takes a second")
				}
				r := end(t, vaultsOptions(uint64(step)), func(s *stopping) { s.killAt(step, who) })
				if r.Sum().Written < 12 || r.Sum().Failed > 0 {
					t.Errorf("the report says %+v", r)
				}
			})
		}
	}
}

// TestStopHeardByFew: the manager dies when only those who make logins have heard of the stop. The world is
// open under the next one, and the order that is given again stops it.
func TestStopHeardByFew(t *testing.T) {
	for _, rest := range []string{"", "cellapp1"} {
		t.Run(rest, func(t *testing.T) {
			t.Parallel()
			r := end(t, vaultsOptions(17), func(s *stopping) {
				told := map[string]bool{}
				s.hook = func(p *Process, _ mercury.ChannelID, msg []byte) []byte {
					if len(msg) == 0 || kind(msg) != wire.StopID {
						return msg
					}
					if !p.takes("loginapp") && !p.takes("baseappmgr") && p.Name != rest {
						return nil
					}
					told[p.Name] = true
					return msg
				}
				s.until("those who make logins have heard of the stop", 5*time.Second, func() bool { return len(told) >= 2 && (rest == "" || told[rest]) })
				s.manager.crash()
				s.observer.ends = false
				s.wait(time.Second) // what it has told the others is lost with it
				s.nextTerm()
				if step := s.leader().Stop().Step; step != "" {
					t.Errorf("the next manager stops the world: %s", step)
				}
				g := s.visit("late.1", s.world.schema)
				s.until("a guest plays", 10*time.Second, func() bool { return g.Client.InWorld() })
				s.procs[len(s.procs)-1].crash() // the guest goes
				s.wait(time.Second)
				s.observer.ends = true
			})
			if !r.Whole() || r.Sum().Written < 12 {
				t.Errorf("the report says %+v", r)
			}
		})
	}
}

// TestStopWithStandby: managers stand by at two more places. The one that leads dies at a step of
// the stop, or is paused until another leads, or one that stands by dies; those that are left go on
// with the stop, and end with the world.
func TestStopWithStandby(t *testing.T) {
	for step := wire.StopClosing; step <= wire.StopEnded; step++ {
		for _, harm := range []string{"dies", "pauses", "standby"} {
			t.Run(fmt.Sprintf("%v/%s", step, harm), func(t *testing.T) {
				t.Parallel()
				if step != wire.StopHeld && testing.Short() {
					t.Skip("each takes a second")
				}
				o := vaultsOptions(60 + uint64(step)) // in 43 the store is busy for all of the ten seconds that writing may take
				o.Seats = 3
				r := end(t, o, func(s *stopping) { s.harmSeat(step, harm) })
				if r.Sum().Written < 12 || r.Sum().Failed > 0 {
					t.Errorf("the report says %+v", r)
				}
			})
		}
	}
}

// harmSeat does something to a seat when the first app hears of a step.
func (s *stopping) harmSeat(step wire.StopStep, harm string) {
	heard := false
	s.hook = func(p *Process, _ mercury.ChannelID, msg []byte) []byte {
		var m wire.Stop
		if id, body, err := wire.Split(msg); err == nil && id == wire.StopID && m.Parse(body) == nil && m.Step == step {
			heard = true
		}
		return msg
	}
	s.until("an app hears of the step", 20*time.Second, func() bool {
		s.saved()
		return heard
	})
	s.hook = nil
	leads := s.seatOf()
	switch harm {
	case "dies":
		s.crashSeat(leads)
	case "pauses":
		for _, p := range append(leads.beside(), leads.mgr) {
			p.pause(5 * time.Second)
		}
	default:
		for _, x := range s.seats {
			if x != leads {
				s.crashSeat(x)
				break
			}
		}
	}
}

// TestStopBreaks: channels break at the messages of the stop, all over the cluster.
func TestStopBreaks(t *testing.T) {
	for _, id := range []wire.ID{wire.StopID, wire.StopStateID, wire.KeepSpaceID, wire.SpaceKeptID, wire.KeepOnlyID, wire.OnlyKeptID, wire.EndWorldID} {
		t.Run(id.String(), func(t *testing.T) {
			t.Parallel()
			o := vaultsOptions(uint64(id))
			o.BaseApps, o.CellApps = 4, 4
			r := end(t, o, func(s *stopping) {
				s.breakSome(id)
			})
			if r.Sum().Written < 12 || r.Sum().Failed > 0 || r.SpacesLost > 0 {
				t.Errorf("the report says %+v", r)
			}
		})
	}
}

// breakSome breaks two channels at messages of some kinds. Between a manager and an app that has
// entities each break is the death of the app, as far as the manager can see.
func (s *stopping) breakSome(ids ...wire.ID) {
	seen := 0
	s.hook = func(p *Process, ch mercury.ChannelID, msg []byte) []byte {
		if len(msg) == 0 || !slices.Contains(ids, wire.ID(msg[0])) || s.now < s.snapAt || !s.fromApp(p, ch) {
			return msg
		}
		if seen++; seen%5 != 2 || seen > 10 {
			return msg
		}
		s.snapAt = s.now + 300*time.Millisecond
		s.snap(p, ch)
		return nil
	}
}

// killAt kills a process when the manager first tells it a step, or itself tells it.
func (s *stopping) killAt(step wire.StopStep, who string) {
	killed := false
	s.hook = func(p *Process, ch mercury.ChannelID, msg []byte) []byte {
		var m wire.Stop
		id, body, err := wire.Split(msg)
		if killed || err != nil || id != wire.StopID || m.Parse(body) != nil || m.Step != step {
			return msg
		}
		peer, _ := p.ep.Peer(ch)
		for _, x := range s.procs {
			if x.Name == who && x.alive && (x.at == peer.At || x == p) {
				killed = true
				x.kill()
				switch who {
				case "cellappmgr", "dbapp", "baseappmgr":
					x.restartAt = s.now + 2*time.Second
				}
			}
		}
		return msg
	}
}

// TestStartFromStore: a world that was stopped comes back, with its vaults where they stood, its rooms and
// its data, spread over the BaseApps; and again after that. A world that crashed brings its vaults back, too.
func TestStartFromStore(t *testing.T) {
	for _, who := range []string{"", "dbapp", "baseapp1", "cellappmgr", "channels"} {
		t.Run(who, func(t *testing.T) {
			t.Parallel()
			o := vaultsOptions(7)
			o.Wild.Gossips, o.Lodgers = 0, 2
			s := beginning(t, o)
			s.wait(3 * time.Second)
			for range 2 {
				first := s.end(nil)
				if !first.Whole() || first.Spaces < 1 {
					t.Errorf("the report says %+v", first)
				}
				entries := s.entries
				o.Kept, o.Lodgers = s.world.books.kept, 0
				was, rooms := s.done, first.Spaces
				s = beginning(t, o, func(s *stopping) {
					if who == "channels" {
						s.breakSome(wire.BringSpaceID, wire.SpaceBroughtID, wire.BringBackID, wire.BroughtBackID)
					}
				})
				s.crashSoon(who)
				s.sameVaultsLive(was)
				if n := len(s.leader().Status().Spaces); n != rooms {
					t.Errorf("%d spaces were kept, and %d are back", rooms, n)
				}
				if entries == 0 || s.tuned() < entries {
					t.Errorf("of %d entries of data %d are left", entries, s.tuned())
				}
				s.wait(5 * time.Second)
			}
		})
	}
}

// crashSoon kills a process that comes back.
func (s *stopping) crashSoon(who string) {
	for _, p := range s.procs {
		if p.Name == who {
			p.crash()
			p.restartAt = s.now + time.Second
		}
	}
}

// tuned is how many entries of data the space has.
func (s *stopping) tuned() (n int) {
	for _, a := range s.liveCellApps() {
		for c := range a.Cells() {
			if c.Space() == theSpace {
				entries := 0
				for range c.AllData() {
					entries++
				}
				n = max(n, entries)
			}
		}
	}
	return n
}

// sameVaultsLive waits until all vaults live again, and compares them with what they were.
func (s *stopping) sameVaultsLive(was map[uint64]vault) {
	s.t.Helper()
	s.until("all vaults live", 30*time.Second, func() bool {
		for _, v := range s.vaults() {
			if v.sum < 0 {
				return false
			}
		}
		return len(s.vaults()) == len(was)
	})
	s.sameVaults(was)
}

// sameVaults compares vaults that are back with what they were. They go on at once.
func (s *stopping) sameVaults(was map[uint64]vault) {
	s.t.Helper()
	on := map[string]int{}
	for b := range basesOf[*vaultBase](s.Cluster) {
		on[b.p.Name]++
	}
	if len(on) < len(s.baseApps)-1 {
		s.t.Errorf("the vaults are on %v", on)
	}
	for row, v := range s.vaults() {
		w, known := was[row]
		if !known || v.count < w.count || v.heard < w.heard || v.sum < w.sum || v.at.X < w.at.X || v.at.X > w.at.X+200 || v.at.Z != w.at.Z {
			s.t.Errorf("vault %d was %+v and is %+v", row, w, v)
		}
	}
}

// TestStartAfterCrash: all processes of a world die at once. What was ever written comes back as it
// was written last.
func TestStartAfterCrash(t *testing.T) {
	t.Parallel()
	o := vaultsOptions(9)
	s := beginning(t, o)
	s.wait(6 * time.Second)
	was, err := s.keptVaults()
	if err != nil || len(was) != 12 {
		t.Fatalf("%d vaults were written, %v", len(was), err)
	}
	o.Kept = s.world.books.kept
	s = beginning(t, o)
	s.sameVaultsLive(was)
}

// TestSpacesOutliveACrash: all processes of a world die at once, with what had changed some seconds
// before it or later. Spaces that were created are there again, with their data, and those that had
// ended are not.
func TestSpacesOutliveACrash(t *testing.T) {
	for _, who := range []string{"", "dbapp", "cellappmgr", "channels"} {
		t.Run(who, func(t *testing.T) {
			t.Parallel()
			o := vaultsOptions(11)
			s := beginning(t, o)
			s.wait(3 * time.Second)
			halls := s.makeHalls()
			s.wait(8 * time.Second) // the store has them
			if n := len(s.keptSpaces()); n != 1+len(halls) {
				t.Errorf("%d spaces are in the store", n)
			}
			if who == "channels" {
				s.breakSome(wire.KeepSpaceID, wire.SpaceKeptID, wire.KeepOnlyID, wire.OnlyKeptID)
			}
			s.tend(halls[0], func(b *vaultBase) error { return b.DestroySpace(b.hall) })
			s.tend(halls[1], func(b *vaultBase) error { return b.SetSpaceData(b.hall, hallKey, []byte("late")) })
			s.crashSoon(who)
			s.wait(15 * time.Second)
			if n := len(s.keptSpaces()); n != len(halls) {
				t.Errorf("%d spaces are in the store after one has ended", n)
			}
			o.Kept = s.world.books.kept
			const unknown = "space/0000000500" // of the Config, by mistake not this time
			if _, err := o.Kept.Put(context.Background(), unknown, append([]byte{0}, (&wire.KeptSpace{Space: 500}).Blob()...), 0); err != nil {
				t.Fatal(err)
			}
			s = beginning(t, o)
			s.until("the spaces are back", 20*time.Second, func() bool { return len(s.hallData()) == len(halls)-1 })
			for i, id := range halls[1:] {
				if want := []string{"late", "made"}[min(i, 1)]; s.hallData()[id] != want {
					t.Errorf("space %d has the data %q, want %q", id, s.hallData()[id], want)
				}
			}
			s.wait(8 * time.Second) // the store has heard which spaces live
			if _, err := o.Kept.Get(context.Background(), unknown); err != nil {
				t.Errorf("the space that could not come back: %v", err)
			}
		})
	}
}

const hallKey = 77

// makeHalls has some vaults create a space each, with data.
func (s *stopping) makeHalls() (halls []entity.SpaceID) {
	s.t.Helper()
	const n = 4
	asked := 0
	s.eachVault(func(b *vaultBase) {
		if asked++; asked > n {
			return
		}
		if err := b.CreateSpace(entity.SpaceInfo{Bounds: room(0).Bounds, MinCells: 1, MaxCells: 1, Keep: true}, "OnHall", 0); err != nil {
			s.t.Fatal(err)
		}
	})
	s.until("the spaces are made", 10*time.Second, func() bool {
		halls = halls[:0]
		s.eachVault(func(b *vaultBase) {
			if b.hall != 0 {
				halls = append(halls, b.hall)
			}
		})
		return len(halls) == n
	})
	for _, id := range halls {
		s.tend(id, func(b *vaultBase) error { return b.SetSpaceData(id, hallKey, []byte("made")) })
	}
	return halls
}

func (s *stopping) eachVault(f func(b *vaultBase)) {
	for _, v := range basesOf[*vaultBase](s.Cluster) {
		f(v)
	}
}

// tend does something to a space by the base that asked for it.
func (s *stopping) tend(hall entity.SpaceID, f func(b *vaultBase) error) {
	s.t.Helper()
	s.eachVault(func(b *vaultBase) {
		if b.hall == hall {
			if err := f(b); err != nil {
				s.t.Fatal(err)
			}
		}
	})
}

// hallData is the data of the spaces that were created.
func (s *stopping) hallData() map[entity.SpaceID]string {
	list := map[entity.SpaceID]string{}
	for _, a := range s.liveCellApps() {
		for c := range a.Cells() {
			if e, ok := c.Data(hallKey); ok {
				list[c.Space()] = string(e.Value)
			}
		}
	}
	return list
}

// keptSpaces are the spaces in the store.
func (s *stopping) keptSpaces() []store.Blob {
	s.t.Helper()
	list, err := s.world.books.kept.List(context.Background(), "space/", "", store.MaxPage)
	if err != nil {
		s.t.Fatal(err)
	}
	return list
}
