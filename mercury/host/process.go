package host

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/secure"
)

// App is a process as a state machine.
type App interface {
	mercury.Handler
	// Tick is called at the start and when it is due, which is when it said
	// itself. It may be called earlier, and then only says again when it is due.
	Tick(now time.Duration) (next time.Duration)
}

// JobTaker is an App that gives out jobs.
type JobTaker interface {
	// JobDone takes the result of the job with that token, or an error of this
	// package that says why there is none.
	JobDone(now time.Duration, token uint64, result any)
}

// Dismissible is an App that may learn that it was declared dead.
type Dismissible interface {
	// Dismissed says that the app is of no more use and wants to be made anew.
	Dismissed() bool
}

// Troubled is an App that can say why it is of no use yet: a manager has refused it, or
// is not to be reached.
type Troubled interface {
	Trouble() error
}

// Env is what an app is given to be made of.
type Env struct {
	// Transport carries the app's channels, over whichever carrier they are. It is Net.
	Transport mercury.Transport
	// Net is the same, for an app that asks which carrier a channel belongs to, or dials over one by its name.
	Net *Net
	// Self is the address of this start of the app at its first carrier.
	Self mercury.Address
	// Places is where others reach this start, one for each carrier, in their order.
	Places []Place
	// Chance is a source of chance of its own.
	Chance *rand.Rand
	// Secrets fills a slice with bytes that nobody can guess.
	Secrets func([]byte)
	// Guard seals the channels of this start at the first carrier of datagrams; nil for
	// a process without Secure. It belongs to the app's goroutine.
	Guard mercury.Guard
	// Epoch is the Unix time in seconds when Clock was 0, as the system's clock says
	// at New. Processes of different Hosts differ in it as their systems' clocks do.
	Epoch int64
	// Clock is the time now, on the clock that Tick is called by.
	Clock func() time.Duration
	// CPU is the processor time that the app's thread has used, to be asked on
	// the app's goroutine. It is 0 for Shared apps, and where the system does not
	// tell (anything but Linux).
	CPU func() time.Duration
	// ProcessCPU is what the whole OS process has used, user and system, on all threads:
	// those of the garbage collector, the sockets and the other apps among them. pid is its
	// number. It is 0 where the system does not tell (anything but Linux).
	ProcessCPU func() (pid int, used time.Duration)
	// Jobs performs what blocks.
	Jobs Jobs
	// Log has the name of the process.
	Log *slog.Logger
}

// Place is where one carrier of a process is reached.
type Place struct {
	Network string          // of the carrier: "udp", "tcp", "quic", "websocket"
	Self    mercury.Address // without a place for a carrier that only dials
}

// Process is an app that a Host runs.
type Process struct {
	host     *Host
	name     string
	log      *slog.Logger
	opts     options
	create   func(Env) (App, error)
	carriers []mercury.Carrier // never empty; the first is where the goroutine waits
	ctx      context.Context   // of jobs
	cancel   context.CancelFunc
	done     chan struct{}
	err      error // read after done
	places   atomic.Pointer[[]Place]

	// Owned by the goroutine of the app.
	app   App
	net   *Net
	seals []*secure.Guard // of each carrier; nil for none
	now   time.Duration
	next  time.Duration // tick
	busy  []func()      // inbox being worked off

	mu       sync.Mutex
	inbox    []func()
	order    order
	together *gathering // those stopped at the same time; nil for none
	arrived  bool       // there
	left     bool       // main is over
}

// order is what a process was told to do.
type order uint8

const (
	run order = iota
	stopping
	killed
)

// Start makes an app and runs it on a goroutine of its own. listen is "host:port"
// for its UDP socket, its first carrier; port 0 takes a free one. "" is for an app that has
// those of the option Carriers only. The name is for logs and errors. create is called on
// the app's goroutine, before Start returns and again after the app was dismissed; its
// error is returned, as is that of a port in use, which says what to do. Carriers that
// it was given are released when the process ends, and when Start fails.
func (h *Host) Start(name, listen string, create func(Env) (App, error), opts ...Option) (*Process, error) {
	p, err := h.open(name, listen, create, opts)
	if err == nil {
		err = h.add(p)
	}
	if err != nil {
		p.cancel()
		p.release()
		return nil, fmt.Errorf("host: %s: %w", name, err)
	}
	made := make(chan error, 1)
	go p.main(made)
	if err := <-made; err != nil {
		<-p.done
		return nil, fmt.Errorf("host: %s: %w", name, err)
	}
	return p, nil
}

