package script

import (
	"fmt"
	"slices"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/property"
)

// MaxEarly and MaxEarlyBytes bound the calls of one app that wait for the first news of services, and their
// arguments: a call or two of each entity that a world begins with.
const (
	MaxEarly      = 4096
	MaxEarlyBytes = 1 << 20
)

// Early are calls of parts P of entities to services of which it is not known yet who runs them, in the
// order in which they were made. They stay on the app where they were made: a two-way call is among the
// Requests of its part, bound to no target, and fails where that is read elsewhere. The zero value has
// none.
type Early[P any] struct {
	list  []EarlyCall[P]
	bytes int
}

// EarlyCall is one of them.
type EarlyCall[P any] struct {
	Part  P
	Call  entity.Request
	ID    flow.RequestID // zero for a call that wants no answer
	Cause uint64         // of the message that made a cell part call
}

// Add adds a call, of whose arguments it keeps a copy. The error is entity.ErrFull.
func (e *Early[P]) Add(c EarlyCall[P]) error {
	if len(e.list) >= MaxEarly || e.bytes+len(c.Call.Args) > MaxEarlyBytes {
		return fmt.Errorf("%w: %d calls wait for news of services", entity.ErrFull, len(e.list))
	}
	c.Call.Args = slices.Clone(c.Call.Args)
	e.bytes += len(c.Call.Args)
	e.list = append(e.list, c)
	return nil
}

// Len is how many there are.
func (e *Early[P]) Len() int { return len(e.list) }

// Waits reports whether calls to a service wait, so that the next must wait behind them.
func (e *Early[P]) Waits(service *property.Definition) bool {
	return slices.ContainsFunc(e.list, func(c EarlyCall[P]) bool { return c.Call.Def == service })
}

// Take takes out the calls to services that are ready.
func (e *Early[P]) Take(ready func(service *property.Definition) bool) (list []EarlyCall[P]) {
	e.list = slices.DeleteFunc(e.list, func(c EarlyCall[P]) bool {
		if !ready(c.Call.Def) {
			return false
		}
		list = append(list, c)
		e.bytes -= len(c.Call.Args)
		return true
	})
	if len(e.list) == 0 {
		e.list = nil
	}
	return list
}
