package cluster_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"github.com/cellscape/cellscape/bsp"
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/baseapp"
	"github.com/cellscape/cellscape/entity/client"
	"github.com/cellscape/cellscape/entity/client/bots"
	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space"
	"github.com/cellscape/cellscape/space/cellappmgr"
	"github.com/cellscape/cellscape/space/cluster"
	"github.com/cellscape/cellscape/space/cluster/status"
)

// pilgrim is a base that counts the calls of its client that came in order.
type pilgrim struct {
	*entity.Base
	Steps property.Uint32
}

// OnCreated makes the cell part somewhere.
func (p *pilgrim) OnCreated() {
	at := property.Vector3{X: float32(p.ID()%60) - 30, Z: float32(p.ID()/7%60) - 30}
	_ = p.CreateCell(1, at, property.Vector3{}, nil)
}

// Step is called by the client with one number after the other.
func (p *pilgrim) Step(n uint32) {
	if n == p.Steps.Get()+1 {
		p.Steps.Set(n)
	}
}

// walker is its cell part, and does the same.
type walker struct {
	*space.Real
	Paces property.Uint32
}

// Pace is called by the client with one number after the other.
func (w *walker) Pace(by entity.ID, n uint32) {
	if n == w.Paces.Get()+1 {
		w.Paces.Set(n)
	}
}

// pilgrims is a world of two cells where everybody sees everybody. A BaseApp's bases are copied often, so
// that tests need not wait.
func pilgrims(t testing.TB) cluster.Config {
	t.Helper()
	schema, err := property.Load(fstest.MapFS{
		"entities.xml": {Data: []byte(`<root> <Avatar/> </root>`)},
		"entity_defs/Avatar.def": {Data: []byte(`<root>
			<Properties> <steps> <Type> UINT32 </Type> <Flags> BASE_AND_CLIENT </Flags> </steps> <paces> <Type> UINT32 </Type> <Flags> OWN_CLIENT </Flags> </paces> </Properties>
			<CellMethods> <pace> <Exposed> OWN_CLIENT </Exposed> <Arg> UINT32 </Arg> </pace> </CellMethods>
			<BaseMethods> <step> <Exposed> OWN_CLIENT </Exposed> <Arg> UINT32 </Arg> </step> </BaseMethods>
			<Volatile> <position/> </Volatile> </root>`)},
	})
	if err != nil {
		t.Fatal(err)
	}
	cells, bases := space.NewScripts(schema), baseapp.NewScripts(schema)
	space.Register[walker](cells, "Avatar")
	baseapp.Register[pilgrim](bases, "Avatar")
	cfg := cluster.Config{
		CellScripts: cells, BaseScripts: bases, PlayerType: "Avatar", BackupPeriod: time.Second,
		Spaces: []cellappmgr.SpaceConfig{{ID: 1, Bounds: bsp.Rect{MinX: -50, MinZ: -50, MaxX: 50, MaxZ: 50}, MinCells: 2, MaxCells: 2}},
	}
	if os.Getenv("CELLSCAPE_TEST_LOG") != "" {
		cfg.Log = slog.New(slog.NewTextHandler(os.Stderr, nil))
	}
	return cfg
}

// walk is what one player of that world does, and what became of it.
type walk struct {
	number, calls int
	resting       bool

	interrupted, resumed, moved time.Time               // last; moved is the first move of another after resumed
	seen                        map[entity.ID]time.Time // when others moved last
	gone                        int                     // replicas that left, or were forgotten with all others
	why                         []string
}

// Act implements bots.Behaviour.
func (w *walk) Act(b *bots.Bot) {
	at := b.Player().Position
	to := property.Vector3{X: b.Chance.Float32()*80 - 40, Z: b.Chance.Float32()*80 - 40}
	next, _ := bots.Towards(at, to, b.Step(5))
	if err := b.Go(next, property.Vector3{}); err != nil {
		w.why = append(w.why, err.Error())
	}
	if !w.resting && b.Every(300*time.Millisecond) {
		w.calls++
		for _, err := range []error{b.Player().Base().Call("step", uint32(w.calls)), b.Player().Cell().Call("pace", uint32(w.calls))} {
			if err != nil {
				w.why = append(w.why, err.Error())
			}
		}
	}
}

