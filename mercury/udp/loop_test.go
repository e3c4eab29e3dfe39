package udp_test

import (
	"context"
	"encoding/binary"
	"errors"
	"net"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/mercurytest"
	"github.com/cellscape/cellscape/mercury/udp"
)

func endpoint(t testing.TB, s *udp.Socket, salt uint32, h mercury.Handler) *mercury.Endpoint {
	t.Helper()
	e, err := mercury.NewEndpoint(mercury.Config{Salt: salt}, s.Addr(), h)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// hearer hands what comes to functions.
type hearer struct {
	message func(now time.Duration, ch mercury.ChannelID, msg []byte)
	closed  func(reason error)
}

func (hearer) Opened(time.Duration, mercury.ChannelID, mercury.Address) {}
func (h hearer) Message(now time.Duration, ch mercury.ChannelID, _ bool, msg []byte) {
	if h.message != nil {
		h.message(now, ch, msg)
	}
}
func (h hearer) Closed(_ time.Duration, _ mercury.ChannelID, reason error) {
	if h.closed != nil {
		h.closed(reason)
	}
}

// running is a Loop that runs.
type running struct {
	*udp.Loop
	stop context.CancelFunc
	done chan error
}

func start(e *mercury.Endpoint, s *udp.Socket, cfg udp.LoopConfig) *running {
	ctx, stop := context.WithCancel(context.Background())
	r := &running{Loop: udp.NewLoop(e, s, cfg), stop: stop, done: make(chan error, 1)}
	go func() { r.done <- r.Run(ctx) }()
	return r
}

func (r *running) end(t testing.TB) {
	t.Helper()
	r.stop()
	if err := <-r.done; err != nil {
		t.Error(err)
	}
}

// TestLoop carries messages there and back between two loops, with a tick that goes on meanwhile, and ends in order: the peer hears
// of it, what was sent last still comes, and no goroutine stays.
func TestLoop(t *testing.T) {
	before := runtime.NumGoroutine()
	const n = 500
	sa, sb := listen(t, "127.0.0.1:0"), listen(t, "127.0.0.1:0")
	eb := endpoint(t, sb, 2, nil)
	heard := make(chan uint32, n+2)
	left := make(chan error, 1)
	var mu sync.Mutex
	var ticks []time.Duration
	eb.SetHandler(hearer{message: func(_ time.Duration, ch mercury.ChannelID, msg []byte) {
		if err := eb.Send(ch, msg); err != nil {
			t.Error(err)
		}
		if i := binary.LittleEndian.Uint32(msg); i >= n {
			heard <- i
		}
	}, closed: func(reason error) { left <- reason }})
	ea := endpoint(t, sa, 1, hearer{message: func(_ time.Duration, _ mercury.ChannelID, msg []byte) {
		heard <- binary.LittleEndian.Uint32(msg)
	}})
	b := start(eb, sb, udp.LoopConfig{Pace: 50 * time.Microsecond})
	a := start(ea, sa, udp.LoopConfig{Tick: func(now time.Duration) time.Duration {
		mu.Lock()
		defer mu.Unlock()
		ticks = append(ticks, now)
		return now + 100*time.Microsecond
	}})
	var ch mercury.ChannelID
	send := func(i uint32) func() {
		return func() {
			if ch == 0 {
				ch = ea.Dial(eb.Self())
			}
			if err := ea.Send(ch, binary.LittleEndian.AppendUint32(nil, i)); err != nil {
				t.Error(err)
			}
		}
	}
	for i := range uint32(n) {
		if err := a.Do(send(i)); err != nil {
			t.Fatal(err)
		}
	}
	for i := range uint32(n) {
		if got := <-heard; got != i {
			t.Fatalf("heard %d, want %d", got, i)
		}
	}
	// What is sent just before the end comes over, and so does the end.
	if err := a.Do(send(n)); err != nil {
		t.Fatal(err)
	}
	a.end(t)
	if got := <-heard; got != n {
		t.Errorf("last heard %d", got)
	}
	if reason := <-left; !errors.Is(reason, mercury.ErrPeerClosed) {
		t.Errorf("the peer heard %v", reason)
	}
	b.end(t)
	if !slices.IsSorted(ticks) || len(ticks) < 2 {
		t.Errorf("ticks %v", ticks)
	}
	if ea.Stats().Channels != 0 || eb.Stats().Channels != 0 {
		t.Error("channels are left")
	}
	if err := a.Do(func() {}); !errors.Is(err, udp.ErrStopped) {
		t.Errorf("Do after the end: %v", err)
	}
	if err := a.Run(context.Background()); !errors.Is(err, udp.ErrStopped) {
		t.Errorf("a second Run: %v", err)
	}
	for i := 0; runtime.NumGoroutine() > before; i++ {
		if i > 1000 {
			t.Fatalf("%d goroutines, there were %d", runtime.NumGoroutine(), before)
		}
		runtime.Gosched()
	}
}

// TestLoopTicksFirst: Tick is called at once, and a loop without anything to do waits for nothing but Do.
func TestLoopTicksFirst(t *testing.T) {
	s := listen(t, "127.0.0.1:0")
	ticked := make(chan time.Duration, 10)
	clock := func() time.Duration { return 42 * time.Hour }
	l := start(endpoint(t, s, 1, nil), s, udp.LoopConfig{Clock: clock, Tick: func(now time.Duration) time.Duration {
		ticked <- now
		return now + time.Hour
	}})
	if now := <-ticked; now != 42*time.Hour || l.Now() != now {
		t.Errorf("ticked at %v", now)
	}
	for range 100 {
		ran := make(chan struct{})
		if err := l.Do(func() { close(ran) }); err != nil {
			t.Fatal(err)
		}
		<-ran
	}
	l.end(t)
	if len(ticked) != 0 {
		t.Error("ticked too early")
	}
}

// TestLoopDo: what Do took before Run is called in order, the queue is bounded, and a function may call Do.
func TestLoopDo(t *testing.T) {
	s := listen(t, "127.0.0.1:0")
	l := udp.NewLoop(endpoint(t, s, 1, nil), s, udp.LoopConfig{Queue: 3})
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	var order []int
	for i := range 3 {
		if err := l.Do(func() {
			order = append(order, i)
			if i == 2 {
				if err := l.Do(stop); err != nil {
					t.Error(err)
				}
			}
		}); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Do(func() { t.Error("called") }); !errors.Is(err, udp.ErrBusy) {
		t.Errorf("a fourth: %v", err)
	}
	if err := l.Run(ctx); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(order, []int{0, 1, 2}) {
		t.Errorf("order %v", order)
	}
}

// TestLoopSocketCloses: a socket that is closed under it ends Run with an error.
func TestLoopSocketCloses(t *testing.T) {
	s := listen(t, "127.0.0.1:0")
	l := start(endpoint(t, s, 1, nil), s, udp.LoopConfig{})
	_ = s.Close()
	if err := <-l.done; !errors.Is(err, net.ErrClosed) {
		t.Errorf("got %v", err)
	}
	l.stop()
}

// TestLoopStopIsBounded: peers that are gone do not keep Run.
func TestLoopStopIsBounded(t *testing.T) {
	s, gone := listen(t, "127.0.0.1:0"), listen(t, "127.0.0.1:0")
	e := endpoint(t, s, 1, nil)
	l := udp.NewLoop(e, s, udp.LoopConfig{StopTimeout: 30 * time.Millisecond, Pace: time.Millisecond})
	ctx, stop := context.WithCancel(context.Background())
	if err := l.Do(func() {
		ch := e.Dial(mercury.Address{At: gone.Addr()})
		if err := e.Send(ch, []byte("nobody reads this")); err != nil {
			t.Error(err)
		}
		stop()
	}); err != nil {
		t.Fatal(err)
	}
	if err := l.Run(ctx); err != nil {
		t.Fatal(err)
	}
	if e.Stats().PacketsOut == 0 {
		t.Error("nothing was sent")
	}
}

// TestLoopPaceFrom: a loop rests when its Endpoint has channels enough, and not before.
func TestLoopPaceFrom(t *testing.T) {
	s := listen(t, "127.0.0.1:0")
	e := endpoint(t, s, 1, nil)
	e.Dial(mercury.Address{At: s.Addr()})
	const pace = time.Millisecond
	l := udp.NewLoop(e, s, udp.LoopConfig{Pace: pace, PaceFrom: 1})
	woken := l.Now()
	if l.Rest(woken); l.Now() < woken+pace {
		t.Error("no rest with one channel of one")
	}
	l = udp.NewLoop(e, s, udp.LoopConfig{Pace: time.Hour, PaceFrom: 2})
	l.Rest(l.Now()) // or the test would not end
}

// TestLoopNoAllocations: a turn with a datagram costs no memory of its own. The Endpoint throws this one away.
func TestLoopNoAllocations(t *testing.T) {
	s, from := listen(t, "127.0.0.1:0"), listen(t, "127.0.0.1:0")
	next := time.Duration(0)
	l := udp.NewLoop(endpoint(t, s, 1, nil), s, udp.LoopConfig{Tick: func(time.Duration) time.Duration {
		next += time.Minute
		return next
	}})
	if n := testing.AllocsPerRun(100, func() {
		from.Queue(s.Addr(), []byte("not of this protocol"))
		if err := from.Flush(); err != nil {
			t.Fatal(err)
		}
		if err := l.Turn(time.Second); err != nil {
			t.Fatal(err)
		}
	}); n > 0 && !raceEnabled {
		t.Errorf("%v allocations", n)
	}
	if c := s.Counters(); c.In < 100 {
		t.Errorf("%+v", c)
	}
}

// TestTransportOverLoops runs the suite over two loops whose turns the test's goroutine takes.
func TestTransportOverLoops(t *testing.T) {
	t.Parallel()
	mercurytest.TestTransport(t, func(t *testing.T, _ uint64) *mercurytest.Rig {
		var ends [2]*mercury.Endpoint
		var loops [2]*udp.Loop
		for i := range ends {
			s := listen(t, "127.0.0.1:0")
			// Real time is short here, yet a busy machine may stall this goroutine.
			cfg := mercury.Config{Salt: uint32(i + 1), KeepAlive: 100 * time.Millisecond, Inactivity: 2 * time.Second}
			var err error
			if ends[i], err = mercury.NewEndpoint(cfg, s.Addr(), nil); err != nil {
				t.Fatal(err)
			}
			loops[i] = udp.NewLoop(ends[i], s, udp.LoopConfig{})
		}
		return &mercurytest.Rig{
			A: ends[0], B: ends[1],
			SetHandlers: func(a, b mercury.Handler) {
				ends[0].SetHandler(a)
				ends[1].SetHandler(b)
			},
			RunUntil: func(limit time.Duration, done func() bool) bool {
				if limit < time.Second {
					limit /= 20 // the suite only lets some time pass; it waits for nothing
				}
				end := loops[0].Now() + min(limit, patience)
				for {
					for _, l := range loops {
						if err := l.Turn(200 * time.Microsecond); err != nil {
							t.Fatal(err)
						}
					}
					if done() {
						return true
					}
					if loops[0].Now() > end {
						return false
					}
				}
			},
			MaxMessage: mercury.DefaultMaxMessage,
			Timeout:    50 * time.Millisecond,
		}
	})
}
