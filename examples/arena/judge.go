package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/cellscape/cellscape/entity/client/bots"
	"github.com/cellscape/cellscape/examples/arena/game"
	"github.com/cellscape/cellscape/space/cluster/status"
)

const (
	// settleLimit is how long the world may take to tell everyone everything.
	settleLimit = 10 * time.Second
	// restFor allows for the last steps of the bots that are still under way.
	restFor = 500 * time.Millisecond
	// auditLimit is how long the answers to audits of a world at rest may take.
	auditLimit = 5 * time.Second
	// countLimit is how long the counts of sender and receiver may differ: what is counted at one
	// moment is reported within a second.
	countLimit = 8 * time.Second
	// shownDiffs bounds the differences that are printed.
	shownDiffs = 10
)

// measurement is what the run cost while all bots were in the world.
type measurement struct {
	first, last   status.World
	before, after sums
	from, to      time.Time
	ebb           *ebb
}

// measure prints status lines until the context ends, and measures from when all bots are in the
// world.
func (s *show) measure(ctx context.Context, c *crowd) (m measurement, err error) {
	m.ebb = newEbb(s.f)
	for {
		st, err := s.observer.Next(ctx)
		if err != nil {
			if ctx.Err() != nil {
				break // that is how a dance ends
			}
			return m, err
		}
		c.learn(&st)
		now := c.sums()
		if m.from.IsZero() && now.playing == len(c.dancers) {
			m.from, m.first, m.before = time.Now(), st, now
			c.watch(true)
		}
		m.to, m.last, m.after = time.Now(), st, now
		fmt.Fprintln(os.Stderr, s.line(&st))
		m.ebb.hear(&st, c)
		if s.world != nil && s.world.Err() != nil {
			return m, s.world.Err()
		}
	}
	return m, nil
}

// verdict is the result of a run; the JSON object at the end.
type verdict struct {
	Clients    int     `json:"clients"`
	Guards     int     `json:"guards"`
	Cells      int     `json:"cells"`
	CellsAdded int     `json:"cells_added"`
	LinesMoved int     `json:"lines_moved"`
	Migrations uint64  `json:"migrations"`
	Ghosts     int     `json:"ghosts"`
	Corrected  uint64  `json:"corrected_moves"`
	Ticks      uint64  `json:"ticks"`
	LateTicks  uint64  `json:"late_ticks"`
	TickP50    float64 `json:"tick_p50_ms"`
	TickP99    float64 `json:"tick_p99_ms"`
	Settle     int64   `json:"settle_ms"`
	cost
	DownBytes float64 `json:"down_bytes_per_client_s"`
	UpBytes   float64 `json:"up_bytes_per_client_s"`
	// The outcome is missing if the world did not come to rest: a count of what is still under way
	// would be wrong.
	*outcome
	Undecided string `json:"undecided,omitempty"` // why
	Errors    uint64 `json:"errors"`
	// Unsent are messages that were not sent, without a reason that takes care of them.
	Unsent uint64 `json:"unsent_messages"`
	// Recovery is how long it took until the world was well again after the -leave bots had left.
	Recovery int64 `json:"recovery_ms,omitempty"`
	Sight
	arrive      float64 // the flag
	lostDetails string
	deaths      int // processes declared dead
}

// outcome is what can be told of a world at rest.
type outcome struct {
	Lost     uint64 `json:"lost_messages"`
	Diverged int    `json:"diverged_clients"`
}

// judge brings the world to rest and compares.
func (s *show) judge(c *crowd, m measurement) (v verdict, err error) {
	// Whatever ended the dance, the end has its own time limits.
	ctx := context.Background()
	c.watch(false)
	v.dancing(&m, s.f, len(c.dancers))
	fresh, err := c.freshness()
	if err != nil {
		return v, err
	}
	v.seeing(&fresh)
	v.arrive = s.f.arrive
	v.Recovery = m.ebb.recovery().Milliseconds()
	fmt.Fprintln(os.Stderr, "the bots come to rest, then the world is frozen")
	c.resting.Store(true)
	waitFor(5*time.Second, func() bool { now := c.sums(); return now.resting == now.playing })
	time.Sleep(restFor)

	begun := time.Now()
	if err := s.observer.Freeze(true); err != nil {
		return v, err
	}
	quiet := func(st *status.World) bool { return st.Pending == 0 && st.ReportsSinceFreeze >= 2 }
	st, settled, err := s.await(ctx, settleLimit, quiet)
	if err != nil {
		return v, err
	}
	v.Settle = time.Since(begun).Milliseconds()
	if settled {
		// The second Freeze makes the ghosts compare themselves with their reals.
		if err := s.observer.Freeze(true); err != nil {
			return v, err
		}
		if st, settled, err = s.await(ctx, settleLimit, quiet); err != nil {
			return v, err
		}
	}
	if !settled {
		v.Undecided = undecided(&st, c.stay)
		v.count(&st, c)
		return v, s.observer.Freeze(false)
	}
	c.audit()
	waitFor(auditLimit, func() bool { now := c.sums(); return now.audited == c.stay })
	st, _, err = s.await(ctx, countLimit, func(st *status.World) bool {
		now := c.sums()
		n, _ := lost(st, &now)
		return n == 0
	})
	if err != nil {
		return v, err
	}
	now := v.count(&st, c)
	v.outcome = &outcome{Diverged: now.diverged + c.stay - now.audited}
	v.outcome.Lost, v.lostDetails = lost(&st, &now)
	c.printDiffs()
	return v, s.observer.Freeze(false)
}

