package sim

import (
	"fmt"
	"log/slog"
	"os"
	"testing"
	"time"

	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/space/cluster/status"
)

// stopping is a cluster that is to end.
type stopping struct {
	*rig
	done map[uint64]vault // what lived when all was saved
}

// end has the world stop while script does harm, and demands of its end that the store has the last state of
// all that the report calls written, and that all processes have ended.
func end(t *testing.T, o Options, script func(s *stopping)) status.Stop {
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
	defer func() {
		if f, ok := recover().(failure); ok {
			t.Fatalf("%v\n%s", f.err, replay(t, ""))
		}
	}()
	if err := c.begin(); err != nil {
		t.Fatal(err)
	}
	s.wait(4 * time.Second)
	c.checkers = nil // they speak of worlds that go on
	c.observer.ends = true
	if script != nil {
		script(s)
	}
	s.until("the world is saved", 60*time.Second, func() bool {
		m := c.leader()
		if m != nil && m.Stop().Done {
			s.done = c.vaults()
			return true
		}
		return false
	})
	s.checkKept()
	s.until("all have ended", 20*time.Second, s.allEnded)
	s.checkKept()
	if !c.observer.ending.Done {
		t.Errorf("the operator was told %+v", c.observer.ending)
	}
	return c.observer.ending
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

// TestStopBreaks: channels break at the messages of the stop, all over the cluster.
func TestStopBreaks(t *testing.T) {
	for _, id := range []wire.ID{wire.StopID, wire.StopStateID, wire.KeepSpaceID, wire.SpaceKeptID, wire.EndWorldID} {
		t.Run(id.String(), func(t *testing.T) {
			t.Parallel()
			o := vaultsOptions(uint64(id))
			o.BaseApps, o.CellApps = 4, 4
			r := end(t, o, func(s *stopping) {
				seen := 0
				s.hook = func(p *Process, ch mercury.ChannelID, msg []byte) []byte {
					if len(msg) == 0 || wire.ID(msg[0]) != id || s.now < s.snapAt || !s.fromApp(p, ch) {
						return msg
					}
					if seen++; seen%5 != 2 || seen > 10 { // each break is the death of an app, as far as the manager can see
						return msg
					}
					s.snapAt = s.now + 300*time.Millisecond
					s.snap(p, ch)
					return nil
				}
			})
			if r.Sum().Written < 12 || r.Sum().Failed > 0 || r.SpacesLost > 0 {
				t.Errorf("the report says %+v", r)
			}
		})
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
