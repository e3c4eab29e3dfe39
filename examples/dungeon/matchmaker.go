package main

import (
	"slices"

	"github.com/cellscape/cellscape/bsp"
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space"
)

// partySize is how many heroes go to a dungeon together.
const partySize = 4

// Matchmaker is a base that makes parties and dungeons.
type Matchmaker struct {
	*entity.Base
	*game   `cellscape:"local"`
	waiting []property.Mailbox            `cellscape:"local"`
	parties map[uint64][]property.Mailbox `cellscape:"local"` // by request for a space
}

// OnCreated takes its name, and has the guilds made wherever there is room.
func (m *Matchmaker) OnCreated() {
	m.parties = make(map[uint64][]property.Mailbox)
	m.try(m.RegisterName("matchmaker", "OnName"))
	for i := range entity.ID(guilds) {
		m.try(m.CreateBase(entity.BaseInfo{Type: "Guild", Init: func(v *property.Values) { set(v, "title", property.StringValue(guildName(i))) }}, "OnGuild"))
	}
}

// OnRestored begins with nobody: who waited for a party seeks again.
func (m *Matchmaker) OnRestored() { m.parties = make(map[uint64][]property.Mailbox) }

// OnName hears whether it has the name.
func (m *Matchmaker) OnName(r entity.NameReply) { m.hear(r) }

// OnGuild hears that a guild was made, or that nobody knows: this base was restored before the answer came.
func (m *Matchmaker) OnGuild(r entity.BaseReply) {
	if r.Base.IsZero() {
		m.log.Warn("perhaps no guild", "reason", r.Reason)
	}
}

// Seek is called by a hero that wants an adventure, again and again until it has one.
func (m *Matchmaker) Seek(hero property.Mailbox) {
	is := func(w property.Mailbox) bool { return w.Entity == hero.Entity }
	found := slices.ContainsFunc(m.waiting, is)
	for _, party := range m.parties { // order does not show: it is in one at most
		found = found || slices.ContainsFunc(party, is)
	}
	if found {
		return
	}
	if m.waiting = append(m.waiting, hero); len(m.waiting) < partySize {
		return
	}
	request, err := m.CreateSpace(entity.SpaceInfo{Bounds: bsp.Rect{MinX: -50, MinZ: -50, MaxX: 50, MaxZ: 50}, MaxCells: 1}, "OnDungeon")
	if err != nil {
		m.check(err)
		return
	}
	m.parties[request], m.waiting = m.waiting, nil
}

// OnDungeon sends a party in. Each buys from the one before it. Without a dungeon they seek again.
func (m *Matchmaker) OnDungeon(r entity.SpaceReply) {
	party := m.parties[r.Request]
	delete(m.parties, r.Request)
	for i, hero := range party {
		if r.Space == 0 {
			m.Seek(hero)
			continue
		}
		partner, leader := party[(i+1)%len(party)], party[0]
		partner.Kind, leader.Kind = uint8(entity.CellViaBase), uint8(entity.CellViaBase)
		m.check(m.Mailbox(hero).Call("enter", uint32(r.Space), partner, leader))
	}
	if r.Space != 0 {
		m.dungeons.Add(1)
	}
}

// Boss is what a party fells in its dungeon. It has no base.
type Boss struct {
	*space.Real
	Health   property.Uint32
	strikers []entity.ID `cellscape:"local"`
	*game    `cellscape:"local"`
}

// Strike is called by the client of anyone who sees the boss.
func (b *Boss) Strike(by entity.ID) {
	if !slices.Contains(b.strikers, by) {
		b.strikers = append(b.strikers, by)
	}
	if b.Health.Set(b.Health.Get() - 1); b.Health.Get() > 0 {
		return
	}
	for _, hero := range b.strikers {
		b.check(b.Lookup(hero, "Hero", entity.CellMailbox).Call("felled"))
	}
	b.Destroy()
}

// openDungeon is called when a space has its first cell.
func openDungeon(c *space.Cell, fromStore bool) {
	if c.Space() != town {
		_, _ = c.Spawn("Boss", property.Vector3{X: 3, Z: 3}, property.Vector3{}, nil)
	}
}
