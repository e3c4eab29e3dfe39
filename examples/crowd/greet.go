package main

import (
	"slices"
	"sync"
	"time"

	"github.com/cellscape/cellscape/entity/client"
	"github.com/cellscape/cellscape/entity/client/bots"
	"github.com/cellscape/cellscape/property"
)

// greetings measures how long a reliable call takes from one client to another: a player calls a method
// of the cell part of someone in view, which calls a method of that one's client. All clients are in this
// process, so that one clock tells.
//
//	client ── BaseApp ── CellApp ┐
//	client ── BaseApp ── CellApp ┘ the cell part of who is greeted
type greetings struct {
	epoch time.Time

	mu     sync.Mutex // groups of bots run at the same time
	counts bool
	took   []time.Duration
}

// now is what a greeting carries.
func (g *greetings) now() time.Duration { return time.Since(g.epoch) }

// measure begins to keep what greetings take, or ends it.
func (g *greetings) measure(on bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.counts = on
}

// events hear that a bot was greeted.
func (g *greetings) events(*bots.Bot) client.Events {
	return client.Events{Called: func(_ *client.Replica, m *property.Method, args []property.Value) {
		if m.Name == "greeted" {
			g.heard(g.now() - time.Duration(args[0].Uint()))
		}
	}}
}

func (g *greetings) heard(after time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.counts {
		g.took = append(g.took, after)
	}
}

// below is the time that a share q of the greetings took at the most, and how many there were.
func (g *greetings) below(q float64) (took time.Duration, of int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.took) == 0 {
		return 0, 0
	}
	slices.Sort(g.took)
	return g.took[min(int(q*float64(len(g.took))), len(g.took)-1)], len(g.took)
}

// greet is the behaviour: now and then someone in view is greeted.
type greet struct {
	*greetings
	every time.Duration
}

// Act implements bots.Behaviour.
func (g greet) Act(b *bots.Bot) {
	if b.Len() == 0 || !b.Every(g.every) {
		return
	}
	left := b.Chance.IntN(b.Len())
	for r := range b.Entities() {
		if left--; left < 0 {
			b.Try(r.Cell().Call("greet", uint64(g.now())))
			return
		}
	}
}
