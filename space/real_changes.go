package space

import (
	"math"

	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/ghost"
	"github.com/cellscape/cellscape/property"
)

// PropertyChanged implements property.Holder. It sends a change of a property where its flags say.
// Scripts do not call it; they set a handle.
func (r *Real) PropertyChanged(c *property.Change) {
	if r.gone != staying {
		return
	}
	p := r.e.Def.Properties[c.Index]
	if r.cell.tape != nil {
		r.tapeChange(r.e.Props, c)
	}
	number := r.e.History.Record(r.e.Props, c)
	if number > 0 && p.ClientIndex >= 0 {
		r.countHistory(c, number)
	}
	if p.Flags&property.Ghosted != 0 && r.haunts.Len() > 0 {
		mark := len(r.payloads)
		r.payloads = r.e.Props.AppendChange(r.payloads, c)
		r.addChange(ghost.Change{Number: number, Index: uint16(c.Index)}, mark)
	}
	if p.Flags&property.OwnClient != 0 && p.ClientIndex >= 0 && r.HasClient() {
		r.tellOwn(number, c)
	}
}

// tellOwn tells the entity's own client of a change.
func (r *Real) tellOwn(number property.EventNumber, c *property.Change) {
	before := len(r.direct)
	b, short := protocol.AppendOwnValue(r.direct, r.e.Props, c)
	bytes := len(b) - before
	if !short {
		var mark int
		b, mark = protocol.Begin(r.direct, protocol.OwnPropertyID)
		start := len(b)
		b = r.appendForClient(b, number, c)
		bytes = len(b) - start
		b = protocol.End(b, mark)
	}
	r.direct = b
	r.cell.stats.Add(r.e.Def, c.Index, property.ToOwnClient, bytes)
	r.cell.population.toldOwn += uint64(len(r.direct) - before)
	r.spill()
}

// appendForClient appends a change as clients read it. If other clients see it too, the history has
// just encoded it, and that encoding is used again.
func (r *Real) appendForClient(b []byte, number property.EventNumber, c *property.Change) []byte {
	if number > 0 && c.Nested() {
		if part := r.newestPart(c.Index, number); part != nil {
			return append(b, part...)
		}
	}
	return protocol.AppendChange(b, r.e.Props, c)
}

// countHistory counts what the history keeps of a change: a part, or a note that the whole value is
// owed.
func (r *Real) countHistory(c *property.Change, number property.EventNumber) {
	if r.cell.stats == nil {
		return
	}
	size := r.e.Props.Size(c.Index)
	if c.Nested() {
		if part := r.newestPart(c.Index, number); part != nil {
			size = len(part)
		}
	}
	r.cell.stats.Add(r.e.Def, c.Index, property.IntoHistory, size)
}

// newestPart returns the change of a part that the history has just numbered, nil if it keeps none.
func (r *Real) newestPart(index int, number property.EventNumber) (client []byte) {
	if parts, ok := r.e.History.Parts(index, number-1, math.MaxInt); ok {
		for p := range parts {
			client = p.Client
		}
	}
	return client
}

// event numbers a client method call that goes to all clients that see the entity.
func (r *Real) event(method int, args []byte) {
	n := r.e.History.Add(method, args)
	if r.haunts.Len() > 0 {
		mark := len(r.payloads)
		r.payloads = append(r.payloads, args...)
		r.addChange(ghost.Change{Number: n, Event: true, Index: uint16(method)}, mark)
	}
}

// addChange keeps a change for the haunts until the end of the tick. Its payload is in r.payloads
// from mark on.
func (r *Real) addChange(c ghost.Change, mark int) {
	c.Payload = r.payloads[mark:len(r.payloads):len(r.payloads)]
	r.changes = append(r.changes, c)
}
