package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/cellscape/cellscape/entity/client"
	"github.com/cellscape/cellscape/mercury/host"
)

// Session is a player in a world.
type Session struct {
	process  *host.Process
	host     *host.Host
	own      bool // host is not Config.Host
	progress *progress
}

// Dial logs a player in and returns when the player's entity is in the world, or with the reason
// why it is not. An entity that gets no cell part never is; use Start for those. The session
// outlives ctx.
func Dial(ctx context.Context, cfg Config) (*Session, error) {
	s, err := Start(ctx, cfg)
	if err != nil {
		return nil, err
	}
	if err := s.Ready(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// Start begins to log a player in. It waits only until the name of the LoginApp is looked up. The
// session outlives ctx. Its error lists all faults of cfg.
func Start(ctx context.Context, cfg Config) (*Session, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	at, err := parseAddress(cfg.LoginApp)
	if err != nil {
		return nil, err
	}
	from, to, err := at.route(ctx)
	switch {
	case err != nil:
		return nil, err
	case cfg.inClear(&at, to):
		return nil, fmt.Errorf("session: nothing seals %s on its way to %v: give Config.ServerKey, dial wss, quic or tls, or set Config.Clear if everything may be read", at.scheme, to)
	}
	s := &Session{progress: &progress{entered: make(chan struct{}), over: make(chan struct{})}}
	h := cfg.Host
	if h == nil {
		if h, err = host.New(host.Config{Log: cfg.Log}); err != nil {
			return nil, err
		}
		s.own = true
	}
	s.host = h
	carrier, named, opts, err := cfg.carrier(&at, from, to)
	if err == nil {
		opts = slices.Concat([]host.Option{host.Shared(), host.Carriers(carrier)}, opts)
		s.process, err = h.Start("client "+cfg.User, "", func(e host.Env) (host.App, error) {
			return newPlayer(cfg.client(e, to, named), cfg.Retry, s.progress)
		}, append(opts, cfg.Options...)...)
	}
	if err != nil && s.own {
		err = errors.Join(err, h.Close())
	}
	if err != nil {
		return nil, err
	}
	go func() { // whoever waits for Done hears of a Host that its owner has closed, too
		<-s.process.Done()
		s.progress.close()
	}()
	return s, nil
}

// Ready waits until the player has entered the world, the session is over, or ctx ends. Its error
// is Err's, or says what the player waits for and wraps the context's.
func (s *Session) Ready(ctx context.Context) error {
	select {
	case <-s.progress.entered:
	case <-s.progress.over:
	case <-ctx.Done():
		if what, refusal := s.progress.lacks(); what != "" && s.Err() == nil {
			return errors.Join(fmt.Errorf("session: %s: %w", what, context.Cause(ctx)), refusal)
		}
	}
	return s.Err() // it may have ended since
}

// Do runs f on the session's goroutine, waits for it, and returns its error. Do not call it in events,
// which run there anyway. f must not keep the client. After Close f does not run, and the error wraps
// host.ErrStopped.
func (s *Session) Do(f func(*client.Client) error) error {
	var failed error
	err := s.process.Do(func(a host.App) {
		p := a.(*player)
		failed = f(p.Client)
		p.look()
	})
	return cmp.Or(err, failed)
}

// Now is the time by the session's clock, which filters count by: with it client.Replica.Shown says
// where to draw an entity in this frame. Call it from anywhere.
func (s *Session) Now() time.Duration { return s.host.Clock() }

// Done returns a channel that is closed when the session is over: at the event Closed, or when Close or
// the end of its Host has ended it. Err then says why.
func (s *Session) Done() <-chan struct{} { return s.progress.over }

// Err returns why the session is over: the error of the event Closed, or client.ErrEnded after
// Close. It is nil while the session goes on.
func (s *Session) Err() error {
	if err := s.progress.reason(); err != nil {
		return err
	}
	select {
	case <-s.process.Done():
	default:
		return nil
	}
	if err := s.process.Err(); err != nil {
		return err
	}
	return client.ErrEnded
}

// Close ends the connection properly and frees what the session holds. The player's entity then
// leaves the world, unless its script keeps it.
func (s *Session) Close() error {
	if s.own {
		return s.host.Close()
	}
	return s.process.Stop()
}
