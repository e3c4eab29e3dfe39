package witness

import (
	"cmp"
	"slices"

	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/property"
)

// change is a property that the client lacks, or a part of one.
type change struct {
	number property.EventNumber
	index  int
	part   []byte // as it travels; nil for the whole value
	bytes  int    // sent
}

// say writes all that an entity is owed.
func (w *Witness) say(t *turn) {
	if t.due&dueReliable != 0 {
		w.sayReliable(t)
	}
	if t.due&dueMove != 0 {
		w.stats.AddMove(t.en.e.Def, w.moves.say(t.en))
	}
}

func (w *Witness) sayReliable(t *turn) {
	en, start := t.en, len(w.bundle)
	switch {
	case t.due&dueEnter != 0:
		w.sayEnter(en)
	case t.due&dueHistory != 0:
		w.sayHistory(t)
	}
	if len(w.bundle)-start > MaxEntity {
		// If it were sent, it could end the client's session; kept back, it harms one entity.
		w.bundle = w.bundle[:start]
		w.dropped++
		en.seen, en.seenLevel, en.stuck = int64(en.e.History.Last()), en.level, true
	} else if t.due&(dueEnter|dueHistory) != 0 {
		en.told()
		en.sent, en.named = true, true
		if t.due&dueEnter == 0 {
			w.countChanges(en)
		}
	}
	if t.due&dueEnter != 0 && en.sent || t.due&dueRest != 0 {
		en.rested, en.moved = en.e.MoveStamp, en.e.MoveStamp
		en.held.told(w.number+1, en.e)
	}
	if t.due&dueRest != 0 {
		place, start := en.place(), len(w.bundle)
		w.bundle = place.AppendRest(w.bundle)
		w.stats.AddMove(en.e.Def, len(w.bundle)-start)
	}
}

// countChanges counts what sayHistory has said.
func (w *Witness) countChanges(en *entry) {
	if w.stats == nil {
		return
	}
	for i := range w.changed {
		w.stats.Add(en.e.Def, w.changed[i].index, property.ToOtherClients, w.changed[i].bytes)
	}
}

func (en *entry) place() protocol.Place {
	e := en.e
	return protocol.Place{ID: e.ID, Position: e.Position, Direction: e.Direction}
}

// sayEnter writes all properties that may be seen at the entry's level, by index.
func (w *Witness) sayEnter(en *entry) {
	e := en.e
	w.props = en.appendVisible(w.props[:0])
	m := protocol.Enter{ID: e.ID, Type: e.Def.ClientID, Alias: en.alias, Position: e.Position, Direction: e.Direction, Props: w.props}
	if p := e.Def.Packing(property.OtherClientStream); p != property.Unpacked {
		w.packed = w.pack.Pack(w.packed[:0], w.props, p, protocol.MaxProps)
		m.Props = w.packed
	}
	w.bundle = m.Append(w.bundle)
}

// appendVisible appends the values of all properties that may be seen at the entry's level.
func (en *entry) appendVisible(b []byte) []byte {
	def := en.e.Def
	for _, i := range def.Stream(property.OtherClientStream) {
		if def.Properties[i].Level >= en.level {
			b = en.e.Props.AppendClientValue(b, i)
		}
	}
	return b
}

// sayHistory writes changes and calls in the order of their numbers. Neighbouring changes share a
// message.
func (w *Witness) sayHistory(t *turn) {
	en, start := t.en, len(w.bundle)
	w.findChanges(en)
	next := 0
	for ev := range en.e.History.Since(en.heard) {
		if !w.audible(en.e.Def, ev.Method, t.dist) {
			continue
		}
		from := next
		for next < len(w.changed) && w.changed[next].number < ev.Number {
			next++
		}
		w.sayChanges(en, w.changed[from:next])
		if len(w.bundle)-start+len(ev.Payload) > MaxEntity/2 {
			w.dropped++ // half is left for state, which must arrive
			continue
		}
		call := protocol.Call{ID: en.id, Method: uint16(ev.Method), Args: ev.Payload}
		w.bundle = call.Append(w.bundle)
	}
	w.sayChanges(en, w.changed[next:])
}

// findChanges lists what the client lacks of the visible properties, by number. Those that never
// changed come first: they belong to a level never seen before.
func (w *Witness) findChanges(en *entry) {
	w.changed = w.changed[:0]
	for l := en.level; l < len(en.have); l++ {
		for _, i := range en.e.Def.AtLevel(l) {
			if stamp := en.e.History.Stamp(i); en.lacks(l, stamp) {
				w.findChange(en, i, en.have[l], stamp)
			}
		}
	}
	slices.SortFunc(w.changed, func(a, b change) int {
		return cmp.Or(cmp.Compare(a.number, b.number), cmp.Compare(a.index, b.index))
	})
}

// findChange lists what the client lacks of property i: only the parts that changed if the client
// knows the rest and they are smaller than the whole.
func (w *Witness) findChange(en *entry, i int, have uint64, stamp property.EventNumber) {
	if have > 0 {
		whole := en.e.Props.Size(i) + 1 // its key
		if parts, ok := en.e.History.Parts(i, property.EventNumber(have-1), whole); ok {
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
	w.props = w.props[:0]
	for i := range changes {
		c, start := &changes[i], len(w.props)
		if c.part != nil {
			w.props = append(w.props, c.part...)
		} else {
			w.props = en.e.Props.AppendClientValue(w.props, c.index)
		}
		c.bytes = len(w.props) - start
	}
	m := protocol.Changes{ID: en.id, Props: w.props}
	w.bundle = m.Append(w.bundle)
}
