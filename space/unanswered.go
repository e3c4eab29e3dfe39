package space

import (
	"slices"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/entity/placement"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/migrate"
	"github.com/cellscape/cellscape/space/internal/hosting"
)

const (
	// maxUnanswered bounds the words of one CellApp that wait for an answer: more than a CellApp
	// has reals. Any word beyond it is sent only once; if it is lost, the base asks
	// (migrate.Probe).
	maxUnanswered = 1 << 14

	// wordsPerTick bounds the words that one tick repeats, so that a slow base is not sent
	// thousands at once. An Offer contains a whole entity.
	wordsPerTick = 64

	// latestRepeat is the longest time between two repeats, which grows from migrate.ResendOnload
	// on. A base that is only slow has the word in its queue.
	latestRepeat = 8 * migrate.ResendOnload
)

// word is a message that a base must get about a real that is gone: an Offer or a Lost.
type word struct {
	to      mercury.Address
	id      entity.ID
	order   entity.Order
	message hosting.Message
	at      time.Duration // when to send it again
	wait    time.Duration // from then to the next time; 0 while it has not been sent
	done    bool          // it was answered, or a newer one replaces it
}

// unanswered holds the words of one CellApp that bases have not answered. The channel to a base may
// break and take a word with it, and nobody else knows what it says. So each is repeated until the
// base answers with a Refuse of that order, even if the cell that sent it is gone or never existed.
// After a death there are thousands, answered one by one, so they are indexed by entity. The zero
// value is empty.
type unanswered struct {
	list []*word // in the order of their first sending; the next repeat removes what is done
	byID map[entity.ID][]*word
	open int // how many in list are not done
	next int // where repeating goes on
}

// add keeps a word until it is answered. A Lost of a newer order replaces an older one. It reports
// false if there are too many.
func (u *unanswered) add(w word) bool {
	if _, lost := w.message.(*migrate.Lost); lost {
		u.end(w.id, func(x *word) bool {
			_, older := x.message.(*migrate.Lost)
			return older && x.to == w.to && !w.order.Before(x.order)
		})
	}
	if u.open >= maxUnanswered {
		return false
	}
	if u.byID == nil {
		u.byID = make(map[entity.ID][]*word)
	}
	u.open++
	u.list = append(u.list, &w)
	u.byID[w.id] = append(u.byID[w.id], &w)
	return true
}

// end marks words about an entity as done.
func (u *unanswered) end(id entity.ID, over func(w *word) bool) {
	list := u.byID[id]
	rest := slices.DeleteFunc(list, func(w *word) bool {
		if w.done = over(w); w.done {
			u.open--
		}
		return w.done
	})
	if len(list) > 0 && len(rest) == 0 {
		delete(u.byID, id)
	} else if len(rest) < len(list) {
		u.byID[id] = rest
	}
}

// has reports whether a word about a real of this order or a newer one waits for its answer.
func (u *unanswered) has(id entity.ID, order entity.Order) bool {
	return slices.ContainsFunc(u.byID[id], func(w *word) bool { return !w.order.Before(order) })
}

// answered forgets the words that a base's Refuse answers.
func (u *unanswered) answered(m *migrate.Refuse, by mercury.Address) {
	u.end(m.ID, func(w *word) bool { return w.to == by && !m.Order.Before(w.order) })
}

// broken makes all words to an app due: the channel to it has ended.
func (u *unanswered) broken(app mercury.Address, now time.Duration) {
	for _, w := range u.list {
		if w.to == app {
			w.at, w.wait = now, 0
		}
	}
}

// say sends a word if there is room for it: for a first time as for what is new, for a repeat as
// for what can wait. (It used to be said again every two seconds, whatever waited. What a slow base
// was offered of a dead CellApp's handoffs then had several times the room of its channel.)
func (w *word) say(now time.Duration, out hosting.Outbox) bool {
	room := roomLater
	if w.wait == 0 {
		room = roomNow
	}
	if out.Level(w.to) > mercury.Level(room) {
		return false
	}
	out.Send(w.to, w.message)
	w.at, w.wait = now+max(w.wait, migrate.ResendOnload), min(max(2*w.wait, 2*migrate.ResendOnload), latestRepeat)
	return true
}

// repeat sends words that were not answered for a while, and those for which there was no room, in
// turns. It forgets words to dead bases.
func (u *unanswered) repeat(now time.Duration, out hosting.Outbox) {
	if len(u.list) == 0 {
		return
	}
	u.list = slices.DeleteFunc(u.list, func(w *word) bool {
		if !w.done && out.Dead(w.to) {
			u.end(w.id, func(x *word) bool { return x == w })
		}
		return w.done
	})
	said := 0
	for range u.list {
		if u.next >= len(u.list) {
			u.next = 0
		}
		w := u.list[u.next]
		u.next++
		if w.at > now || !w.say(now, out) {
			continue
		}
		if said++; said == wordsPerTick {
			return
		}
	}
}

// tellBase sends a base a word, an Offer or a Lost, and keeps it until the base answers.
func (p *Population) tellBase(to mercury.Address, id entity.ID, order entity.Order, m hosting.Message) {
	if to = p.heir(to, id); to.IsZero() {
		return // it has no base to tell
	}
	w := word{to: to, id: id, order: order, message: m, at: p.now}
	if said := w.say(p.now, p.env.Out); !p.words.add(w) && !said {
		p.env.Out.Send(to, m)
	}
}

// tellLost tells a base, until it answers, that there is no real of this order here.
func (p *Population) tellLost(to mercury.Address, id entity.ID, order entity.Order, title migrate.Title, reason string) {
	p.tellBase(to, id, order, &migrate.Lost{ID: id, Order: order, Title: title, Reason: reason[:min(len(reason), migrate.MaxReason)]})
}

// tellFault does so for a real that a fault of the game's code or data has ended.
func (p *Population) tellFault(to mercury.Address, id entity.ID, order entity.Order, title migrate.Title, reason string, over flow.Culprit) {
	p.tellBase(to, id, order, &migrate.Lost{ID: id, Order: order, Title: title, Reason: reason[:min(len(reason), migrate.MaxReason)],
		Fault: true, Culprit: over})
}

// tellRefused tells a base, until it answers, that its new cell part is not taken.
func (p *Population) tellRefused(m *migrate.Create, base mercury.Address) {
	p.tellBase(base, m.ID, m.Order, &migrate.Lost{ID: m.ID, Order: m.Order, Title: m.Title, Code: placement.Full, Reason: ErrFull.Error()})
}

// Unanswered is how many messages about lost reals wait for the answers of bases.
func (p *Population) Unanswered() int { return p.words.open }
