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
	greeted      map[entity.ID]bool // of those in view
	moves, heard int
}

// events are what the visitor is told beside what its scripts are.
func (v *visitor) events() client.Events {
	return client.Events{
		Moved:       func(*client.Replica) { v.moves++ },
		Interrupted: func(why error) { fmt.Fprintln(v.out, "the connection is lost:", why) },
		Resumed:     func() { fmt.Fprintln(v.out, "the connection is back") },
	}
}

// hear prints what comes from somebody, nil for one out of view.
func (v *visitor) hear(from *client.Replica, what string) {
	v.heard++
	who := "somebody out of view"
	if from != nil {
		who = fmt.Sprint(from.Script())
	}
	fmt.Fprintf(v.out, "    %s: %s\n", who, what)
}

// play acts once a tick until ctx or the session ends.
func (v *visitor) play(ctx context.Context, player *session.Session) error {
	ticks := time.NewTicker(client.DefaultTick)
	defer ticks.Stop()
	for n := 1; ; n++ {
		err := player.Do(func(c *client.Client) error {
			err := v.act(c)
			if n%10 == 0 && c.InWorld() {
				v.look(c, player.Now())
			}
			return err
		})
		if err != nil {
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

// around are those in view, the nearest first.
func around(c *client.Client) []*client.Replica {
	at := c.Player().Position
	return slices.SortedFunc(c.Entities(), func(a, b *client.Replica) int {
		return cmp.Compare(property.Distance(at, a.Position), property.Distance(at, b.Position))
	})
}

// act greets whom the visitor has reached, and goes on to the nearest whom it has not greeted, or
// to the centre of the arena.
func (v *visitor) act(c *client.Client) error {
	if !c.InWorld() || !c.Controls() {
		return nil // its entity is on its way, or led by the server
	}
	own, to := c.Player(), property.Vector3{}
	for _, r := range around(c) {
		if v.greeted[r.ID] {
			continue
		}
		if property.Distance(own.Position, r.Position) > reach {
			to = r.Position
			break
		}
		v.greeted[r.ID] = true
		if err := own.Cell().Call("say", "good day, "+fmt.Sprint(r.Script())); err != nil {
			return err
		}
		if r.Def.Name == "Avatar" {
			if err := r.Cell().Call("wave"); err != nil {
				return err
			}
		}
	}
	next, yaw := bots.Towards(own.Position, to, float32(pace*client.DefaultTick.Seconds()))
	return c.SetPosition(next, property.Vector3{X: yaw})
}

// look prints who is around, and how well the visitor knows where.
func (v *visitor) look(c *client.Client, now time.Duration) {
	own, near := c.Player(), around(c)
	fmt.Fprintf(v.out, "at %.0f, %.0f: %d in view, %d moves seen, %d things heard\n", own.Position.X, own.Position.Z, len(near), v.moves, v.heard)
	for _, r := range near[:min(listed, len(near))] {
		drawn, _ := r.Shown(now)
		fmt.Fprintf(v.out, "  %-12v %5.1f m away, drawn %.1f m behind a place %v old\n",
			r.Script(), property.Distance(own.Position, drawn), property.Distance(r.Position, drawn), r.Age(now).Round(time.Millisecond))
	}
}

// sum prints what the session has counted.
func (v *visitor) sum(c *client.Client) error {
	s := c.Stats()
	_, err := fmt.Fprintf(v.out, "received %d bytes: %d bundles, and %d packets with %d places, which replaced others of up to %v\n"+
		"sent %d bytes: %d moves, %d calls; forced back %d times, interrupted %d times\n",
		s.BytesDown, s.Bundles, s.Packets, s.Places, s.Ages.Worst, s.BytesUp, s.MovesSent, s.CallsSent, s.Forced, s.Interrupted)
	return err
}