// undecided says why nothing can be told of a world.
func undecided(st *status.World, bots int) string {
	why := fmt.Sprintf("the world did not come to rest within %v: %d things are still to be told, and %.1f %% of the ticks were late",
		settleLimit, st.Pending, 100*float64(st.Late)/float64(max(1, st.Ticks)))
	if st.Clients > bots {
		why += fmt.Sprintf("; %d visitors are still there, and may walk", st.Clients-bots)
	}
	return why
}

// count fills in what is true whether the world is at rest or not.
func (v *verdict) count(st *status.World, c *crowd) sums {
	now := c.sums()
	v.deaths = st.Deaths
	v.Unsent = st.UnsentFaults() + now.unsent
	printUnsent(st)
	v.Errors = st.Counters.Errors + st.Counters.GhostsDiffer + now.malformed + uint64(now.errors)
	v.Corrected = st.Counters.Corrected
	if d := st.Counters.GhostsDiffer; d > 0 {
		fmt.Fprintf(os.Stderr, "%d ghosts differ from their reals\n", d)
	}
	return now
}

// dancing fills in the results of the dance.
func (v *verdict) dancing(m *measurement, f *flags, clients int) {
	st := &m.last
	v.Clients, v.Guards = clients, f.guards
	v.Cells, v.CellsAdded, v.LinesMoved, v.Ghosts = st.Cells, st.CellsAdded, st.LinesMoved, st.Ghosts
	v.Migrations, v.Ticks, v.LateTicks = st.Counters.Migrations, st.Ticks, st.Late
	v.TickP50 = float64(st.TickTimes.Quantile(0.50).Microseconds()) / 1000
	v.TickP99 = float64(st.TickTimes.Quantile(0.99).Microseconds()) / 1000
	seconds := m.to.Sub(m.from).Seconds()
	if m.from.IsZero() || seconds <= 0 || clients == 0 {
		return
	}
	n := float64(clients)
	v.cost = costOf(&m.first, &m.last, os.Getpid(), n*seconds/game.Tick.Seconds())
	v.DownBytes = round(float64(m.after.down-m.before.down) / n / seconds)
	v.UpBytes = round(float64(m.after.up-m.before.up) / n / seconds)
}

func round(x float64) float64 { return float64(int64(x*10+0.5)) / 10 }

// await waits for a Status that will do; if none comes, it returns the last one and false.
func (s *show) await(ctx context.Context, limit time.Duration, ok func(*status.World) bool) (st status.World, met bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	for {
		next, err := s.observer.Next(ctx)
		if errors.Is(err, context.DeadlineExceeded) {
			return st, false, nil
		}
		if err != nil {
			return st, false, err
		}
		if st = next; ok(&st) {
			return st, true, nil
		}
	}
}

// waitFor waits until ok returns true, or until limit is over.
func waitFor(limit time.Duration, ok func() bool) {
	for end := time.Now().Add(limit); !ok() && time.Now().Before(end); {
		time.Sleep(50 * time.Millisecond)
	}
}

// printDiffs prints what clients do not hold as they should.
func (c *crowd) printDiffs() {
	shown := 0
	c.each(func(b *bots.Bot, d *dancer) {
		diff := d.diff
		switch {
		case b.Number >= c.stay:
			return
		case !d.audited:
			diff = []string{"no answer to its audit"}
		}
		for _, line := range diff {
			if shown++; shown <= shownDiffs {
				fmt.Fprintf(os.Stderr, "bot %d: %s\n", b.Number, line)
			}
		}
	})
}

// printUnsent prints what was not sent, and why.
func printUnsent(st *status.World) {
	for _, u := range st.Unsent {
		fmt.Fprintf(os.Stderr, "%d %s not sent: %s\n", u.Count, u.Message, u.Reason)
	}
}

// print prints the verdict; its error says why the run failed.
func (v *verdict) print(asJSON bool) error {
	if v.outcome != nil {
		fmt.Fprintf(os.Stderr, "settled in %d ms; %d of %d clients diverged, %d messages lost, %d errors\n", v.Settle, v.Diverged, v.Clients, v.Lost, v.Errors)
	} else {
		fmt.Fprintf(os.Stderr, "undecided: %s; %d errors\n", v.Undecided, v.Errors)
	}
	if asJSON {
		b, err := json.Marshal(v)
		if err != nil {
			return err
		}
		fmt.Println(string(b))
	}
	v.tellSight()
	v.tellCost()
	var why []error
	if err := v.lateMoves(); err != nil {
		why = append(why, err)
	}
	switch {
	case v.outcome == nil:
		why = append(why, fmt.Errorf("undecided: %s", v.Undecided))
	case v.Diverged > 0:
		why = append(why, fmt.Errorf("%d clients do not hold what they should", v.Diverged))
	}
	if v.outcome != nil && v.Lost > 0 {
		why = append(why, fmt.Errorf("%d messages lost: %s", v.Lost, v.lostDetails))
	}
	if v.Unsent > 0 {
		why = append(why, fmt.Errorf("%d messages could not be sent, and nothing takes care of them", v.Unsent))
	}
	if v.Recovery > wellLimit.Milliseconds() {
		why = append(why, fmt.Errorf("not well %v after bots had left", wellLimit))
	}
	if v.Errors > 0 {
		why = append(why, fmt.Errorf("%d errors", v.Errors))
	}
	return errors.Join(why...)
}
