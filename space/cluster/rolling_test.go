package cluster_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/netip"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cellscape/cellscape/bsp"
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/baseapp"
	"github.com/cellscape/cellscape/entity/client"
	"github.com/cellscape/cellscape/entity/client/session"
	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space"
	"github.com/cellscape/cellscape/space/cellappmgr"
	"github.com/cellscape/cellscape/space/cluster"
)

// A rolling restart: each process of a world is an OS process of its own, and is replaced by
// another one while bots play. Each bot counts towards its base and its cell part, and both answer
// with their own count, so a message that is lost, comes twice or out of order shows, in either
// direction.

// roller is the base of a bot. Its count travels with it.
type roller struct {
	*entity.Base
	Ticks property.Uint32
}

func (p *roller) OnCreated() {
	_ = p.CreateCell(1, property.Vector3{X: float32(p.ID()%97)*10 - 480, Z: float32(p.ID()%89)*10 - 440}, property.Vector3{}, nil)
}

// Tick counts, if the number is the next.
func (p *roller) Tick(n uint32) {
	if n == p.Ticks.Get()+1 {
		p.Ticks.Set(n)
	}
	_ = p.Client().Call("ticked", n, p.Ticks.Get())
}

// rolled is its cell part.
type rolled struct {
	*space.Real
	Last property.Uint32
}

// Count is what Tick is for the base.
func (a *rolled) Count(_ entity.ID, n uint32) {
	if n == a.Last.Get()+1 {
		a.Last.Set(n)
	}
	_ = a.OwnClient().Call("counted", n, a.Last.Get())
}

func rollingWorld(t testing.TB) cluster.Config {
	t.Helper()
	u32 := property.Scalar(property.KindUint32)
	one, two := []property.Arg{{Name: "n", Type: u32}}, []property.Arg{{Name: "n", Type: u32}, {Name: "of", Type: u32}}
	schema, err := property.NewSchema(&property.Definition{
		Name: "Avatar", HasCell: true, HasBase: true, HasClient: true,
		Properties: []*property.Property{
			{Name: "ticks", Type: u32, Flags: property.Base}, {Name: "last", Type: u32, Flags: property.CellPrivate},
		},
		CellMethods:   []*property.Method{{Name: "count", Exposed: property.ExposedOwn, Args: one}},
		BaseMethods:   []*property.Method{{Name: "tick", Exposed: property.ExposedOwn, Args: one}},
		ClientMethods: []*property.Method{{Name: "ticked", Args: two}, {Name: "counted", Args: two}},
	})
	if err != nil {
		t.Fatal(err)
	}
	cells, bases := space.NewScripts(schema), baseapp.NewScripts(schema)
	space.Register[rolled](cells, "Avatar")
	baseapp.Register[roller](bases, "Avatar")
	return cluster.Config{
		CellScripts: cells, BaseScripts: bases, PlayerType: "Avatar", Logins: cellappmgr.LoginConfig{Always: true}, BackupPeriod: 4 * time.Second,
		Spaces: []cellappmgr.SpaceConfig{{ID: 1, Bounds: bsp.Rect{MinX: -500, MinZ: -500, MaxX: 500, MaxZ: 500}, MinCells: 2, MaxCells: 2}},
	}
}

// part is a process of that world: its role, where the managers are, and their term.
type part struct {
	role string
	cmd  *exec.Cmd
	in   io.WriteCloser
	at   string // what it says when it has joined
}

const partEnv = "CELLSCAPE_TEST_PART"

// startPart starts a process, and waits until it has joined.
func startPart(t *testing.T, role string, manager netip.AddrPort, term int) *part {
	t.Helper()
	p := &part{role: role, cmd: testProcess("TestPart", fmt.Sprintf("%s=%s %v %d", partEnv, role, manager, term))}
	if testing.Verbose() {
		p.cmd.Stderr = os.Stderr
	}
	var err error
	if p.in, p.at, err = startUntil(t, p.cmd, "joined "); err != nil {
		t.Fatalf("the %s: %v", role, err)
	}
	t.Cleanup(func() { _ = p.cmd.Process.Kill(); _ = p.cmd.Wait() })
	return p
}

