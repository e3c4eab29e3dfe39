package witness

import (
	"cmp"
	"iter"
	"slices"

	"github.com/cellscape/cellscape/entity"
)

// Unseen collects the Subjects of a cell that the last witness has let go of. Whoever acts on that
// need not look at all Subjects for it.
type Unseen struct{ list []*Subject }

// Note takes in a Subject as if the last witness had let go of it: the caller knows that it will, of
// another Subject of the same entity.
func (u *Unseen) Note(s *Subject) { u.note(s) }

// note takes in a Subject, once.
func (u *Unseen) note(s *Subject) {
	if u != nil && !s.noted {
		s.noted = true
		u.list = append(u.list, s)
	}
}

// Drain yields the ids of those that were let go of since the last Drain, in order. Some may be
// watched again.
func (u *Unseen) Drain() iter.Seq[entity.ID] {
	return func(yield func(entity.ID) bool) {
		if len(u.list) == 0 {
			return
		}
		slices.SortFunc(u.list, func(a, b *Subject) int { return cmp.Compare(a.Entity.ID, b.Entity.ID) })
		for i, s := range u.list {
			s.noted = false
			if !yield(s.Entity.ID) {
				u.list = slices.Delete(u.list, 0, i+1)
				return
			}
		}
		clear(u.list)
		u.list = u.list[:0]
	}
}
