package space

import (
	"fmt"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/internal/script"
)

// Later makes the method that is being handled answer later: what it returns then does not count, unless
// it is an error, and the call is answered by Answer or Fail, from any callback of this script, on
// whatever cell that is by then. The token names the call. It is 0 if no answer is wanted; to answer 0
// does nothing. Called again in the same call, Later gives the same token. The token is good also after an
// offload, a teleport or a restore, until the call is answered, or the time that the caller gave it
// (entity.Mailbox.Within) is over. When the entity ends, the calls that it has not answered fail with
// entity.ErrNoEntity. Errors are entity.ErrNoCall outside of a method, entity.ErrFull beyond
// limits.OwedAnswers, and entity.ErrGone. The package documentation of entity has an example.
func (r *Real) Later() (entity.AnswerToken, error) {
	if r.gone != staying {
		return 0, entity.ErrGone
	}
	return r.owed.Later(r.Now())
}

// Answer answers a call that Later has kept, with the results of its method, as Go values like those of
// entity.Mailbox.Call. A call by the entity itself is answered before Answer returns. Errors are
// entity.ErrAnswered if the call does not wait any more, entity.ErrArguments for results that do not fit,
// entity.ErrFull if too much waits to be sent to the caller, entity.ErrTooMany for own calls within one
// another, and entity.ErrGone. After any but the first and the last, the call still waits.
func (r *Real) Answer(token entity.AnswerToken, results ...any) error {
	switch {
	case r.gone != staying:
		return entity.ErrGone
	case token == 0:
		return nil
	}
	d, a, err := r.owed.Answer(token, r.e.Def.CellMethods, results)
	if err != nil {
		return err
	}
	return r.payOff(&d, &a)
}

// Fail answers a call that Later has kept, with an error: an *entity.GameError, or the text of any other.
// Errors are those of Answer.
func (r *Real) Fail(token entity.AnswerToken, err error) error {
	switch {
	case r.gone != staying:
		return entity.ErrGone
	case token == 0:
		return nil
	}
	d, a, err := r.owed.Fail(token, err)
	if err != nil {
		return err
	}
	return r.payOff(&d, &a)
}

// payOff gives a caller its answer.
func (r *Real) payOff(d *script.Debt, a *flow.Answer) error {
	if d.Caller == r.e.ID && d.CallerPart == entity.CellPart {
		return r.answerSelf(d, a)
	}
	if err := r.sendAnswer(d.Caller, d.CallerPart, a); err != nil {
		return fmt.Errorf("%w: %w", entity.ErrFull, err)
	}
	r.owed.Remove(d.Token)
	return nil
}

// answerSelf answers a call that the entity has made of itself.
func (r *Real) answerSelf(d *script.Debt, a *flow.Answer) error {
	if r.nested >= maxNested {
		return fmt.Errorf("%w: %d own calls within one another", entity.ErrTooMany, maxNested)
	}
	r.owed.Remove(d.Token)
	x, waits := r.requests.Take(d.Request)
	if !waits {
		r.cell.count.LateAnswers++
		return nil
	}
	r.nested++
	defer func() { r.nested-- }()
	r.tellReply(&x, a, nil)
	return nil
}

// failOwed answers, for an entity that ends, what it has not answered.
func (r *Real) failOwed() {
	for d, owes := r.owed.TakeAny(); owes; d, owes = r.owed.TakeAny() {
		if d.Caller == r.e.ID && d.CallerPart == entity.CellPart {
			continue // nobody is left to tell
		}
		a := flow.Answer{Request: d.Request}
		a.Fail(entity.ErrNoEntity)
		if err := r.sendAnswer(d.Caller, d.CallerPart, &a); err != nil {
			r.cell.count.Unanswered++
			r.Log().Debug("a call was not answered at the end of its entity", "caller", d.Caller.String(), "error", err)
		}
	}
}
