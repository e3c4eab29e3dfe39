package witness

import (
	"slices"

	"github.com/cellscape/cellscape/internal/invariant"
)

// compete gives all in range their turns: there is not room for everyone. Whoever has none starts at the
// present virtual time, and a step on: when a crowd enters at once, the nearest come first.
func (w *Witness) compete() {
	q := &w.queue
	q.on = true
	q.turns.reset()
	for i := range w.entries {
		en := &w.entries[i]
		switch {
		case en.s == nil:
		case en.placed:
			en.at = en.at.least(q.now)
		default:
			step := w.step(en, w.apart(en))
			en.at, en.stepped, en.placed = q.now+step, halves(step), true
		}
		if en.s != nil {
			q.wait(en)
		}
	}
}

// apart is the square of the distance of an entry with a Subject. As a rule the sight has the
// place, and is at hand.
func (w *Witness) apart(en *entry) float32 {
	if en.s.now == w.view.now {
		return w.view.apart(en.s)
	}
	p := &en.entity().Position
	dx, dz := p.X-w.view.x, p.Z-w.view.z
	return float32(dx*dx) + float32(dz*dz)
}

// join has an entry wait that came while others compete.
func (w *Witness) join(en *entry) {
	step := w.step(en, w.apart(en))
	en.stepped = halves(step)
	w.queue.put(en, w.queue.now+step)
	if w.queue.draws(en.stepped) {
		w.draw(en, en.stepped)
	}
	en.since = w.updates - 1 // it may have come in this Update
}

// contend serves turns from the queue while there is budget, and advances the virtual time. When it
// has looked at all and there is budget left, nobody competes any more.
func (w *Witness) contend(budget int) {
	q := &w.queue
	if invariant.On {
		w.assertQueue()
	}
	w.clearPicked()
	w.serveVehicles()
	w.patrol()
	w.attend(budget)
	w.rescue(budget)
	q.aside = q.aside[:0]
	w.fetchQueue()
	for w.room(budget) && w.serveFront() {
	}
	w.sayPicked()
	if q.turns.n == 0 && w.room(budget) {
		w.calm()
		return
	}
	for _, alias := range slices.Backward(q.aside) {
		if i, known := w.slot(alias); known && w.entries[i].s != nil {
			q.wait(&w.entries[i])
		}
	}
}

// clearPicked begins the picking anew. What forms has of an entry counts only once that is picked.
func (w *Witness) clearPicked() {
	w.forms = slices.Grow(w.forms[:0], len(w.entries))[:len(w.entries)]
	words := (len(w.entries) + wordBits - 1) / wordBits
	w.picked = slices.Grow(w.picked[:0], words)[:words]
	clear(w.picked)
}

// wordBits is how many entries a word of picked is for.
const wordBits = 64

// pick has the place of an entry go into a packet, in a form.
func (w *Witness) pick(i int, f form) {
	w.forms[i] = f
	w.picked[i/wordBits] |= 1 << (i % wordBits)
}

func (w *Witness) isPicked(i int) bool { return w.picked[i/wordBits]>>(i%wordBits)&1 != 0 }

func (w *Witness) room(budget int) bool {
	return len(w.bundle) < MaxDirect && (w.view.unlimited || w.size() < budget)
}

// calm ends the queue. Turns that were taken do not matter any more.
func (w *Witness) calm() {
	w.queue.on, w.queue.circle = false, w.queue.circle[:0]
	for i := range w.entries {
		w.entries[i].placed = false
	}
}

// serveFront serves the front of the queue, which takes its next turn. It reports false if nobody
// waits for one.
func (w *Witness) serveFront() bool {
	q := &w.queue
	alias, ok := q.front()
	if !ok {
		return false
	}
	i, known := w.slot(alias)
	if !known || w.entries[i].s == nil {
		q.turns.drop(alias)
		return true
	}
	en := &w.entries[i]
	if slotsUntil(en.at, q.now) > 0 { // the wheel did not reach so far
		q.wait(en)
		return true
	}
	q.now = en.at.least(q.now)
	if w.attended(i) {
		q.aside = append(q.aside, alias)
		q.turns.drop(alias)
		return true
	}
	if w.postpone(en) {
		q.wait(en)
		return true
	}
	if apart, still := w.serve(i); still {
		step := w.step(en, apart)
		en.stepped = halves(step)
		q.put(en, q.now+step)
	} else {
		q.turns.drop(alias)
	}
	return true
}

