package main

import (
	"fmt"
	"time"

	"github.com/cellscape/cellscape/balance"
	"github.com/cellscape/cellscape/bsp"
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/client"
	"github.com/cellscape/cellscape/entity/client/bots"
	"github.com/cellscape/cellscape/examples/arena/game"
	"github.com/cellscape/cellscape/property"
)

const (
	// A bot says something every ten seconds on average, and so on.
	sayEvery     = 10 * time.Second
	wearEvery    = 15 * time.Second
	waveEvery    = 20 * time.Second
	collectEvery = 30 * time.Second
	// waveTo is the distance, in metres, up to which it waves to others: they will still be in
	// sight when the server hears of it.
	waveTo = game.AoIRadius / 2
)

// dancer is what one bot does and has found; it belongs to the goroutine of its bot.
type dancer struct {
	crowd   *crowd
	dance   *dance
	asked   asked
	audited bool
	diff    []string // between what it holds and what it should
	home    bsp.Rect // of the cell that it is on, as far as the bot knows
}

// dot is an entity on the page.
type dot struct {
	id    entity.ID
	guard bool
	x, z  float32
	hat   uint8
}

// Act implements bots.Behaviour.
func (d *dancer) Act(b *bots.Bot) {
	if d.crowd.resting.Load() {
		return
	}
	d.move(b)
	own := b.Player()
	if b.Every(sayEvery) {
		d.asked.said++
		d.call(b, own.Cell().Call("say", fmt.Sprintf("this is my word number %d", d.asked.said)))
	}
	if b.Every(wearEvery) {
		d.asked.wore++
		d.call(b, own.Cell().Call("wear", b.Chance.Uint64N(8), b.Chance.Uint64N(8)))
	}
	if b.Every(collectEvery) {
		d.asked.collected++
		d.call(b, own.Base().Call("collect"))
	}
	if b.Every(waveEvery) {
		for other := range b.Entities() {
			if other.Def.Name == "Avatar" && property.Distance(own.Position, other.Position) < waveTo {
				d.asked.waved++
				d.call(b, other.Cell().Call("wave"))
				break
			}
		}
	}
}

func (d *dancer) move(b *bots.Bot) {
	at, to := b.Player().Position, d.dance.target(b.Now)
	if at == to {
		return
	}
	next, yaw := bots.Towards(at, to, b.Step(game.RunSpeed))
	d.call(b, b.Go(next, property.Vector3{X: yaw}))
	if d.crosses(next) {
		b.Apart(crossing)
	}
}

// crossing is for how long a bot's moves count as those of one who crosses a line.
const crossing = time.Second

// crosses reports whether the bot goes over to another cell: it leaves the band of the one that it was
// on. Bots look that up in the status, which is a second old at most.
func (d *dancer) crosses(at property.Vector3) bool {
	cells, x, z := d.crowd.cells.Load(), float64(at.X), float64(at.Z)
	if cells == nil || d.home.Keeps(x, z, balance.DefaultBand) {
		return false
	}
	for _, c := range *cells {
		if c.Contains(x, z) {
			was := d.home
			d.home = c
			return was != bsp.Rect{} && len(*cells) > 1
		}
	}
	return false
}

func (d *dancer) call(b *bots.Bot, err error) {
	if err != nil {
		d.crowd.log.Error("a bot cannot do what it wants", "bot", b.Number, "error", err)
		d.crowd.errors.Add(1)
	}
}

func (d *dancer) hear(diff []string) { d.audited, d.diff = true, diff }

func see(r *client.Replica) dot {
	d := dot{id: r.ID, guard: r.Def.Name == "Guard", x: r.Position.X, z: r.Position.Z}
	if hat := r.Def.Property("hat"); hat != nil {
		d.hat = uint8(r.Props.Get(hat.Index).Uint())
	}
	return d
}