// retire has the process leave the world, and waits until it has ended in good order.
func (p *part) retire(t *testing.T) time.Duration {
	t.Helper()
	begun := time.Now()
	_, _ = fmt.Fprintln(p.in, "retire")
	ended := make(chan error, 1)
	go func() { ended <- p.cmd.Wait() }()
	select {
	case err := <-ended:
		if err != nil {
			t.Fatalf("the %s: %v", p.role, err)
		}
	case <-time.After(time.Minute):
		t.Fatalf("the %s does not end", p.role)
	}
	return time.Since(begun)
}

// TestPart is such a process; see startPart.
func TestPart(t *testing.T) {
	spec := strings.Fields(os.Getenv(partEnv))
	if len(spec) != 3 {
		t.Skip("TestRollingRestart runs it as a process of its own")
	}
	ctx, cfg := context.Background(), rollingWorld(t)
	cfg.Log = slog.New(slog.NewTextHandler(os.Stderr, nil)).With("part", spec[0])
	at := netip.MustParseAddrPort(spec[1])
	term, _ := strconv.Atoi(spec[2])
	var c *cluster.Cluster
	var err error
	var leave func() error
	switch spec[0] {
	case "managers":
		cfg.Term, cfg.ManagerPort = uint32(term), at.Port()
		c, err = cluster.StartManagers(ctx, cfg)
		leave = func() error { return nil }
	case "login":
		c, err = cluster.StartLogin(ctx, cfg, at)
		leave = func() error { return nil }
	case "baseapp":
		c, err = cluster.StartBaseApp(ctx, cfg, at)
		leave = func() error { return c.RetireBaseApp(ctx, 0, "a new version") }
	case "cellapp":
		c, err = cluster.StartCellApp(ctx, cfg, at)
		leave = func() error { return c.RetireCellApp(ctx, 0, "a new version") }
	}
	if err != nil {
		t.Fatal(err)
	}
	joined := c.ManagerAddr().String()
	if urls := c.LoginURLs(); len(urls) > 0 {
		joined = urls[0]
	}
	fmt.Println("joined", joined)
	if line, _ := bufio.NewReader(os.Stdin).ReadString('\n'); line == "" {
		return // the test is gone
	}
	if err := leave(); err != nil {
		t.Fatal(err)
	}
	if err := c.Stop(); err != nil {
		t.Fatal(err)
	}
}

// bot counts, and is answered.
type bot struct {
	*session.Session
	mu           sync.Mutex
	said, heard  [2]uint32 // to and from the base, and the cell part
	lastAt       [2]time.Time
	pause        [2]time.Duration // the longest without an answer
	wrong        error
	switched     uint64
	interruption int
}

var botMethods = [2]string{"ticked", "counted"}

func (b *bot) called(_ *client.Replica, m *property.Method, args []property.Value) {
	b.mu.Lock()
	defer b.mu.Unlock()
	i := slices.Index(botMethods[:], m.Name)
	n, of := uint32(args[0].Uint()), uint32(args[1].Uint())
	if (n != of || n != b.heard[i]+1) && b.wrong == nil {
		b.wrong = fmt.Errorf("%s %d of %d after %d", m.Name, n, of, b.heard[i])
	}
	b.heard[i] = n
	if now := time.Now(); b.lastAt[i].IsZero() {
		b.lastAt[i] = now
	} else {
		b.pause[i] = max(b.pause[i], now.Sub(b.lastAt[i]))
		b.lastAt[i] = now
	}
}

// say counts on, unless much waits for an answer.
func (b *bot) say() {
	_ = b.Do(func(c *client.Client) error {
		b.mu.Lock()
		said, heard := b.said, b.heard
		b.mu.Unlock()
		own := c.Player()
		if own == nil {
			return nil
		}
		call := [2]func(n uint32) error{
			func(n uint32) error { return own.Base().Call("tick", n) },
			func(n uint32) error { return own.Cell().Call("count", n) },
		}
		for i := range call {
			if said[i]-heard[i] < 200 && call[i](said[i]+1) == nil {
				said[i]++
			}
		}
		b.mu.Lock()
		b.said, b.switched = said, c.Stats().Switched
		b.mu.Unlock()
		return nil
	})
}

func (b *bot) longest() (d time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	d = max(b.pause[0], b.pause[1])
	b.pause = [2]time.Duration{}
	return d
}

// rollersEnv is how many bots play in TestRollingRestart; 30 without it.
const rollersEnv = "CELLSCAPE_ROLLERS"

