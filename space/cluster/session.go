package cluster

import (
	"errors"

	"github.com/cellscape/cellscape/entity/client"
	"github.com/cellscape/cellscape/mercury/host"
	"github.com/cellscape/cellscape/mercury/secure"
)

// ErrNoLogin is returned by Connect in an OS process that does not run the LoginApp:
// a client there is started with package host.
var ErrNoLogin = errors.New("cluster: the LoginApp runs elsewhere")

// Session is a client in the same OS process as the world, for tests and examples.
// It talks to the world over UDP as any client does.
type Session struct {
	client  *client.Client
	process *host.Process
}

// Connect lets a player log in. It does not wait: events tell how it goes on. They
// are called on the session's goroutine.
func (c *Cluster) Connect(user, password string, events client.Events) (*Session, error) {
	if c.loginApp == nil {
		return nil, ErrNoLogin
	}
	s := &Session{}
	var err error
	s.process, err = c.host.Start("client "+user, c.cfg.at(0), func(e host.Env) (_ host.App, err error) {
		s.client, err = client.New(client.Config{
			Transport: e.Transport, Schema: c.cfg.Schema, LoginApp: c.LoginAddr(), User: user, Password: password,
			Tickets: e.Guard, Classes: c.cfg.ClientClasses, Events: events, Log: e.Log, Tick: c.cfg.Tick,
		})
		return s.client, err
	}, host.Shared(), sealOption(secure.Config{ServerKey: c.cfg.publicKey()}))
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sessions = append(c.sessions, s)
	return s, nil
}

// Do runs f on the session's goroutine and waits for it. It is not called by events,
// which run there anyway. After Close it returns an error with host.ErrStopped in
// its chain.
func (s *Session) Do(f func(*client.Client)) error {
	return s.process.Do(func(host.App) { f(s.client) })
}

// Close drops the connection in order. The player's entity then leaves the world,
// unless its script keeps it.
func (s *Session) Close() error { return s.process.Stop() }
