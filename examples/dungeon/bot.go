package main

import (
	"time"

	"github.com/cellscape/cellscape/entity/client"
	"github.com/cellscape/cellscape/entity/client/bots"
	"github.com/cellscape/cellscape/property"
)

// behave is what one bot does: it walks about, and strikes the boss that it sees.
func behave(int) bots.Behaviour {
	const most = townSide / 2
	return bots.All{
		&bots.Walk{MinX: -most, MinZ: -most, MaxX: most, MaxZ: most, Speed: 5},
		&bots.Fight{Method: "strike", Type: "Boss", Reach: sight, Every: 500 * time.Millisecond},
	}
}

// events counts what the guilds say.
func (g *game) events(*bots.Bot) client.Events {
	return client.Events{Called: func(*client.Replica, *property.Method, []property.Value) { g.heard.Add(1) }}
}