func (w *walk) events(*bots.Bot) client.Events {
	return client.Events{
		Interrupted: func(error) { w.interrupted = time.Now() },
		Resumed:     func() { w.resumed, w.moved = time.Now(), time.Time{} },
		Moved: func(r *client.Replica) {
			w.seen[r.ID] = time.Now()
			if w.moved.Before(w.resumed) {
				w.moved = time.Now()
			}
		},
		Left:   func(*client.Replica) { w.gone++ },
		Reset:  func() { w.gone++; w.why = append(w.why, "reset") },
		Closed: func(err error) { w.why = append(w.why, fmt.Sprint("closed: ", err)) },
	}
}

// mourners is a world whose BaseApps are processes of their own, and its players.
type mourners struct {
	deadly
	bases []*mortal
	walks []*walk
	swarm *bots.Swarm
}

func startMourners(t *testing.T, baseApps, players int) *mourners {
	t.Helper()
	cfg, ctx := pilgrims(t), context.Background()
	started := kept(t)
	w := &mourners{}
	w.managers = started(cluster.StartManagers(ctx, cfg))
	at := w.managers.ManagerAddr()
	for range 2 {
		started(cluster.StartCellApp(ctx, cfg, at))
	}
	for range baseApps {
		w.bases = append(w.bases, startRole(t, "baseapp", at))
	}
	login := started(cluster.StartLogin(ctx, cfg, at))
	for i := range players {
		w.walks = append(w.walks, &walk{number: i, seen: make(map[entity.ID]time.Time)})
	}
	var err error
	w.swarm, err = bots.Start(bots.Config{
		Bots: players, LoginApp: login.LoginAddr(), Schema: cfg.CellScripts.Schema(),
		Behave: func(i int) bots.Behaviour { return w.walks[i] },
		Events: func(b *bots.Bot) client.Events { return w.walks[b.Number].events(b) },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.swarm.Stop() })
	limit, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if err := w.swarm.Ready(limit); err != nil {
		t.Fatal(err)
	}
	w.copied(t)
	w.each(t, func(p *walk, _ *bots.Bot) { p.gone, p.why = 0, nil }) // of how the sessions began
	return w
}

// copied waits until every BaseApp has told its rule, so that no copy is missing, and until the
// bases have been backed up once more, so that no copy is from before its client and its cell part
// came.
func (w *mourners) copied(t *testing.T) {
	t.Helper()
	sent := uint64(0)
	w.until(t, "all bases are protected", func() bool {
		st, err := w.managers.Status()
		sent = st.Counters.BackupsSent
		return err == nil && st.Unprotected == 0 && st.RulesPending == 0 && w.proxies(&st, nil) == len(w.walks)
	})
	w.until(t, "all bases are backed up again", func() bool {
		st, err := w.managers.Status()
		return err == nil && st.Counters.BackupsSent >= sent+uint64(2*len(w.walks))
	})
}

// proxies is how many are at a BaseApp, or at all.
func (w *mourners) proxies(st *status.World, of *mortal) (n int) {
	for i := range st.Apps {
		if a := &st.Apps[i]; a.Role == status.RoleBaseApp && (of == nil || a.AddrPort() == of.at) {
			for _, c := range a.Carriers {
				if c.Outer {
					n += int(c.Channels)
				}
			}
		}
	}
	return n
}

// kill kills the BaseApp with the most players, waits until they are back, and returns how long each was
// without news of others.
func (w *mourners) kill(t *testing.T) (took []time.Duration) {
	t.Helper()
	st, err := w.managers.Status()
	if err != nil {
		t.Fatal(err)
	}
	victim := slices.MaxFunc(w.bases, func(a, b *mortal) int { return w.proxies(&st, a) - w.proxies(&st, b) })
	n := w.proxies(&st, victim)
	began := time.Now()
	if err := victim.cmd.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	var out []time.Duration
	w.until(t, fmt.Sprintf("%d players go on", n), func() bool {
		took, out = took[:0], out[:0]
		w.each(t, func(p *walk, _ *bots.Bot) {
			if p.resumed.After(began) && p.moved.After(p.resumed) {
				took = append(took, p.moved.Sub(began))
				out = append(out, p.interrupted.Sub(began))
			}
		})
		return len(took) >= n
	})
	slices.Sort(took)
	slices.Sort(out)
	t.Logf("%d players: interrupted after %v to %v, first place after %v to %v", n, out[0], out[len(out)-1], took[0], took[len(took)-1])
	w.moveAgain(t, began)
	victim.kill()
	w.bases = append(slices.DeleteFunc(w.bases, func(m *mortal) bool { return m == victim }), startRole(t, "baseapp", w.managers.ManagerAddr()))
	return took
}

