package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/cellscape/cellscape/entity/client/bots"
	"github.com/cellscape/cellscape/space/cluster/status"
)

const (
	// tellEvery is how often the crowd says how far it has come.
	tellEvery = 2 * time.Second
	// crumbs is the share of the players below which those who came in of late do not count: a world
	// that takes one now and then is full.
	crumbs = 0.01
	// enterLimit bounds the time from when the last has asked, in patiences.
	enterLimit = 6
)

// entrance is how the players came in; part of the JSON object.
type entrance struct {
	Asked    int           `json:"players_asked"`
	In       int           `json:"players"`
	Seconds  float64       `json:"entered_after_s"`
	Refusals []refusal     `json:"refusals,omitempty"`
	Full     string        `json:"full,omitempty"` // what the managers say of a world that is full
	took     time.Duration // Seconds
}

// refusal is why logins came to nothing.
type refusal struct {
	Reason string `json:"reason"`
	Logins uint64 `json:"logins"`
}

// filling decides when the world is full. Times are since the first login.
type filling struct {
	asked    int           // players
	asking   time.Duration // when the last asks for the first time
	patience time.Duration

	in   int           // at since
	from time.Duration // when in was more by some last
}

// over reports whether it is no use to wait for more: all are in, or hardly anybody more has come in
// for a while although all have asked, or it takes too long.
func (f *filling) over(now time.Duration, in int) bool {
	if in-f.in > int(crumbs*float64(f.asked)) {
		f.in, f.from = in, now
	}
	quiet := now - max(f.from, f.asking)
	return in >= f.asked || quiet >= f.patience || now >= f.asking+enterLimit*f.patience
}

// enter waits until all players are in the world, or it is full. Then those who are not in give up.
func (r *run) enter(ctx context.Context) error {
	began, told := time.Now(), time.Duration(0)
	fill := filling{asked: r.f.n, asking: time.Duration(r.f.n) * time.Second / logins, patience: r.f.patience}
	for {
		st, err := r.swarm.Stats()
		if err != nil {
			return err
		}
		now := time.Since(began)
		r.entered.set(r.f.n, &st, now)
		if fill.over(now, st.Playing) {
			break
		}
		if now >= told+tellEvery {
			told = now
			fmt.Fprintln(os.Stderr, r.entered.String())
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(tick):
		}
	}
	if r.entered.In == r.f.n {
		return nil
	}
	if st, ok := r.observer.Status(); ok {
		r.entered.Full = full(&st)
	}
	return r.swarm.GiveUp()
}

func (e *entrance) set(asked int, st *bots.Stats, took time.Duration) {
	e.Asked, e.In, e.took, e.Seconds = asked, st.Playing, took, round(took.Seconds())
	e.Refusals = e.Refusals[:0]
	for _, x := range st.Refusals {
		e.Refusals = append(e.Refusals, refusal{x.Reason, x.Logins})
	}
}

// String is how many are in, and why others are not.
func (e *entrance) String() string {
	s := fmt.Sprintf("%3.0f s: %d of %d players are in the world", e.took.Seconds(), e.In, e.Asked)
	for _, x := range e.Refusals {
		s += fmt.Sprintf("; %d logins %s", x.Logins, strings.TrimPrefix(x.Reason, "client: "))
	}
	if e.Full != "" {
		s += "; " + e.Full
	}
	return s
}

// enough is an error if fewer are in than the flag -least asks for.
func (e *entrance) enough(least float64) error {
	if float64(e.In) >= least/100*float64(e.Asked) && e.In > 0 {
		return nil
	}
	if e.In == 0 {
		return errors.New("no player got in")
	}
	return fmt.Errorf("%d of %d players got in, fewer than %v %%: take -n %d, or -least 0 to measure with those who are in", e.In, e.Asked, least, e.In)
}

// full is what the managers say of a world that takes nobody more.
func full(st *status.World) string {
	var parts []string
	if st.LoginsRefused {
		parts = append(parts, "the managers refuse logins, since the world is full")
	}
	for i := range st.Apps {
		a := &st.Apps[i]
		if a.SavingStep > 0 {
			parts = append(parts, fmt.Sprintf("%s %d saves (step %d)", a.Role, a.Number, a.SavingStep))
		}
		if a.Full > 0 {
			parts = append(parts, fmt.Sprintf("%s %d waits for %s (%.0f %%)", a.Role, a.Number, a.Backlog, 100*a.Full))
		}
		if a.Role == status.RoleCellApp || a.Role == status.RoleBaseApp {
			parts = append(parts, fmt.Sprintf("%s %d has a load of %.2f", a.Role, a.Number, a.Load))
		}
	}
	return strings.Join(parts, ", ")
}
