package script

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/entity/limits"
	"github.com/cellscape/cellscape/internal/argument"
	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/internal/fields"
	"github.com/cellscape/cellscape/internal/gametime"
	"github.com/cellscape/cellscape/property"
)

// Asked is a call that a script is to handle, as far as its answer is concerned. Its Request is zero if
// no answer is wanted.
type Asked struct {
	Caller     entity.ID
	CallerPart entity.Part
	Request    flow.RequestID
	Method     uint16
	Within     time.Duration // how long the caller waits, in game time
}

// AskedBy is what a call asks.
func AskedBy(x *flow.ServerCall) Asked {
	return Asked{Caller: x.Caller, CallerPart: x.CallerPart, Request: x.Request, Method: x.Method, Within: x.Within}
}

// token names the call. It is made of what names the call to its caller: a part that was restored and
// handles the call again gives it the same token, wherever the script has left the first one.
func (a *Asked) token() entity.AnswerToken {
	h := fnv.New64a()
	b := fields.AppendID(make([]byte, 0, 64), a.Caller)
	_, _ = h.Write(a.Request.Append(append(b, byte(a.CallerPart)))) // a hash returns no error
	return entity.AnswerToken(h.Sum64())
}

// Owed are the calls that a part of an entity has handled and is yet to answer. Each is taken out once:
// when it is answered, or when its caller does not wait any more.
//
//	      Later               Answer, Fail, an error of the method, the end of the part
//	handling ----> kept ----> answered
//	               kept ----> forgotten      the caller's time-out is over
//
// The zero value has none.
type Owed struct {
	list []Debt        // by token
	due  time.Duration // nothing is forgotten before it, if there is anything
	now  Handling
}

// Debt is a call that is to be answered.
type Debt struct {
	Token entity.AnswerToken
	Due   time.Duration // in game time
	Asked
}

// Handling is the call that a script is handling.
type Handling struct {
	asked Asked
	token entity.AnswerToken // of Later; 0 before
	calls bool               // a method is being called
}

// Begin notes that the script is called; the former call is for End.
func (o *Owed) Begin(a Asked) (former Handling) {
	former, o.now = o.now, Handling{asked: a, calls: true}
	return former
}

// End notes that the call has returned, and reports whether it is answered by the script, now or later.
// That is not so if it has failed: its error is the answer then.
func (o *Owed) End(former Handling, failed bool) (later bool) {
	h := o.now
	o.now = former
	if h.token == 0 {
		return false
	}
	if failed {
		return !o.Remove(h.token) // if it was answered, that stands
	}
	return true
}

// Later keeps the call that is being handled, for its answer. The token is 0 if it wants none. Errors are
// entity.ErrNoCall and entity.ErrFull.
func (o *Owed) Later(now time.Duration) (entity.AnswerToken, error) {
	h := &o.now
	switch {
	case !h.calls:
		return 0, entity.ErrNoCall
	case h.asked.Request.IsZero() || h.token != 0:
		return h.token, nil
	case len(o.list) >= limits.OwedAnswers:
		return 0, fmt.Errorf("%w: %d calls wait for their answers", entity.ErrFull, len(o.list))
	}
	token := h.asked.token()
	i, found := o.find(token)
	for token == 0 || found { // another call has it
		token++
		i, found = o.find(token)
	}
	d := Debt{Token: token, Due: gametime.After(now, h.asked.Within), Asked: h.asked}
	o.list = slices.Insert(o.list, i, d)
	o.expect(d.Due)
	h.token = token
	return token, nil
}

// expect makes sure that due is not after a debt's.
func (o *Owed) expect(due time.Duration) {
	if len(o.list) == 1 || due < o.due {
		o.due = due
	}
}

func (o *Owed) find(token entity.AnswerToken) (int, bool) {
	return slices.BinarySearchFunc(o.list, token, func(d Debt, t entity.AnswerToken) int { return cmp.Compare(d.Token, t) })
}

// Len is how many calls are to be answered.
func (o *Owed) Len() int { return len(o.list) }

