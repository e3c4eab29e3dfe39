package host_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/host"
)

// patience bounds what a test waits for; nothing takes a noticeable part of it on loopback.
const patience = 10 * time.Second

// echo sends back what it is told. Fields are read through Process.Do.
type echo struct {
	env       host.Env
	ticks     int
	early     int
	due       time.Duration
	messages  []string
	last      mercury.ChannelID // of messages
	closed    []error
	opened    int
	dismissed bool
	results   []any
	tell      func() // called after each input
}

func (e *echo) Opened(time.Duration, mercury.ChannelID, mercury.Address) { e.opened++; e.told() }
func (e *echo) Closed(_ time.Duration, _ mercury.ChannelID, reason error) {
	e.closed = append(e.closed, reason)
	e.told()
}
func (e *echo) Message(_ time.Duration, ch mercury.ChannelID, reliable bool, msg []byte) {
	e.messages, e.last = append(e.messages, string(msg)), ch
	if strings.HasPrefix(string(msg), "say ") {
		_ = e.env.Transport.Send(ch, msg[4:])
	}
	e.told()
}
func (e *echo) JobDone(_ time.Duration, token uint64, result any) {
	e.results = append(e.results, result)
	e.told()
}
func (e *echo) Dismissed() bool { return e.dismissed }
func (e *echo) Tick(now time.Duration) time.Duration {
	if now < e.due {
		e.early++
		return e.due
	}
	e.ticks++
	e.due = now + 20*time.Millisecond
	return e.due
}
func (e *echo) told() {
	if e.tell != nil {
		e.tell()
	}
}

func newHost(t testing.TB) *host.Host {
	t.Helper()
	h, err := host.New(host.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return h
}

func start(t testing.TB, h *host.Host, name string, opts ...host.Option) *host.Process {
	t.Helper()
	p, err := h.Start(name, "127.0.0.1:0", func(env host.Env) (host.App, error) { return &echo{env: env}, nil }, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// do runs f on the app's goroutine.
func do(t testing.TB, p *host.Process, f func(*echo)) {
	t.Helper()
	if err := p.Do(func(a host.App) { f(a.(*echo)) }); err != nil {
		t.Fatal(err)
	}
}

// until waits until a condition on an app holds.
func until(t testing.TB, p *host.Process, what string, ok func(*echo) bool) {
	t.Helper()
	met := make(chan struct{})
	do(t, p, func(e *echo) {
		e.tell = func() {
			if ok(e) {
				close(met)
				e.tell = nil
			}
		}
		e.told()
	})
	select {
	case <-met:
	case <-time.After(patience):
		t.Fatalf("%s: never %s", p.Name(), what)
	}
}

func send(t testing.TB, from *host.Process, to mercury.Address, msg string) {
	t.Helper()
	do(t, from, func(e *echo) {
		if err := e.env.Transport.Send(e.env.Transport.Dial(to), []byte(msg)); err != nil {
			t.Error(err)
		}
	})
}

func TestRoundTrip(t *testing.T) {
	for name, opts := range map[string][]host.Option{
		"thread": nil, "shared": {host.Shared()}, "unpaced": {host.Pace(0)},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHost(t)
			a, b := start(t, h, "a", opts...), start(t, h, "b", opts...)
			const n = 300
			do(t, a, func(e *echo) {
				ch := e.env.Transport.Dial(b.Address())
				for i := range n {
					if err := e.env.Transport.Send(ch, fmt.Appendf(nil, "say %d", i)); err != nil {
						t.Error(err)
					}
				}
			})
			until(t, a, "has all answers", func(e *echo) bool { return len(e.messages) == n })
			do(t, a, func(e *echo) {
				for i, m := range e.messages {
					if m != fmt.Sprint(i) {
						t.Fatalf("answer %d is %q", i, m)
					}
				}
			})
		})
	}
}

func TestTicksGoOn(t *testing.T) {
	h := newHost(t)
	p := start(t, h, "ticker")
	deadline := time.Now().Add(patience)
	for ticks := 0; ticks < 5; {
		if time.Now().After(deadline) {
			t.Fatalf("%d ticks in %v", ticks, patience)
		}
		time.Sleep(5 * time.Millisecond)
		do(t, p, func(e *echo) { ticks = e.ticks })
	}
}

func TestClockAndCPU(t *testing.T) {
	h := newHost(t)
	p, shared := start(t, h, "locked"), start(t, h, "shared", host.Shared())
	do(t, p, func(e *echo) {
		from, cpu := e.env.Clock(), e.env.CPU()
		for e.env.Clock()-from < 20*time.Millisecond {
		}
		if used := e.env.CPU() - cpu; runtime.GOOS == "linux" && (used <= 0 || used > patience) {
			t.Errorf("used %v of processor time in 20ms of work", used)
		}
	})
	do(t, shared, func(e *echo) {
		if e.env.CPU() != 0 {
			t.Error("a shared app has a processor time of its own")
		}
	})
}

func TestPortInUse(t *testing.T) {
	h := newHost(t)
	p := start(t, h, "first")
	_, err := h.Start("second", p.Address().At.String(), func(env host.Env) (host.App, error) { return &echo{env: env}, nil })
	if !errors.Is(err, syscall.EADDRINUSE) {
		t.Fatalf("Start at a taken port: %v", err)
	}
	for _, want := range []string{"second", p.Address().At.String(), "in use"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q does not say %q", err, want)
		}
	}
}

