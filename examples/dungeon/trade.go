package main

import (
	"errors"
	"slices"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space"
)

// A trade takes two calls with results, and a backup before each:
//
//	seller                                   buyer
//	item set aside; Backup
//	  OnItemSafe   --- propose n, price --->  gold set aside; Backup
//	                                            OnGoldSafe
//	gold is its own <----- settle n ---------
//	               ------- an item -------->  item is its own
//
// What is set aside is in a backup before the other hears of it. So whoever is restored still has
// it, and asks again; the other knows the number of the deal. Each number is settled once.

const (
	price      = 5
	tradeEvery = 700 * time.Millisecond
	sales      = 8  // how often a hero tries to sell in a dungeon
	soldKept   = 64 // deals of which a late question may still come
)

// Refusals, by code. Any other error of a call says nothing of what was done.
const (
	notNow = 1 + iota
	noDeal
)

func refused(err error) bool {
	var g *entity.GameError
	return errors.As(err, &g) && g.Code != 0
}

// Hero is the cell part: it fights, and has the goods.
type Hero struct {
	*space.Real
	Gold, Items, Earned property.Uint32

	OnOffer property.Bool
	Sale    property.Uint32
	Buyer   property.MailboxField
	Sold    property.Slice[uint32]

	Aside, Deal property.Uint32
	Seller      property.MailboxField
	Taken       property.Map[uint64, uint32]

	dungeon uint32      `cellscape:"local"` // where it leads its party
	party   []entity.ID `cellscape:"local"`
	*game   `cellscape:"local"`
}

// Earn is called by the base: what the treasury has handed out. A restored base may say it again.
func (h *Hero) Earn(n, gold, items uint32) {
	if n <= h.Earned.Get() {
		return
	}
	h.Earned.Set(n)
	h.Gold.Set(h.Gold.Get() + gold)
	h.Items.Set(h.Items.Get() + items)
}

// Felled is called by a boss that has fallen.
func (h *Hero) Felled() { h.check(h.Base().Call("reward")) }

// Meet is called by the base when the party is in the dungeon: partner buys from this hero.
func (h *Hero) Meet(partner property.Mailbox) {
	if !h.OnOffer.Get() {
		h.check(h.Buyer.Set(partner))
	}
	h.try(h.AddTimer(tradeEvery, 0, "OnSell", sales))
}

// OnSell sets an item aside, and goes on until the hero has tried so often.
func (h *Hero) OnSell(c entity.Callback) {
	if c.User > 1 {
		h.try(h.AddTimer(tradeEvery, 0, "OnSell", c.User-1))
	}
	if h.Items.Get() == 0 || h.OnOffer.Get() || h.closing.Load() {
		return
	}
	h.Items.Set(h.Items.Get() - 1)
	h.OnOffer.Set(true)
	h.Sale.Set(h.Sale.Get() + 1)
	h.check(h.Backup("OnItemSafe", int64(h.Sale.Get())))
}

// OnItemSafe proposes the deal.
func (h *Hero) OnItemSafe(c entity.Callback) {
	if n := h.Sale.Get(); h.OnOffer.Get() && int64(n) == c.User {
		h.check(h.Mailbox(h.Buyer.Get()).Then("OnProposed", c.User).Call("propose", h, n, uint32(price)))
	}
}

// OnProposed hears whether the buyer takes it. If nobody knows, the seller asks again.
func (h *Hero) OnProposed(r entity.Reply) {
	switch {
	case r.Err == nil || !h.OnOffer.Get() || int64(h.Sale.Get()) != r.User:
	case refused(r.Err):
		h.OnOffer.Set(false)
		h.Items.Set(h.Items.Get() + 1)
	default:
		h.try(h.AddTimer(again, 0, "OnItemSafe", r.User))
	}
}

// Propose is called by a seller: this hero sets the gold aside, if it can.
func (h *Hero) Propose(seller property.Mailbox, n, gold uint32) (bool, error) {
	if last, _ := h.Taken.Get(seller.Entity); n <= last {
		return true, nil
	}
	if h.Aside.Get() > 0 || h.Gold.Get() < gold {
		return false, &entity.GameError{Code: notNow, Text: "not now"}
	}
	h.Gold.Set(h.Gold.Get() - gold)
	h.Aside.Set(gold)
	h.Deal.Set(n)
	h.check(h.Seller.Set(seller))
	h.check(h.Taken.Set(seller.Entity, n))
	h.check(h.Backup("OnGoldSafe", int64(n)))
	return true, nil
}

// OnGoldSafe pays.
func (h *Hero) OnGoldSafe(c entity.Callback) {
	if n := h.Deal.Get(); h.Aside.Get() > 0 && int64(n) == c.User {
		h.check(h.Mailbox(h.Seller.Get()).Then("OnSettled", c.User).Call("settle", n, h.Aside.Get()))
	}
}

// Settle is called by the buyer: the gold is the seller's, and the items that it returns the buyer's.
func (h *Hero) Settle(n, gold uint32) (uint32, error) {
	switch {
	case slices.Contains(h.Sold.Values(), n):
		return 1, nil
	case !h.OnOffer.Get() || h.Sale.Get() != n:
		return 0, &entity.GameError{Code: noDeal, Text: "no such deal"}
	}
	h.OnOffer.Set(false)
	h.Gold.Set(h.Gold.Get() + gold)
	h.check(h.Sold.Append(n))
	if h.Sold.Len() > soldKept {
		h.check(h.Sold.Delete(0, 1))
	}
	h.trades.Add(1)
	return 1, nil
}

// OnSettled takes the item, or the gold back.
func (h *Hero) OnSettled(r entity.Reply) {
	if h.Aside.Get() == 0 || int64(h.Deal.Get()) != r.User {
		return
	}
	var items uint32
	switch err := r.Scan(&items); {
	case err == nil:
		h.Items.Set(h.Items.Get() + items)
	case refused(err):
		h.Gold.Set(h.Gold.Get() + h.Aside.Get())
	default:
		h.try(h.AddTimer(again, 0, "OnGoldSafe", r.User))
		return
	}
	h.Aside.Set(0)
}

// Count is called by the treasury.
func (h *Hero) Count() (gold, items uint32) {
	items = h.Items.Get()
	if h.OnOffer.Get() {
		items++
	}
	return h.Gold.Get() + h.Aside.Get(), items
}
