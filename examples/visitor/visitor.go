package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/client"
	"github.com/cellscape/cellscape/entity/client/bots"
	"github.com/cellscape/cellscape/entity/client/session"
	"github.com/cellscape/cellscape/property"
)

const (
	pace   = 20 // metres a second; the arena allows 28
	reach  = 8  // metres from which the visitor greets
	listed = 4  // how many of those around are printed
)

// visitor is what the program knows. It belongs to the goroutine of its session.
type visitor struct {
	out          io.Writer
	tracks       map[entity.ID]*track // of all in view
	moves, heard int
}

// events are what the visitor is told beside what its scripts are.
func (v *visitor) events() client.Events {
	return client.Events{
		Left:        func(r *client.Replica) { delete(v.tracks, r.ID) },
		Reset:       func() { clear(v.tracks) },
		Moved:       func(*client.Replica) { v.moves++ },
		Interrupted: func(why error) { fmt.Fprintln(v.out, "the connection is lost:", why) },
		Resumed:     func() { fmt.Fprintln(v.out, "the connection is back") },
	}
}

// follow gives each entity that comes into view a track, which is its filter.
func (v *visitor) follow(r *client.Replica) client.Filter {
	t := &track{of: r}
	v.tracks[r.ID] = t
	return t
}

// hear prints what comes from somebody.
func (v *visitor) hear(id entity.ID, what string) {
	v.heard++
	who := "somebody out of view"
	if t := v.tracks[id]; t != nil {
		who = fmt.Sprint(t.of.Script())
	}
	fmt.Fprintf(v.out, "    %s: %s\n", who, what)
}

// play acts once a tick until ctx or the session ends.
func (v *visitor) play(ctx context.Context, player *session.Session) error {
	ticks := time.NewTicker(client.DefaultTick)
	defer ticks.Stop()
	for n := 1; ; n++ {
		var failed error
		err := player.Do(func(c *client.Client) {
			if failed = v.act(c); n%10 == 0 && c.InWorld() {
				v.look(c, player.Now())
			}
		})
		if err := errors.Join(err, failed); err != nil {
			return err
		}
		select {
		case <-ticks.C:
		case <-player.Done():
			return errors.Join(player.Err(), player.Do(v.sum))
		case <-ctx.Done():
			return player.Do(v.sum)
		}
	}
}

// around are the tracks of those in view, the nearest first.
func (v *visitor) around(c *client.Client) (near []*track) {
	at := c.Player().Position
	for r := range c.Entities() {
		near = append(near, v.tracks[r.ID])
	}
	slices.SortFunc(near, func(a, b *track) int {
		return cmp.Compare(property.Distance(at, a.of.Position), property.Distance(at, b.of.Position))
	})
	return near
}

// act greets whom the visitor has reached, and goes on to the nearest whom it has not greeted, or
// to the centre of the arena.
func (v *visitor) act(c *client.Client) error {
	if !c.InWorld() || !c.Controls() {
		return nil // its entity is on its way, or led by the server
	}
	own, to := c.Player(), property.Vector3{}
	for _, t := range v.around(c) {
		if t.greeted {
			continue
		}
		if property.Distance(own.Position, t.of.Position) > reach {
			to = t.of.Position
			break
		}
		t.greeted = true
		if err := own.Cell().Call("say", "good day, "+fmt.Sprint(t.of.Script())); err != nil {
			return err
		}
		if t.of.Def.Name == "Avatar" {
			if err := t.of.Cell().Call("wave"); err != nil {
				return err
			}
		}
	}
	next, yaw := bots.Towards(own.Position, to, float32(pace*client.DefaultTick.Seconds()))
	return c.SetPosition(next, property.Vector3{X: yaw})
}

// look prints who is around, and how well the visitor knows where.
func (v *visitor) look(c *client.Client, now time.Duration) {
	own, near := c.Player(), v.around(c)
	fmt.Fprintf(v.out, "at %.0f, %.0f: %d in view, %d moves seen, %d things heard\n", own.Position.X, own.Position.Z, len(near), v.moves, v.heard)
	for _, t := range near[:min(listed, len(near))] {
		drawn, _ := t.of.Shown(now)
		age := "stands"
		if t.moves {
			age = fmt.Sprintf("moves, told %v ago", (now - t.told).Round(time.Millisecond))
		}
		fmt.Fprintf(v.out, "  %-12v %5.1f m away, drawn %.1f m behind; %s\n", t.of.Script(), property.Distance(own.Position, drawn), property.Distance(t.of.Position, drawn), age)
	}
}

// sum prints what the session has counted.
func (v *visitor) sum(c *client.Client) {
	s := c.Stats()
	fmt.Fprintf(v.out, "received %d bytes: %d bundles, and %d packets with %d places, which replaced others of up to %v\n", s.BytesDown, s.Bundles, s.Packets, s.Places, s.Ages.Worst)
	fmt.Fprintf(v.out, "sent %d bytes: %d moves, %d calls; forced back %d times, interrupted %d times\n", s.BytesUp, s.MovesSent, s.CallsSent, s.Forced, s.Interrupted)
}
