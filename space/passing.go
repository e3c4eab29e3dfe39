package space

import (
	"fmt"
	"slices"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/flow"
)

// A message over which a script panics comes again to the restored real, since no backup has it as
// handled, and all that its sender said later waits behind it. (A method that panicked at some
// argument was called a hundred times a minute, for ever.) So the base counts: the CellApp tells it
// over which message the script has panicked, and after flow.MaxPanics losses over the same one it
// makes the next real with the order to pass over it. Then the message is taken, and what the
// library does with it is done, but no code of the script is run: a call is refused with
// entity.ErrRefused, a callback is left out. A real that is handed over before the message comes
// forgets the order; that costs another panic.

// errPassed is of a call that is passed over.
var errPassed = fmt.Errorf("%w: the script has panicked over it %d times", entity.ErrRefused, flow.MaxPanics)

// startHandling notes the message that is being handled, and whether it is to be passed over.
func (r *Real) startHandling(m *flow.Message, mark flow.Mark) {
	r.handling = flow.Culprit{From: m.From, FromPart: m.FromPart, Mark: mark}
	i := slices.Index(r.pass, r.handling)
	if i < 0 {
		return
	}
	r.passing = true
	r.pass = slices.Delete(r.pass, i, i+1)
	r.cell.count.PassedOver++
	r.Log().Error("a message is passed over: the script has panicked over it again and again",
		"from", m.From.String(), "part", m.FromPart.String(), "number", mark.Number(), "times", flow.MaxPanics)
}

func (r *Real) endHandling() { r.handling, r.passing = flow.Culprit{}, false }
