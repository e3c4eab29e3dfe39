package cluster

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"
)

const (
	// logPatience is how long a process waits for its log, all lines together: shorter than the
	// time in which it would be declared dead. One part in logShare of the time that goes by comes
	// to it again.
	logPatience = time.Second
	logShare    = 100
	// leastLogPatience is how long a line has in any case. A sound log takes microseconds.
	leastLogPatience = 5 * time.Millisecond
)

// patient is a log that may not take its lines, such as a pipe whose reader has stopped. The
// processes do not wait for it for ever: they log on the goroutine that does all their work, and
// one that waits does not answer, and is declared dead.
//
//	    a line takes longer than there is patience for
//	ok -----------------------------------------------> stuck: lines are counted, not written
//	 ^                                                    |
//	 +---- the line is written, and one that says --------+
//	       how many are missing
type patient struct {
	slog.Handler
	outlet *outlet
}

// outlet is what all loggers of a patient log have in common.
type outlet struct {
	root slog.Handler // says what is missing
	turn chan struct{}

	mu       sync.Mutex
	patience time.Duration
	at       time.Time // when patience was counted
	running  bool      // a line is under way
	since    time.Time // zero unless it is stuck
	missing  uint64
}

func newPatient(h slog.Handler) patient {
	return patient{h, &outlet{root: h, turn: make(chan struct{}, 1), patience: logPatience, at: time.Now()}}
}

// written is what became of a line.
type written struct {
	err      error
	panicked any
}

// Handle implements slog.Handler.
func (p patient) Handle(ctx context.Context, r slog.Record) error {
	o := p.outlet
	limit, ok := o.begin()
	if !ok {
		return errLogStuck
	}
	began, timer := time.Now(), time.NewTimer(limit)
	defer timer.Stop()
	select {
	case o.turn <- struct{}{}:
	case <-timer.C:
		return o.giveUp(began, 1)
	}
	o.run()
	done := make(chan written, 1)
	r = r.Clone() // it may be written when the caller has gone on
	go func() {
		defer func() { <-o.turn }()
		done <- write(ctx, p.Handler, r)
		o.ends()
	}()
	select {
	case w := <-done:
		o.spend(time.Since(began))
		if w.panicked != nil {
			panic(w.panicked)
		}
		return w.err
	case <-timer.C:
		return o.giveUp(began, 0)
	}
}

// write writes a line. A handler that panics does so where the line was logged.
func write(ctx context.Context, h slog.Handler, r slog.Record) (w written) {
	defer func() { w.panicked = recover() }()
	return written{err: h.Handle(ctx, r)}
}

// begin says how long a line may take. While the log is stuck, it only counts it.
func (o *outlet) begin() (limit time.Duration, ok bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.since.IsZero() {
		o.missing++
		return 0, false
	}
	return max(o.patience, leastLogPatience), true
}

// spend takes what a line has taken from the patience.
func (o *outlet) spend(took time.Duration) {
	o.mu.Lock()
	defer o.mu.Unlock()
	now := time.Now()
	o.patience = max(0, min(logPatience, o.patience+now.Sub(o.at)/logShare)-took)
	o.at = now
}

// giveUp says that a line took too long, or that so many are missing which waited for it. If it has
// just come to its end, the log is not stuck.
func (o *outlet) giveUp(began time.Time, missing uint64) error {
	o.spend(time.Since(began))
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.missing += missing; o.running && o.since.IsZero() {
		o.since = began
	}
	return errLogStuck
}

// run says that a line is under way. The caller has the turn.
func (o *outlet) run() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.running = true
}

// ends says that it was written, and tells of those that are missing. The caller has the turn, and
// may wait.
func (o *outlet) ends() {
	for {
		o.mu.Lock()
		n, since := o.missing, o.since
		o.missing, o.since, o.running = 0, time.Time{}, n > 0
		o.mu.Unlock()
		if n == 0 {
			return
		}
		r := slog.NewRecord(time.Now(), slog.LevelError, "the log did not take what it was told, and lines are missing here", 0)
		if r.Add("lines", n); !since.IsZero() {
			r.Add("for", time.Since(since))
		}
		_ = write(context.Background(), o.root, r)
	}
}

// trouble says that the log is stuck, and nil if it is not.
func (o *outlet) trouble() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.since.IsZero() {
		return nil
	}
	return fmt.Errorf("%w for %v, and %d lines are missing: see to whoever takes it", errLogStuck, time.Since(o.since).Round(time.Second), o.missing)
}

var errLogStuck = errors.New("cluster: the log takes nothing")

// WithAttrs implements slog.Handler.
func (p patient) WithAttrs(attrs []slog.Attr) slog.Handler {
	return patient{p.Handler.WithAttrs(attrs), p.outlet}
}

// WithGroup implements slog.Handler.
func (p patient) WithGroup(name string) slog.Handler {
	return patient{p.Handler.WithGroup(name), p.outlet}
}
