package space

import (
	"github.com/cellscape/cellscape/aoi/witness"
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space/internal/hosting"
)

// ClientMove takes a client's report of where its entity is. If the real has moved to another app, it returns
// where the message should follow.
func (p *Population) ClientMove(id entity.ID, m *flow.ClientRest) (goOn hosting.Way) {
	rec := p.find(id)
	if rec == nil {
		return hosting.Way{}
	}
	c := rec.cell
	if rec.real == nil {
		return c.goesOn(rec.ghost)
	}
	c.watch.Claim(&rec.real.meter)
	rec.real.clientMoved(m)
	return hosting.Way{}
}

// clientMoved takes a client's report. A move of another session or incarnation does not count.
func (r *Real) clientMoved(m *flow.ClientRest) {
	if m.Session != r.session.Number || m.Session == 0 || m.Incarnation != r.e.Order.Incarnation {
		return
	}
	r.clientSaw(m.Seen)
	// Sequence numbers wrap; half of the range counts as newer.
	if m.Still || int32(m.Sequence-r.clientSeq) <= 0 {
		return
	}
	r.clientSeq = m.Sequence
	told := r.ghostedStamp == r.e.MoveStamp
	r.steer(m)
	if told && r.ghostedStamp != r.e.MoveStamp {
		r.cell.hurry(r)
	}
}

// clientSaw tells the witness what the client has received. A client that sends nonsense harms only
// itself.
func (r *Real) clientSaw(seen []byte) {
	if r.witness == nil || len(seen) == 0 {
		return
	}
	rd := codec.NewReader(seen)
	var s protocol.Seen
	if s.Read(&rd); rd.Close() != nil {
		r.cell.count.Refused++
		return
	}
	r.witness.Saw(&s)
}

// setSession attaches or detaches the client, and tells the script.
func (r *Real) setSession(session flow.Session) {
	had := r.HasClient()
	r.attach(session)
	if has := session.Number != 0; had != has {
		callback(r, "OnClient", func(s ClientWatcher) { s.OnClient(has) })
	}
}

// attach begins a client session, or ends the present one. A session whose client is away, or is back,
// is the same one: its witness waits, and then tells the sum of what has changed.
func (r *Real) attach(session flow.Session) {
	same := session.Number == r.session.Number
	r.session = session
	if same {
		return
	}
	r.traceClient()
	r.dropWitness()
	if r.HasClient() {
		r.makeWitness(r.takeSight())
		r.greet()
	}
}

// greet begins a session by sending the client its cell part.
func (r *Real) greet() {
	r.direct = r.direct[:0]
	r.arriving = 0
	r.sayPlace()
}

// sayPlace gives the client its cell part, at the place where it is.
func (r *Real) sayPlace() {
	r.beginSteering()
	m := protocol.CellPlayer{
		Space: r.e.Space, Incarnation: r.e.Order.Incarnation, Position: r.e.Position, Direction: r.e.Direction,
		Forced: r.steering.number, Control: r.clientMoves(),
		Props: r.cell.compressor.AppendStream(nil, r.e.Props, property.OwnClientCellStream, protocol.MaxProps),
	}
	r.direct = m.Append(r.direct)
	r.dataTold, r.dayTold = 0, dayTold{}
	r.clientSeq = 0
	r.spill()
}

// maxAudit bounds the answer to an audit, in bytes: some thousand entities. It still fits into a
// bundle after witness.MaxDirect bytes of other messages.
const maxAudit = witness.MaxEntity

// audit tells the client what it should hold, from the cell's own lists. It runs after a tick's
// update, which tells the client what came and went, and its answer heads the next bundle. (An
// immediate answer came too early: a ghost that was given up between two ticks was missing in it,
// and the client had not yet heard that it was gone.)
func (r *Real) audit() {
	r.audits = false
	r.tellForced() // of what a script did since the tick
	m := protocol.Audit{Own: protocol.Expected{
		Place: protocol.Place{ID: r.e.ID, Position: r.e.Position, Direction: r.e.Direction},
		Type:  r.e.Def.ClientID,
	}}
	for _, i := range r.e.Def.Stream(property.OwnClientCellStream) {
		m.Own.Props = r.e.Props.AppendClientValue(m.Own.Props, i)
	}
	for e := range r.allInSight() {
		m.Entities = r.witness.AppendExpected(m.Entities, r.e, e)
	}
	mark := len(r.direct)
	r.direct = m.Append(r.direct)
	if n := len(r.direct) - mark; n > maxAudit {
		// The bundle would be longer than a flow takes, and all of it would be lost.
		r.direct = r.direct[:mark]
		r.cell.count.Refused++
		r.Log().Warn("audit of a client not answered: it sees too much", "bytes", n, "limit", maxAudit)
	}
	r.spill()
}