func TestStartFails(t *testing.T) {
	h, err := host.New(host.Config{})
	if err != nil {
		t.Fatal(err)
	}
	broken := errors.New("broken")
	_, err = h.Start("broken", "127.0.0.1:0", func(host.Env) (host.App, error) { return nil, broken })
	if !errors.Is(err, broken) {
		t.Errorf("make's error: %v", err)
	}
	if _, err := h.Start("nothing", "127.0.0.1:0", func(host.Env) (host.App, error) { return nil, nil }); err == nil {
		t.Error("an app that is nil was started")
	}
	if _, err := h.Start("anywhere", ":0", func(env host.Env) (host.App, error) { return &echo{env: env}, nil }); err == nil {
		t.Error("an app without an address was started")
	}
	if err := h.Close(); err != nil {
		t.Errorf("a process that never started is reported by Close: %v", err)
	}
	if _, err := h.Start("late", "127.0.0.1:0", func(env host.Env) (host.App, error) { return &echo{env: env}, nil }); !errors.Is(err, host.ErrStopped) {
		t.Errorf("Start after Close: %v", err)
	}
}

func TestConfigFaultsAtOnce(t *testing.T) {
	_, err := host.New(host.Config{Workers: -1, MaxJobs: -1, StopTimeout: -1})
	for _, want := range []string{"Workers", "MaxJobs", "StopTimeout"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not say %s", err, want)
		}
	}
}

// Stop brings over what was sent last, and the peer hears of an end in order.
func TestStopDelivers(t *testing.T) {
	h := newHost(t)
	a, b := start(t, h, "a"), start(t, h, "b")
	send(t, a, b.Address(), "first")
	until(t, b, "hears the first", func(e *echo) bool { return len(e.messages) == 1 })
	send(t, a, b.Address(), "last words")
	if err := a.Stop(); err != nil {
		t.Fatal(err)
	}
	until(t, b, "hears the end", func(e *echo) bool { return len(e.closed) == 1 })
	do(t, b, func(e *echo) {
		if len(e.messages) != 2 || e.messages[1] != "last words" || !errors.Is(e.closed[0], mercury.ErrPeerClosed) {
			t.Errorf("heard %q, closed by %v", e.messages, e.closed)
		}
	})
	if err := a.Do(func(host.App) {}); !errors.Is(err, host.ErrStopped) {
		t.Errorf("Do after Stop: %v", err)
	}
}

// A killed app says nothing; its peers find out by silence.
func TestKill(t *testing.T) {
	h := newHost(t)
	quick := host.Mercury(mercury.Config{KeepAlive: 20 * time.Millisecond, Inactivity: 200 * time.Millisecond})
	a, b := start(t, h, "a", quick), start(t, h, "b", quick)
	send(t, a, b.Address(), "hello")
	until(t, b, "hears a", func(e *echo) bool { return len(e.messages) == 1 })
	a.Kill()
	if a.Err() != nil {
		t.Errorf("a killed process has the error %v", a.Err())
	}
	until(t, b, "misses a", func(e *echo) bool { return len(e.closed) == 1 })
	do(t, b, func(e *echo) {
		if !errors.Is(e.closed[0], mercury.ErrTimeout) {
			t.Errorf("closed by %v", e.closed[0])
		}
	})
}

