package witness

import (
	"cmp"
	"slices"

	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/entity/presence"
	"github.com/cellscape/cellscape/property"
)

// change is a property that the client lacks, or a part of one.
type change struct {
	number property.EventNumber
	index  int
	part   []byte // as it travels; nil for the whole value
	lossy  int    // 1 + which of the Lossy properties it is, 0 for none of them
	bytes  int    // sent
}

// sayWords writes what an entity is owed but for a place on the way.
func (w *Witness) sayWords(en *entry, t *turn) {
	if t.due&dueNews != 0 {
		if w.sayNews(en, t); t.due&dueHistory == 0 {
			en.settle()
		}
	}
	if t.due&dueReliable != 0 {
		w.sayReliable(en, t)
	}
	if t.due&dueMove == 0 {
		en.since = w.updates // a place keeps its wait until it is written, for Unsent
	}
}

// sayReliable writes what an entity is owed reliably.
func (w *Witness) sayReliable(en *entry, t *turn) {
	d, start, exact := t.due, len(w.bundle), true
	switch {
	case d&dueEnter != 0:
		exact = w.sayEnter(en)
	case d&dueHistory != 0:
		w.sayHistory(en, t.distance())
	}
	if len(w.bundle)-start > MaxEntity {
		w.calls = 0
		// If it were sent, it could end the client's session; kept back, it harms one entity.
		w.bundle = w.bundle[:start]
		w.dropped++
		en.rest(en.entity().History.Last())
		en.a.stuck = true
	} else if d&(dueEnter|dueHistory) != 0 {
		w.countReliable(d, start)
		if d&dueEnter == 0 {
			en.made(w.changed)
		}
		en.settle()
		en.sent, en.a.named = true, true
		if d&dueEnter == 0 {
			w.countChanges(en)
		}
	}
	if d&dueEnter != 0 && en.sent || d&dueRest != 0 {
		en.moved, en.rested = en.s.stamp, exact
		en.a.bundle, en.a.telling, en.bundled = w.number+1, w.moves.now, true
	}
	if d&dueRide != 0 {
		w.sayRide(en)
	}
	if d&dueRest != 0 {
		place, start := placeOf(en.entity()), len(w.bundle)
		w.bundle = place.AppendRest(w.bundle)
		if w.with.Told != nil {
			w.with.Told.Places += uint64(len(w.bundle) - start)
		}
		w.with.Stats.AddMoves(en.entity().Def, 1, len(w.bundle)-start)
	}
}

// countChanges counts what sayHistory has said.
func (w *Witness) countChanges(en *entry) {
	if w.with.Stats == nil {
		return
	}
	for i := range w.changed {
		w.with.Stats.Add(en.entity().Def, w.changed[i].index, property.ToOtherClients, w.changed[i].bytes)
	}
}

func placeOf(e *presence.Entity) protocol.Place {
	return protocol.Place{ID: e.ID, Position: e.Position, Direction: e.Direction}
}

// sayEnter writes what the client lacks of an entity that it has kept, or all properties that may be
// seen at the entry's level, by index. exact is whether it says where the entity is at rest.
func (w *Witness) sayEnter(en *entry) (exact bool) {
	if exact, ok := w.sayReturn(en); ok {
		return exact
	}
	e := en.entity()
	clear(en.a.have)
	en.a.heard = 0
	en.meetLossy()
	w.props = appendVisible(w.props[:0], e, int(en.level))
	m := protocol.Enter{ID: e.ID, Type: e.Def.ClientID, Alias: uint32(en.alias), Position: e.Position, Direction: e.Direction, Props: w.props}
	if exact = w.toldExactly(en); !exact {
		m.Origin = protocol.OriginOf(e.Position)
		w.place = protocol.AppendFar(w.place[:0], e, m.Origin)
		m.Entry = w.place
	}
	if p := e.Def.Packing(property.OtherClientStream); p != property.Unpacked {
		w.packed = w.with.Compressor.Pack(w.packed[:0], w.props, p, protocol.MaxProps)
		m.Props = w.packed
	}
	w.bundle = m.Append(w.bundle)
	return exact
}

