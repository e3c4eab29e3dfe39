package main

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/cellscape/cellscape/mercury/secure"
)

// asProgram has this binary be the program.
const asProgram = "MACHINES_TEST_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// process is one of the program.
type process struct {
	cmd   *exec.Cmd
	ended chan error
	mu    sync.Mutex
	lines []string
}

func (p *process) said(what string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Contains(strings.Join(p.lines, "\n"), what)
}

// line reports whether one of its lines has all words.
func (p *process) line(words ...string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.ContainsFunc(p.lines, func(l string) bool {
		return !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(l, w) })
	})
}

// machines is a world of processes.
type machines struct {
	t        *testing.T
	key      secure.PrivateKey
	managers string
	program  string // that start runs
}

// program builds the program, with more arguments for the compiler.
func program(t *testing.T, args ...string) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), "machines")
	cmd := exec.Command("go", slices.Concat([]string{"build", "-o", out}, args, []string{"."})...)
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", cmd, err, text)
	}
	return out
}

func (w *machines) start(args ...string) *process {
	w.t.Helper()
	p := &process{cmd: exec.Command(w.program, args...), ended: make(chan error, 1)}
	p.cmd.Env = append(os.Environ(), asProgram+"=1", keyVariable+"="+w.key.Hex())
	r, out, err := os.Pipe()
	if err != nil {
		w.t.Fatal(err)
	}
	p.cmd.Stdout, p.cmd.Stderr = out, out
	if err := p.cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	_ = out.Close()
	go func() {
		for s := bufio.NewScanner(r); s.Scan(); {
			p.mu.Lock()
			p.lines = append(p.lines, s.Text())
			p.mu.Unlock()
		}
		p.ended <- p.cmd.Wait()
	}()
	w.t.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		if w.t.Failed() {
			p.mu.Lock()
			defer p.mu.Unlock()
			w.t.Logf("%v:\n%s", args, strings.Join(p.lines, "\n"))
		}
	})
	return p
}

// role starts a process of the world.
func (w *machines) role(role string, more ...string) *process {
	w.t.Helper()
	return w.start(append([]string{"-role", role, "-managers", w.managers, "-leave", "1m"}, more...)...)
}

func (w *machines) await(what string, ok func() bool) {
	w.t.Helper()
	for until := time.Now().Add(patience); !ok(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(until) {
			w.t.Fatalf("never: %s", what)
		}
	}
}

const patience = 90 * time.Second

// leave tells a process to end, and waits until it has.
func (w *machines) leave(p *process) {
	w.t.Helper()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		w.t.Fatal(err)
	}
	select {
	case err := <-p.ended:
		if err != nil || p.said("not everything went elsewhere") {
			w.t.Errorf("left with %v", err)
		}
	case <-time.After(patience):
		w.t.Fatal("does not leave")
	}
}

