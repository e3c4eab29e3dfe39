package main

import (
	"fmt"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/property"
)

const chatEvery = 5 * time.Second

// Player is the base part of a Hero: it talks with its guild.
type Player struct {
	*entity.Base
	*game `cellscape:"local"`
}

// OnCreated puts the hero into the town.
func (p *Player) OnCreated() {
	p.check(p.CreateCell(town, somewhere(p.ID()), property.Vector3{}, nil))
	p.try(p.AddTimer(chatEvery, chatEvery, "OnChat", 0))
}

// OnChat seeks the guild, whose members are on any BaseApp.
func (p *Player) OnChat(entity.Callback) {
	if !p.closing.Load() {
		p.check(p.LookupName(guildName(p.ID()), "OnGuild", 0))
	}
}

// OnGuild says something to it.
func (p *Player) OnGuild(r entity.NameReply) {
	if !r.Holder.IsZero() {
		p.check(p.Mailbox(r.Holder).Call("say", p, fmt.Sprint("greetings from ", p.Account())))
	}
}

// Hear is called by the guild.
func (p *Player) Hear(text string) {
	if p.HasClient() {
		p.check(p.Client().Call("chat", text))
	}
}