// mostPause is how long no bot may be without an answer, on a machine with other work: usually it
// is less than a tick more than without a restart.
const mostPause = 5 * time.Second

// TestRollingRestart replaces every process of a world, one after the other, while bots play.
func TestRollingRestart(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	t.Parallel()
	n := numberIn(rollersEnv, 30)
	managers := startPart(t, "managers", netip.MustParseAddrPort("127.0.0.1:0"), 1)
	at := netip.MustParseAddrPort(managers.at)
	parts := []*part{}
	for _, role := range []string{"baseapp", "baseapp", "baseapp", "cellapp", "cellapp"} {
		parts = append(parts, startPart(t, role, at, 1))
	}
	login := startPart(t, "login", at, 1)
	bots := rollIn(t, n, login.at)
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for tick := time.NewTicker(100 * time.Millisecond); ; {
			select {
			case <-quit:
				tick.Stop()
				return
			case <-tick.C:
				for _, b := range bots {
					b.say()
				}
			}
		}
	}()
	after := func(what string, took time.Duration) {
		t.Helper()
		time.Sleep(time.Second)
		longest := time.Duration(0)
		for i, b := range bots {
			longest = max(longest, b.longest())
			if err := b.Err(); err != nil {
				t.Fatalf("%s: bot %d: %v", what, i, err)
			}
		}
		t.Logf("%s: replaced in %v; the longest that a bot was without an answer: %v", what, took.Round(10*time.Millisecond), longest.Round(time.Millisecond))
		if longest > mostPause {
			t.Errorf("%s: a bot was without an answer for %v", what, longest)
		}
	}
	after("nothing", 0)
	replace := func(i int) {
		p := parts[i]
		parts[i] = startPart(t, p.role, at, 1)
		after(fmt.Sprintf("%s %d", p.role, i), p.retire(t))
	}
	// A CellApp takes half a minute, most of which it waits. So one goes while the BaseApps do; all of them
	// one after the other if it was told how many bots play.
	last := parts[4]
	if os.Getenv(rollersEnv) == "" {
		startPart(t, last.role, at, 1)
		_, _ = fmt.Fprintln(last.in, "retire")
	}
	for i := range 3 {
		replace(i)
	}
	if os.Getenv(rollersEnv) == "" {
		after("a cellapp meanwhile", last.retire(t))
	} else {
		replace(3)
		replace(4)
	}
	old := login
	login = startPart(t, "login", at, 1)
	after("LoginApp", old.retire(t))
	took := managers.retire(t)
	startPart(t, "managers", at, 2)
	after("managers", took)
	bots = append(bots, rollIn(t, 1, login.at)...)
	close(quit)
	<-done
	settle(t, bots)
}

// rollIn logs bots in.
func rollIn(t *testing.T, n int, url string) (bots []*bot) {
	t.Helper()
	cfg := rollingWorld(t)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for i := range n {
		b := &bot{}
		var err error
		b.Session, err = session.Dial(ctx, session.Config{
			LoginApp: url, Schema: cfg.CellScripts.Schema(), User: fmt.Sprintf("bot%d-%p", i, b), Retry: true,
			Events: client.Events{Called: b.called, Interrupted: func(error) {
				b.mu.Lock()
				defer b.mu.Unlock()
				b.interruption++
			}},
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = b.Close() })
		bots = append(bots, b)
	}
	return bots
}

// settle waits until all that was said is answered, and fails for what was not as it should be.
func settle(t *testing.T, bots []*bot) {
	t.Helper()
	switched, interrupted, messages := uint64(0), 0, uint32(0)
	for i, b := range bots {
		for end := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
			b.mu.Lock()
			wrong, said, heard := b.wrong, b.said, b.heard
			b.mu.Unlock()
			if wrong != nil {
				t.Errorf("bot %d: %v", i, wrong)
				break
			}
			if said == heard {
				break
			}
			if time.Now().After(end) {
				t.Errorf("bot %d: said %v, heard %v", i, said, heard)
				break
			}
		}
		switched, interrupted, messages = switched+b.switched, interrupted+b.interruption, messages+b.heard[0]+b.heard[1]
	}
	t.Logf("%d bots, %d answers in order, switched %d times, %d connections lost", len(bots), messages, switched, interrupted)
	if switched < uint64(len(bots)-1) || interrupted > 0 {
		t.Errorf("switched %d times, %d connections lost", switched, interrupted)
	}
}
