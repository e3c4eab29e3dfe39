package cluster_test

import (
	"context"
	"fmt"
	"io"
	"net/netip"
	"os"
	"sync"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/baseapp"
	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space"
	"github.com/cellscape/cellscape/space/cluster"
)

// censor is a service.
type censor struct{ *entity.Base }

// Clean answers what it is told.
func (c *censor) Clean(n uint32) (uint32, error) { return n, nil }

// inquest notes calls to the service, and what came of each.
type inquest struct {
	mu    sync.Mutex
	calls []inquiry
}

type inquiry struct {
	at, end time.Time
	err     error
}

func (q *inquest) ask(m entity.Mailbox) {
	q.mu.Lock()
	n := len(q.calls)
	q.calls = append(q.calls, inquiry{at: time.Now()})
	q.mu.Unlock()
	if err := m.Then("OnClean", int64(n)).Call("clean", n); err != nil {
		q.ended(int64(n), err)
	}
}

func (q *inquest) ended(n int64, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.calls[n].end, q.calls[n].err = time.Now(), err
}

// between is what came until now of the calls that were made between two times.
func (q *inquest) between(from, to time.Time) (made, failed, open int, longest time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, c := range q.calls {
		switch {
		case c.at.Before(from) || !c.at.Before(to):
			continue
		case c.end.IsZero():
			open++
		case c.err != nil:
			failed++
			longest = max(longest, c.end.Sub(c.at))
		}
		made++
	}
	return made, failed, open, longest
}

// asker asks ten times a second, by its base and its cell part.
type asker struct {
	*entity.Base
	q *inquest `cellscape:"local"`
}

// OnCreated makes the cell part.
func (a *asker) OnCreated() {
	_ = a.CreateCell(1, property.Vector3{}, property.Vector3{}, nil)
	_, _ = a.AddTimer(100*time.Millisecond, 100*time.Millisecond, "OnBeat", 0)
}

// OnBeat asks.
func (a *asker) OnBeat(entity.Callback) { a.q.ask(a.Lookup(0, "Censor", entity.ServiceMailbox)) }

// OnClean is told the answer.
func (a *asker) OnClean(r entity.Reply) { a.q.ended(r.User, r.Err) }

type askerCell struct {
	*space.Real
	q *inquest `cellscape:"local"`
}

// OnCreated begins.
func (a *askerCell) OnCreated() {
	_, _ = a.AddTimer(100*time.Millisecond, 100*time.Millisecond, "OnBeat", 0)
}

// OnBeat asks.
func (a *askerCell) OnBeat(entity.Callback) { a.q.ask(a.Lookup(0, "Censor", entity.ServiceMailbox)) }

// OnClean is told the answer.
func (a *askerCell) OnClean(r entity.Reply) { a.q.ended(r.User, r.Err) }

// inquiring is a world of callers, or of what they call.
func inquiring(t testing.TB, q *inquest, serves bool) cluster.Config {
	t.Helper()
	schema, err := property.Load(fstest.MapFS{
		"entities.xml":            {Data: []byte(`<root><Asker hasCell="true" hasBase="true"/></root>`)},
		"entity_defs/Asker.def":   {Data: []byte(`<root/>`)},
		"services.xml":            {Data: []byte(`<root><Censor/></root>`)},
		"service_defs/Censor.def": {Data: []byte(`<root><Methods><clean><Arg> UINT32 </Arg><ReturnValues><n> UINT32 </n></ReturnValues></clean></Methods></root>`)},
	})
	if err != nil {
		t.Fatal(err)
	}
	cells, bases := space.NewScripts(schema), baseapp.NewScripts(schema)
	space.Register(cells, "Asker", func() *askerCell { return &askerCell{q: q} })
	baseapp.Register(bases, "Asker", func() *asker { return &asker{q: q} })
	if serves {
		baseapp.Register[censor](bases, "Censor")
	}
	return cluster.Config{CellScripts: cells, BaseScripts: bases}
}

const censorEnv = "CELLSCAPE_TEST_CENSOR"

// TestCensor is a BaseApp that runs the service, in a process of its own; see TestStoppedService.
func TestCensor(t *testing.T) {
	at := os.Getenv(censorEnv)
	if at == "" {
		t.Skip("TestStoppedService runs it as a process of its own")
	}
	c, err := cluster.StartBaseApp(context.Background(), inquiring(t, &inquest{}, true), netip.MustParseAddrPort(at))
	if err != nil {
		t.Fatal(err)
	}
	fmt.Println("joined", c.BaseAppAddr(0))
	_, _ = io.Copy(io.Discard, os.Stdin)
}

// A process that runs a service is stopped, goes on, is stopped for good, and another one is killed. Its callers
// soon go to one that lives.
func TestStoppedService(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	t.Parallel()
	q, ctx, started := &inquest{}, context.Background(), kept(t)
	cfg := inquiring(t, q, false)
	managers := started(cluster.StartManagers(ctx, cfg))
	at := managers.ManagerAddr()
	var serve []*mortal
	for range 3 {
		serve = append(serve, startProcess(t, "TestCensor", censorEnv+"="+at.String()))
	}
	started(cluster.StartCellApp(ctx, cfg, at))
	cfg.BaseStart = func(s *baseapp.Starter) {
		for range 20 {
			if _, err := s.CreateBase("Asker", nil); err != nil {
				t.Error(err)
			}
		}
	}
	began := time.Now()
	started(cluster.StartBaseApp(ctx, cfg, at))
	time.Sleep(3 * time.Second)
	if made, failed, _, _ := q.between(began, time.Now()); failed > 0 || made == 0 {
		t.Errorf("%d of the first %d calls failed", failed, made)
	}
	for _, x := range []struct {
		name   string
		signal syscall.Signal
		victim *mortal
		lasts  time.Duration
		goesOn bool
	}{
		{"stopped for six seconds", syscall.SIGSTOP, serve[0], 6 * time.Second, true},
		{"stopped for good", syscall.SIGSTOP, serve[0], 12 * time.Second, false},
		{"killed", syscall.SIGKILL, serve[1], 4 * time.Second, false},
	} {
		was := time.Now()
		if err := x.victim.cmd.Process.Signal(x.signal); err != nil {
			t.Fatal(err)
		}
		time.Sleep(x.lasts)
		if x.goesOn {
			if err := x.victim.cmd.Process.Signal(syscall.SIGCONT); err != nil {
				t.Fatal(err)
			}
			time.Sleep(2 * time.Second)
		}
		made, failed, open, longest := q.between(was, was.Add(x.lasts))
		t.Logf("%s: of %d calls %d failed (%.2f %%), the longest after %v, and %d are open", x.name, made, failed, 100*float64(failed)/float64(made), longest, open)
		// A machine that is busy may hold up a fragment that lives for half a second, too: then all stay with theirs.
		late, lateFailed, lateOpen, _ := q.between(was.Add(3*time.Second), was.Add(x.lasts))
		if x.goesOn && failed > 0 || lateFailed+lateOpen > late/10 {
			t.Errorf("%s: of %d calls that came later %d failed, and %d are open", x.name, late, lateFailed, lateOpen)
		}
	}
}
