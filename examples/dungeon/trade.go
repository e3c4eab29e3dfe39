package main

import (
	"errors"
	"slices"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/property"
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
// What is set aside stays with its owner until the deal is settled, but is for no other deal. That is in a
// backup before the other hears of it. So whoever is restored still has it, and asks again; the other
// knows the number of the deal. Each number is settled once.

const (
	price    = 5
	soldKept = 64 // deals of which a late question may still come
)

// refusal is the error of a call that has changed nothing. Any other says nothing of what was done.
func refusal(why string) error { return &entity.GameError{Code: 1, Text: why} }

func refused(err error) bool {
	var g *entity.GameError
	return errors.As(err, &g) && g.Code != 0
}

// sell sets an item aside.
func (h *Hero) sell() {
	if h.Items.Get() == 0 || h.OnOffer.Get() {
		return
	}
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

// OnProposed hears whether the buyer takes it. If nobody knows, the seller asks again; also if the
// buyer does, until it pays: it may have died before that was in its backup, and then have had
// another seller's offer first.
func (h *Hero) OnProposed(r entity.Reply) {
	switch {
	case !h.OnOffer.Get() || int64(h.Sale.Get()) != r.User:
	case refused(r.Err):
		h.OnOffer.Set(false)
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
		return false, refusal("not now")
	}
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
		return 0, refusal("no such deal")
	}
	h.OnOffer.Set(false)
	h.Items.Set(h.Items.Get() - 1)
	h.Gold.Set(h.Gold.Get() + gold)
	h.check(h.Sold.Append(n))
	if h.Sold.Len() > soldKept {
		h.check(h.Sold.Delete(0, 1))
	}
	h.trades.Add(1)
	return 1, nil
}

// OnSettled takes the item for the gold, or keeps it. If nobody knows, the buyer asks again.
func (h *Hero) OnSettled(r entity.Reply) {
	if h.Aside.Get() == 0 || int64(h.Deal.Get()) != r.User {
		return
	}
	var items uint32
	switch err := r.Scan(&items); {
	case err == nil:
		h.Items.Set(h.Items.Get() + items)
		h.Gold.Set(h.Gold.Get() - h.Aside.Get())
	case !refused(err):
		h.try(h.AddTimer(again, 0, "OnGoldSafe", r.User))
		return
	}
	h.Aside.Set(0)
}

// Count is called by the treasury.
func (h *Hero) Count() (gold, items uint32) { return h.Gold.Get(), h.Items.Get() }
