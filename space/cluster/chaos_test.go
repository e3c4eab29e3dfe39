package cluster_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/netip"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/client"
	"github.com/cellscape/cellscape/entity/client/bots"
	"github.com/cellscape/cellscape/entity/client/session"
	"github.com/cellscape/cellscape/space/cluster"
	"github.com/cellscape/cellscape/space/cluster/status"
)

// The chaos run: a random process of any role is killed, stopped for two seconds or asked to leave,
// and another one started in its place, again and again, while bots play. A run is asked for as
//
//	CELLSCAPE_CHAOS="bots=200 time=3m every=10s seed=7 store=1 log=/tmp/chaos" go test ./space/cluster -run TestChaos -v

const (
	// chaosEnv describes the run; the defaults are a short one.
	chaosEnv = "CELLSCAPE_CHAOS"
	// chaosPartEnv tells a process of it what it is: a role, and a port if the role has a fixed one.
	chaosPartEnv = "CELLSCAPE_TEST_CHAOS_PART"
	// healLimit is how long the world may take until it would bear the next death: an allowance for a machine
	// with other work. The promise is in the tests of each role's death.
	healLimit = 60 * time.Second
)

// chaosRun is what such a run is made of.
type chaosRun struct {
	bots  int
	time  time.Duration
	every time.Duration // between two kills, if the world has healed
	seed  uint64
	log   string // a folder for what the processes log
	roles string // those that are killed
	store bool   // whether the managers have one
	how   int    // what happens to them: 0 stopped, 1 asked to leave, 2 to 9 killed; -1 for any
}

func chaosRunOf(t *testing.T) chaosRun {
	t.Helper()
	r := chaosRun{bots: 40, time: 10 * time.Second, every: 3 * time.Second, seed: 1, roles: "managers,login,baseapp,cellapp", how: -1}
	for _, f := range strings.Fields(os.Getenv(chaosEnv)) {
		key, value, _ := strings.Cut(f, "=")
		var err error
		switch key {
		case "bots":
			r.bots, err = strconv.Atoi(value)
		case "time":
			r.time, err = time.ParseDuration(value)
		case "every":
			r.every, err = time.ParseDuration(value)
		case "seed":
			r.seed, err = strconv.ParseUint(value, 10, 64)
		case "log":
			r.log = value
		case "how":
			r.how, err = strconv.Atoi(value)
		case "roles":
			r.roles = value
		case "store":
			r.store, err = strconv.ParseBool(value)
		default:
			err = fmt.Errorf("unknown")
		}
		if err != nil {
			t.Fatalf("%s: %q: %v", chaosEnv, f, err)
		}
	}
	return r
}

// chaosPart is a process of that world.
type chaosPart struct {
	role string
	port uint16 // a fixed one, 0 for none
	cmd  *exec.Cmd
	gone chan error
}

func (p *chaosPart) String() string { return fmt.Sprintf("%s (pid %d)", p.role, p.cmd.Process.Pid) }

// TestChaosPart is such a process. SIGTERM has it leave as an operator would.
func TestChaosPart(t *testing.T) {
	role, rest, ok := strings.Cut(os.Getenv(chaosPartEnv), " ")
	if !ok {
		t.Skip("TestChaos runs it as a process of its own")
	}
	port, err := strconv.ParseUint(rest, 10, 16)
	if err != nil {
		t.Fatal(err)
	}
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, syscall.SIGTERM)
	ctx, cfg := context.Background(), chaosWorld(t, strings.Split(os.Getenv(managersEnv), ","), os.Getenv(chaosStoreEnv))
	cfg.Log = slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelDebug}))
	leave := func(*cluster.Cluster) error { return nil }
	var c *cluster.Cluster
	switch role {
	case "managers":
		defer openStore(t, &cfg, os.Getenv(chaosStoreEnv))()
		cfg.ManagerPort = uint16(port)
		c, err = cluster.StartManagers(ctx, cfg)
	case "login":
		cfg.Doors = []cluster.Door{{Network: cluster.UDP, LoginPort: uint16(port)}}
		c, err = cluster.StartLogin(ctx, cfg, netip.AddrPort{})
	case "baseapp":
		c, err = cluster.StartBaseApp(ctx, cfg, netip.AddrPort{})
		leave = func(c *cluster.Cluster) error { return c.RetireBaseApp(ctx, 0, "asked to") }
	case "cellapp":
		c, err = cluster.StartCellApp(ctx, cfg, netip.AddrPort{})
		leave = func(c *cluster.Cluster) error { return c.RetireCellApp(ctx, 0, "asked to") }
	}
	if err != nil {
		t.Fatal(err)
	}
	fmt.Println("joined")
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(1) // the test is gone
	}()
	<-asked
	if err := leave(c); err != nil {
		t.Fatal(err)
	}
	if err := c.Stop(); err != nil {
		t.Fatal(err)
	}
}

