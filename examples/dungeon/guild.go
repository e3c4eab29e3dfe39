package main

import (
	"fmt"
	"slices"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/property"
)

// guilds is how many there are. A hero's id decides which is its own.
const guilds = 3

func guildName(hero entity.ID) string { return fmt.Sprint("guild ", uint64(hero)%guilds) }

// Guild is a base that everybody finds by its name, and lives on any BaseApp.
type Guild struct {
	*entity.Base
	Title   property.String
	Members property.Slice[property.Mailbox]
	*game   `cellscape:"local"`
}

// OnCreated takes its name.
func (g *Guild) OnCreated() { g.try(g.RegisterName(g.Title.Get(), "OnName")) }

// OnName hears whether it has the name.
func (g *Guild) OnName(r entity.NameReply) { g.hear(r) }

// Join is called by a hero.
func (g *Guild) Join(hero property.Mailbox) {
	if !slices.ContainsFunc(g.Members.Values(), func(m property.Mailbox) bool { return m.Entity == hero.Entity }) {
		g.check(g.Members.Append(hero))
	}
}

// Say is called by a hero: all members hear it.
func (g *Guild) Say(text string) {
	for _, m := range g.Members.All() {
		g.check(g.Mailbox(m).Call("hear", text))
		g.chats.Add(1)
	}
}
