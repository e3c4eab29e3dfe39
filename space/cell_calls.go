package space

import (
	"fmt"
	"slices"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/internal/script"
	"github.com/cellscape/cellscape/property"
)

// handle acts on a flow message; mark is its place in the flow.
func (r *Real) handle(m *flow.Message, mark flow.Mark, payload []byte) error {
	r.startHandling(m, mark)
	r.takeSeat()
	defer func() {
		r.call, r.cause = entity.Call{}, 0
		r.endHandling()
	}()
	if m.FromPart == entity.BasePart && m.From == r.e.ID {
		r.call, r.cause = entity.Call{Number: uint64(mark)}, uint64(mark)
	}
	kind, body, err := flow.SplitPayload(payload)
	if err != nil {
		return err
	}
	switch own := m.From == r.e.ID && m.FromPart == entity.BasePart; {
	case kind == flow.RemoteCallPayload && m.FromPart == entity.CellPart:
		return r.remoteCall(m.From, body)
	case kind == flow.ServerCallPayload:
		return r.serverCall(m, body)
	case kind == flow.AnswerPayload:
		return r.takeAnswer(m, body)
	case kind == flow.RemoteSteerPayload && m.FromPart == entity.CellPart:
		return r.remoteSteer(m.From, body)
	case own:
		return r.handleOwn(kind, body)
	}
	return fmt.Errorf("space: only the entity's own base may send payload %d", kind)
}

// handleOwn acts on a message from the entity's own base.
func (r *Real) handleOwn(kind flow.Payload, body []byte) error {
	switch kind {
	case flow.CallCellPayload:
		var x flow.MethodCall
		if err := x.Parse(body); err != nil {
			return err
		}
		_, err := r.callMethod(int(x.Method), script.Asked{}, 0, x.Args)
		return err
	case flow.ClientCallPayload:
		return r.clientCall(body)
	case flow.ClientRestPayload:
		var x flow.ClientRest
		if err := x.Parse(body); err != nil {
			return err
		}
		r.clientMoved(&x)
	case flow.SteerPayload:
		return r.restCharge(body)
	case flow.SetClientPayload, flow.AuditPayload, flow.SlowClientPayload:
		return r.handleSession(kind, body)
	case flow.TeleportPayload:
		var x flow.Teleport
		if err := x.Parse(body); err != nil {
			return err
		}
		r.teleportForBase(&x)
	case flow.DestroyPayload:
		r.Destroy()
	case flow.EndPayload:
		r.ending = r.gone == staying
		r.Destroy()
	case flow.BackupNowPayload:
		r.backupAt = 0
	case flow.ExposedPayload:
		return r.hearExposed(body)
	default:
		return fmt.Errorf("space: unknown payload %d", kind)
	}
	return nil
}

// handleSession acts on a message from the own base about a session of the client.
func (r *Real) handleSession(kind flow.Payload, body []byte) error {
	var x flow.Session
	if err := x.Parse(body); err != nil {
		return err
	}
	current := x.Number == r.session.Number
	switch kind {
	case flow.SetClientPayload:
		r.setSession(x)
	case flow.AuditPayload:
		r.audits = r.audits || current && r.witness != nil
	case flow.SlowClientPayload:
		if current {
			r.slowUntil = r.cell.now + flow.SlowClientPause
		}
	}
	return nil
}

// clientCall handles a call by the entity's own client, of this entity or another.
func (r *Real) clientCall(body []byte) error {
	var x flow.ClientCall
	if err := x.Parse(body); err != nil {
		return err
	}
	if x.Number != 0 && x.Session == r.uploads.session && x.Number <= r.uploads.number {
		r.cell.count.Repeats++
		return nil
	}
	r.uploads = uploads{x.Session, x.Number}
	r.cell.count.ClientCallsHandled++
	if x.Target == r.e.ID {
		r.call.Source = r.e.ID
		return r.exposedCall(r.e.ID, int(x.Method), x.Args, property.ExposedOwn, property.ExposedAll)
	}
	err := r.callOther(&x)
	if err != nil {
		r.refuseCall(RefusedCall{Target: x.Target, Method: int(x.Method), Args: x.Args, Err: err})
	}
	return err
}

// callOther sends a call to another entity, which the client must see.
func (r *Real) callOther(x *flow.ClientCall) error {
	seen := r.sees(x.Target)
	if !seen && (r.witness == nil || r.cell.now >= r.patientUntil) {
		return fmt.Errorf("space: the client does not see entity %s", x.Target)
	}
	call := flow.MethodCall{Cause: r.cause, Method: x.Method, Args: x.Args}
	if x.Number != 0 {
		call.Cause = uint64(flow.MarkOf(x.Session, x.Number)) // a restored base may pass it on under another number
	}
	payload := call.Append(nil, flow.RemoteCallPayload)
	if r.tail.bytes+len(payload) > MaxTail {
		return ErrTail
	}
	p, err := r.peer(x.Target, entity.CellPart)
	if err != nil {
		return err
	}
	if !seen && p.out.Kept() == 0 {
		p.unseen = true
	}
	r.tail.bytes += len(payload)
	return r.send(p, payload)
}

// RefusedCall is a call by an entity's own client that nobody has handled; see CallRefuser.
type RefusedCall struct {
	// Target is the entity that the client called, and Method the index among its exposed methods.
	// Args are as the client sent them, and are good until the callback returns.
	Target entity.ID
	Method int
	Args   []byte
	// Err is the reason.
	Err error
}

func (r *Real) refuseCall(call RefusedCall) {
	if r.gone == staying {
		callback(r, "OnCallRefused", func(s CallRefuser) { s.OnCallRefused(call) })
	}
}

// refusal is a call that was given up during a walk over all reals. The script is told after the
// walk.
type refusal struct {
	r    *Real
	call RefusedCall
}

func (c *Cell) tellRefused() {
	for i := 0; i < len(c.refusals); i++ { // a callback may add more
		c.refusals[i].r.refuseCall(c.refusals[i].call)
	}
	clear(c.refusals)
	c.refusals = c.refusals[:0]
	c.tellFailed()
}

// remoteCall handles a call by the client of another entity. Its number shows whether an earlier
// incarnation of the caller, or of its base, has passed it on; it is then not handled again.
func (r *Real) remoteCall(source entity.ID, body []byte) error {
	var x flow.MethodCall
	if err := x.Parse(body); err != nil {
		return err
	}
	p := r.known(source, entity.CellPart)
	if p == nil || x.Cause <= p.upload && x.Cause != 0 {
		r.cell.count.Repeats++
		return nil
	}
	p.upload = max(p.upload, x.Cause)
	r.call = entity.Call{Source: source, Number: x.Cause}
	return r.exposedCall(source, int(x.Method), x.Args, property.ExposedAll)
}

// exposedCall calls the method with the ExposedIndex that a client named, if it is exposed to that
// client.
func (r *Real) exposedCall(source entity.ID, exposed int, args []byte, allowed ...property.Exposure) error {
	d := r.e.Def.ExposedCellMethod(exposed)
	if d == nil {
		return fmt.Errorf("%w: %s has no exposed cell method %d", entity.ErrNotExposed, r.e.Def.Name, exposed)
	}
	if !slices.Contains(allowed, d.Exposed) {
		return fmt.Errorf("%w: %s.%s", entity.ErrNotExposed, r.e.Def.Name, d.Name)
	}
	_, err := r.callMethod(d.Index, script.Asked{}, source, args)
	return err
}