// toldExactly reports whether a client that meets an entity is told the exact place: one on the way
// is out of date in a tick.
func (w *Witness) toldExactly(en *entry) bool {
	return w.view.unlimited || !en.s.moving || en.s.traits&exact != 0
}

// appendVisible appends the values of all properties that may be seen at a level.
func appendVisible(b []byte, e *presence.Entity, level int) []byte {
	for _, i := range e.Def.Stream(property.OtherClientStream) {
		if e.Def.Properties[i].Level >= level {
			b = e.Props.AppendClientValue(b, i)
		}
	}
	return b
}

// sayHistory writes changes and calls in the order of their numbers. Neighbouring changes share a
// message.
func (w *Witness) sayHistory(en *entry, dist float32) {
	e, start := en.entity(), len(w.bundle)
	w.findChanges(en, false)
	next := 0
	for ev := range e.History.Since(en.a.heard) {
		if !w.hears(en, &ev, dist) || w.whispered(en, &ev) {
			continue
		}
		from := next
		for next < len(w.changed) && w.changed[next].number < ev.Number {
			next++
		}
		w.sayChanges(en, w.changed[from:next])
		if len(w.bundle)-start+len(ev.Payload) > MaxCall {
			w.dropped++ // half is left for state, which must arrive
			continue
		}
		call := protocol.Call{ID: e.ID, Method: uint16(ev.Method), Args: ev.Payload}
		mark := len(w.bundle)
		w.bundle = call.Append(w.bundle)
		w.calls += len(w.bundle) - mark
	}
	w.sayChanges(en, w.changed[next:])
}

// findChanges lists what the client lacks of the visible properties, by number. Those that never
// changed come first: they belong to a level never seen before. Of Lossy ones it lists those that are
// to be told reliably now, or all.
func (w *Witness) findChanges(en *entry, all bool) {
	w.changed = w.changed[:0]
	e := en.entity()
	for l := int(en.level); l < len(en.a.have); l++ {
		for _, i := range e.Def.AtLevel(l) {
			if stamp := e.History.Stamp(i); en.a.lacks(l, stamp) {
				w.findChange(e, i, en.a.have[l], stamp)
			}
		}
	}
	for k := range en.a.lossy {
		if d := w.claim(en, k); d == dueHistory || all && en.lossyAt(int(en.level), k) {
			i := e.Def.Lossy()[k]
			w.changed = append(w.changed, change{number: e.History.Stamp(i), index: i, lossy: k + 1})
		}
	}
	slices.SortFunc(w.changed, func(a, b change) int {
		return cmp.Or(cmp.Compare(a.number, b.number), cmp.Compare(a.index, b.index))
	})
}

// findChange lists what the client lacks of property i: only the parts that changed if the client
// knows the rest and they are smaller than the whole.
func (w *Witness) findChange(e *presence.Entity, i int, have uint64, stamp property.EventNumber) {
	if have > 0 {
		whole := e.Props.Size(i) + 1 // its key
		if parts, ok := e.History.Parts(i, property.EventNumber(have-1), whole); ok {
			for p := range parts {
				w.changed = append(w.changed, change{number: p.Number, index: i, part: p.Client})
			}
			return
		}
	}
	w.changed = append(w.changed, change{number: stamp, index: i})
}

func (w *Witness) sayChanges(en *entry, changes []change) {
	if len(changes) == 0 {
		return
	}
	w.appendChanges(en, changes)
	m := protocol.Changes{ID: en.a.id, Props: w.props}
	w.bundle = m.Append(w.bundle)
}

// appendChanges encodes changes in props.
func (w *Witness) appendChanges(en *entry, changes []change) {
	w.props = w.props[:0]
	for i := range changes {
		c, start := &changes[i], len(w.props)
		if c.part != nil {
			w.props = append(w.props, c.part...)
		} else {
			w.props = en.entity().Props.AppendClientValue(w.props, c.index)
		}
		c.bytes = len(w.props) - start
	}
}
