package main

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
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

// machines is a world of processes.
type machines struct {
	t        *testing.T
	key      secure.PrivateKey
	managers string
}

func (w *machines) start(args ...string) *process {
	w.t.Helper()
	p := &process{cmd: exec.Command(os.Args[0], args...), ended: make(chan error, 1)}
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

// TestMachines runs the program as its units and manifests do: each process by itself. One of each role is
// replaced while a player plays, who notices nothing; then the world is stopped.
func TestMachines(t *testing.T) {
	if testing.Short() {
		t.Skip("a process leaves in half a minute")
	}
	t.Parallel()
	hosts := []string{"127.0.0.1", "127.0.0.2", "127.0.0.3"}
	p := port(t, hosts...)
	w := &machines{t: t, key: secure.PrivateKey{1, 2, 3}}
	for i := range hosts {
		w.managers += strings.Repeat(",", min(i, 1)) + hosts[i] + ":" + p
	}
	web := "127.0.0.1:" + port(t)
	var managers []*process
	for i, h := range hosts {
		more := []string{"-listen", h}
		if i == 0 {
			more = append(more, "-http", web)
		}
		managers = append(managers, w.role("managers", more...))
	}
	login := port(t)
	w.role("login", "-ports", login+"-"+login)
	var bases, cells []*process
	for range 2 {
		bases, cells = append(bases, w.role("baseapp")), append(cells, w.role("cellapp"))
	}
	player := w.start("-role", "visitor", "-url", "udp://127.0.0.1:"+login, "-trust", w.key.Public().String())
	w.await("a player plays", func() bool { return player.said("plays") })
	w.await("managers have figures", func() bool { return strings.Contains(get(t, web, "/metrics"), "cellscape_clients 1") })
	if got := get(t, web, "/ready"); got != "200 OK " {
		t.Errorf("managers are ready: %s", got)
	}

	newBase, newCell := w.role("baseapp"), w.role("cellapp")
	w.await("both have joined", func() bool { return newBase.said("msg=joined") && newCell.said("msg=joined") })
	var both sync.WaitGroup
	both.Go(func() { w.leave(bases[0]) })
	both.Go(func() { w.leave(cells[0]) })
	both.Wait()
	w.leave(managers[2])
	w.role("managers", "-listen", hosts[2])
	select {
	case err := <-player.ended:
		t.Fatalf("the player has ended: %v", err)
	case <-time.After(time.Second):
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
