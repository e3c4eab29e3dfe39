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

// Login logs a player in, with the events of one client.Events or none, and waits until the player
// is in the world. A player who does not come in fails the test.
func (w *World) Login(user string, events ...client.Events) *Player {
	w.t.Helper()
	cfg := client.Config{User: user, Password: "password"}
	if len(events) > 1 {
		w.t.Fatalf("spacetest: %s logs in with %d client.Events: give one, which has a field for each", user, len(events))
	}
	if len(events) == 1 {
		cfg.Events = events[0]
	}
	p := w.Connect(cfg)
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

// Connect logs a player in without waiting, as cfg says. Its Transport is the world's; Schema,
// LoginApp, Scripts and Log are, too, where it leaves them out.
func (w *World) Connect(cfg client.Config) *Player {
	w.t.Helper()
	game := w.roles.Config()
	if cfg.Schema == nil {
		cfg.Schema = game.Schema
	}
	if cfg.Scripts == nil {
		cfg.Scripts = game.ClientScripts
	}
	if !cfg.LoginApp.IsValid() {
		cfg.LoginApp = w.login.at
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
