package space

import (
	"fmt"

	"github.com/cellscape/cellscape/aoi/witness"
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/entity/limits"
	"github.com/cellscape/cellscape/internal/argument"
	"github.com/cellscape/cellscape/internal/script"
	"github.com/cellscape/cellscape/mercury"
)

// This file has the calls between scripts: those that a cell part makes, those that it takes, and the
// answers in both directions. Calls of clients are in cell_calls.go.

// maxNested bounds own calls within own calls: a script that calls itself without end gets an error
// before the stack ends the process.
const maxNested = 64

// realCaller is the Caller of the mailboxes that a cell part calls by.
type realCaller struct{ r *Real }

// ArgumentBuffer lends memory for arguments.
func (c realCaller) ArgumentBuffer() *argument.Buffer { return &c.r.cell.population.arguments }

func (c realCaller) CallMethod(q entity.Request) error {
	r := c.r
	switch {
	case r.gone.mute():
		return entity.ErrGone
	case len(q.Args) > flow.MaxArguments:
		return fmt.Errorf("%w: %d bytes, at most %d are sent", entity.ErrArguments, len(q.Args), flow.MaxArguments)
	case q.OnReply != "":
		if err := script.CheckCallback[entity.Reply](r.kind, q.OnReply); err != nil {
			return err
		}
	}
	if q.Kind == entity.ServiceMailbox {
		return r.callService(&q)
	}
	if q.To == r.e.ID {
		if err := r.checkCalled(q.Def.ID); err != nil {
			return err
		}
		return r.callOwn(&q)
	}
	return r.callPart(&q, flow.RequestID{})
}

// callPart calls a part of another entity. kept is that of a call that has waited.
func (r *Real) callPart(q *entity.Request, kept flow.RequestID) error {
	p, err := r.peer(q.To, q.Kind.Via())
	if err != nil {
		return fmt.Errorf("%w: %w", entity.ErrFull, err)
	}
	if p.at.IsZero() && q.At.IsValid() {
		p.at = mercury.Address{At: q.At, Salt: q.Salt}
	}
	size := len(q.Args) + callHead
	if size > MaxTail {
		return fmt.Errorf("%w: %d bytes, another entity is sent at most %d", entity.ErrArguments, len(q.Args), MaxTail-callHead)
	}
	if r.tail.bytes+size > MaxTail {
		return fmt.Errorf("%w: %w", entity.ErrFull, ErrTail)
	}
	r.tail.bytes += size
	return r.sendCall(p, q, kept)
}

// callHead is about how much a call is longer than its arguments.
const callHead = 32

// sendCall sends a call to the part that a flow leads to. One that was kept fails later if it cannot be sent.
func (r *Real) sendCall(p *peer, q *entity.Request, kept flow.RequestID) error {
	if !p.out.HasRoom() {
		return fmt.Errorf("%w: %w", entity.ErrFull, r.unsent(p, flow.ErrFull))
	}
	m := flow.ServerCall{Caller: r.e.ID, CallerPart: entity.CellPart, Cause: r.cause, Part: q.Kind.Part(), Type: q.Def.ID, Method: uint16(q.Method), Args: q.Args}
	if r.cause != 0 {
		if p.made != r.cause {
			p.made, p.turns = r.cause, 0
		}
		p.turns++
		m.Turn = p.turns
	}
	var err error
	if m.Request = kept; q.OnReply != "" {
		if kept.IsZero() {
			m.Request, err = r.requests.Add(r.Now(), q, r.cause, r.e.Order.Incarnation, limits.Requests)
		}
		if err != nil {
			return err
		}
		m.Within = q.Within
	}
	if err = r.send(p, m.Append(nil)); err != nil {
		if kept.IsZero() {
			r.requests.Take(m.Request)
		}
		return fmt.Errorf("%w: %w", entity.ErrFull, err)
	}
	return nil
}

// callOwn calls a part of the own entity.
func (r *Real) callOwn(q *entity.Request) error {
	switch {
	case q.Kind.Part() == entity.CellPart:
		return r.callSelf(q)
	case q.Kind == entity.ClientMailbox || q.Kind == entity.ClientViaCell:
		return clientCaller{r: r, own: true}.CallMethod(*q)
	case r.e.Base.IsZero():
		return entity.ErrNoPart
	case !r.base().out.HasRoom():
		return fmt.Errorf("%w: %w", entity.ErrFull, r.unsent(r.base(), flow.ErrFull))
	case q.Kind.Part() == entity.BasePart && q.OnReply == "":
		m := flow.MethodCall{Cause: r.cause, Method: uint16(q.Method), Args: q.Args}
		if err := r.sendBase(m.Append(nil, flow.CallBasePayload)); err != nil {
			return fmt.Errorf("%w: %w", entity.ErrFull, err)
		}
		return nil
	}
	return r.sendCall(r.base(), q, flow.RequestID{})
}

