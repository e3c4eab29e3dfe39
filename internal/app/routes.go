package app

import (
	"fmt"

	"github.com/cellscape/cellscape/internal/wire"
)

// Routes passes each message that an app takes to its handler. S is what a handler is told of the
// sender. An app makes its routes once. The table of package wire says who may send what.
type Routes[S any] struct {
	handlers [1 << 8]func(from S, body []byte) error
	received wire.Tally
	// Spent, if not nil, is called with each message after its handler has returned. Tests
	// overwrite the message in it, which reveals a handler that has kept a part.
	Spent func(m wire.Message)
}

// received is a message of type T.
type received[T any] interface {
	*T
	wire.Received
}

// On registers f for the messages of a type. The message is used again for the next of its type, so
// f must not keep it or a slice of it.
func On[S, T any, M received[T]](r *Routes[S], f func(from S, m M)) {
	Try(r, func(from S, m M) error {
		f(from, m)
		return nil
	})
}

// Try is On with a handler that may refuse a message.
func Try[S, T any, M received[T]](r *Routes[S], f func(from S, m M) error) {
	spare := M(new(T))
	id := wire.IDOf(spare)
	if r.handlers[id] != nil {
		panic(fmt.Sprintf("app: two handlers for %v", id))
	}
	r.handlers[id] = func(from S, body []byte) error {
		m := spare
		if m == nil { // a message of this type within its own handler
			m = new(T)
		}
		spare = nil
		err := m.Parse(body)
		if err == nil {
			err = f(from, m)
		}
		if r.Spent != nil {
			r.Spent(m)
		}
		spare = m
		return err
	}
}

// Ignore declares that messages are for this app but need no action.
func (r *Routes[S]) Ignore(ids ...wire.ID) {
	for _, id := range ids {
		r.handlers[id] = func(S, []byte) error { return nil }
	}
}

// Handle parses a message and passes it to its handler.
func (r *Routes[S]) Handle(from S, id wire.ID, body []byte) error {
	f := r.handlers[id]
	if f == nil {
		return fmt.Errorf("%w: nobody here takes a %v", wire.ErrMalformed, id)
	}
	r.received[id]++
	return f(from, body)
}

// Describe adds to a report how many messages of each type were handled.
func (r *Routes[S]) Describe(m *wire.Report) { m.Received = r.received }

// Check lists where the routes of a role's app differ from the table: messages that it should take
// but has no handler for, and messages that nobody sends it.
func (r *Routes[S]) Check(role wire.Role) (differ []wire.ID) {
	for i, f := range r.handlers {
		if id := wire.ID(i); (f != nil) != wire.Takes(role, id) {
			differ = append(differ, id)
		}
	}
	return differ
}
