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
// rewards. What it must remember is in properties, so that it goes on where it was when its BaseApp dies.
//
// A grant has a number. The right to it is in a copy of this base before the treasury hears of it. So a
// base that was restored asks again, and both the treasury and the cell part know the number.
type Player struct {
	*entity.Base
	Adventure, Rewarded              property.Uint32
	Due, Got, Dungeon                property.Uint32
	Home                             property.Bool
	Guild, Treasury, Partner, Leader property.MailboxField
	*game                            `cellscape:"local"`
	safe                             uint32 `cellscape:"local"` // so many of those due are in a copy
}

// OnCreated puts the hero into the town, and looks for those whom everyone needs.
func (p *Player) OnCreated() {
	p.Home.Set(true)
	p.check(p.CreateCell(town, somewhere(p.ID()), property.Vector3{}, nil))
	p.try(p.LookupName(guildName(p.ID()), "OnFound"))
	p.try(p.LookupName("treasury", "OnFound"))
	p.try(p.AddTimer(again, again, "OnBeat", 0))
	p.try(p.AddTimer(chatEvery, chatEvery, "OnChat", 0))
}

// OnRestored goes on after the death of the BaseApp: perhaps the last grant has not come.
func (p *Player) OnRestored() {
	p.safe = p.Due.Get()
	p.ask()
}

// OnFound hears who has a name. A name that nobody has yet is looked up again.
func (p *Player) OnFound(r entity.NameReply) {
	switch {
	case r.Holder.IsZero():
		p.try(p.LookupName(r.Name, "OnFound"))
	case r.Name == "matchmaker":
		p.check(p.Mailbox(r.Holder).Call("seek", p))
	case r.Name == "treasury":
		p.check(p.Treasury.Set(r.Holder))
		if p.Due.Get() == 0 {
			p.deserve()
		}
	default:
		p.check(p.Guild.Set(r.Holder))
		p.check(p.Mailbox(r.Holder).Call("join", p))
	}
}

// OnBeat seeks a party when the hero is in town.
func (p *Player) OnBeat(entity.Callback) {
	if p.Home.Get() && p.HasClient() && !p.closing.Load() {
		p.try(p.LookupName("matchmaker", "OnFound"))
	}
}

// Enter is called by the matchmaker: the party gathers where its leader stands, to go to a dungeon. partner
// is who buys from this hero.
func (p *Player) Enter(dungeon uint32, partner, leader property.Mailbox) {
	if !p.Home.Get() {
		return
	}
	p.Home.Set(false)
	p.Dungeon.Set(dungeon)
	p.check(errors.Join(p.Partner.Set(partner), p.Leader.Set(leader)))
	p.Adventure.Set(p.Adventure.Get() + 1)
	p.try(p.AddTimer(patience, 0, "OnTired", 0))
	if leader := entity.ID(leader.Entity); leader != p.ID() {
		p.try(p.TeleportCell(entity.Destination{Near: leader}, "OnGathered", 0))
	}
}

// OnGathered tells the leader that the hero stands by. One that cannot stays until it is tired, and so do
// all.
func (p *Player) OnGathered(r entity.TeleportReply) {
	if leader := p.Leader.Get(); r.Err == nil && !leader.IsZero() {
		p.check(p.Mailbox(leader).Call("ready", p.Dungeon.Get(), p.ID()))
	}
}

// Arrived is called by the cell part in the dungeon: the hero meets its partner. To a restored base it may
// come again before the Enter does.
func (p *Player) Arrived() {
	p.arrivals.Add(1)
	if partner := p.Partner.Get(); !partner.IsZero() {
		p.check(p.Cell().Call("meet", partner))
	}
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
	p.Home.Set(true)
}

// Reward is called by the cell part when its boss has fallen. A restored cell part may say it again;
// there is one reward for each adventure.
func (p *Player) Reward() {
	if p.Rewarded.Get() < p.Adventure.Get() {
		p.Rewarded.Set(p.Adventure.Get())
		p.deserve()
	}
}

// deserve gives the hero a right to one more grant.
func (p *Player) deserve() {
	p.Due.Set(p.Due.Get() + 1)
	p.check(p.Backup("OnSafe", int64(p.Due.Get())))
}

// OnSafe is called when others have a copy that says so.
func (p *Player) OnSafe(c entity.Callback) {
	p.safe = max(p.safe, uint32(c.User))
	p.ask()
}

// ask has the treasury hand out the next grant.
func (p *Player) ask() {
	if n := p.Got.Get() + 1; n <= p.safe {
		p.check(p.Mailbox(p.Treasury.Get()).Then("OnGrant", int64(n)).Within(time.Minute).Call("grant", p, n))
	}
}

// OnGrant gives what was handed out to the cell part, whatever becomes of its CellApp.
func (p *Player) OnGrant(r entity.Reply) {
	n := uint32(r.User)
	if n <= p.Got.Get() {
		return // it was asked for twice
	}
	var gold, items uint32
	if err := r.Scan(&gold, &items); err != nil {
		p.check(err)
		return
	}
	p.Got.Set(n)
	p.check(p.Cell().Call("earn", n, gold, items))
	p.ask()
}

// OnChat says something to the guild, whose members are on any BaseApp.
func (p *Player) OnChat(entity.Callback) {
	if g := p.Guild.Get(); !g.IsZero() && !p.closing.Load() {
		p.check(p.Mailbox(g).Call("say", fmt.Sprintf("%v has had %d adventures", p.Account(), p.Adventure.Get())))
	}
}

// Hear is called by the guild.
func (p *Player) Hear(text string) {
	if err := p.Client().Call("chat", text); !errors.Is(err, entity.ErrNoPart) {
		p.check(err)
	}
}
