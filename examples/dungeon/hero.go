package main

import (
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/placement"
	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space"
)

const (
	// patience is how long an adventure takes: long enough to gather, to fell the boss and to trade.
	patience = 8 * time.Second
	again    = time.Second
)

// Hero is the cell part: it goes on adventures, and has the goods. What it must remember is in properties
// and timers, so that it goes on where it was when its CellApp dies.
type Hero struct {
	*space.Real
	Gold, Items property.Uint32
	Due, Earned property.Uint32 // grants: those it has a right to, and those among its goods

	Dungeon property.Uint32 // of its adventure; 0 if it has none
	Leader  property.MailboxField

	// What it sells and buys; see trade.go.
	OnOffer property.Bool
	Sale    property.Uint32
	Buyer   property.MailboxField
	Sold    property.Slice[uint32]

	Aside, Deal property.Uint32
	Seller      property.MailboxField
	Taken       property.Map[uint64, uint32]

	to    uint32      `cellscape:"local"` // where it leads its party
	party []entity.ID `cellscape:"local"` // who stands by
	*game `cellscape:"local"`
}

// OnCreated gives the hero its first money.
func (h *Hero) OnCreated() {
	h.try(h.AddTimer(again, again, "OnBeat", 0))
	h.Reward()
}

// OnBeat seeks a party, and sells in a dungeon.
func (h *Hero) OnBeat(entity.Callback) {
	switch {
	case h.closing.Load():
	case h.Dungeon.Get() == 0 && h.HasClient():
		h.check(h.LookupName("matchmaker", "OnMatchmaker", 0))
	case h.Space() != town:
		h.sell()
	}
}

// OnMatchmaker hears who makes parties.
func (h *Hero) OnMatchmaker(r entity.NameReply) {
	if !r.Holder.IsZero() {
		h.check(h.Mailbox(r.Holder).Call("seek", h))
	}
}

// Enter is called by the matchmaker: the party gathers where its leader stands, to go to a dungeon. partner
// is who buys from this hero.
func (h *Hero) Enter(dungeon uint32, partner, leader property.Mailbox) {
	if h.Dungeon.Get() != 0 {
		return
	}
	h.Dungeon.Set(dungeon)
	if !h.OnOffer.Get() {
		h.check(h.Buyer.Set(partner))
	}
	h.check(h.Leader.Set(leader))
	h.try(h.AddTimer(patience, 0, "OnTired", int64(dungeon)))
	if leader := entity.ID(leader.Entity); leader != h.ID() {
		h.check(h.Teleport(entity.Destination{Near: leader}, int64(dungeon)))
	}
}

// Ready is called by the others of a party when they stand by this hero, its leader. When all do, all go
// to the dungeon, or none: if one has walked over a border or is tired, they stay in town. A leader that
// crosses one itself forgets who is there.
func (h *Hero) Ready(dungeon uint32, hero entity.ID) {
	if h.to != dungeon {
		h.to, h.party = dungeon, nil
	}
	if h.party = append(h.party, hero); len(h.party) < partySize-1 {
		return
	}
	if err := h.TeleportTogether(entity.Destination{Space: entity.SpaceID(dungeon)}, int64(dungeon), h.party...); err != nil {
		h.log.Info("a party stays in town", "error", err)
	}
}

// OnTeleported is called for each who gathers, arrives in the dungeon, or comes home.
func (h *Hero) OnTeleported(dungeon int64) {
	switch {
	case h.Space() != town:
		h.arrivals.Add(1)
	case dungeon != 0:
		h.check(h.Mailbox(h.Leader.Get()).Call("ready", uint32(dungeon), h.ID()))
	default:
		h.Dungeon.Set(0)
	}
}

// OnTeleportFailed ends the adventure: a CellApp may have died, or a companion is gone.
func (h *Hero) OnTeleportFailed(int64, *placement.TeleportError) {
	h.try(h.AddTimer(again, 0, "OnTired", int64(h.Dungeon.Get())))
}

// OnTired takes the hero home, if it is still on that adventure.
func (h *Hero) OnTired(c entity.Callback) {
	if int64(h.Dungeon.Get()) != c.User {
		return
	}
	if err := h.Teleport(entity.Destination{Space: town, Position: somewhere(h.ID())}, 0); err != nil {
		h.try(h.AddTimer(again, 0, "OnTired", c.User)) // it is on its way to the dungeon
	}
}

// Reward gives the hero a right to one more grant: a boss that has fallen calls it. The right is in
// a backup before the treasury hears of it. So a hero that is restored asks again, and the treasury
// knows the number.
func (h *Hero) Reward() {
	h.Due.Set(h.Due.Get() + 1)
	h.check(h.Backup("OnDue", int64(h.Due.Get())))
}

// OnDue looks for the treasury.
func (h *Hero) OnDue(c entity.Callback) { h.check(h.LookupName("treasury", "OnTreasury", c.User)) }

// OnTreasury asks it for so many grants in all, or looks again.
func (h *Hero) OnTreasury(r entity.NameReply) {
	if r.Holder.IsZero() {
		h.try(h.AddTimer(again, 0, "OnDue", r.User))
		return
	}
	h.check(h.Mailbox(r.Holder).Then("OnGrant", r.User).Call("grant", h, uint32(r.User)))
}

// OnGrant takes the grants that the hero has not got yet. If nobody knows, it asks again.
func (h *Hero) OnGrant(r entity.Reply) {
	var gold, items uint32
	switch err, n := r.Scan(&gold, &items), uint32(r.User); {
	case err != nil:
		h.try(h.AddTimer(again, 0, "OnDue", r.User))
	case n > h.Earned.Get():
		h.Gold.Set(h.Gold.Get() + gold*(n-h.Earned.Get()))
		h.Items.Set(h.Items.Get() + items*(n-h.Earned.Get()))
		h.Earned.Set(n)
	}
}
