package main

import (
	"time"

	"github.com/cellscape/cellscape/entity/client"
	"github.com/cellscape/cellscape/entity/client/bots"
	"github.com/cellscape/cellscape/property"
)

// player is what one bot does: it walks about, and strikes the boss that it sees.
type player struct{ *game }

// Act implements bots.Behaviour.
func (p player) Act(b *bots.Bot) {
	for r := range b.Entities() {
		if r.Def.Name == "Boss" && b.Every(500*time.Millisecond) {
			p.check(r.Cell().Call("strike"))
			return
		}
	}
	at := b.Player().Position
	to := property.Vector3{X: at.X + b.Chance.Float32()*2 - 1, Z: at.Z + b.Chance.Float32()*2 - 1}
	next, yaw := bots.Towards(at, to, b.Step(5))
	p.check(b.Go(next, property.Vector3{X: yaw}))
}

// events counts what the guilds say.
func (p player) events(*bots.Bot) client.Events {
	return client.Events{Called: func(*client.Replica, *property.Method, []property.Value) { p.heard.Add(1) }}
}
