package cluster_test

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/netip"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity/client"
	"github.com/cellscape/cellscape/space/cluster"
	"github.com/cellscape/cellscape/space/cluster/status"
)

const (
	// managersEnv lists the places of the managers of a world of processes.
	managersEnv = "CELLSCAPE_TEST_MANAGERS"
	// chiefEnv tells a process which of them it is.
	chiefEnv = "CELLSCAPE_TEST_CHIEF"
)

// TestChief is a process with managers; see startProcess.
func TestChief(t *testing.T) {
	at, err := netip.ParseAddrPort(os.Getenv(chiefEnv))
	if err != nil {
		t.Skip("TestKilledLeader runs it as a process of its own")
	}
	cfg := mortals(t)
	cfg.ManagerPort = at.Port()
	c, err := cluster.StartManagers(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Println("joined", c.ManagerAddr())
	_, _ = io.Copy(io.Discard, os.Stdin)
}

// Managers of several places that cannot be started say why, and leave nothing that waits.
func TestManagersThatCannotStart(t *testing.T) {
	taken, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = taken.Close() }()
	at := taken.LocalAddr().(*net.UDPAddr).AddrPort()
	for _, c := range []struct {
		own  string
		port uint16
		want string
	}{
		{at.String(), at.Port(), "is in use"},
		{"127.0.0.1:1", 0, "give its own place, too"},
	} {
		cfg := mortals(t)
		cfg.Managers, cfg.ManagerPort = []string{c.own, "127.0.0.1:2", "127.0.0.1:3"}, c.port
		failed := make(chan error, 1)
		go func() {
			_, err := cluster.StartManagers(context.Background(), cfg)
			failed <- err
		}()
		select {
		case err := <-failed:
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q in it", err, c.want)
			}
		case <-time.After(20 * time.Second):
			t.Fatal("the start neither succeeds nor fails")
		}
	}
}

// freePlaces finds ports of the loopback that nobody has now. They are below those that systems
// give to whoever asks for any, so nobody gets one while its process is gone.
func freePlaces(t *testing.T, n int) (places []string) {
	t.Helper()
	const first, last, tries = 20_000, 32_000, 100
	for range tries {
		if len(places) == n {
			return places
		}
		at := fmt.Sprint("127.0.0.1:", first+rand.IntN(last-first))
		s, err := net.ListenPacket("udp", at)
		if err != nil {
			continue
		}
		defer func() { _ = s.Close() }()
		places = append(places, at)
	}
	t.Fatal("no free ports")
	return nil
}

// chiefs is a world with managers in three processes and CellApps in others.
type chiefs struct {
	*deadly
	places []netip.AddrPort
	env    string // tells a process where they are
	procs  []*mortal
	login  *cluster.Cluster
	watch  *cluster.Observer
}

func startChiefs(t *testing.T, n int) *chiefs {
	t.Helper()
	places := freePlaces(t, n)
	w := &chiefs{deadly: &deadly{}, env: managersEnv + "=" + strings.Join(places, ",")}
	for _, p := range places {
		w.places = append(w.places, netip.MustParseAddrPort(p))
		w.procs = append(w.procs, w.start(t, p))
	}
	cfg, ctx := mortals(t), context.Background()
	cfg.Managers = places
	started := kept(t)
	for range 4 {
		w.apps = append(w.apps, startMortal(t, w.places[0], w.env))
	}
	started(cluster.StartBaseApp(ctx, cfg, netip.AddrPort{}))
	started(cluster.StartBaseApp(ctx, cfg, netip.AddrPort{}))
	w.login = started(cluster.StartLogin(ctx, cfg, netip.AddrPort{}))
	o, err := cluster.Observe(ctx, cluster.ObserverConfig{Manager: w.places[0], Managers: w.places})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = o.Close() })
	w.watch = o
	w.see(t, "there are four cells", func(s *status.World) bool { return len(s.Spaces) == 1 && len(s.Spaces[0].Cells) == 4 })
	return w
}

// start starts managers at one of the places.
func (w *chiefs) start(t *testing.T, place string) *mortal {
	t.Helper()
	return startProcess(t, "TestChief", chiefEnv+"="+place, w.env)
}

func (w *chiefs) see(t *testing.T, what string, ok func(*status.World) bool) {
	t.Helper()
	w.until(t, what, func() bool {
		s, seen := w.watch.Status()
		return seen && ok(&s)
	})
}

// leader is the process whose managers lead: the only one that serves the observer.
func (w *chiefs) leader(t *testing.T) int {
	t.Helper()
	s, _ := w.watch.Status()
	for i := range s.Apps {
		if a := &s.Apps[i]; a.Role == "CellAppMgr" {
			if i := slices.Index(w.places, a.AddrPort()); i >= 0 {
				return i
			}
		}
	}
	t.Fatal("nobody leads")
	return -1
}

// TestKilledLeader: the leading managers are killed while players play. No session ends, players log in
// again within seconds, the death of a CellApp heals; and the managers that were killed stand by again
// when they are started as before.
func TestKilledLeader(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	t.Parallel()
	w := startChiefs(t, 3)
	var ended atomic.Int32
	enter := func(name string) bool {
		in := make(chan bool, 2)
		s, err := w.login.Connect(name, "", client.Events{
			CellPlayer: func(*client.Replica) {
				select {
				case in <- true:
				default:
				}
			},
			Closed: func(error) {
				ended.Add(1)
				select {
				case in <- false:
				default:
				}
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		select {
		case ok := <-in:
			return ok
		case <-time.After(patience):
			_ = s.Close()
			return false
		}
	}
	for i := range 20 {
		if !enter(fmt.Sprint("p", i)) {
			t.Fatal("a player cannot enter")
		}
	}
	time.Sleep(1500 * time.Millisecond) // the others hear who is here
	first := w.leader(t)
	began := time.Now()
	if err := w.procs[first].cmd.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	w.procs[first].kill()
	refused := int32(0)
	for !enter(fmt.Sprint("late", refused)) {
		if refused++; time.Since(began) > patience {
			t.Fatal("nobody logs in any more")
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Logf("a player logs in %v after the leader was killed, at try %d", time.Since(began), refused+1)
	if n := ended.Load(); n != refused {
		t.Errorf("%d sessions ended", n-refused)
	}
	w.see(t, "another leads", func(s *status.World) bool { return w.leader(t) != first && s.Reals == 21 })

	victim := w.apps[0]
	victim.kill()
	w.apps = w.apps[1:]
	w.see(t, "the world heals", func(s *status.World) bool { return s.Deaths == 1 && s.Reals == 21 })

	w.procs[first] = w.start(t, w.places[first].String())
	time.Sleep(3 * time.Second)
	second := w.leader(t)
	if second == first {
		t.Error("the one that was started again leads, although another did")
	}
	w.procs[second].kill()
	w.see(t, "a third leads", func(s *status.World) bool { return w.leader(t) != second && s.Reals == 21 })
	if n := ended.Load(); n != refused {
		t.Errorf("%d sessions ended", n-refused)
	}
}