// chaos is a run.
type chaos struct {
	t       *testing.T
	run     chaosRun
	chance  *rand.Rand
	places  []string // of the managers
	file    string   // of the store, "" for none
	begun   time.Time
	started int
	next    []string // the roles that are struck next: each once before any a second time

	mu    sync.Mutex
	parts []*chaosPart // those that live, or should

	tellers []*teller
	swarms  []*bots.Swarm
	watch   *cluster.Observer
	resting atomic.Bool
	ids     atomic.Pointer[[]entity.ID] // of the bots' entities

	oldest time.Duration // see look

	logins   []string // places
	visits   int
	visitors []error // of those who could not come in
}

// someone is another player to trade with, 0 while nobody is known.
func (w *chaos) someone(chance *rand.Rand) entity.ID {
	ids := w.ids.Load()
	if ids == nil {
		return 0
	}
	return (*ids)[chance.IntN(len(*ids))]
}

func (w *chaos) logf(format string, args ...any) {
	w.t.Helper()
	w.t.Logf("%s %6.2f s  %s", time.Now().UTC().Format("15:04:05.000"), time.Since(w.begun).Seconds(), fmt.Sprintf(format, args...))
}

// start starts a process, and waits until it has joined.
func (w *chaos) start(role string, port uint16) (*chaosPart, error) {
	p := &chaosPart{role: role, port: port, gone: make(chan error, 1)}
	p.cmd = testProcess("TestChaosPart",
		fmt.Sprintf("%s=%s %d", chaosPartEnv, role, port), managersEnv+"="+strings.Join(w.places, ","), chaosStoreEnv+"="+w.file)
	w.mu.Lock()
	w.started++
	n := w.started
	w.mu.Unlock()
	if w.run.log != "" {
		f, err := os.Create(filepath.Join(w.run.log, fmt.Sprintf("%02d-%s.log", n, role)))
		if err != nil {
			return nil, err
		}
		defer func() { _ = f.Close() }()
		p.cmd.Stderr = f
	}
	if _, _, err := startUntil(w.t, p.cmd, "joined"); err != nil {
		return nil, fmt.Errorf("%v does not come up: %w", p, err)
	}
	go func() { p.gone <- p.cmd.Wait() }()
	w.mu.Lock()
	w.parts = append(w.parts, p)
	w.mu.Unlock()
	return p, nil
}

// drop takes a process from those that should live.
func (w *chaos) drop(p *chaosPart) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.parts = slices.DeleteFunc(w.parts, func(q *chaosPart) bool { return q == p })
}

// startAll starts processes of a role, each at its place if it has a fixed one.
func (w *chaos) startAll(role string, places []string) {
	var all sync.WaitGroup
	for _, p := range places {
		port := uint16(0)
		if p != "" {
			port = netip.MustParseAddrPort(p).Port()
		}
		all.Go(func() {
			if _, err := w.start(role, port); err != nil {
				w.t.Error(err)
			}
		})
	}
	all.Wait()
}