// moveAgain waits until everybody sees that those move again who have come to another BaseApp.
func (w *mourners) moveAgain(t *testing.T, since time.Time) {
	t.Helper()
	moved := make(map[entity.ID]time.Time)
	w.each(t, func(p *walk, b *bots.Bot) {
		if p.resumed.After(since) {
			moved[b.Player().ID] = p.resumed
		}
	})
	began := time.Now()
	w.until(t, fmt.Sprintf("%d players are seen to move again", len(moved)), func() bool {
		still := 0
		w.each(t, func(p *walk, b *bots.Bot) {
			for id, at := range moved { // order does not show: they are counted
				if id != b.Player().ID && !p.seen[id].After(at) {
					still++
				}
			}
		})
		return still == 0
	})
	t.Logf("all are seen to move again %v after they have come back", time.Since(began))
}

func (w *mourners) each(t *testing.T, f func(*walk, *bots.Bot)) {
	t.Helper()
	if err := w.swarm.Each(func(b *bots.Bot) { f(w.walks[b.Number], b) }); err != nil {
		t.Fatal(err)
	}
}

// unharmed fails if a session has ended, an entity has left a screen, or a call was lost or came twice.
func (w *mourners) unharmed(t *testing.T) {
	t.Helper()
	w.each(t, func(p *walk, _ *bots.Bot) { p.resting = true })
	w.until(t, "all calls are handled", func() bool {
		lacking := 0
		w.each(t, func(p *walk, b *bots.Bot) {
			if b.Client == nil || b.Player() == nil {
				lacking++
				return
			}
			own := b.Player()
			for _, name := range []string{"steps", "paces"} {
				if own.Props.Get(own.Def.Property(name).Index).Uint() != uint64(p.calls) {
					lacking++
				}
			}
		})
		return lacking == 0
	})
	w.each(t, func(p *walk, b *bots.Bot) {
		others := 0
		for range b.Entities() {
			others++
		}
		if p.gone > 0 || len(p.why) > 0 || others != len(w.walks)-1 {
			t.Errorf("player %d: %d entities left its screen, %d are there, %q", p.number, p.gone, others, p.why)
		}
	})
	st, err := w.swarm.Stats()
	if err != nil || st.Lost > 0 {
		t.Errorf("%d sessions ended, %v", st.Lost, err)
	}
}

// From the SIGKILL of a BaseApp to the first news of others at its clients, who come to its heirs by
// themselves, it takes less than a second: most of it is the silence after which they look elsewhere. No
// session ends, nobody leaves a screen, and no call is lost or comes twice. This test allows what a machine
// with other work needs.
func TestKilledBaseApp(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	t.Parallel()
	kills := numberIn(killsEnv, 2)
	w := startMourners(t, 3, 40)
	var all []time.Duration
	for range kills {
		all = append(all, w.kill(t)...)
		w.copied(t)
	}
	w.unharmed(t)
	slices.Sort(all)
	t.Logf("%d kills, %d players: p50 %v, p99 %v, worst %v", kills, len(all), all[len(all)/2], all[len(all)*99/100], all[len(all)-1])
	if p50 := all[len(all)/2]; p50 > 3*time.Second {
		t.Errorf("half of the players wait for %v or longer", p50)
	}
}

// A BaseApp that is stopped for six seconds is not declared dead, and nobody notices more than a pause.
// Stopped for twelve, it is: its players go on elsewhere, and when it goes on by itself it harms nobody.
func TestStoppedBaseApp(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	t.Parallel()
	w := startMourners(t, 2, 24)
	w.stop(t, 6*time.Second)
	if st, err := w.managers.Status(); err != nil || st.Deaths != 0 {
		t.Errorf("%d deaths, %v", st.Deaths, err)
	}
	w.stop(t, 12*time.Second)
	w.until(t, "the manager has given it up", func() bool {
		st, err := w.managers.Status()
		return err == nil && st.Deaths == 1
	})
	w.copied(t) // it has joined again
	w.unharmed(t)
}

// stop stops the BaseApp with the most players for a while.
func (w *mourners) stop(t *testing.T, d time.Duration) {
	t.Helper()
	st, err := w.managers.Status()
	if err != nil {
		t.Fatal(err)
	}
	victim := slices.MaxFunc(w.bases, func(a, b *mortal) int { return w.proxies(&st, a) - w.proxies(&st, b) })
	for _, x := range []struct {
		signal syscall.Signal
		wait   time.Duration
	}{{syscall.SIGSTOP, d}, {syscall.SIGCONT, time.Second}} {
		if err := victim.cmd.Process.Signal(x.signal); err != nil {
			t.Fatal(err)
		}
		time.Sleep(x.wait)
	}
}