// open makes a process that does not run yet. With an error it has those carriers that are to be released.
func (h *Host) open(name, listen string, create func(Env) (App, error), opts []Option) (*Process, error) {
	o := collect(opts)
	carriers, err := o.open(listen)
	if err == nil {
		err = o.finish(carriers)
	}
	p := &Process{
		host: h, name: name, log: h.log.With("process", name), opts: o, create: create,
		carriers: carriers, done: make(chan struct{}),
	}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	return p, err
}

// Name is the name that the process was started under.
func (p *Process) Name() string { return p.name }

// Address is where the app listens with its first carrier, with the salt of its present start.
func (p *Process) Address() mercury.Address { return (*p.places.Load())[0].Self }

// Places is where each carrier of the app is reached, in their order.
func (p *Process) Places() []Place { return slices.Clone(*p.places.Load()) }

// Done is closed when the process has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Err says why the process ended by itself; nil before its end, and if it was
// stopped or killed.
func (p *Process) Err() error {
	if !p.ended() {
		return nil
	}
	return p.err
}

func (p *Process) ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// Stop ends the process in order and waits for it: the app hears nothing more, its
// channels are closed, what was sent before is brought over, within
// Config.StopTimeout. It returns Err.
func (p *Process) Stop() error {
	p.end(stopping)
	<-p.done
	return p.err
}

// Kill ends the process at once, as SIGKILL ends an OS process: its peers hear
// nothing any more. It waits until the app has returned from the call it is in.
func (p *Process) Kill() {
	p.end(killed)
	<-p.done
}

// Do runs f on the app's goroutine, between two inputs, and waits for it: for tests
// and status pages. It returns ErrStopped if the process ended before. f must not
// call methods of Host or Process.
func (p *Process) Do(f func(App)) error {
	ran := make(chan struct{})
	p.post(func() {
		f(p.app)
		close(ran)
	})
	select {
	case <-ran:
		return nil
	case <-p.done:
		select {
		case <-ran:
			return nil
		default:
			return fmt.Errorf("%s: %w", p.name, ErrStopped)
		}
	}
}

// Trouble is what keeps the process from its work: why it has ended, or what its app says
// as a Troubled; nil if nothing is known to. It waits as Do does.
func (p *Process) Trouble() error {
	var trouble error
	err := p.Do(func(a App) {
		if t, ok := a.(Troubled); ok {
			trouble = t.Trouble()
		}
	})
	switch {
	case err != nil:
		return errors.Join(err, p.Err())
	case trouble != nil:
		return fmt.Errorf("%s at %v: %w", p.name, p.Address().At, trouble)
	}
	return nil
}

// SealStats returns what the Guard of the present start has counted, at the first carrier of
// datagrams: all zero for a process without Secure. It waits as Do does, with the same error.
func (p *Process) SealStats() (s secure.Stats, err error) {
	err = p.Do(func(App) {
		if g := p.seal(); g != nil {
			s = g.Stats()
		}
	})
	return s, err
}

// seal is the first Guard there is; nil for none.
func (p *Process) seal() *secure.Guard {
	for _, g := range p.seals {
		if g != nil {
			return g
		}
	}
	return nil
}

// CarrierStats tells how one carrier of a process fares.
type CarrierStats struct {
	Place
	mercury.CarrierStats
	// Full counts reliable messages that were refused with mercury.ErrFull.
	Full uint64
	// Seal is what the carrier's Guard has counted; all zero without one.
	Seal secure.Stats
}

// Carriers tells how the carriers of the present start fare, in their order. It waits as Do does, with the same error.
func (p *Process) Carriers() (all []CarrierStats, err error) {
	err = p.Do(func(App) {
		for i, c := range p.carriers {
			s := CarrierStats{Place: Place{c.Network(), c.Self()}, CarrierStats: c.CarrierStats(), Full: p.net.full[i]}
			s.Refused += p.net.spent[i]
			if g := p.seals[i]; g != nil {
				s.Seal = g.Stats()
			}
			all = append(all, s)
		}
	})
	return all, err
}

// end gives an order; a stronger one stays.
func (p *Process) end(o order) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.order = max(p.order, o)
	p.wake()
}

// stopWith is Stop together with others, without waiting.
func (p *Process) stopWith(g *gathering) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.together = g
	p.arrived = false
	if p.left {
		p.arrive()
		return
	}
	p.order = max(p.order, stopping)
	p.wake()
}