// callSelf calls a method of the cell part at once. Whatever becomes of the entity, it made the call
// if and only if it handled it, so the call needs no flow.
func (r *Real) callSelf(q *entity.Request) error {
	if r.nested >= maxNested {
		return fmt.Errorf("%w: %d own calls within one another", entity.ErrTooMany, maxNested)
	}
	var id flow.RequestID
	if q.OnReply != "" {
		var err error
		if id, err = r.requests.Add(r.Now(), q, r.cause, r.e.Order.Incarnation, limits.Requests); err != nil {
			return err
		}
	}
	r.nested++
	defer func(call entity.Call) { r.call = call; r.nested-- }(r.call)
	r.call.Source = r.e.ID
	asked := script.Asked{Caller: r.e.ID, CallerPart: entity.CellPart, Request: id, Method: uint16(q.Method), Within: q.Within}
	results, err := r.callMethod(q.Method, asked, 0, q.Args)
	if id.IsZero() {
		return err
	}
	if results.Later() {
		return nil
	}
	x, waits := r.requests.Take(id)
	if !waits || r.gone != staying {
		return nil
	}
	answer := results.Answer(id, err)
	r.tellReply(&x, &answer, nil)
	return nil
}

// serverCall takes a call of a script: of another entity, of the own base, or one that the own base
// hands on.
func (r *Real) serverCall(m *flow.Message, body []byte) error {
	var x flow.ServerCall
	if err := x.Parse(body); err != nil {
		return err
	}
	if x.Caller != m.From || x.CallerPart != m.FromPart {
		return fmt.Errorf("space: entity %v calls in the name of %v", m.From, x.Caller)
	}
	if p := r.known(m.From, m.FromPart); p == nil || !x.After(p.cause, p.turn) {
		r.cell.count.Repeats++
		return nil
	} else if x.Cause != 0 {
		p.cause, p.turn = x.Cause, x.Turn
	}
	switch x.Part {
	case entity.BasePart:
		if r.e.Base.IsZero() {
			return r.answer(&x, script.Results{}, entity.ErrNoPart)
		}
		return r.sendBase(x.Append(nil))
	case entity.ClientPart:
		return r.answer(&x, script.Results{}, r.clientCallOf(&x))
	}
	if flow.IsAsk(x.Method) {
		return r.answerAsk(&x)
	}
	if err := r.checkCalled(x.Type); err != nil {
		return r.answer(&x, script.Results{}, err)
	}
	if x.Caller != r.e.ID {
		r.call = entity.Call{Source: x.Caller, Number: x.Cause}
	}
	results, err := r.callMethod(int(x.Method), script.AskedBy(&x), 0, x.Args)
	switch {
	case r.gone == lost && r.e.Base.IsZero():
		err = errPanicked
	case r.gone == lost:
		return nil // the call is made again when the entity is back
	}
	return r.answer(&x, results, err)
}

// checkCalled reports a call as an entity of another type.
func (r *Real) checkCalled(as uint16) error {
	return script.CheckCalled(r.cell.scripts.Schema(), as, r.e.Def)
}

// clientCallOf calls the own client for another entity's script.
func (r *Real) clientCallOf(x *flow.ServerCall) error {
	switch err := r.checkCalled(x.Type); {
	case err != nil:
		return err
	case entity.ClientPart.Method(r.e.Def, int(x.Method)) == nil:
		return entity.ErrNoMethod
	case len(x.Args) > witness.MaxEntity:
		return entity.ErrArguments
	case !r.HasClient():
		return entity.ErrNoPart
	}
	r.tapeCall(int(x.Method), x.Args, false)
	r.callClient(r.e.ID, int(x.Method), x.Args)
	return nil
}

// errPanicked is of a call whose method panicked, where nothing brings the entity back.
var errPanicked = fmt.Errorf("%w: the script panicked", entity.ErrRefused)

// answer sends what became of a call, if that is asked for. Else it returns why the call was refused.
func (r *Real) answer(x *flow.ServerCall, results script.Results, err error) error {
	if x.Request.IsZero() {
		return err
	}
	if results.Later() {
		return nil
	}
	answer := results.Answer(x.Request, err)
	return r.sendAnswer(x.Caller, x.CallerPart, &answer)
}

func (r *Real) sendAnswer(caller entity.ID, part entity.Part, a *flow.Answer) error {
	p, err := r.peer(caller, part)
	if err != nil {
		return err
	}
	return r.send(p, a.Append(nil))
}

