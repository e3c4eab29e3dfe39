package baseapp

import (
	"fmt"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/entity/limits"
	"github.com/cellscape/cellscape/internal/argument"
	"github.com/cellscape/cellscape/internal/script"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/property"
)

// maxNested bounds own calls within own calls: a script that calls itself without end gets an error
// before the stack ends the process.
const maxNested = 64

// Mailbox and Lookup are part of entity.Base's host.
func (b *base) Mailbox(m property.Mailbox) entity.Mailbox {
	return script.Callable(m, b.app.cfg.Schema, b)
}

func (b *base) Lookup(id entity.ID, typeName string, kind entity.MailboxKind) entity.Mailbox {
	return script.Find(b.app.cfg.Schema, id, typeName, kind, b)
}

// ArgumentBuffer lends memory for arguments.
func (b *base) ArgumentBuffer() *argument.Buffer { return &b.app.arguments }

// CallMethod is how mailboxes call.
func (b *base) CallMethod(q entity.Request) error {
	switch {
	case b.ended():
		return entity.ErrNoPart
	case len(q.Args) > flow.MaxArguments:
		return fmt.Errorf("%w: %d bytes, at most %d are sent", entity.ErrArguments, len(q.Args), flow.MaxArguments)
	case q.OnReply != "":
		if err := script.CheckCallback[entity.Reply](b.kind, q.OnReply); err != nil {
			return err
		}
	}
	if q.Kind == entity.ServiceMailbox {
		return b.callService(&q)
	}
	if q.To == b.id {
		if err := script.CheckCalled(b.app.cfg.Schema, q.Def.ID, b.props.Definition()); err != nil {
			return err
		}
		return b.callOwn(&q)
	}
	return b.callOther(&q, flow.RequestID{})
}

// callOther calls a part of another entity. kept is that of a call that has waited.
func (b *base) callOther(q *entity.Request, kept flow.RequestID) error {
	t, err := b.talk(q.To, q.Kind.Via())
	if err != nil {
		return err
	}
	if t.at.IsZero() && q.At.IsValid() {
		t.at = mercury.Address{At: q.At, Salt: q.Salt}
	}
	return b.sendCall(q, kept, t.say)
}

// callOwn calls a part of the own entity.
func (b *base) callOwn(q *entity.Request) error {
	switch {
	case q.Kind.Via() == entity.CellPart && !b.link.out.HasRoom():
		return fmt.Errorf("%w: %w", entity.ErrFull, flow.ErrFull)
	case q.Kind.Via() == entity.CellPart && q.Kind.Part() == entity.CellPart && q.OnReply == "":
		m := flow.MethodCall{Method: uint16(q.Method), Args: q.Args}
		return b.sendCell(m.Append(b.app.payload[:0], flow.CallCellPayload))
	case q.Kind.Via() == entity.CellPart && !b.link.Open():
		return entity.ErrNoPart
	case q.Kind.Via() == entity.CellPart:
		return b.sendCall(q, flow.RequestID{}, b.sendCell)
	case q.Kind.Part() == entity.ClientPart:
		return b.callClient(q.Method, q.Args)
	}
	return b.callSelf(q)
}

// callClient calls a client method of the own client.
func (b *base) callClient(method int, args []byte) error {
	if !b.shown() || b.gives() {
		return entity.ErrNoPart
	}
	m := protocol.Call{ID: b.id, Method: uint16(method), Args: args}
	b.tell(m.Append(b.app.buf[:0]))
	return nil
}

// callSelf calls a method of the base at once.
func (b *base) callSelf(q *entity.Request) error {
	if b.nested >= maxNested {
		return fmt.Errorf("%w: %d own calls within one another", entity.ErrTooMany, maxNested)
	}
	var id flow.RequestID
	if q.OnReply != "" {
		var err error
		if id, err = b.requests.Add(b.app.game, q, 0, b.life(), limits.BaseRequests); err != nil {
			return err
		}
	}
	b.nested++
	defer func(c entity.Call) { b.handling = c; b.nested-- }(b.handling)
	b.handling = entity.Call{Source: b.id}
	asked := script.Asked{Caller: b.id, CallerPart: entity.BasePart, Request: id, Method: uint16(q.Method), Within: q.Within}
	results, err := b.call(q.Method, asked, 0, q.Args)
	if id.IsZero() {
		return err
	}
	if results.Later() {
		return nil
	}
	if x, waits := b.requests.Take(id); waits {
		a := results.Answer(id, err)
		b.tellReply(&x, &a, nil)
	}
	return nil
}

// sendCall sends a call to a part by send. One that was kept fails later if it cannot be sent.
func (b *base) sendCall(q *entity.Request, kept flow.RequestID, send func(payload []byte) error) error {
	m := flow.ServerCall{Caller: b.id, CallerPart: entity.BasePart, Part: q.Kind.Part(), Type: q.Def.ID, Method: uint16(q.Method), Args: q.Args}
	if m.Request = kept; q.OnReply != "" {
		var err error
		if kept.IsZero() {
			m.Request, err = b.requests.Add(b.app.game, q, 0, b.life(), limits.BaseRequests)
		}
		if err != nil {
			return err
		}
		m.Within = q.Within
	}
	err := send(m.Append(b.app.payload[:0]))
	if err != nil && kept.IsZero() {
		b.requests.Take(m.Request)
	}
	return err
}