// attended reports whether an entry had its turn in this Update.
func (w *Witness) attended(i int) bool {
	return w.isPicked(i) || w.entries[i].since == w.updates
}

// serve says what an entry is owed, and the square of how far away it is. It reports false if there
// is nothing to look at any more.
func (w *Witness) serve(i int) (apart float32, still bool) {
	en := &w.entries[i]
	t := w.assess(en)
	t.entry = int32(i)
	if t.due == 0 {
		en.since = w.updates
	} else {
		w.countWait(en, t.due)
	}
	if t.due&dueWords != 0 {
		w.sayWords(en, &t)
	}
	if t.due&dueMove != 0 {
		w.pick(i, t.form)
		w.moves.plan(en, t.form)
	}
	return t.square, en.s != nil
}

// patrolTicks is in how many Updates the patrol goes round at most. Where there is room for few, who
// is far away has its next turn half a minute later, and may stand beside the watcher long before.
const patrolTicks = 10

// patrol goes round all entries. Whoever has come much nearer since its last turn gets the next one
// sooner, and who is among the nearest comes into the circle. What the client has seen is taken in
// while it says so: of packets that are older than three seconds it says nothing any more.
func (w *Witness) patrol() {
	q := &w.queue
	for range (len(w.entries) + patrolTicks - 1) / patrolTicks {
		if q.patrol >= len(w.entries) {
			q.patrol = 0
		}
		if en := &w.entries[q.patrol]; en.s != nil {
			if en.told != 0 {
				w.moves.confirm(en)
			}
			w.hasten(en)
		}
		q.patrol++
	}
}

// rescue goes round all entries, too, and serves those that have waited too long, before the queue.
// One is served whatever was spent, and more as far as the next Updates can save it. It looks for
// who will have waited too long before it comes again, and does not go on without having served it.
func (w *Witness) rescue(budget int) {
	q := &w.queue
	round := max(min(w.cfg.MaxWait/4, patrolTicks), 1)
	first := true
	for range min((len(w.entries)+round-1)/round, len(w.entries)) {
		if q.rescue >= len(w.entries) {
			q.rescue = 0
		}
		if en := &w.entries[q.rescue]; en.s != nil && w.waited(en) >= w.cfg.MaxWait-round {
			if !first && !w.room(budget+w.mostDeficit()) || len(w.bundle) >= MaxDirect {
				return
			}
			first = false
			w.serve(q.rescue)
		}
		q.rescue++
	}
}

// turnFrom is the turn that an entry would have if it had been where it is since its last one, and
// a step is that from there. A step that began anew at each look would put off for ever who walks
// up to the watcher.
func (w *Witness) turnFrom(en *entry, step halfSteps) (at virtual) {
	return (en.at - en.stepped.virtual() + step.virtual()).least(w.queue.now)
}

// hasten gives an entry the turn that is due from where it is, if that halves its wait. Most have
// not come nearer, and are none of the nearest.
func (w *Witness) hasten(en *entry) {
	q, step := &w.queue, halves(w.step(en, w.apart(en)))
	if q.draws(step) {
		w.draw(en, step)
	}
	if step >= en.stepped {
		return
	}
	if at := w.turnFrom(en, step); at.ahead(q.now) < en.at.ahead(q.now)/2 {
		en.stepped = step
		q.put(en, at)
	}
}

// postpone gives an entry whose turn has come the one that is due from where it is, if that is
// later: it has gone away, and others are nearer now.
func (w *Witness) postpone(en *entry) bool {
	step := halves(w.step(en, w.apart(en)))
	at := w.turnFrom(en, step)
	if at.ahead(w.queue.now) <= step1 {
		return false
	}
	en.at, en.stepped = at, step
	return true
}

// waited is for how many Updates an entry has not had its turn.
func (w *Witness) waited(en *entry) int { return w.lapse(en.since) }

// lapse is how many Updates it is from an earlier one to the present one.
func (w *Witness) lapse(from uint32) int { return int(int32(w.updates - from)) }
