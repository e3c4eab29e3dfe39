package space

import (
	"slices"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/migrate"
)

// word is what a base must hear of a real that died elsewhere: an Offer or a Lost.
// The channel to the base may break with it, and nobody else knows, so it is said
// again until the base answers with a Refuse of that order.
type word struct {
	to      mercury.Address
	id      entity.ID
	order   entity.Order
	message Message
	at      time.Duration // when it is said again
}

// tellBase says a word to a base.
func (c *Cell) tellBase(to mercury.Address, id entity.ID, order entity.Order, m Message) {
	c.out.Send(to, m)
	c.words = append(c.words, word{to, id, order, m, c.now + migrate.ResendOnload})
}

// answered forgets the words that a base's Refuse answers.
func (c *Cell) answered(m *migrate.Refuse) {
	c.words = slices.DeleteFunc(c.words, func(w word) bool { return w.id == m.ID && !m.Order.Before(w.order) })
}

// repeatWords says again what was not answered. Bases that are dead need no word.
func (c *Cell) repeatWords() {
	c.words = slices.DeleteFunc(c.words, func(w word) bool { return c.out.Dead(w.to) })
	for i := range c.words {
		if w := &c.words[i]; w.at <= c.now {
			w.at = c.now + migrate.ResendOnload
			c.out.Send(w.to, w.message)
		}
	}
}