// takeAnswer takes an answer to a call that the cell part has made.
func (r *Real) takeAnswer(m *flow.Message, body []byte) error {
	x, a, waits, err := r.requests.TakeAnswer(body, m.From)
	switch {
	case err != nil:
		return err
	case !waits:
		r.cell.count.LateAnswers++
	default:
		r.tellReply(&x, &a, nil)
	}
	return nil
}

// answersAhead reports whether a message answers a call that the cell part, restored, has yet to
// make again: its base has not sent again what caused the call. Such an answer must not be taken,
// since the target knows the repeated call, and does not answer it a second time. The base's own
// messages are in order: what causes a call is before the answer. A base in a later life may not
// know the cause any more: its first word, which comes after all that it knows of the former life,
// ends the wait.
func (r *Real) answersAhead(m *flow.Message) bool {
	cause := flow.AnsweredCause(m.Payload)
	if cause == 0 || m.From == r.e.ID {
		return false
	}
	own := r.known(r.e.ID, entity.BasePart)
	return own != nil && cause > uint64(own.in.Handled())
}

// tellReply tells the script how a call ended: by an answer, or by err.
func (r *Real) tellReply(x *script.Waiting, a *flow.Answer, err error) {
	if flow.IsWish(x.Method) {
		r.tellGrant(x, a, err)
		return
	}
	if flow.IsAsk(x.Method) {
		r.tellSpawned(x, a, err)
		return
	}
	reply := x.Reply(r.cell.scripts.Schema().Called(x.Type), a, err)
	err = nil // a panic leaves it so
	r.guard(x.Callback, func() { err = script.CallBack(r.kind, r.script, x.Callback, reply) })
	if err != nil {
		r.cell.count.Errors++
		r.Log().Error("no method of this name for an answer", "error", err)
	}
}

// timeOut ends the calls that were not answered in time, and forgets those that it has not answered in
// time.
func (r *Real) timeOut() {
	r.cell.count.Unanswered += uint64(r.owed.Expire(r.Now()))
	for r.gone == staying && r.kind != nil {
		x, due := r.requests.TakeDue(r.Now())
		if !due {
			return
		}
		r.tellReply(&x, nil, entity.ErrTimeout)
	}
}

// fail ends a call that nobody will answer.
func (r *Real) fail(id flow.RequestID, err error) { r.cell.failed.Add(r, id, err) }

func (c *Cell) tellFailed() {
	c.failed.Tell(func(r *Real, id flow.RequestID, err error) {
		if x, waits := r.requests.Take(id); waits && r.gone == staying {
			r.tellReply(&x, nil, err)
		}
	})
}

// seek has the real ask, for some time, whether the bases are there still that owe it answers: see
// flow.SeekTime.
func (r *Real) seek() { r.seekUntil = r.cell.now + flow.SeekTime }

// hearDeaths does what the deaths of BaseApps meant for a real that was under way when they were heard of
// here; its former CellApp may not have heard of them before it left.
func (r *Real) hearDeaths() {
	if r.requests.Len() == 0 {
		return
	}
	r.forsake()
	if until := r.cell.population.seekUntil; r.cell.now < until {
		r.seekUntil = max(r.seekUntil, until)
	}
}

// runSeek asks.
func (r *Real) runSeek() {
	now := r.cell.now
	if r.seekUntil == 0 {
		return
	}
	if now >= r.seekUntil || r.requests.Len() == 0 {
		r.seekUntil = 0
		return
	}
	r.requests.EachBase(func(id flow.RequestID, target entity.ID) {
		home, based := r.cell.out.Home(target)
		switch {
		case target == r.e.ID || !based:
			return
		case r.cell.out.Dead(home): // a restored one has missed that
			r.fail(id, errBaseDead)
			return
		}
		if p, err := r.peer(target, entity.BasePart); err == nil && p.prospect.MayAsk(now, flow.SeekAgain) {
			r.inquire(p, home)
		}
	})
}

// forsaken ends the calls to a base that is gone.
func (r *Real) forsaken(by entity.ID) {
	r.requests.EachBase(func(id flow.RequestID, target entity.ID) {
		if target == by {
			r.fail(id, errBaseDead)
		}
	})
}

// forsake ends the calls to entities whose bases have died and that nobody has inherited: what they had
// handled they cannot answer.
func (r *Real) forsake() {
	if r.requests.Len() == 0 {
		return
	}
	r.requests.Each(func(id flow.RequestID, target entity.ID) {
		if home, base := r.cell.out.Home(target); base && r.cell.out.Dead(home) {
			r.fail(id, errBaseDead)
		}
	})
}
