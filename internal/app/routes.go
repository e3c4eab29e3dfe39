package app

import (
	"fmt"

	"github.com/cellscape/cellscape/internal/wire"
)

// Routes leads each message that an app takes to its handler. S is what a handler is told of
// the sender. An app makes its routes once; who may send what, it asks the table of wire.
type Routes[S any] struct {
	handlers [1 << 8]func(from S, body []byte) error
	received wire.Tally
	// Spent, if not nil, is given each message when its handler has returned. A test overwrites
	// the message there, and so finds a handler that has kept a part of it.
	Spent func(m wire.Message)
}

// received is a message of type T.
type received[T any] interface {
	*T
	wire.Received
}

// On has f handle the messages of a type. The message is used again for the next one of its
// type: f does not keep it, nor a slice of it.
func On[S, T any, M received[T]](r *Routes[S], f func(from S, m M)) {
	Try(r, func(from S, m M) error {
		f(from, m)
		return nil
	})
}

// Try is On for a handler that may refuse a message.
func Try[S, T any, M received[T]](r *Routes[S], f func(from S, m M) error) {
	spare := M(new(T))
	id := wire.IDOf(spare)
	if r.handlers[id] != nil {
		panic(fmt.Sprintf("app: two handlers for %v", id))
	}
	r.handlers[id] = func(from S, body []byte) error {
		m := spare
		if m == nil { // a message within the handler of one
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

// Ignore says that messages are for this app, and that there is nothing for it to do.
func (r *Routes[S]) Ignore(ids ...wire.ID) {
	for _, id := range ids {
		r.handlers[id] = func(S, []byte) error { return nil }
	}
}

// Handle parses a message and gives it to its handler.
func (r *Routes[S]) Handle(from S, id wire.ID, body []byte) error {
	f := r.handlers[id]
	if f == nil {
		return fmt.Errorf("%w: nobody here takes a %v", wire.ErrMalformed, id)
	}
	r.received[id]++
	return f(from, body)
}

// Describe fills in how many messages of each type were handled.
func (r *Routes[S]) Describe(m *wire.Report) { m.Received = r.received }

// Check lists where the routes of an app of a role differ from the table: what it should take
// and has no handler for, and what nobody sends it.
func (r *Routes[S]) Check(role wire.Role) (differ []wire.ID) {
	for i, f := range r.handlers {
		if id := wire.ID(i); (f != nil) != wire.Takes(role, id) {
			differ = append(differ, id)
		}
	}
	return differ
}
