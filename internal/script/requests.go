package script

import (
	"encoding/binary"
	"errors"
	"slices"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/internal/fields"
	"github.com/cellscape/cellscape/internal/gametime"
	"github.com/cellscape/cellscape/property"
)

// Requests are the two-way calls of one part of an entity that wait for an answer, in the order of
// their ids. Each is taken out once: by its answer, by its time-out, or because its target has ended.
// Times are game time. The zero value has none.
type Requests struct {
	last uint64 // number of the last one without a cause
	// cause and turn count those of the message that is being handled.
	cause, turn uint64
	list        []Waiting
	due         time.Duration // no time-out is before it, if there are any
}

// Waiting is a two-way call that is not answered.
type Waiting struct {
	ID       flow.RequestID
	Due      time.Duration
	Callback string
	User     int64
	Target   entity.ID // 0 for a service of which it is not known yet who runs it; see Early
	Type     uint16    // of the target
	Part     entity.Part
	Method   uint16
}

// Add adds a call that was caused by a message of the base, or by none if cause is 0, in an
// incarnation. most is how many may wait; the error is entity.ErrFull.
func (t *Requests) Add(now time.Duration, r *entity.Request, cause uint64, life uint32, most int) (flow.RequestID, error) {
	if len(t.list) >= most {
		return flow.RequestID{}, entity.ErrFull
	}
	x := Waiting{Due: gametime.After(now, r.Within), Callback: r.OnReply, User: r.User, Target: r.To, Type: r.Def.ID, Part: r.Kind.Part(), Method: uint16(r.Method)}
	switch {
	case cause == 0:
		t.last++
		x.ID = flow.RequestID{Life: life, Number: t.last}
	case cause != t.cause:
		t.cause, t.turn = cause, 0
		fallthrough
	default:
		t.turn++
		x.ID = flow.RequestID{Cause: cause, Number: t.turn}
	}
	i, found := t.find(x.ID)
	if found { // the former incarnation made the same call, and waits for its answer
		t.list[i] = x
	} else {
		t.list = slices.Insert(t.list, i, x)
	}
	if len(t.list) == 1 || x.Due < t.due {
		t.due = x.Due
	}
	return x.ID, nil
}

func (t *Requests) find(id flow.RequestID) (int, bool) {
	return slices.BinarySearchFunc(t.list, id, func(x Waiting, id flow.RequestID) int { return x.ID.Compare(id) })
}

// Len is how many wait.
func (t *Requests) Len() int { return len(t.list) }

// Used reports whether there is anything to carry.
func (t *Requests) Used() bool { return t.last > 0 || len(t.list) > 0 }

// Take takes out a call.
func (t *Requests) Take(id flow.RequestID) (Waiting, bool) {
	i, found := t.find(id)
	if !found {
		return Waiting{}, false
	}
	x := t.list[i]
	t.list = slices.Delete(t.list, i, i+1)
	return x, true
}

// Bind names the target of a call that had none, and is how long that may still wait for its answer; false
// if it does not wait any more.
func (t *Requests) Bind(now time.Duration, id flow.RequestID, target entity.ID) (within time.Duration, waits bool) {
	i, found := t.find(id)
	if !found || t.list[i].Target != 0 || t.list[i].Due <= now {
		return 0, false
	}
	t.list[i].Target = target
	return t.list[i].Due - now, true
}

// EachUnbound calls f for each call without a target.
func (t *Requests) EachUnbound(f func(id flow.RequestID)) {
	for i := range t.list {
		if t.list[i].Target == 0 {
			f(t.list[i].ID)
		}
	}
}

// TakeAnswer takes out the call that an entity answers, any part of it, since one that hands calls
// on may have to refuse one. body is that of an AnswerPayload. The call does not wait if it has been
// answered before or timed out, or if another entity was asked.
func (t *Requests) TakeAnswer(body []byte, by entity.ID) (x Waiting, a flow.Answer, waits bool, err error) {
	if err = a.Parse(body); err != nil {
		return x, a, false, err
	}
	if i, found := t.find(a.Request); found && t.list[i].Target == by {
		x, waits = t.Take(a.Request)
	}
	return x, a, waits, nil
}

// TakeDue takes out a call that has timed out.
func (t *Requests) TakeDue(now time.Duration) (Waiting, bool) {
	if len(t.list) == 0 || now < t.due {
		return Waiting{}, false
	}
	first := 0
	for i := range t.list {
		if t.list[i].Due < t.list[first].Due {
			first = i
		}
	}
	if t.due = t.list[first].Due; now < t.due {
		return Waiting{}, false
	}
	return t.Take(t.list[first].ID)
}

// Each calls f with the id and the target of each call that waits. f must not change the table.
func (t *Requests) Each(f func(id flow.RequestID, target entity.ID)) {
	for i := range t.list {
		f(t.list[i].ID, t.list[i].Target)
	}
}

// EachBase calls f for each call that a base is to answer.
func (t *Requests) EachBase(f func(id flow.RequestID, target entity.ID)) {
	for i := range t.list {
		if t.list[i].Part == entity.BasePart {
			f(t.list[i].ID, t.list[i].Target)
		}
	}
}

// Reply is what the caller is told; d is the type of the target, nil if nobody here knows it.
func (x *Waiting) Reply(d *property.Definition, a *flow.Answer, err error) entity.Reply {
	var m *property.Method
	if d != nil {
		m = x.Part.Method(d, int(x.Method))
	}
	if m == nil {
		m, err = new(property.Method), entity.ErrNoMethod
	}
	var results []byte
	if a != nil && err == nil {
		results, err = a.Results, a.Err()
	}
	return entity.NewReply(x.User, x.Target, m, results, err, Scan)
}

// Append encodes the requests, each with how long it may still wait.
func (t *Requests) Append(b []byte, now time.Duration) []byte {
	b = binary.AppendUvarint(b, t.last)
	b = binary.AppendUvarint(b, uint64(len(t.list)))
	for i := range t.list {
		x := &t.list[i]
		b = x.ID.Append(b)
		b = binary.AppendVarint(b, int64(x.Due-now))
		b = codec.AppendString(b, x.Callback)
		b = binary.AppendVarint(b, x.User)
		b = fields.AppendID(b, x.Target)
		b = binary.AppendUvarint(b, uint64(x.Type))
		b = append(b, byte(x.Part))
		b = binary.AppendUvarint(b, uint64(x.Method))
	}
	return b
}

var errRequest = errors.New("script: a request that nobody can have made")

// Read takes over what Append wrote, in place of what t had. There are at most so many.
func (t *Requests) Read(r *codec.Reader, now time.Duration, most int) {
	*t = Requests{last: r.Uvarint()}
	var before flow.RequestID
	for range r.Count(most, 10) {
		var x Waiting
		x.ID = flow.ReadRequestID(r)
		x.Due = gametime.After(now, time.Duration(r.Varint()))
		x.Callback = r.String(MaxName)
		x.User = r.Varint()
		x.Target = fields.ReadID(r)
		typ := fields.ReadUint32(r)
		x.Part = fields.ReadPart(r)
		method := fields.ReadUint32(r)
		x.Type, x.Method = uint16(typ), uint16(method)
		if x.ID.Compare(before) <= 0 || x.ID.Cause == 0 && x.ID.Number > t.last || x.Callback == "" || uint32(x.Type) != typ || uint32(x.Method) != method || x.Part == entity.ClientPart {
			r.Fail(errRequest)
		}
		if r.Err() != nil {
			return
		}
		before = x.ID
		if len(t.list) == 0 || x.Due < t.due {
			t.due = x.Due
		}
		t.list = append(t.list, x)
	}
}
