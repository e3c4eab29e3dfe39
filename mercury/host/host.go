package host

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/secure"
)

const (
	// DefaultWorkers is how many jobs of a Host run at one time. Jobs wait, for a
	// store or an account service, more than they compute.
	DefaultWorkers = 16
	// DefaultMaxJobs is how many jobs may wait for a worker.
	DefaultMaxJobs = 4096
	// DefaultStopTimeout is how long Stop waits for the peers to take what was
	// sent: a few round trips and resends.
	DefaultStopTimeout = 2 * time.Second
)

// ErrStopped is returned by what needs a Process or Host that has ended.
var ErrStopped = errors.New("host: stopped")

// Config says how a Host is made. Zero fields have the defaults named.
type Config struct {
	// Log is what every Env.Log is made from. Default: nothing is logged.
	Log *slog.Logger
	// Seed makes salts, secrets and Env.Chance repeatable if not 0: for tests. By
	// default they are drawn from the system, as they must be where anyone from
	// outside can reach a port.
	Seed uint64
	// Clock is what Host.Clock tells: a time that never runs back and goes as fast as real
	// time does. Any goroutine asks it. Default: the time since New.
	Clock func() time.Duration
	// Workers is how many jobs run at one time. Default 16.
	Workers int
	// MaxJobs is how many jobs may wait for a worker; a further one ends at once
	// with ErrTooManyJobs. Default 4096.
	MaxJobs int
	// StopTimeout is how long Stop waits for the peers. Default 2 s; less when
	// nobody is heard any more.
	StopTimeout time.Duration
}

// Validate reports all faults of c at once.
func (c Config) Validate() error {
	var faults []error
	fault := func(bad bool, format string, args ...any) {
		if bad {
			faults = append(faults, fmt.Errorf("host: Config."+format, args...))
		}
	}
	fault(c.Workers < 0, "Workers is %d: take at least 1, or 0 for %d", c.Workers, DefaultWorkers)
	fault(c.MaxJobs < 0, "MaxJobs is %d: take at least 1, or 0 for %d", c.MaxJobs, DefaultMaxJobs)
	fault(c.StopTimeout < 0, "StopTimeout is %v: take a positive time, or 0 for %v", c.StopTimeout, DefaultStopTimeout)
	return errors.Join(faults...)
}

func (c Config) withDefaults() Config {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	c.Workers = cmp.Or(c.Workers, DefaultWorkers)
	c.MaxJobs = cmp.Or(c.MaxJobs, DefaultMaxJobs)
	c.StopTimeout = cmp.Or(c.StopTimeout, DefaultStopTimeout)
	return c
}

// Host runs processes. See the package comment.
type Host struct {
	cfg     Config
	log     *slog.Logger
	epoch   int64 // Unix time in seconds when Clock was 0
	chances *chances
	workers *workers
	running sync.WaitGroup

	mu        sync.Mutex
	closed    bool
	processes []*Process // in the order of starting
}

// New returns a Host without processes. The error lists all faults of cfg.
func New(cfg Config) (*Host, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	begun := time.Now()
	if cfg.Clock == nil {
		cfg.Clock = func() time.Duration { return time.Since(begun) }
	}
	cfg = cfg.withDefaults()
	return &Host{
		cfg:     cfg,
		log:     cfg.Log,
		epoch:   begun.Add(-cfg.Clock()).Unix(),
		chances: newChances(cfg.Seed),
		workers: newWorkers(cfg.Workers, cfg.MaxJobs),
	}, nil
}

// Clock is the time since New, by the system's monotonic clock, or what Config.Clock says.
func (h *Host) Clock() time.Duration { return h.cfg.Clock() }

// guard makes the Guard of one start.
func (h *Host) guard(cfg secure.Config, at mercury.Address) (*secure.Guard, error) {
	cfg.Random, cfg.ID, cfg.Epoch = h.chances, GuardID(at), h.epoch
	return secure.New(cfg)
}

// Processes returns what was started and has not ended, in the order of starting.
func (h *Host) Processes() []*Process {
	h.mu.Lock()
	defer h.mu.Unlock()
	var live []*Process
	for _, p := range h.processes {
		if !p.ended() {
			live = append(live, p)
		}
	}
	return live
}

// add enters a process, unless the Host is closed.
func (h *Host) add(p *Process) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return ErrStopped
	}
	h.processes = append(h.processes, p)
	h.running.Add(1)
	return nil
}

// Wait waits until every process has ended, and returns the errors of those that
// ended by themselves.
func (h *Host) Wait() error {
	h.running.Wait()
	h.mu.Lock()
	defer h.mu.Unlock()
	var errs []error
	for _, p := range h.processes {
		if err := p.Err(); err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// Close stops all processes at the same time, as Process.Stop does, waits for
// them and for their jobs, and returns what Wait returns. A second Close only waits.
func (h *Host) Close() error {
	h.mu.Lock()
	first := !h.closed
	h.closed = true
	all := h.processes
	h.mu.Unlock()
	if first {
		together := newGathering(len(all))
		for _, p := range all {
			p.stopWith(together)
		}
	}
	err := h.Wait()
	h.workers.close()
	return err
}

// gathering lets processes that are stopped together leave together: one that has
// nothing left to say still answers the others, which would wait for it otherwise.
type gathering struct {
	mu      sync.Mutex
	missing int
	whole   chan struct{}
}

func newGathering(n int) *gathering {
	g := &gathering{missing: n, whole: make(chan struct{})}
	if n == 0 {
		close(g.whole)
	}
	return g
}

// arrive is called once by each process: when it has nothing left to say, or has ended.
func (g *gathering) arrive() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.missing--; g.missing == 0 {
		close(g.whole)
	}
}

func (g *gathering) isWhole() bool {
	select {
	case <-g.whole:
		return true
	default:
		return false
	}
}
