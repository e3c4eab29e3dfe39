package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/cellscape/cellscape/mercury/secure"
	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space/cluster"
	"github.com/cellscape/cellscape/space/cluster/status"
)

// patience is how long one step of the start may take.
const patience = 20 * time.Second

// show is one run of the arena as this OS process sees it: what the managers tell, the bots if they
// are here, the page, and the lines on the terminal.
type show struct {
	f        *flags
	log      *slog.Logger
	observer *cluster.Observer
	server   *http.Server
	begun    time.Time
	world    *cluster.Cluster // if it runs here
	key      secure.PublicKey // of the world, zero if its traffic is in the clear
	access   secure.AccessKey // to its managers, and to freeze it

	mu    sync.Mutex
	crowd *crowd // once the bots are here
}

// newShow begins a run. It keeps only the parts of the world's key that players and operators may know.
func newShow(f *flags, log *slog.Logger, key secure.PrivateKey) *show {
	s := &show{f: f, log: log, begun: time.Now()}
	if !key.IsZero() {
		s.key, s.access = key.Public(), key.ClusterKey().Operator()
	}
	return s
}

// open begins to observe, and serves the page.
func (s *show) open(manager netip.AddrPort) (err error) {
	listen := manager.Addr().String()
	watch := cluster.ObserverConfig{Manager: manager, ServerKey: s.key, Access: s.access, Listen: listen, Log: s.log}
	if s.observer, err = cluster.Observe(context.Background(), watch); err != nil {
		return err
	}
	if s.f.http == "" {
		return nil
	}
	l, err := listenHTTP(s.f)
	if err != nil {
		return fmt.Errorf("the page: %w; give another address with -http, or none with -http \"\"", err)
	}
	s.server = &http.Server{Handler: s.page(), ReadHeaderTimeout: 5 * time.Second}
	go func() {
		if err := s.server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			s.log.Error("the page is gone", "error", err)
		}
	}()
	fmt.Fprintf(os.Stderr, "live page: http://%v/\n", l.Addr())
	if os.Getenv(keyVariable) == "" && !s.access.IsZero() { // a key of this run alone
		fmt.Fprintf(os.Stderr, "its values are set with -H 'Authorization: Bearer %s'\n", s.access.Hex())
	}
	return nil
}

func (s *show) close() error {
	if s.server != nil {
		_ = s.server.Close()
	}
	if s.observer != nil {
		return s.observer.Close()
	}
	return nil
}

// bots returns the crowd, nil if it is elsewhere.
func (s *show) bots() *crowd {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.crowd
}

// watch prints a line a second until the context ends, or a time has passed.
func (s *show) watch(ctx context.Context, d time.Duration) error {
	limit, cancel := ctx, context.CancelFunc(func() {})
	if d > 0 {
		limit, cancel = context.WithTimeout(ctx, d)
	}
	defer cancel()
	for {
		st, err := s.observer.Next(limit)
		if err != nil {
			if limit.Err() != nil {
				return nil // that is how it ends
			}
			return err
		}
		fmt.Fprintln(os.Stderr, s.line(&st))
	}
}

// line is one status line.
func (s *show) line(st *status.World) string {
	var loads []string
	for i := range st.Spaces {
		for _, c := range st.Spaces[i].Cells {
			loads = append(loads, fmt.Sprintf("%.2f", c.Load))
		}
	}
	late := 0.0
	if st.Ticks > 0 {
		late = 100 * float64(st.Late) / float64(st.Ticks)
	}
	behind := ""
	for i := range st.Apps {
		if a := &st.Apps[i]; a.Full > 0 {
			behind += fmt.Sprintf("  %s %d waits for %s: %.0f %%", a.Role, a.Number, a.Backlog, 100*a.Full)
		}
		if a := &st.Apps[i]; a.SavingStep > 0 {
			behind += fmt.Sprintf("  %s %d saves: step %d", a.Role, a.Number, a.SavingStep)
		}
	}
	return fmt.Sprintf("%4.0f s  clients %d  cells %d  load %s  reals %d  ghosts %d  lines moved %d  migrations %d  late %.2f %%  tick p99 %v",
		time.Since(s.begun).Seconds(), st.Clients, st.Cells, strings.Join(loads, " "), st.Reals, st.Ghosts,
		st.LinesMoved, st.Counters.Migrations, late, st.TickTimes.Quantile(0.99).Round(100*time.Microsecond)) + behind
}

// findLogin waits until the managers know a LoginApp and the world is whole.
func (s *show) findLogin(ctx context.Context) (netip.AddrPort, error) {
	limit, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	doors, err := s.observer.Ready(limit)
	if err != nil {
		return netip.AddrPort{}, fmt.Errorf("%w; check -manager (%s) and $%s", err, s.f.manager, keyVariable)
	}
	for _, door := range doors {
		if at, ok := strings.CutPrefix(door, "udp://"); ok {
			return netip.ParseAddrPort(at)
		}
	}
	return netip.AddrPort{}, fmt.Errorf("bots come over UDP, and the LoginApp's doors are %v", doors)
}

// dance lets the bots in, dances until it is time, and judges the world.
func (s *show) dance(ctx context.Context, schema *property.Schema, login netip.AddrPort) error {
	c, err := startCrowd(ctx, s.f, schema, login, s.key, s.log)
	if err != nil {
		return err
	}
	s.mu.Lock()
	s.crowd = c
	s.mu.Unlock()
	limit, cancel := context.WithCancel(ctx)
	defer cancel()
	if s.f.duration > 0 {
		limit, cancel = context.WithTimeout(ctx, s.f.duration)
		defer cancel()
	}
	m, err := s.measure(limit, c)
	if err != nil {
		return errors.Join(err, c.leave())
	}
	if errors.Is(context.Cause(ctx), errTerminated) {
		return nil // nobody is asked for a verdict; the world tells the bots that it ends
	}
	v, err := s.judge(c, m)
	if err := errors.Join(err, c.leave()); err != nil {
		return err
	}
	return v.print(s.f.json)
}