// A dismissed app is made anew: same port, other salt, and who dials finds it.
func TestDismissed(t *testing.T) {
	h := newHost(t)
	a, b := start(t, h, "a"), start(t, h, "b")
	old := b.Address()
	do(t, b, func(e *echo) { e.dismissed = true; e.messages = []string{"memories"} })
	// The next Do runs after the restart or before it; the one after that after it.
	for deadline := time.Now().Add(patience); b.Address() == old; {
		if time.Now().After(deadline) {
			t.Fatal("the app was not made anew")
		}
		do(t, b, func(*echo) {})
	}
	if b.Address().At != old.At || b.Address().Salt == old.Salt {
		t.Errorf("was %v, is %v", old, b.Address())
	}
	do(t, b, func(e *echo) {
		if e.env.Self != b.Address() || len(e.messages) > 0 {
			t.Errorf("the new app is at %v and remembers %q", e.env.Self, e.messages)
		}
	})
	send(t, a, mercury.Address{At: old.At}, "say again")
	until(t, a, "hears the new start", func(e *echo) bool { return len(e.messages) == 1 })
}

// An app that panics ends alone.
func TestPanicEndsOneProcess(t *testing.T) {
	h, err := host.New(host.Config{})
	if err != nil {
		t.Fatal(err)
	}
	a, b := start(t, h, "a"), start(t, h, "b")
	_ = a.Do(func(host.App) { panic("a bug") })
	select {
	case <-a.Done():
	case <-time.After(patience):
		t.Fatal("the process goes on")
	}
	var p *host.PanicError
	if err := a.Err(); !errors.As(err, &p) || p.Value != "a bug" || !strings.Contains(err.Error(), "a at ") {
		t.Errorf("Err: %v", err)
	}
	do(t, b, func(*echo) {})
	if live := h.Processes(); len(live) != 1 || live[0] != b {
		t.Errorf("%d processes live", len(live))
	}
	if err := h.Close(); !errors.As(err, &p) {
		t.Errorf("Close reports %v", err)
	}
}

func TestJobs(t *testing.T) {
	h, err := host.New(host.Config{Workers: 2, MaxJobs: 3})
	if err != nil {
		t.Fatal(err)
	}
	p := start(t, h, "p")
	var most, now atomic.Int32
	gate := make(chan struct{})
	work := func(context.Context) any {
		most.Store(max(most.Load(), now.Add(1)))
		<-gate
		now.Add(-1)
		return "done"
	}
	do(t, p, func(e *echo) {
		for range 2 {
			e.env.Jobs.Do(1, work)
		}
	})
	for deadline := time.Now().Add(patience); now.Load() < 2; {
		if time.Now().After(deadline) {
			t.Fatal("the jobs are not begun")
		}
		runtime.Gosched()
	}
	do(t, p, func(e *echo) {
		for range 4 {
			e.env.Jobs.Do(2, work)
		}
	})
	until(t, p, "has the refusal", func(e *echo) bool { return len(e.results) == 1 })
	close(gate)
	until(t, p, "has all results", func(e *echo) bool { return len(e.results) == 6 })
	do(t, p, func(e *echo) {
		if !errors.Is(e.results[0].(error), host.ErrTooManyJobs) || e.results[5] != "done" {
			t.Errorf("results %v", e.results)
		}
		e.env.Jobs.Do(3, func(context.Context) any { panic("in a job") })
	})
	if most.Load() > 2 {
		t.Errorf("%d jobs at one time", most.Load())
	}
	until(t, p, "has the panic", func(e *echo) bool { return len(e.results) == 7 })
	do(t, p, func(e *echo) {
		if _, ok := e.results[6].(*host.PanicError); !ok {
			t.Errorf("result %v", e.results[6])
		}
		// Ends with the process, or Close waits for ever.
		e.env.Jobs.Do(4, func(ctx context.Context) any { <-ctx.Done(); return nil })
	})
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
}

