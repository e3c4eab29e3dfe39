package witness

import "slices"

// The circle are those who come first while others compete: the nearest. The queue gives them the
// most turns, but how soon the next one comes depends on all that the budget has to carry, and who
// was far away at the last turn has a late one. So whoever stands in the circle has a turn in each
// second Update, before the queue is served:
//
//	patrol, all in ten Updates --draw--> circle  [ 7 | 3 | 20 | ... | 9 | ... | 31 ]  by step
//	                                               promised, at most 24 | followed, at most 24
//
// Those behind the promised ones are followed so that nobody comes near unseen between two visits
// of the patrol: with two people on a hundred square metres, the 48th is nine metres farther away
// than the 20th.

const (
	// promised is how many have a turn every promisedWait Updates, while half of the budget has
	// room for them: those who walk take 40 bytes in each. They are the nearest twenty, and those
	// who may be of them in the next Updates: when only twenty had turns, who became one of them
	// had waited for half a second or more.
	promised     = 24
	promisedWait = 2
	// overdue is how many Updates without a turn put somebody before all others. Where half of the
	// budget does not do for all, each waits a little longer then; when the nearest always came
	// first, the last of the promised ones waited for ten seconds.
	overdue = 4
	// followed is how many are looked at each arrangeEvery Updates, of half of the witnesses in one
	// tick and of the others in the next.
	followed     = 48
	arrangeEvery = 2
)

// near is a place in the circle. It knows where to look for the place of its entry's entity, so
// that who is only followed costs no look at the entry: entries lie scattered over memory, and in a
// crowd of two thousand that was a tenth of all the work.
type near struct {
	s     *sight    // of the entry
	last  uint32    // the Update of its last turn, or an earlier one
	step  halfSteps // from where it is
	alias uint16
}

// draws reports whether somebody with a step may come before others in the circle.
func (q *queue) draws(step halfSteps) bool {
	return len(q.circle) < followed || step < q.circle[followed-1].step
}

// draw takes an entry with a Subject into the circle, before those with longer steps. Whom a scheme
// puts off more than its distance does is none of the first: the game has said so.
func (w *Witness) draw(en *entry, step halfSteps) {
	q := &w.queue
	if en.alias == none {
		return
	}
	for _, m := range q.circle {
		if m.alias == en.alias {
			return
		}
	}
	if w.putOff(en, step) {
		return
	}
	if len(q.circle) < followed {
		q.circle = append(q.circle, near{})
	}
	q.settle(len(q.circle)-1, near{en.s, en.since, step, en.alias})
}

// settle puts m among those before index i, where it belongs by its step; who comes after it moves up by one.
func (q *queue) settle(i int, m near) {
	for ; i > 0 && m.step < q.circle[i-1].step; i-- {
		q.circle[i] = q.circle[i-1]
	}
	q.circle[i] = m
}

// putOff reports whether an entry has a longer step than others at its distance.
func (w *Witness) putOff(en *entry, step halfSteps) bool {
	return w.hasScheme(en) && step > halves(w.usual(w.apart(en)))
}

// forget takes an alias out of the circle.
func (q *queue) forget(alias uint16) {
	q.circle = slices.DeleteFunc(q.circle, func(m near) bool { return m.alias == alias })
}

// attend serves those of the circle whose turn it is, as far as half of the whole budget goes.
// Debts come off that. But while they are less than half a budget, a quarter is for the circle:
// rescue makes debts in each Update when more are in view than there is room for within
// Config.MaxWait, and the nearest would pay for the farthest. Larger debts come from large words,
// and are paid first. (When debts did not count, a link of 64 kbit/s had a queue of three seconds.)
func (w *Witness) attend(budget int) {
	if (w.updates+uint32(w.view.watcher.ID))%arrangeEvery == 0 {
		w.arrange()
	}
	spent, all := w.size(), w.Budget()
	budget = min(budget, spent+all/2)
	if w.deficit <= all/2 {
		budget = max(budget, spent+all/4)
	}
	first := w.queue.circle[:min(promised, len(w.queue.circle))]
	w.fetchCircle(first)
	if w.attendWaiting(first, overdue, budget) {
		w.attendWaiting(first, promisedWait, budget)
	}
}

// attendWaiting serves those who have not had a turn for so many Updates, the nearest first. It
// reports false if there is no room for all.
func (w *Witness) attendWaiting(first []near, wait, budget int) bool {
	for k := range first {
		m := &first[k]
		if w.lapse(m.last) < wait {
			continue
		}
		if !w.room(budget) {
			return false
		}
		i, known := w.slot(m.alias)
		if !known || w.entries[i].s != m.s {
			continue
		}
		if m.last = w.entries[i].since; w.lapse(m.last) >= wait {
			w.serve(i)
			m.last = w.updates
		}
	}
	return true
}

// arrange orders the circle by where all are now.
func (w *Witness) arrange() {
	circle := w.queue.circle
	for k := range circle {
		m := &circle[k]
		if s := m.s; s.now == w.view.now && len(w.pairs) == 0 {
			m.step = halves(w.stepOf(s.def, w.view.apart(s)))
		} else if i, known := w.slot(m.alias); known {
			m.step = halves(w.step(&w.entries[i], w.apart(&w.entries[i])))
		}
	}
	for k, m := range circle {
		w.queue.settle(k, m)
	}
}
