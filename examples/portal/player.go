package main

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/cellscape/cellscape/entity/client"
	"github.com/cellscape/cellscape/entity/client/session"
	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space/cluster"
)

const (
	frame  = 100 * time.Millisecond
	stride = 1.5 // metres a frame
)

// player is a client, and what its player has on the screen. All but the session belongs to the client's
// goroutine.
type player struct {
	*session.Session
	name   string
	to     property.Vector3           // where it walks
	screen map[string]*client.Replica // by name
	moves  int                        // of the dragon, as seen
	beside *client.Replica            // who came along through the portal
	lost   bool                       // that one has left the screen
	there  bool                       // all who are near the new place are known
	say    func(format string, args ...any)
}

// join logs a player in.
func join(ctx context.Context, world *cluster.Cluster, name string, out *log.Logger) (p *player, err error) {
	p = &player{name: name, screen: map[string]*client.Replica{}}
	p.say = func(format string, args ...any) { out.Printf(name+" "+format, args...) }
	p.Session, err = world.Connect(name, "password", client.Events{
		Entered: func(r *client.Replica) {
			p.screen[nameOf(r)] = r
			p.say("sees %s at x=%.0f", nameOf(r), r.Position.X)
		},
		Left: func(r *client.Replica) {
			delete(p.screen, nameOf(r))
			p.lost = p.lost || r == p.beside
			p.say("no longer sees %s", nameOf(r))
		},
		Moved: func(r *client.Replica) {
			if nameOf(r) == "the dragon" {
				p.moves++
			}
		},
		Transited: func(own *client.Replica, offset property.Vector3, with []*client.Replica) {
			p.to = own.Position // a game maps its camera, too
			for _, p.beside = range with {
				p.say("goes through to x=%.0f, with %s at x=%.0f", own.Position.X, nameOf(p.beside), p.beside.Position.X)
			}
		},
		Arrived: func(*client.Replica) { p.there = true },
	})
	if err != nil {
		return nil, err
	}
	return p, p.Ready(ctx)
}

func nameOf(r *client.Replica) string { return r.Props.Get(r.Def.Property("name").Index).Str() }

// walk sets where to go.
func (p *player) walk(x, z float32) error {
	return p.Do(func(*client.Client) error {
		p.to = property.Vector3{X: x, Z: z}
		return nil
	})
}

// step walks on.
func (p *player) step(c *client.Client) {
	at := c.Player().Position
	at.X += min(max(p.to.X-at.X, -stride), stride)
	at.Z += min(max(p.to.Z-at.Z, -stride), stride)
	_ = c.SetPosition(at, property.Vector3{}) // on the way into the other space it is refused
}

// stands reports whether the player has come to where it walks.
func (p *player) stands(c *client.Client) bool { return c.Player().Position == p.to }

// seesDragon reports whether the dragon is on the screen, in its lair or so many metres before it.
func (p *player) seesDragon(before float32) bool {
	r := p.screen["the dragon"]
	return r != nil && r.Position.X+before >= lairMin && r.Position.X+before <= lairMax
}

// party is all players, who walk at the same time.
type party []*player

// until walks on until something has come true for all.
func (all party) until(ctx context.Context, what string, done func(p *player, c *client.Client) bool) error {
	for waits := len(all); waits > 0; {
		waits = len(all)
		for _, p := range all {
			if err := p.Do(func(c *client.Client) error {
				if p.step(c); done(p, c) {
					waits--
				}
				return nil
			}); err != nil {
				return err
			}
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s: %d players do not: %w", what, waits, ctx.Err())
		case <-time.After(frame):
		}
	}
	for _, p := range all {
		p.say("%s", what)
	}
	return nil
}