// Close leaves no goroutine behind, whatever was going on.
func TestCloseLeavesNothing(t *testing.T) {
	before := runtime.NumGoroutine()
	h := newHost(t)
	server := start(t, h, "server")
	for range 20 {
		p := start(t, h, "client", host.Shared())
		send(t, p, server.Address(), "say hello")
		do(t, p, func(e *echo) { e.env.Jobs.Do(1, func(context.Context) any { return nil }) })
	}
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(patience); runtime.NumGoroutine() > before; {
		if time.Now().After(deadline) {
			t.Fatalf("%d goroutines before, %d after", before, runtime.NumGoroutine())
		}
		time.Sleep(time.Millisecond)
	}
}

// A repeated seed repeats salts and chance.
func TestSeed(t *testing.T) {
	draw := func() (salt uint32, n uint64) {
		h, err := host.New(host.Config{Seed: 7})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = h.Close() }()
		p := start(t, h, "p")
		do(t, p, func(e *echo) { n = e.env.Chance.Uint64() })
		return p.Address().Salt, n
	}
	s1, n1 := draw()
	s2, n2 := draw()
	if s1 != s2 || n1 != n2 || s1 == 0 {
		t.Errorf("%x %x, then %x %x", s1, n1, s2, n2)
	}
}

// Garbage from outside costs nothing and stops nothing.
func TestGarbage(t *testing.T) {
	h := newHost(t)
	a, b := start(t, h, "a"), start(t, h, "b")
	conn, err := net.Dial("udp", b.Address().At.String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	for i := range 500 {
		_, _ = conn.Write(make([]byte, i))
	}
	send(t, a, b.Address(), "say fine")
	until(t, a, "is answered", func(e *echo) bool { return len(e.messages) == 1 })
}

// BenchmarkRoundTrip is one message there and back between two apps on threads of
// their own, unpaced: the cost of waking.
func BenchmarkRoundTrip(b *testing.B) {
	h := newHost(b)
	x, y := start(b, h, "x", host.Pace(0)), start(b, h, "y", host.Pace(0))
	answered := make(chan struct{})
	var ch mercury.ChannelID
	do(b, x, func(e *echo) {
		ch = e.env.Transport.Dial(y.Address())
		e.tell = func() {
			if len(e.messages) > 0 {
				e.messages = e.messages[:0]
				answered <- struct{}{}
			}
		}
	})
	for b.Loop() {
		do(b, x, func(e *echo) { _ = e.env.Transport.Send(ch, []byte("say x")) })
		<-answered
	}
}

// stoppable is an echo that counts how often it is told that it ends.
type stoppable struct {
	echo
	stopping atomic.Int32
	ended    atomic.Bool
}

func (s *stoppable) Stopping()   { s.stopping.Add(1) }
func (s *stoppable) Ended() bool { return s.ended.Load() }

// An app is told once that its process ends in order, by an order or by itself, and not that it is
// killed.
func TestStoppable(t *testing.T) {
	h := newHost(t)
	for name, tt := range map[string]struct {
		end  func(*host.Process, *stoppable) error
		told int32
	}{
		"stopped":       {func(p *host.Process, _ *stoppable) error { return errors.Join(p.Stop(), p.Stop()) }, 1},
		"ends":          {func(p *host.Process, s *stoppable) error { s.ended.Store(true); <-p.Done(); return p.Err() }, 1},
		"killed":        {func(p *host.Process, _ *stoppable) error { p.Kill(); return nil }, 0},
		"stopped, late": {func(p *host.Process, _ *stoppable) error { p.Kill(); return p.Stop() }, 0},
	} {
		s := &stoppable{}
		p, err := h.Start(name, "127.0.0.1:0", func(env host.Env) (host.App, error) { s.env = env; return s, nil })
		if err != nil {
			t.Fatal(err)
		}
		if err := tt.end(p, s); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if n := s.stopping.Load(); n != tt.told {
			t.Errorf("%s: told %d times, want %d", name, n, tt.told)
		}
	}
}
