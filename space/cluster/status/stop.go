package status

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"
)

// ErrUnsaved is what a stop of a world comes to if the store lacks something.
var ErrUnsaved = errors.New("cluster: not all was written")

// Stop is how far the controlled stop of a world has come, and at the end its report.
type Stop struct {
	// Step is what the world is doing: closing, settling, writing, saved or ended; empty if nobody has
	// ordered a stop.
	Step string `json:"step"`
	// Done says that nothing follows but the end of the processes: the figures below are final.
	Done bool `json:"done"`
	// Reason is the operator's. Players are told.
	Reason string `json:"reason"`
	// Types says what became of the entities that the store keeps, by type, in the order of the names.
	Types []Saved `json:"types"`
	// Unsettled counts the messages and handovers that were still under way when the world stood still
	// because it had waited for long enough: they are lost. Left names some of what they belong to, and
	// processes that did not answer.
	Unsettled uint64   `json:"unsettled"`
	Left      []string `json:"left,omitempty"`
	// Spaces counts the spaces that the store keeps for the next start, SpacesLost those that it does not.
	Spaces     int `json:"spaces"`
	SpacesLost int `json:"spaces_lost"`
	// Settling, Writing and Took are how long the flows took to settle, the writes, and all of it.
	Settling time.Duration `json:"settling_ns"`
	Writing  time.Duration `json:"writing_ns"`
	Took     time.Duration `json:"took_ns"`
}

// Saved says what became of the entities of one type.
type Saved struct {
	Type string `json:"type"`
	// Written are in the store with their very last state.
	Written uint32 `json:"written"`
	// Stale are in the store, too, but without the last state of their cell part, which did not come.
	Stale uint32 `json:"stale"`
	// Failed are not: the store did not confirm the last write, or refused it. What it had before is
	// there.
	Failed uint32 `json:"failed"`
	// Unkept have no row, since no script has ever asked for one (entity.Base.Write).
	Unkept uint32 `json:"unkept"`
}

// Whole reports whether all that the store keeps is there with its last state.
func (s *Stop) Whole() bool {
	for i := range s.Types {
		if s.Types[i].Failed > 0 || s.Types[i].Stale > 0 {
			return false
		}
	}
	return s.Done && s.Unsettled == 0 && s.SpacesLost == 0
}

// Err is ErrUnsaved with what the store lacks; nil if it has all.
func (s *Stop) Err() error {
	if s.Whole() {
		return nil
	}
	sum := s.Sum()
	return fmt.Errorf("%w: %d entities, %d without the last state of their cell parts, and %d spaces; %d messages were under way: %q",
		ErrUnsaved, sum.Failed, sum.Stale, s.SpacesLost, s.Unsettled, s.Left)
}

// Sum adds the figures of all types.
func (s *Stop) Sum() (sum Saved) {
	for i := range s.Types {
		t := &s.Types[i]
		sum.Written += t.Written
		sum.Stale += t.Stale
		sum.Failed += t.Failed
		sum.Unkept += t.Unkept
	}
	return sum
}

// Add adds the figures of a type, which another process has, too.
func (s *Stop) Add(t Saved) {
	i, found := slices.BinarySearchFunc(s.Types, t, func(a, b Saved) int { return cmp.Compare(a.Type, b.Type) })
	if !found {
		s.Types = slices.Insert(s.Types, i, t)
		return
	}
	have := &s.Types[i]
	have.Written += t.Written
	have.Stale += t.Stale
	have.Failed += t.Failed
	have.Unkept += t.Unkept
}
