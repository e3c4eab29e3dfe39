package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// argsOf is the variable that makes the test binary run as the arena: a process of a world under
// test.
const argsOf = "ARENA_TEST_ARGS"

func TestMain(m *testing.M) {
	if args, ok := os.LookupEnv(argsOf); ok {
		os.Args = append(os.Args[:1], strings.Fields(args)...)
		main()
		return
	}
	os.Exit(m.Run())
}

// output collects what a process prints, for those who read it while the process runs.
type output struct {
	mu  sync.Mutex // guards buf
	buf bytes.Buffer
}

// Write implements io.Writer.
func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.Write(b)
}

// String is all that was said so far.
func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.String()
}

// process starts the arena as another OS process.
func process(t *testing.T, format string, a ...any) (*exec.Cmd, *output) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	out := new(output)
	cmd.Env = append(os.Environ(), argsOf+"="+fmt.Sprintf(format, a...))
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if cmd.ProcessState == nil {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		}
	})
	return cmd, out
}

// TestProcesses runs every role as an OS process of its own and kills a CellApp in the middle, as
// the kernel would. Its players come back on the others. In the end every client holds what it
// should, and no message was lost or handled twice. All traffic is sealed.
func TestProcesses(t *testing.T) {
	if testing.Short() {
		t.Skip("starts seven processes and runs for a quarter of a minute")
	}
	size, first := processes(t, 1)
	managers := first.out
	bots, out := process(t, "-role bots -duration 9s -json %s", size)
	killed := time.AfterFunc(6*time.Second, func() { _ = first.cellApps[1].Process.Kill() })
	defer killed.Stop()
	judged(t, bots, out, managers)
	if !strings.Contains(managers.String(), "declared dead") {
		t.Errorf("the managers do not say that a CellApp died:\n%s", managers)
	}
}

// TestManagersRestart kills both managers in the middle, as the kernel would, and starts others
// with a higher term in their place. In the meantime the world runs on, nobody in it notices, and
// the new managers go on with it.
func TestManagersRestart(t *testing.T) {
	if testing.Short() {
		t.Skip("starts eight processes and runs for a quarter of a minute")
	}
	size, first := processes(t, 1)
	bots, out := process(t, "-role bots -duration 12s -json %s", size)
	time.Sleep(5 * time.Second)
	_ = first.managers.Process.Kill()
	_ = first.managers.Wait()
	_, second := process(t, "-role managers -term 2 -v %s", size)
	judged(t, bots, out, second)
	if !strings.Contains(second.String(), "the world of an earlier manager goes on") || strings.Contains(second.String(), "declared dead") {
		t.Errorf("the new managers say:\n%s", second)
	}
}

// TestProcessesLoseABaseApp kills one of two BaseApps, and after the other has gone on with its bases starts
// another. The players of the dead one go there by themselves.
func TestProcessesLoseABaseApp(t *testing.T) {
	if testing.Short() {
		t.Skip("starts nine processes and runs for a quarter of a minute")
	}
	size, first := processes(t, 2)
	bots, out := process(t, "-role bots -duration 10s -arrive 0 -json %s", size)
	time.Sleep(6 * time.Second)
	_ = first.baseApps[0].Process.Kill()
	_ = first.baseApps[0].Wait()
	time.Sleep(2 * time.Second)
	process(t, "-role baseapp %s", size)
	judged(t, bots, out, first.out)
	if !strings.Contains(first.out.String(), "BaseApp declared dead") {
		t.Errorf("the managers do not say that a BaseApp died:\n%s", first.out)
	}
}

// TestStopRole stops a world of processes by one more. Each of them ends, the managers too.
func TestStopRole(t *testing.T) {
	if testing.Short() {
		t.Skip("starts seven processes")
	}
	size, first := processes(t, 1)
	all := slices.Concat([]*exec.Cmd{first.login}, first.baseApps, first.cellApps)
	until(t, "the guards do not come", first.managers, "reals 20")
	for _, cmd := range all {
		until(t, "one has not joined", cmd, "has joined")
	}
	stop, out := process(t, "-role stop %s", size)
	if err := stop.Wait(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	for _, cmd := range append(all, first.managers) {
		late := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() })
		if err := cmd.Wait(); err != nil {
			t.Errorf("%v: %v\n%v", cmd.Env[len(cmd.Env)-1], err, cmd.Stdout)
		}
		late.Stop()
	}
}

// until waits for a process to say something.
func until(t *testing.T, trouble string, cmd *exec.Cmd, word string) {
	t.Helper()
	out := cmd.Stdout.(*output)
	for end := time.Now().Add(time.Minute); !strings.Contains(out.String(), word); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s:\n%s", trouble, out)
		}
	}
}

// started is a world of processes, without its bots.
type started struct {
	managers *exec.Cmd
	login    *exec.Cmd
	out      *output // of the managers
	cellApps []*exec.Cmd
	baseApps []*exec.Cmd
}

// processes starts such a world, and returns the flags that all its processes share.
func processes(t *testing.T, baseApps int) (size string, s started) {
	t.Helper()
	t.Setenv(keyVariable, strings.Repeat("5e", 32))
	size = fmt.Sprintf("-seal -bots 20 -guards 20 -cellapps 3 -baseapps %d -http 127.0.0.1:0", baseApps)
	s.managers, s.out = process(t, "-role managers -manager 127.0.0.1:0 %s", size)
	until(t, "no managers", s.managers, "live page")
	told := regexp.MustCompile(`(?m)^managers at (\S+)$`).FindStringSubmatch(s.out.String())
	if told == nil {
		t.Fatalf("the managers do not say where they are:\n%s", s.out)
	}
	size += " -manager " + told[1]
	s.login, _ = process(t, "-role login %s", size)
	for range baseApps {
		b, _ := process(t, "-role baseapp %s", size)
		s.baseApps = append(s.baseApps, b)
	}
	for range 3 {
		c, _ := process(t, "-role cellapp %s", size)
		s.cellApps = append(s.cellApps, c)
	}
	return size, s
}

// judged waits for the bots, and checks what they print at the end.
func judged(t *testing.T, bots *exec.Cmd, out, managers *output) {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- bots.Wait() }()
	var err error
	select {
	case err = <-done:
	case <-time.After(time.Minute):
		_ = bots.Process.Kill()
		<-done
		t.Fatalf("the bots do not end:\n%s", out)
	}
	if err != nil {
		t.Fatalf("the bots: %v\n%s\nmanagers:\n%s", err, out, managers)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	var v map[string]any
	found := false
	for _, line := range lines {
		if strings.HasPrefix(line, "{") {
			found = json.Unmarshal([]byte(line), &v) == nil
		}
	}
	if lost, told := v["lost_messages"]; !told || lost != 0.0 {
		t.Errorf("%v messages lost:\n%s", lost, out)
	}
	if !found || v["clients"] != 20.0 || v["diverged_clients"] != 0.0 || v["errors"] != 0.0 || v["cells"] == 0.0 || v["server_cpu_us_per_client_tick"] == nil || v["moves_in_view"] == 0.0 {
		t.Errorf("verdict %v\n%s", v, out)
	}
}