// startChaos starts the world and its bots.
func startChaos(t *testing.T, run chaosRun) *chaos {
	t.Helper()
	w := &chaos{t: t, run: run, chance: rand.New(rand.NewPCG(run.seed, 1)), begun: time.Now()}
	w.logf("seed %d, %d bots, %v, a death every %v", run.seed, run.bots, run.time, run.every)
	ports := freePlaces(t, 5)
	w.places = ports[:3]
	if run.store {
		w.file = filepath.Join(t.TempDir(), "world.db")
	}
	var managers []netip.AddrPort
	for _, p := range w.places {
		managers = append(managers, netip.MustParseAddrPort(p))
	}
	w.logins = ports[3:]
	w.startAll("managers", w.places)
	others := make(chan struct{})
	for _, s := range []struct {
		role string
		at   []string
	}{{"cellapp", make([]string, 3)}, {"baseapp", make([]string, 3)}, {"login", w.logins}} {
		go func() {
			defer func() { others <- struct{}{} }()
			w.startAll(s.role, s.at)
		}()
	}
	for range 3 {
		<-others
	}
	if t.Failed() {
		t.FailNow()
	}
	var err error
	w.watch, err = cluster.Observe(t.Context(), cluster.ObserverConfig{Manager: managers[0], Managers: managers})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.watch.Close() })
	w.startBots()
	return w
}

func (w *chaos) startBots() {
	t := w.t
	for i := range w.run.bots {
		const most = chaosSide/2 - 5
		w.tellers = append(w.tellers, &teller{w: w, number: i, Walk: bots.Walk{MinX: -most, MinZ: -most, MaxX: most, MaxZ: most, Speed: walkSpeed}})
	}
	schema := chaosWorld(t, w.places, w.file).CellScripts.Schema()
	for i, login := range w.logins {
		first := i * w.run.bots / len(w.logins)
		s, err := bots.Start(bots.Config{
			Bots: (i+1)*w.run.bots/len(w.logins) - first, LoginApp: netip.MustParseAddrPort(login), Schema: schema, Seed: w.run.seed,
			Account: func(number int) (user, password string) { return fmt.Sprint("bot", first+number), "" },
			Behave:  func(number int) bots.Behaviour { return w.tellers[first+number] },
			Events:  func(b *bots.Bot) client.Events { return w.tellers[first+b.Number].events() },
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Stop() })
		w.swarms = append(w.swarms, s)
	}
	limit, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for _, s := range w.swarms {
		if err := s.Ready(limit); err != nil {
			t.Fatal(err)
		}
	}
	var ids []entity.ID
	w.each(func(p *teller, b *bots.Bot) {
		ids = append(ids, b.Player().ID)
		p.mu.Lock()
		defer p.mu.Unlock()
		p.closed = nil // logins that came too early, and were made again
	})
	w.ids.Store(&ids)
}

// each calls f for each bot on its goroutine, one after the other.
func (w *chaos) each(f func(*teller, *bots.Bot)) {
	w.t.Helper()
	for i, s := range w.swarms {
		first := i * w.run.bots / len(w.swarms)
		if err := s.Each(func(b *bots.Bot) { f(w.tellers[first+b.Number], b) }); err != nil {
			w.t.Error(err)
		}
	}
}

// unwell says why the world would not bear another death now, "" if it would.
func (w *chaos) unwell(ctx context.Context) string {
	st, err := w.watch.Next(ctx)
	if err != nil {
		return "no status"
	}
	n := make(map[string]int)
	for i := range st.Apps {
		n[st.Apps[i].Role]++
	}
	for _, want := range []struct {
		role string
		n    int
	}{{status.RoleCellApp, 3}, {status.RoleBaseApp, 3}, {"LoginApp", 2}, {"BaseAppMgr", 1}} {
		if n[want.role] < want.n {
			return fmt.Sprintf("%d of %d %s", n[want.role], want.n, want.role)
		}
	}
	if len(st.Spaces) == 0 || len(st.Spaces[0].Cells) < 3 {
		return "cells are missing"
	}
	if st.Unprotected > 0 {
		return fmt.Sprintf("%d unprotected bases", st.Unprotected)
	}
	if st.Reals < w.run.bots {
		return fmt.Sprintf("%d of %d reals", st.Reals, w.run.bots)
	}
	return ""
}

