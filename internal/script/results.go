package script

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/internal/argument"
	"github.com/cellscape/cellscape/property"
)

// Results are what a method of a script has returned.
type Results struct {
	desc *property.Method
	out  []reflect.Value
	err  error
	// later means that the script has kept the call, and answers it by its token.
	later bool
}

// End ends the handling of a call that has returned x, or could not be made because of err.
func (x *Results) End(o *Owed, former Handling, err error) {
	x.later = o.End(former, err != nil || x.err != nil)
}

// Later reports whether the script answers the call by itself.
func (x Results) Later() bool { return x.later }

// Err is the error that the method returned, or nil.
func (x Results) Err() error { return x.err }

// Answer is the answer to a call: the results, the error that the method returned, or why it was not
// called, which is err.
func (x Results) Answer(id flow.RequestID, err error) flow.Answer {
	a := flow.Answer{Request: id}
	switch {
	case err != nil:
		a.Fail(err)
	case x.err != nil:
		a.Fail(gameError(x.err))
	case x.desc != nil:
		if a.Results, err = x.encode(); err != nil {
			a.Fail(fmt.Errorf("%w: its results: %v", entity.ErrRefused, err))
		}
	}
	return a
}

// gameError is an error of the game in the form that travels.
func gameError(err error) *entity.GameError {
	var game *entity.GameError
	if errors.As(err, &game) {
		return game
	}
	return &entity.GameError{Text: err.Error()}
}

// encode encodes the results as the definition has them. The error is for one that does not fit, such
// as a list that is too long.
func (x Results) encode() ([]byte, error) {
	results := make([]any, len(x.desc.Returns))
	for i := range results {
		results[i] = x.out[i].Interface()
	}
	b, err := argument.AppendReturns(nil, x.desc, results)
	if err == nil && len(b) > flow.MaxArguments {
		err = fmt.Errorf("they have %d bytes, at most %d are sent", len(b), flow.MaxArguments)
	}
	return b, err
}
