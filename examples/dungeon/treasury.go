package main

import (
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/property"
)

// Each grant is a hero's first money, or its reward.
const grantGold, grantItems = 20, 2

// Treasury is a base that hands out all the gold and items that there are, and counts them.
type Treasury struct {
	*entity.Base
	Gold, Items property.Uint32 // handed out
	Granted     property.Map[uint64, uint32]
	Round       property.Uint32 // of the census
	*game       `cellscape:"local"`
	count       sum  `cellscape:"local"` // of the heroes that have answered
	waits       int  `cellscape:"local"` // for so many
	void        bool `cellscape:"local"` // one of them could not be asked, or did not answer
}

// sum is what heroes have, or what was handed out.
type sum struct{ gold, items uint32 }

// OnCreated takes its name.
func (t *Treasury) OnCreated() {
	t.check(t.RegisterName("treasury", "OnName", 0))
	t.try(t.AddTimer(again, again, "OnCensus", 0))
}

// Grant is called by a hero that has a right to n grants in all, again for the same number if it was
// restored. Each is of so much.
func (t *Treasury) Grant(hero property.Mailbox, n uint32) (gold, items uint32) {
	if last, _ := t.Granted.Get(hero.Entity); n > last {
		t.check(t.Granted.Set(hero.Entity, n))
		t.Gold.Set(t.Gold.Get() + grantGold*(n-last))
		t.Items.Set(t.Items.Get() + grantItems*(n-last))
	}
	return grantGold, grantItems
}

// OnCensus asks all heroes what they have, once the last have answered.
func (t *Treasury) OnCensus(entity.Callback) {
	if t.waits > 0 {
		return
	}
	t.count, t.void = sum{}, false
	t.Round.Set(t.Round.Get() + 1)
	for hero := range t.Granted.All() {
		if err := t.Lookup(entity.ID(hero), "Hero", entity.CellMailbox).Then("OnCounted", int64(t.Round.Get())).Call("count"); err != nil {
			t.check(err)
			t.void = true
			continue
		}
		t.waits++
	}
}

// OnCounted adds up. The game is told when all heroes have answered.
func (t *Treasury) OnCounted(r entity.Reply) {
	if t.waits == 0 || uint32(r.User) != t.Round.Get() {
		return // of a census before the death of a BaseApp
	}
	var s sum
	err := r.Scan(&s.gold, &s.items)
	t.count.gold += s.gold
	t.count.items += s.items
	t.void = t.void || err != nil
	if t.waits--; t.waits == 0 && !t.void {
		t.census.Store(&census{heroes: t.Granted.Len(), have: t.count, handedOut: sum{t.Gold.Get(), t.Items.Get()}})
	}
}