// describe is what the status says of each process and cell.
func (w *chaos) describe() (s string) {
	st, _ := w.watch.Status()
	for i := range st.Apps {
		a := &st.Apps[i]
		s += fmt.Sprintf("%s %d at %s load %.2f", a.Role, a.Number, a.Address, a.Load)
		if a.SavingStep > 0 {
			s += fmt.Sprintf(" saving step %d", a.SavingStep)
		}
		if a.Full > 0 {
			s += fmt.Sprintf(" waits for %s: %.0f %%", a.Backlog, 100*a.Full)
		}
		s += "; "
	}
	for _, c := range st.Spaces[0].Cells {
		s += fmt.Sprintf("cell of %d: %d reals; ", c.App, c.Reals)
	}
	return s + fmt.Sprintf("%d pending, %d late of %d ticks, rate %v", st.Pending, st.Late, st.Ticks, st.Spaces[0].Rate)
}

// heal waits until the world would bear the next death, and for two rounds of status more.
func (w *chaos) heal() {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), healLimit)
	defer cancel()
	begun, last := time.Now(), ""
	for well, why := 0, ""; well < 3; {
		if now := w.unwell(ctx); now == "" {
			well++
		} else {
			well, why, last = 0, now, now
		}
		if ctx.Err() != nil {
			w.t.Fatalf("not healed in %v: %s", healLimit, why)
		}
	}
	if d := time.Since(begun); d > 8*time.Second {
		w.logf("healed after %v: %s", d, last)
	}
}

// strike does something to a random process, and puts another one in its place if it is gone.
func (w *chaos) strike() {
	w.mu.Lock()
	if len(w.next) == 0 {
		w.next = strings.Split(w.run.roles, ",")
		w.chance.Shuffle(len(w.next), func(i, j int) { w.next[i], w.next[j] = w.next[j], w.next[i] })
	}
	role := w.next[0]
	w.next = w.next[1:]
	var of []*chaosPart
	for _, p := range w.parts {
		if p.role == role {
			of = append(of, p)
		}
	}
	w.mu.Unlock()
	p := of[w.chance.IntN(len(of))]
	pause := 500*time.Millisecond + time.Duration(w.chance.Int64N(int64(2500*time.Millisecond)))
	what := w.chance.IntN(10)
	if w.run.how >= 0 {
		what = w.run.how
	}
	switch {
	case what == 0:
		w.logf("%v is stopped for two seconds", p)
		w.signal(p, syscall.SIGSTOP)
		time.Sleep(2 * time.Second)
		w.signal(p, syscall.SIGCONT)
	case what == 1 && (role == "baseapp" || role == "cellapp"):
		w.logf("%v is asked to leave", p)
		w.replace(p) // first another one
		w.signal(p, syscall.SIGTERM)
		w.drop(p)
		w.ended(p)
	case what == 1:
		w.logf("%v is asked to leave", p)
		w.signal(p, syscall.SIGTERM)
		w.ended(p)
		w.drop(p)
		w.replace(p)
	default:
		w.logf("%v is killed, another one comes after %v", p, pause.Round(time.Millisecond))
		w.signal(p, syscall.SIGKILL)
		<-p.gone
		w.drop(p)
		time.Sleep(pause)
		w.replace(p)
	}
}

func (w *chaos) signal(p *chaosPart, s syscall.Signal) {
	w.t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		w.t.Fatalf("%v: %v", p, err)
	}
}

// ended waits until a process has ended in good order.
func (w *chaos) ended(p *chaosPart) {
	w.t.Helper()
	select {
	case err := <-p.gone:
		if err != nil {
			w.t.Errorf("%v did not end in good order: %v", p, err)
		}
	case <-time.After(2 * time.Minute):
		w.t.Errorf("%v does not end", p)
	}
}

