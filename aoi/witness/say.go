package witness

import (
	"cmp"
	"slices"

	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/property"
)

// change is a property that the client lacks.
type change struct {
	stamp property.EventNumber
	index int
}

// say writes all that an entity is owed. It reports false if nothing was written
// because the packet is full.
func (w *Witness) say(t *turn) bool {
	reliable := t.due&dueReliable != 0
	if reliable {
		w.sayReliable(t)
	}
	if t.due&dueMove == 0 {
		return true
	}
	en, start := t.en, len(w.packet)
	place := en.place()
	w.packet = place.AppendEntry(w.packet)
	if len(w.packet) > MaxPacket {
		w.packet = w.packet[:start]
		return reliable
	}
	en.moved = en.e.MoveStamp
	return true
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
		// Sent, it could end the client's session; kept back, it harms one entity.
		w.bundle = w.bundle[:start]
		w.dropped++
		en.seen, en.seenLevel, en.stuck = int64(en.e.History.Last()), en.level, true
	} else if t.due&(dueEnter|dueHistory) != 0 {
		en.told()
		en.sent = true
	}
	if t.due&dueEnter != 0 && en.sent || t.due&dueRest != 0 {
		en.rested, en.moved = en.e.MoveStamp, en.e.MoveStamp
	}
	if t.due&dueRest != 0 {
		place := en.place()
		w.bundle = place.AppendRest(w.bundle)
	}
}

func (en *entry) place() protocol.Place {
	e := en.e
	return protocol.Place{ID: e.ID, Stamp: e.MoveStamp, Position: e.Position, Direction: e.Direction}
}

// sayEnter writes all properties that may be seen at the entry's level, in the
// order of their indices.
func (w *Witness) sayEnter(en *entry) {
	e := en.e
	w.props = en.appendVisible(w.props[:0])
	m := protocol.Enter{ID: e.ID, Type: e.Def.ClientID, Stamp: e.MoveStamp, Position: e.Position, Direction: e.Direction, Props: w.props}
	w.bundle = m.Append(w.bundle)
}

// appendVisible appends the pairs of all properties that may be seen at the
// entry's level.
func (en *entry) appendVisible(b []byte) []byte {
	def := en.e.Def
	for _, i := range def.Stream(property.OtherClientStream) {
		if def.Properties[i].Level >= en.level {
			b = protocol.AppendPair(b, i, en.e.Props)
		}
	}
	return b
}

// sayHistory writes changes and calls in the order of their numbers. Neighbouring
// changes share a message.
func (w *Witness) sayHistory(t *turn) {
	en, start := t.en, len(w.bundle)
	w.findChanges(en)
	next := 0
	for ev := range en.e.History.Since(en.heard) {
		if !audible(en.e.Def, ev.Method, t.dist) {
			continue
		}
		from := next
		for next < len(w.changed) && w.changed[next].stamp < ev.Number {
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

// findChanges lists the visible properties that the client lacks, by number.
// Those that never changed come first: they are of a level never seen before.
func (w *Witness) findChanges(en *entry) {
	w.changed = w.changed[:0]
	for l := en.level; l < len(en.have); l++ {
		for _, i := range en.e.Def.AtLevel(l) {
			if stamp := en.e.History.Stamp(i); en.lacks(l, stamp) {
				w.changed = append(w.changed, change{stamp, i})
			}
		}
	}
	slices.SortFunc(w.changed, func(a, b change) int {
		return cmp.Or(cmp.Compare(a.stamp, b.stamp), cmp.Compare(a.index, b.index))
	})
}

func (w *Witness) sayChanges(en *entry, changes []change) {
	if len(changes) == 0 {
		return
	}
	w.props = w.props[:0]
	for _, c := range changes {
		w.props = protocol.AppendPair(w.props, c.index, en.e.Props)
	}
	m := protocol.Changes{ID: en.id, Props: w.props}
	w.bundle = m.Append(w.bundle)
}