// port is one that is free on some loopback addresses.
func port(t *testing.T, hosts ...string) string {
	t.Helper()
next:
	for range 100 {
		l, err := net.ListenPacket("udp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		_, p, _ := net.SplitHostPort(l.LocalAddr().String())
		_ = l.Close()
		for _, h := range hosts {
			l, err := net.ListenPacket("udp", net.JoinHostPort(h, p))
			if err != nil {
				continue next
			}
			_ = l.Close()
		}
		return p
	}
	t.Skip("this system has one loopback address")
	return ""
}

// waves are the builds of the base and of the cell part that made each wave which a visitor saw.
func (p *process) waves() (list [][2]string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, l := range p.lines {
		var who, base, cell string
		if n, _ := fmt.Sscanf(strings.ReplaceAll(l, `"`, ""), "%s waves, by base %s and cell %s", &who, &base, &cell); n == 3 {
			list = append(list, [2]string{base, cell})
		}
	}
	return list
}

// crossings is how often the cell part has gone from one build to another since a wave.
func (p *process) crossings(since int) (n int) {
	list := p.waves()
	for i := since + 1; i < len(list); i++ {
		if list[i][1] != list[i-1][1] {
			n++
		}
	}
	return n
}

// world starts the managers, at three addresses.
func world(t *testing.T, more ...string) (w *machines, managers []*process) {
	t.Helper()
	p := port(t, hosts...)
	w = &machines{t: t, key: secure.PrivateKey{1, 2, 3}, program: os.Args[0]}
	for i := range hosts {
		w.managers += strings.Repeat(",", min(i, 1)) + hosts[i] + ":" + p
	}
	for i, h := range hosts {
		args := []string{"-listen", h}
		if i == 0 {
			args = append(args, more...)
		}
		managers = append(managers, w.role("managers", args...))
	}
	return w, managers
}

var hosts = []string{"127.0.0.1", "127.0.0.2", "127.0.0.3"}

// visitor starts a player.
func (w *machines) visitor(login string, more ...string) *process {
	w.t.Helper()
	return w.start(append([]string{"-role", "visitor", "-url", "udp://127.0.0.1:" + login, "-trust", w.key.Public().String()}, more...)...)
}

// TestMachines runs the program as its units and manifests do: each process by itself. Every one is replaced
// by one of another build of the game while a player plays, who notices only what that build does otherwise.
// For a while both builds serve at once, and the player goes from one to the other and back. Then the world is
// stopped.
func TestMachines(t *testing.T) {
	if testing.Short() {
		t.Skip("a process leaves in half a minute")
	}
	t.Parallel()
	newer := program(t, "-ldflags", "-X main.build=newer")
	web := "127.0.0.1:" + port(t)
	w, managers := world(t, "-http", web)
	login := port(t)
	oldLogin := w.role("login", "-ports", login+"-"+login)
	var bases, cells []*process
	for range 2 {
		bases, cells = append(bases, w.role("baseapp")), append(cells, w.role("cellapp"))
	}
	player := w.visitor(login)
	w.await("a player plays", func() bool { return player.said("plays") })
	w.await("managers have figures", func() bool { return strings.Contains(get(t, web, "/metrics"), "cellscape_clients 1") })
	if got := get(t, web, "/ready"); got != "200 OK " {
		t.Errorf("managers are ready: %s", got)
	}
	w.await("it waves", func() bool { return len(player.waves()) > 0 })

	w.program = newer
	replace := func(i int) {
		t.Helper()
		base, cell := w.role("baseapp"), w.role("cellapp")
		w.await("both have joined", func() bool { return base.said("msg=joined") && cell.said("msg=joined") })
		var both sync.WaitGroup
		both.Go(func() { w.leave(bases[i]) })
		both.Go(func() { w.leave(cells[i]) })
		both.Wait()
		bases[i], cells[i] = base, cell
	}
	replace(0)
	since := len(player.waves())
	w.await("it goes to the other build and back", func() bool { return player.crossings(since) >= 3 })
	replace(1)
	since = len(player.waves())
	w.await("it waves on", func() bool { return len(player.waves()) > since+10 })
	for _, by := range player.waves()[since+1:] {
		if by != [2]string{"newer", "newer"} {
			t.Errorf("after all was replaced it waves by %v", by)
		}
	}
	w.leave(managers[2])
	w.role("managers", "-listen", hosts[2])
	w.leave(oldLogin)
	newLogin := w.role("login", "-ports", login+"-"+login)
	w.await("the new LoginApp has joined", func() bool { return newLogin.said("msg=joined") })
	another := w.visitor(login, "-name", "Bob")
	w.await("another player plays", func() bool { return another.said("plays") })
	select {
	case err := <-player.ended:
		t.Fatalf("the player has ended: %v", err)
	case <-time.After(time.Second):
	}
	if player.said("the line is lost") {
		t.Error("the player has noticed")
	}
	stop := w.role("stop")
	if err := <-stop.ended; err != nil {
		t.Errorf("the world was not stopped: %v", err)
	}
	w.await("all have ended", func() bool {
		return len(bases[1].ended) == 1 && len(cells[1].ended) == 1 && len(managers[0].ended) == 1
	})
}

func get(t *testing.T, host, path string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+host+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := http.DefaultClient.Do(q)
	if err != nil {
		return err.Error()
	}
	defer func() { _ = r.Body.Close() }()
	var text strings.Builder
	for s := bufio.NewScanner(r.Body); s.Scan(); {
		text.WriteString(s.Text() + "\n")
	}
	return fmt.Sprintf("%s %s", r.Status, text.String())
}

// All that is wrong with a command line is told at once.
func TestFlags(t *testing.T) {
	_, err := parseFlags([]string{"-role", "managers", "-managers", "m0:7000", "-listen", "m1", "-leave", "-1s", "more"})
	for _, want := range []string{"unknown argument", "-listen m1", "-leave -1s"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("no word on %s in %v", want, err)
		}
	}
	if _, err := parseFlags([]string{"-role", "wizard"}); err == nil || !strings.Contains(err.Error(), "-managers") || !strings.Contains(err.Error(), "take one of managers") {
		t.Error(err)
	}
}
