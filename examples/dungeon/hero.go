package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/property"
)

const (
	chatEvery = 5 * time.Second
	// patience is how long a hero stays in a dungeon: long enough to fell the boss and to trade.
	patience = 8 * time.Second
	again    = time.Second
)

// Player is the base part of a Hero: it leads the hero from town to dungeon and back, and fetches its
// rewards.
type Player struct {
	*entity.Base
	Adventure, Rewarded property.Uint32
	*game               `cellscape:"local"`
	guild               property.Mailbox `cellscape:"local"`
	partner, leader     property.Mailbox `cellscape:"local"`
	dungeon             uint32           `cellscape:"local"`
	treasury            property.Mailbox `cellscape:"local"`
	home                bool             `cellscape:"local"`
}

// OnCreated puts the hero into the town, and looks for those whom everyone needs.
func (p *Player) OnCreated() {
	p.home = true
	p.check(p.CreateCell(town, somewhere(p.ID()), property.Vector3{}, nil))
	p.try(p.LookupName(guildName(p.ID()), "OnFound"))
	p.try(p.LookupName("treasury", "OnFound"))
	p.try(p.AddTimer(again, again, "OnBeat", 0))
	p.try(p.AddTimer(chatEvery, chatEvery, "OnChat", 0))
}

// OnFound hears who has a name. A name that nobody has yet is looked up again.
func (p *Player) OnFound(r entity.NameReply) {
	switch {
	case r.Holder.IsZero():
		p.try(p.LookupName(r.Name, "OnFound"))
	case r.Name == "matchmaker":
		p.check(p.Mailbox(r.Holder).Call("seek", p))
	case r.Name == "treasury":
		p.treasury = r.Holder
		p.ask()
	default:
		p.guild = r.Holder
		p.check(p.Mailbox(p.guild).Call("join", p))
	}
}

// OnBeat seeks a party when the hero is in town.
func (p *Player) OnBeat(entity.Callback) {
	if p.home && p.HasClient() && !p.closing.Load() {
		p.home = false
		p.try(p.LookupName("matchmaker", "OnFound"))
	}
}

// Enter is called by the matchmaker: the party gathers where its leader stands, to go to a dungeon. partner
// is who buys from this hero.
func (p *Player) Enter(dungeon uint32, partner, leader property.Mailbox) {
	p.dungeon, p.partner, p.leader = dungeon, partner, leader
	p.Adventure.Set(p.Adventure.Get() + 1)
	p.try(p.AddTimer(patience, 0, "OnTired", 0))
	if leader := entity.ID(leader.Entity); leader != p.ID() {
		p.try(p.TeleportCell(entity.Destination{Near: leader}, "OnGathered", 0))
	}
}

// OnGathered tells the leader that the hero stands by. One that cannot stays until it is tired, and so do
// all.
func (p *Player) OnGathered(r entity.TeleportReply) {
	if r.Err == nil {
		p.check(p.Mailbox(p.leader).Call("ready", p.dungeon, p.ID()))
	}
}

// Arrived is called by the cell part in the dungeon: the hero meets its partner.
func (p *Player) Arrived() {
	p.arrivals.Add(1)
	p.check(p.Cell().Call("meet", p.partner))
}

// OnTired takes the hero home.
func (p *Player) OnTired(entity.Callback) {
	p.try(p.TeleportCell(entity.Destination{Space: town, Position: somewhere(p.ID())}, "OnHome", 0))
}

// OnHome is at home, or tries again: a CellApp may have died.
func (p *Player) OnHome(r entity.TeleportReply) {
	if r.Err != nil {
		p.try(p.AddTimer(again, 0, "OnTired", 0))
		return
	}
	p.home = true
}

// Reward is called by the cell part when its boss has fallen. A restored cell part may say it again;
// there is one reward for each adventure.
func (p *Player) Reward() {
	if p.Rewarded.Get() < p.Adventure.Get() {
		p.Rewarded.Set(p.Adventure.Get())
		p.ask()
	}
}

// ask has the treasury hand something out.
func (p *Player) ask() {
	p.check(p.Mailbox(p.treasury).Then("OnGrant", 0).Within(time.Minute).Call("grant", p))
}

// OnGrant gives what was handed out to the cell part, exactly once, whatever becomes of its CellApp.
func (p *Player) OnGrant(r entity.Reply) {
	var gold, items uint32
	if err := r.Scan(&gold, &items); err != nil {
		p.check(err)
		return
	}
	p.check(p.Cell().Call("earn", gold, items))
}

// OnChat says something to the guild, whose members are on any BaseApp.
func (p *Player) OnChat(entity.Callback) {
	if !p.guild.IsZero() && !p.closing.Load() {
		p.check(p.Mailbox(p.guild).Call("say", fmt.Sprintf("%v has had %d adventures", p.Account(), p.Adventure.Get())))
	}
}

// Hear is called by the guild.
func (p *Player) Hear(text string) {
	if err := p.Client().Call("chat", text); !errors.Is(err, entity.ErrNoPart) {
		p.check(err)
	}
}
