package baseapp

import (
	"fmt"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/internal/script"
)

// Later is part of entity.Base's host.
func (b *base) Later() (entity.AnswerToken, error) {
	if b.ended() {
		return 0, entity.ErrGone
	}
	return b.owed.Later(b.app.game)
}

// Answer is part of entity.Base's host.
func (b *base) Answer(token entity.AnswerToken, results ...any) error {
	switch {
	case b.ended():
		return entity.ErrGone
	case token == 0:
		return nil
	}
	d, a, err := b.owed.Answer(token, b.props.Definition().BaseMethods, results)
	if err != nil {
		return err
	}
	return b.payOff(&d, &a)
}

// Fail is part of entity.Base's host.
func (b *base) Fail(token entity.AnswerToken, err error) error {
	switch {
	case b.ended():
		return entity.ErrGone
	case token == 0:
		return nil
	}
	d, a, err := b.owed.Fail(token, err)
	if err != nil {
		return err
	}
	return b.payOff(&d, &a)
}

// payOff gives a caller its answer.
func (b *base) payOff(d *script.Debt, a *flow.Answer) error {
	if d.Caller == b.id && d.CallerPart == entity.BasePart {
		return b.answerSelf(d, a)
	}
	if err := b.sendAnswer(d.Caller, d.CallerPart, a); err != nil {
		return fmt.Errorf("%w: %w", entity.ErrFull, err)
	}
	b.owed.Remove(d.Token)
	return nil
}

// answerSelf answers a call that the base has made of itself.
func (b *base) answerSelf(d *script.Debt, a *flow.Answer) error {
	if b.nested >= maxNested {
		return fmt.Errorf("%w: %d own calls within one another", entity.ErrTooMany, maxNested)
	}
	b.owed.Remove(d.Token)
	x, waits := b.requests.Take(d.Request)
	if !waits {
		b.app.report.LateAnswers++
		return nil
	}
	b.nested++
	defer func() { b.nested-- }()
	b.tellReply(&x, a, nil)
	return nil
}

// failOwed answers, for a base that ends, what it has not answered.
func (b *base) failOwed() {
	for d, owes := b.owed.TakeAny(); owes; d, owes = b.owed.TakeAny() {
		if d.Caller == b.id {
			continue // nobody is left to tell: the cell part ends first
		}
		a := flow.Answer{Request: d.Request}
		a.Fail(entity.ErrNoEntity)
		if err := b.sendAnswer(d.Caller, d.CallerPart, &a); err != nil {
			b.app.report.Unanswered++
			b.app.refused("a call that was not answered at the end of its base", "entity", b.id, "caller", d.Caller, "error", err)
		}
	}
}
