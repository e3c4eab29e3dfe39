package host

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"runtime/debug"
	"runtime/pprof"
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

// Resting is an App that leaves out ticks while it has nothing to do. What comes to it may bring the
// next one forward or put it off, so that it is asked before each wait.
type Resting interface {
	// NextTick is when Tick is due, whatever Tick said.
	NextTick() time.Duration
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

// Ending is an App that can end by itself, when all is done that it was for.
type Ending interface {
	// Ended says that the process is to end now, as by Stop.
	Ended() bool
}

// Stoppable is an App that has something of its own to close when it ends.
type Stoppable interface {
	// Stopping is called once, when the process begins to end in order, by Stop or since the app
	// has Ended. The app hears nothing after it. A process that is killed or has broken does not
	// say so.
	Stopping()
}

// Faulty is an Ending that can end because it is of no use.
type Faulty interface {
	// Fault says why, for Process.Err; nil if all is done that it was for.
	Fault() error
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
	// Net is the same, for an app that asks which carrier a channel belongs to, or dials over one
	// by its name.
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
	// Work is a clock that stands while the app has no processor, to be asked on the app's goroutine:
	// by it a load is work, and not that others want the machine, too. It costs about what Clock
	// costs. It is Clock for Shared apps, and where the system does not tell of a thread's processor
	// time (anything but Linux).
	Work func() time.Duration
	// CPU is the processor time that the app has used on its own thread, without that of waking up,
	// to be asked on the app's goroutine. It is 0 for Shared apps, and where the system does not
	// tell (anything but Linux).
	CPU func() time.Duration
	// ProcessCPU is what the whole OS process has used, user and system, on all threads:
	// those of the garbage collector, the sockets and the other apps among them. pid is its
	// number. It is 0 where the system does not tell (anything but Linux).
	ProcessCPU func() (pid int, used time.Duration)
	// Carriers tells how the carriers fare, in the order of Places, to be asked on the app's
	// goroutine.
	Carriers func() []CarrierStats
	// Jobs performs what blocks.
	Jobs Jobs
	// Lookout finds out whether other processes are there.
	Lookout Lookout
	// Log has the name of the process, and where its first carrier listens, by which others know
	// it.
	Log *slog.Logger
}

// Process is an app that a Host runs.
type Process struct {
	host     *Host
	name     string
	log      *slog.Logger
	opts     options
	create   func(Env) (App, error)
	carriers []mercury.Carrier // never empty
	waiter   waiter            // nil when Start has failed
	ctx      context.Context   // of jobs
	cancel   context.CancelFunc
	done     chan struct{}
	err      error // read after done
	places   atomic.Pointer[[]Place]
	lifeline *lifeline // nil for none
	watch    watch

	// Owned by the goroutine of the app.
	app   App
	net   *Net
	seals []*secure.Guard // of each carrier; nil for none
	named bool            // the log has where the app listens
	now   time.Duration
	next  time.Duration // tick
	woken time.Duration // when the turn before began
	// followed says that the turn before came soon after the one before it.
	followed bool
	meter    meter
	busy     []func() // inbox being worked off

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

// ProfileLabel is the label of runtime/pprof with the name of the process to which the work of a goroutine
// belongs: go tool pprof -tagfocus process=cellapp shows one.
const ProfileLabel = "process"

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
func (p *Process) wake() { p.waiter.wake() }

// main is the goroutine of the app.
func (p *Process) main(made chan<- error) {
	// A profile of an OS process with several apps says whose a sample is, that of a job included.
	pprof.SetGoroutineLabels(pprof.WithLabels(p.ctx, pprof.Labels(ProfileLabel, p.name)))
	p.meter.begin()
	defer p.meter.end()
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
