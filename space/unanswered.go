package space

import (
	"slices"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/migrate"
)

const (
	// MaxUnanswered bounds the words of one CellApp that wait for an answer: more than
	// a CellApp has reals. A word above it is said once; if it is lost, the base asks
	// (migrate.Probe).
	MaxUnanswered = 1 << 14

	// WordsPerTick bounds the words that are said again in one tick, so that a base that
	// answers late is not sent thousands at once. An Offer has a whole entity in it.
	WordsPerTick = 64
)

// word is what a base must hear about a real that is gone: an Offer or a Lost.
type word struct {
	to      mercury.Address
	id      entity.ID
	order   entity.Order
	message Message
	at      time.Duration // when it is said again
}

// unanswered are the words of one CellApp that its bases have not answered. The channel
// to a base may break with a word, and nobody else knows what it says. So each is said
// again until the base answers with a Refuse of that order, whether the cell that said it
// lives on or not, and whether there ever was one. The zero value has none.
type unanswered struct {
	list []word
	next int // where repeating goes on
}

// add keeps a word until it is answered. A Lost of a newer order says all that an older
// one said. It reports false if there are too many.
func (u *unanswered) add(w word) bool {
	if _, lost := w.message.(*migrate.Lost); lost {
		u.list = slices.DeleteFunc(u.list, func(x word) bool {
			_, older := x.message.(*migrate.Lost)
			return older && x.id == w.id && x.to == w.to && !w.order.Before(x.order)
		})
	}
	if len(u.list) >= MaxUnanswered {
		return false
	}
	u.list = append(u.list, w)
	return true
}

// answered forgets the words that a base's Refuse answers.
func (u *unanswered) answered(m *migrate.Refuse, by mercury.Address) {
	if len(u.list) > 0 {
		u.list = slices.DeleteFunc(u.list, func(w word) bool { return w.id == m.ID && w.to == by && !m.Order.Before(w.order) })
	}
}

// broken makes all words to an app due: the channel to it has ended.
func (u *unanswered) broken(app mercury.Address, now time.Duration) {
	for i := range u.list {
		if u.list[i].to == app {
			u.list[i].at = now
		}
	}
}

// repeat says again what was not answered for a while, in turns. Bases that are dead
// need no word.
func (u *unanswered) repeat(now time.Duration, out Outbox) {
	if len(u.list) == 0 {
		return
	}
	u.list = slices.DeleteFunc(u.list, func(w word) bool { return out.Dead(w.to) })
	said := 0
	for range u.list {
		if u.next >= len(u.list) {
			u.next = 0
		}
		w := &u.list[u.next]
		u.next++
		if w.at > now {
			continue
		}
		w.at = now + migrate.ResendOnload
		out.Send(w.to, w.message)
		if said++; said == WordsPerTick {
			return
		}
	}
}

// TellBase says a word to a base, an Offer or a Lost of an order, and keeps it until the
// base answers.
func (p *Population) TellBase(now time.Duration, to mercury.Address, id entity.ID, order entity.Order, m Message) {
	if to.IsZero() {
		return // nobody to answer for it
	}
	p.env.Out.Send(to, m)
	if !p.env.Out.Dead(to) {
		p.words.add(word{to, id, order, m, now + migrate.ResendOnload})
	}
}

// TellLost tells a base that there is no real of an order here, until it answers.
func (p *Population) TellLost(now time.Duration, to mercury.Address, id entity.ID, order entity.Order, reason string) {
	p.TellBase(now, to, id, order, &migrate.Lost{ID: id, Order: order, Reason: reason[:min(len(reason), migrate.MaxReason)]})
}

func (p *Population) tellBase(to mercury.Address, id entity.ID, order entity.Order, m Message) {
	p.TellBase(p.now, to, id, order, m)
}

func (p *Population) tellLost(to mercury.Address, id entity.ID, order entity.Order, reason string) {
	p.TellLost(p.now, to, id, order, reason)
}

// Repeat says again what bases have not answered. The CellApp calls it each tick, and goes
// on with it while it waits for the last answers.
func (p *Population) Repeat(now time.Duration) { p.words.repeat(now, p.env.Out) }

// Unanswered is how many words wait for the answer of a base.
func (p *Population) Unanswered() int { return len(p.words.list) }

// tellLost tells a base that there is no real of an order here.
func (c *Cell) tellLost(to mercury.Address, id entity.ID, order entity.Order, reason string) {
	c.population.TellLost(c.now, to, id, order, reason)
}