func (w *chaos) replace(p *chaosPart) {
	w.t.Helper()
	q, err := w.start(p.role, p.port)
	if err != nil {
		w.t.Fatal(err)
	}
	w.logf("%v takes the place of %v", q, p)
}

// visit has new players log in, play and log out, by any LoginApp that is there, until ctx ends.
// Nobody is cut off in a login: the world would keep the entity for the client, and not come to
// rest meanwhile.
func (w *chaos) visit(ctx context.Context) {
	for n := 0; ctx.Err() == nil; n++ {
		begun := time.Now()
		var errs []error
		for time.Since(begun) < healLimit {
			err := w.visitOnce(n, w.logins[(n+len(errs))%len(w.logins)])
			if err == nil {
				break
			}
			errs = append(errs, err)
		}
		if d := time.Since(begun); d > healLimit {
			w.visitors = append(w.visitors, fmt.Errorf("visitor %d does not come in: %v", n, errs))
		}
		w.visits++
		time.Sleep(500 * time.Millisecond)
	}
}

func (w *chaos) visitOnce(n int, login string) error {
	limit, cancel := context.WithTimeout(w.t.Context(), 6*time.Second)
	defer cancel()
	schema := chaosWorld(w.t, w.places, w.file).CellScripts.Schema()
	s, err := session.Dial(limit, session.Config{LoginApp: login, Schema: schema, User: fmt.Sprint("visitor", n), Retry: true})
	if err != nil {
		return err
	}
	time.Sleep(500 * time.Millisecond)
	return s.Close()
}

// TestChaos kills processes of all roles while bots play: no session ends, no gold and no item is
// made or lost, all answers come in order, and in the end every client holds what it should.
func TestChaos(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	t.Parallel()
	w := startChaos(t, chaosRunOf(t))
	w.heal()
	ctx, stop := context.WithCancel(t.Context())
	var visiting sync.WaitGroup
	visiting.Go(func() { w.visit(ctx) })
	visiting.Go(func() { w.look(ctx) })
	for end := time.Now().Add(w.run.time); time.Now().Before(end) && !t.Failed(); {
		begun := time.Now()
		w.strike()
		w.heal()
		w.tell()
		time.Sleep(w.run.every - time.Since(begun))
	}
	stop()
	visiting.Wait()
	for _, err := range w.visitors {
		t.Error(err)
	}
	w.logf("%d visitors came in; the oldest place at which one held another was %v old", w.visits, w.oldest.Round(time.Millisecond))
	w.judge()
}

// tell logs how the players fared since the last time.
func (w *chaos) tell() {
	w.t.Helper()
	var silent [2]time.Duration
	w.each(func(p *teller, b *bots.Bot) {
		p.mu.Lock()
		defer p.mu.Unlock()
		for i := range silent {
			silent[i], p.silent[i] = max(silent[i], p.silent[i]), 0
		}
		if p.wrong != nil {
			w.t.Errorf("bot %d: %v", p.number, p.wrong)
		}
		if p.closed != nil {
			w.t.Errorf("the session of bot %d ended: %v", p.number, p.closed)
		}
	})
	w.logf("healed; longest without an answer of the base %v, of the cell part %v", silent[0].Round(time.Millisecond), silent[1].Round(time.Millisecond))
}

