package spacetest

import (
	"github.com/cellscape/cellscape/entity/client"
)

// Player is a client, with the program that it runs in.
type Player struct {
	*client.Client
	// App is the program: it can be killed, paused and cut off.
	App *App
}

// Login logs a player in, with any events, and waits until the player is in the world. A player who
// does not come in fails the test.
func (w *World) Login(user string, events ...client.Events) *Player {
	w.t.Helper()
	p := w.Connect(client.Config{User: user, Password: "password"}, events...)
	still := w.wait(func() string {
		if p.InWorld() || p.Err() != nil {
			return ""
		}
		return p.State().String()
	})
	if !p.InWorld() {
		w.t.Fatalf("spacetest: %s is not in the world after %v: %s: %v", user, w.cfg.Patience, still, p.Err())
	}
	return p
}

// Connect logs a player in without waiting, as cfg says; what it leaves out is filled in.
func (w *World) Connect(cfg client.Config, events ...client.Events) *Player {
	w.t.Helper()
	game := w.roles.Config()
	cfg.Schema, cfg.LoginApp = game.Schema, w.login.at
	if cfg.Scripts == nil {
		cfg.Scripts = game.ClientScripts
	}
	if len(events) > 0 {
		cfg.Events = events[0]
	}
	p := new(Player)
	p.App = w.add("player "+cfg.User, func(a *App) (process, error) {
		cfg.Transport = a.ep
		if cfg.Log == nil {
			cfg.Log = a.log
		}
		c, err := client.New(cfg)
		p.Client = c
		return c, err
	})
	return p
}
