package script

import (
	"github.com/cellscape/cellscape/entity/flow"
)

// Failures are calls that nobody will answer, of parts P of entities: they were given up during a
// walk over parts or flows. The scripts are told after it, since a callback may change what is
// walked over. The zero value has none.
type Failures[P any] struct{ list []failure[P] }

type failure[P any] struct {
	part P
	id   flow.RequestID
	err  error
}

// Add notes that a call of a part is given up. One that wants no answer is left out.
func (f *Failures[P]) Add(part P, id flow.RequestID, err error) {
	if !id.IsZero() {
		f.list = append(f.list, failure[P]{part, id, err})
	}
}

// Len is how many there are.
func (f *Failures[P]) Len() int { return len(f.list) }

// Tell calls tell with each of them, the oldest first, and forgets them. tell may add more.
func (f *Failures[P]) Tell(tell func(part P, id flow.RequestID, err error)) {
	for i := 0; i < len(f.list); i++ {
		x := f.list[i]
		tell(x.part, x.id, x.err)
	}
	clear(f.list)
	f.list = f.list[:0]
}
