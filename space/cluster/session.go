package cluster

import (
	"context"
	"errors"

	"github.com/cellscape/cellscape/entity/client"
	"github.com/cellscape/cellscape/entity/client/session"
)

// ErrNoLogin is returned by Connect in an OS process that does not run the LoginApp:
// a client there is started with package session.
var ErrNoLogin = errors.New("cluster: the LoginApp runs elsewhere")

// Connect lets a player log in, in the same OS process as the world, for tests and
// examples. The player talks to the world over UDP as any client does. Connect does not
// wait: events tell how it goes on, and Session.Ready waits until the player is in the world.
// Stop closes the session.
func (c *Cluster) Connect(user, password string, events client.Events) (*session.Session, error) {
	if c.loginApp == nil {
		return nil, ErrNoLogin
	}
	s, err := session.Start(context.Background(), session.Config{
		LoginApp: c.LoginAddr().String(), ServerKey: c.cfg.publicKey(), Schema: c.cfg.Schema, User: user, Password: password,
		Scripts: c.cfg.ClientScripts, Events: events, Tick: c.cfg.Tick, Listen: c.cfg.at(0), Host: c.host,
	})
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sessions = append(c.sessions, s)
	return s, nil
}