// judge brings the world to rest, and compares.
func (w *chaos) judge() {
	t := w.t
	w.resting.Store(true)
	gold, items, sales, answers, why := uint64(0), uint64(0), uint64(0), uint32(0), ""
	for end := time.Now().Add(healLimit); ; time.Sleep(100 * time.Millisecond) {
		gold, items, sales, answers, why = 0, 0, 0, 0, ""
		w.each(func(p *teller, b *bots.Bot) {
			p.mu.Lock()
			defer p.mu.Unlock()
			switch {
			case p.wrong != nil:
				t.Errorf("bot %d: %v", p.number, p.wrong)
				return
			case b.Client == nil || b.Player() == nil:
				why = fmt.Sprintf("bot %d has no player", p.number)
				return
			}
			own := b.Player()
			gold, items, answers = gold+number(own, "gold"), items+number(own, "items"), answers+p.heard[0]+p.heard[1]
			sales += number(own, "sale")
			done := [2]uint32{uint32(number(own, "ticks")), uint32(number(own, "count"))}
			if p.heard != p.said || done != p.said {
				why = fmt.Sprintf("%v: said %v, heard %v, done %v", own.ID, p.said, p.heard, done)
			}
			if number(own, "onOffer") > 0 || number(own, "aside") > 0 {
				why = fmt.Sprintf("%v: a deal is open: onOffer %d sale %d aside %d", own.ID, number(own, "onOffer"), number(own, "sale"), number(own, "aside"))
			}
		})
		if why == "" {
			break
		}
		if time.Now().After(end) {
			t.Errorf("not all is done: %s", why)
			break
		}
	}
	n := uint64(w.run.bots)
	w.logf("%d answers in order, %d gold and %d items after %d offers", answers, gold, items, sales)
	if gold != n*dealerGold || items != n*dealerItems {
		t.Errorf("%d gold of %d, %d items of %d", gold, n*dealerGold, items, n*dealerItems)
	}
	w.audit()
	w.counts()
	w.judgeStore()
}

// audit freezes the world and has each client compare what it holds with what the server says it should.
func (w *chaos) audit() {
	t := w.t
	for range 2 { // the second makes the ghosts compare themselves with their reals
		if err := w.watch.Freeze(true); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), healLimit)
		for {
			st, err := w.watch.Next(ctx)
			if err != nil {
				t.Errorf("the world does not come to rest: %d things are still to be told", st.Pending)
				break
			}
			if st.Pending == 0 && st.ReportsSinceFreeze >= 2 {
				break
			}
		}
		cancel()
	}
	w.each(func(_ *teller, b *bots.Bot) {
		if b.Client != nil {
			if err := b.RequestAudit(); err != nil {
				t.Errorf("bot %d: %v", b.Number, err)
			}
		}
	})
	left := 0
	for end := time.Now().Add(healLimit); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		left = 0
		w.each(func(p *teller, _ *bots.Bot) {
			if !p.audited {
				left++
			}
		})
		if left == 0 {
			break
		}
	}
	if left > 0 {
		t.Errorf("%d clients got no audit", left)
	}
	w.each(func(p *teller, b *bots.Bot) {
		if len(p.diff) > 0 {
			t.Errorf("bot %d diverged: %q", p.number, p.diff[:min(3, len(p.diff))])
		}
	})
}

// counts looks at what clients and processes have counted.
func (w *chaos) counts() {
	t := w.t
	st, err := w.watch.Next(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	c := &st.Counters
	if c.FlowLost > 0 || c.Errors > 0 || c.GhostsDiffer > 0 || st.UnsentFaults() > 0 {
		t.Errorf("%d messages lost, %d errors, %d ghosts differ, unsent %v", c.FlowLost, c.Errors, c.GhostsDiffer, st.Unsent)
	}
	for _, s := range w.swarms {
		b, err := s.Stats()
		if err != nil {
			t.Fatal(err)
		}
		if b.Lost > 0 || b.Client.BundlesMissed > 0 || b.Client.Malformed > 0 || b.Client.Unsent > 0 {
			t.Errorf("%d sessions ended; %d bundles missed, %d malformed messages, %d not sent", b.Lost, b.Client.BundlesMissed, b.Client.Malformed, b.Client.Unsent)
		}
		w.logf("sessions resumed %d times, switched %d times", b.Client.Resumed, b.Client.Switched)
	}
	w.logf("%d deaths were declared since the present manager leads", st.Deaths)
}