// Answer is the answer to a call with results of its method, which is among those; the call stays until
// Remove. Errors are entity.ErrAnswered, and entity.ErrArguments for results that do not fit.
func (o *Owed) Answer(token entity.AnswerToken, methods []*property.Method, results []any) (Debt, flow.Answer, error) {
	i, found := o.find(token)
	if !found {
		return Debt{}, flow.Answer{}, entity.ErrAnswered
	}
	d := o.list[i]
	a := flow.Answer{Request: d.Request}
	if int(d.Method) >= len(methods) {
		return d, a, fmt.Errorf("%w: index %d", entity.ErrNoMethod, d.Method)
	}
	m := methods[d.Method]
	var err error
	if a.Results, err = argument.AppendReturns(nil, m, results); err == nil && len(a.Results) > flow.MaxArguments {
		err = fmt.Errorf("%w: the results have %d bytes, at most %d are sent", entity.ErrArguments, len(a.Results), flow.MaxArguments)
	}
	if err != nil {
		return d, a, fmt.Errorf("answer of %s: %w", m.Name, err)
	}
	return d, a, nil
}

// Fail is the answer to a call with an error of the game; the call stays until Remove.
func (o *Owed) Fail(token entity.AnswerToken, err error) (Debt, flow.Answer, error) {
	i, found := o.find(token)
	switch {
	case !found:
		return Debt{}, flow.Answer{}, entity.ErrAnswered
	case err == nil:
		return Debt{}, flow.Answer{}, fmt.Errorf("%w: to fail takes an error", entity.ErrArguments)
	}
	d := o.list[i]
	a := flow.Answer{Request: d.Request}
	a.Fail(gameError(err))
	return d, a, nil
}

// Remove takes out a call that is answered, and reports whether it was there.
func (o *Owed) Remove(token entity.AnswerToken) bool {
	i, found := o.find(token)
	if found {
		o.list = slices.Delete(o.list, i, i+1)
	}
	return found
}

// TakeAny takes out some call, for a part that ends.
func (o *Owed) TakeAny() (Debt, bool) {
	if len(o.list) == 0 {
		return Debt{}, false
	}
	d := o.list[len(o.list)-1]
	o.list = o.list[:len(o.list)-1]
	return d, true
}

// Expire forgets the calls whose callers do not wait any more, and returns how many.
func (o *Owed) Expire(now time.Duration) int {
	before := len(o.list)
	if before == 0 || now < o.due {
		return 0
	}
	o.list = slices.DeleteFunc(o.list, func(d Debt) bool { return d.Due <= now })
	if len(o.list) > 0 {
		o.due = o.list[0].Due
		for i := range o.list {
			o.due = min(o.due, o.list[i].Due)
		}
	}
	return before - len(o.list)
}

// Append encodes the calls, each with how long its caller still waits.
func (o *Owed) Append(b []byte, now time.Duration) []byte {
	b = binary.AppendUvarint(b, uint64(len(o.list)))
	for i := range o.list {
		d := &o.list[i]
		b = binary.LittleEndian.AppendUint64(b, uint64(d.Token))
		b = binary.AppendUvarint(b, uint64(max(d.Due-now, 0)))
		b = append(fields.AppendID(b, d.Caller), byte(d.CallerPart))
		b = d.Request.Append(b)
		b = binary.LittleEndian.AppendUint16(b, d.Method)
	}
	return b
}

var errOwed = errors.New("script: an answer that nobody can owe")

// Read takes over what Append wrote, in place of what o had.
func (o *Owed) Read(r *codec.Reader, now time.Duration) {
	*o = Owed{}
	var last entity.AnswerToken
	for range r.Count(limits.OwedAnswers, 16) {
		d := Debt{Token: entity.AnswerToken(r.U64())}
		left := r.Uvarint()
		d.Caller = fields.ReadID(r)
		d.CallerPart = fields.ReadPart(r)
		d.Request = flow.ReadRequestID(r)
		d.Method = r.U16()
		if d.Token <= last || left > uint64(limits.CallTime) || d.CallerPart == entity.ClientPart || d.Request.IsZero() {
			r.Fail(errOwed)
		}
		if r.Err() != nil {
			return
		}
		last, d.Within = d.Token, time.Duration(left)
		d.Due = gametime.After(now, d.Within)
		o.list = append(o.list, d)
		o.expect(d.Due)
	}
}
