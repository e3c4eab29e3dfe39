package main

import (
	"fmt"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/property"
)

// guilds is how many there are. A hero's id decides which is its own.
const guilds = 3

func guildName(hero entity.ID) string { return fmt.Sprint("guild ", uint64(hero)%guilds) }

// Guild is a base that everybody finds by its name, from any BaseApp.
type Guild struct {
	*entity.Base
	Title   property.String
	Members property.Map[uint64, property.Mailbox]
	*game   `cellscape:"local"`
}

// OnCreated takes its name.
func (g *Guild) OnCreated() { g.check(g.RegisterName(g.Title.Get(), "OnName", 0)) }

// Say is called by a hero, who is a member from then on: all members hear it.
func (g *Guild) Say(hero property.Mailbox, text string) {
	g.check(g.Members.Set(hero.Entity, hero))
	for _, m := range g.Members.All() {
		g.check(g.Mailbox(m).Call("hear", text))
		g.chats.Add(1)
	}
}