// arrive tells those stopped together that this process has nothing left to say.
// The caller holds the lock.
func (p *Process) arrive() {
	if p.together != nil && !p.arrived {
		p.arrived = true
		p.together.arrive()
	}
}

// free reports whether a process that has nothing left to say may end.
func (p *Process) free() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.arrive()
	return p.together == nil || p.together.isWhole()
}

func (p *Process) leave() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.left = true
	p.arrive()
}

// post puts f down for the app's goroutine.
func (p *Process) post(f func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.inbox = append(p.inbox, f)
	p.wake()
}

// wake ends the wait of the goroutine, or the next one.
func (p *Process) wake() { p.carriers[0].Wake() }

// main is the goroutine of the app.
func (p *Process) main(made chan<- error) {
	if !p.opts.shared {
		// Never unlocked: the thread ends with the goroutine, and its processor time with it.
		runtime.LockOSThread()
	}
	defer p.host.running.Done()
	defer close(p.done)
	defer p.leave()
	defer p.release()
	defer p.cancel()
	if err := p.guard(p.first); err != nil {
		made <- err
		return
	}
	made <- nil
	if err := p.guard(p.loop); err != nil {
		p.err = fmt.Errorf("host: %s at %v: %w", p.name, p.Address().At, err)
		p.log.Error("process ended", "error", err)
	}
}

// guard turns a panic into an error.
func (p *Process) guard(f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &PanicError{Value: v, Stack: debug.Stack()}
		}
	}()
	return f()
}

// release gives the carriers back, each once.
func (p *Process) release() {
	for i, c := range p.carriers {
		if slices.Index(p.carriers, c) < i {
			continue // given twice, which Start refuses
		}
		if err := c.Release(); err != nil {
			p.log.Warn("a carrier was not given back in order", "carrier", c.Network(), "error", err)
		}
	}
}

// first makes the first start. The goroutine waits at the first carrier, and the others wake it there.
func (p *Process) first() error {
	if err := p.begin(); err != nil {
		return err
	}
	for _, c := range p.carriers[1:] {
		c.Watch(p.wake)
	}
	return nil
}

// begin makes a start of the app.
func (p *Process) begin() error {
	salt := p.host.chances.salt()
	net := newNet(p.carriers, p.opts.routes)
	p.net, p.seals = net, make([]*secure.Guard, len(p.carriers))
	places := make([]Place, len(p.carriers))
	for i, c := range p.carriers {
		if err := p.beginCarrier(i, salt); err != nil {
			return fmt.Errorf("%s: %w", c.Network(), err)
		}
		places[i] = Place{c.Network(), c.Self()}
	}
	p.places.Store(&places)
	cpu := threadCPU
	if p.opts.shared {
		cpu = func() time.Duration { return 0 }
	}
	env := Env{
		Transport: net, Net: net, Self: net.Self(), Places: slices.Clone(places), Chance: p.host.chances.source(),
		Secrets: p.host.chances.fill, Epoch: p.host.epoch, Clock: p.host.Clock, CPU: cpu, ProcessCPU: processCPU,
		Jobs: Jobs{p}, Log: p.log,
	}
	if g := p.seal(); g != nil {
		env.Guard = g
	}
	app, err := p.create(env)
	if err == nil && app == nil {
		err = errors.New("there is no app")
	}
	if err != nil {
		return err
	}
	p.app, net.app = app, app
	p.now = p.host.Clock()
	p.next = p.now
	return nil
}

// beginCarrier makes the start of one carrier, with a secret and a Guard of its own.
func (p *Process) beginCarrier(i int, salt uint32) error {
	c := p.carriers[i]
	s := mercury.Start{Salt: salt, IP: p.opts.advertise, Clock: p.host.Clock, Handler: lane{p.net, i}}
	p.host.chances.fill(s.Secret[:])
	if cfg := p.opts.secure; cfg != nil {
		s.Guard = func(self mercury.Address) (mercury.Guard, error) {
			g, err := p.host.guard(*cfg, self)
			p.seals[i] = g
			return g, err
		}
	}
	if err := c.Begin(s); err != nil {
		return err
	}
	if at := c.Self().At; at.IsValid() && at.Addr().IsUnspecified() {
		return fmt.Errorf("listening at %v leaves open where others reach it: name one address, or use Advertise", at)
	}
	if p.opts.secure != nil && !c.Sealed() && !p.opts.clear[i] {
		return errors.New("the carrier is in the clear and the process is Secure: seal it, or give it by UnsealedCarriers")
	}
	return nil
}
