package entity

import (
	"errors"
	"fmt"

	"github.com/cellscape/cellscape/property"
)

// Errors of a Reply, and of the replies to other requests. ErrNoMethod, ErrArguments, ErrNoPart and
// *GameError are others.
var (
	// ErrNoEntity: the called entity has ended, or nobody knows where it is.
	ErrNoEntity = errors.New("entity: there is no such entity")
	// ErrRefused: the called part did not handle the call: its script panicked, or its results made no
	// sense.
	ErrRefused = errors.New("entity: the call was refused")
	// ErrFull: too much waits to be sent to the entity, or to be answered.
	ErrFull = errors.New("entity: too much waits to be sent or answered")
	// ErrTimeout: no answer came in time. The call may be handled all the same, now or later; so
	// may a CreateBase whose BaseApp has died before it answered. A base that goes on from a copy,
	// at another BaseApp or after a panic, hears so of what only its former life could hear the end
	// of: CreateBase, LoadBase, RegisterName, LookupName and CreateSpace.
	ErrTimeout = errors.New("entity: no answer came in time")
	// ErrNoCall is returned by Later where no call is being handled.
	ErrNoCall = errors.New("entity: no call is being handled")
	// ErrAnswered is returned for the token of a call that does not wait for an answer: it has one, or
	// its caller's time is over.
	ErrAnswered = errors.New("entity: the call does not wait for an answer")
	// ErrNoService: no BaseApp runs the service, as far as is known here. Call returns it, or a Reply has it
	// if an app has come to the cluster less than two seconds before: then the call waits for news of the
	// service first.
	ErrNoService = errors.New("entity: nothing runs the service")
)

// AnswerToken names a call that its method answers later; see Base.Later and space.Real.Later. It is a
// number that can be kept in a UINT64 property, be the user of another call's Then, or travel in its
// arguments. 0 is of a call that wants no answer.
type AnswerToken uint64

// Answerer is a part of an entity that answers a call later: a *Base or a *space.Real, or a script that
// embeds one.
type Answerer interface {
	Later() (AnswerToken, error)
	Answer(token AnswerToken, results ...any) error
	Fail(token AnswerToken, err error) error
}

// GameError is an error of the game that travels: a called method returns it, and the caller finds it
// in its Reply. Any other error of a method arrives as one with its text and Code 0.
type GameError struct {
	Code int32
	Text string // at most limits.ErrorText bytes arrive
}

// Error is the text, with the code if there is one.
func (e *GameError) Error() string {
	if e.Code == 0 {
		return e.Text
	}
	return fmt.Sprintf("%s (%d)", e.Text, e.Code)
}

// Reply is the argument of the callback that a two-way call named; see Mailbox.Then.
type Reply struct {
	// User is the number that the caller gave to Then.
	User int64
	// Target is the entity that was called, and Method the name of the method.
	Target ID
	Method string
	// Err is why there are no results; nil if the method was handled. Match it with errors.Is and
	// errors.As.
	Err error

	values []property.Value
	scan   func(values []property.Value, dst []any) error
}

// NewReply is for the app that holds the caller. results are as the called app encoded them; what
// does not fit the method becomes ErrRefused. scan is what Scan does with its values.
func NewReply(user int64, target ID, m *property.Method, results []byte, err error, scan func(*property.Method, []property.Value, []any) error) Reply {
	r := Reply{User: user, Target: target, Method: m.Name, Err: err}
	if r.Err == nil {
		if r.values, err = m.ReadReturns(results); err != nil {
			r.Err = fmt.Errorf("%w: %w", ErrRefused, err)
		}
	}
	r.scan = func(values []property.Value, dst []any) error { return scan(m, values, dst) }
	return r
}

// Values are the results, in the order of the definition; none after an error.
func (r Reply) Values() []property.Value { return r.values }

// Scan sets what dst point to: a pointer for each result, of the type that a parameter of a script's
// method has. It returns Err if the call has failed.
func (r Reply) Scan(dst ...any) error {
	if r.Err != nil {
		return r.Err
	}
	if r.scan == nil {
		return ErrNoMethod
	}
	return r.scan(r.values, dst)
}