// takeCall takes a call of a script that a part of an entity makes or, if that is the own cell part,
// hands on.
func (b *base) takeCall(part entity.Part, id entity.ID, own bool, body []byte) error {
	var x flow.ServerCall
	if err := x.Parse(body); err != nil {
		return err
	}
	direct := x.Caller == id && x.CallerPart == part
	if !direct && !own {
		return fmt.Errorf("entity %v calls in the name of %v", id, x.Caller)
	}
	if direct && !own {
		if i, found := b.findTalk(id, part); found {
			t := b.talks[i]
			if !x.After(t.cause, t.turn) {
				b.app.report.Repeats++
				return nil
			}
			if x.Cause != 0 {
				t.cause, t.turn = x.Cause, x.Turn
			}
		}
	}
	switch {
	case x.Part == entity.CellPart:
		return b.answer(&x, script.Results{}, fmt.Errorf("%w: a base does not hand on calls to its cell part", entity.ErrRefused))
	case own && direct && x.Part == entity.BasePart && flow.IsWish(x.Method):
		return b.takeWish(&x)
	}
	if err := script.CheckCalled(b.app.cfg.Schema, x.Type, b.props.Definition()); err != nil {
		return b.answer(&x, script.Results{}, err)
	}
	switch {
	case x.Part == entity.BasePart:
		defer func(c entity.Call) { b.handling = c }(b.handling)
		b.handling = entity.Call{Source: x.Caller, Number: x.Cause}
		results, err := b.call(int(x.Method), script.AskedBy(&x), 0, x.Args)
		return b.answer(&x, results, err)
	case entity.ClientPart.Method(b.props.Definition(), int(x.Method)) == nil:
		return b.answer(&x, script.Results{}, entity.ErrNoMethod)
	}
	return b.answer(&x, script.Results{}, b.callClient(int(x.Method), x.Args))
}

// answer sends what became of a call, if that is asked for. Else it returns why the call was refused.
func (b *base) answer(x *flow.ServerCall, results script.Results, err error) error {
	if x.Request.IsZero() {
		if b.failed { // it ends, and that was logged
			return nil
		}
		return unlessPanicked(err)
	}
	if results.Later() || b.aside { // its next life answers
		return nil
	}
	a := results.Answer(x.Request, err)
	return b.sendAnswer(x.Caller, x.CallerPart, &a)
}

func (b *base) sendAnswer(caller entity.ID, part entity.Part, a *flow.Answer) error {
	if caller == b.id && part == entity.CellPart {
		return b.sendCell(a.Append(b.app.payload[:0]))
	}
	t, err := b.reach(caller, part)
	if err != nil {
		return err
	}
	return t.say(a.Append(b.app.payload[:0]))
}

// reach is talk for a base that may have been removed by the call that it answers.
func (b *base) reach(id entity.ID, part entity.Part) (*talk, error) {
	if !b.removed {
		return b.talk(id, part)
	}
	a, key := b.app, talkKey{b.id, id, part}
	if t := a.talking.departed[key]; t != nil {
		return t, nil
	}
	t, err := b.talk(id, part)
	if err != nil {
		return nil, err
	}
	b.talks = nil
	if a.talking.departed == nil {
		a.talking.departed = make(map[talkKey]*talk)
	}
	a.talking.departed[key] = t
	return t, nil
}

// takeAnswer takes an answer to a call that the base has made.
func (b *base) takeAnswer(by entity.ID, body []byte) error {
	x, a, waits, err := b.requests.TakeAnswer(body, by)
	switch {
	case err != nil:
		return err
	case !waits:
		b.app.report.LateAnswers++
	default:
		b.tellReply(&x, &a, nil)
	}
	return nil
}

// tellReply tells the script how a call ended: by an answer, or by err.
func (b *base) tellReply(x *script.Waiting, a *flow.Answer, err error) {
	if flow.IsAsk(x.Method) {
		b.placed(uint64(x.User), a, err)
		return
	}
	if !b.failed && !b.ended() {
		callBack(b, x.Callback, x.Reply(b.app.cfg.Schema.Called(x.Type), a, err))
	}
}

// timeOut ends the calls that were not answered in time, and forgets those that it has not answered in
// time.
func (b *base) timeOut() {
	b.app.report.Unanswered += uint64(b.owed.Expire(b.app.game))
	for !b.removed {
		x, due := b.requests.TakeDue(b.app.game)
		if !due {
			return
		}
		b.tellReply(&x, nil, entity.ErrTimeout)
	}
}

// fail ends a call that nobody will answer.
func (b *base) fail(id flow.RequestID, err error) {
	if !b.removed {
		b.app.failed.Add(b, id, err)
	}
}

func (a *BaseApp) tellFailed() {
	a.failed.Tell(func(b *base, id flow.RequestID, err error) {
		if x, waits := b.requests.Take(id); waits {
			b.tellReply(&x, nil, err)
		}
	})
}
