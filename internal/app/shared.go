package app

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/shared"
	"github.com/cellscape/cellscape/internal/spacekey"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/property"
)

// Shared is an app's copy of what the cluster shares, a shared.Data. The entries are those of the
// manager up to the last number, of which the app was told in order.
type Shared struct {
	said      *Said
	any       *property.DataType
	entries   []wire.SpaceDataEntry // in the order of their numbers, with notes of removed ones
	last      uint64
	removed   int                       // notes among the entries
	values    map[string]property.Value // the game's
	fragments fragments
	updates   updates
}

// NewShared returns an empty copy, whose changes are said by said.
func NewShared(said *Said) *Shared {
	return &Shared{said: said, any: property.Scalar(property.KindAny), values: make(map[string]property.Value), fragments: newFragments()}
}

// Get is part of shared.Data.
func (s *Shared) Get(key string) (any, bool) {
	v, ok := s.values[key]
	return v.Any(), ok
}

// All is part of shared.Data.
func (s *Shared) All(prefix string) iter.Seq2[string, any] {
	return func(yield func(string, any) bool) {
		var keys []string
		for i := range s.entries {
			if e := &s.entries[i]; e.Key == spacekey.Shared && !e.Removed && strings.HasPrefix(e.Name, prefix) {
				keys = append(keys, e.Name)
			}
		}
		slices.Sort(keys)
		for _, k := range keys {
			if v, ok := s.values[k]; ok && !yield(k, v.Any()) {
				return
			}
		}
	}
}

// Set is part of shared.Data.
func (s *Shared) Set(key string, value any) error {
	b, err := s.encode(key, value)
	if err != nil {
		return err
	}
	return s.change(wire.SetSpaceData{Key: spacekey.Shared, Name: key, Value: b})
}

// encode returns a value as it travels.
func (s *Shared) encode(key string, value any) ([]byte, error) {
	v, err := property.AnyValue(value)
	if err != nil {
		return nil, fmt.Errorf("shared: %q: %w", key, err)
	}
	b := s.any.AppendTo(nil, v)
	if len(b) > shared.MaxValue {
		return nil, fmt.Errorf("%w: %q: %d bytes", shared.ErrTooLong, key, len(b))
	}
	return b, nil
}

// Remove is part of shared.Data.
func (s *Shared) Remove(key string) error {
	return s.change(wire.SetSpaceData{Key: spacekey.Shared, Name: key, Removed: true})
}

func (s *Shared) change(m wire.SetSpaceData) error {
	if m.Name == "" || len(m.Name) > shared.MaxKey {
		return shared.ErrKey
	}
	if i := s.find(m.Key, m.Name); i >= 0 && !m.Same {
		m.Seen = s.entries[i].Number
	}
	if kept, _ := s.said.Say(m); !kept {
		return fmt.Errorf("%w: %d changes wait for the CellAppMgr, and this one may be lost: %q", entity.ErrTooMany, MaxSaid, m.Name)
	}
	return nil
}

func (s *Shared) find(key uint16, name string) int {
	return slices.IndexFunc(s.entries, func(e wire.SpaceDataEntry) bool { return e.Key == key && e.Name == name })
}

// Take takes a change. An error says that the entry makes no sense; it is kept all the same, since others
// may know better.
func (s *Shared) Take(e wire.SpaceDataEntry) error {
	if e.Number <= s.last {
		return nil
	}
	s.last = e.Number
	return s.put(e)
}

// TakeAll takes everything. What the manager does not have was removed while it was out of reach, or lost
// with one that had it alone.
func (s *Shared) TakeAll(m *wire.SharedData) error {
	var gone []wire.SpaceDataEntry
	for _, e := range s.entries {
		if !e.Removed && !slices.ContainsFunc(m.Data, func(x wire.SpaceDataEntry) bool { return x.Replaces(&e) }) {
			gone = append(gone, wire.SpaceDataEntry{Number: m.Last, Key: e.Key, Name: e.Name, Removed: true})
		}
	}
	s.entries, s.removed = nil, 0
	clear(s.values)
	s.fragments.clear()
	s.last = max(s.last, m.Last)
	var faults []error
	for _, e := range slices.Concat(m.Data, gone) {
		faults = append(faults, s.put(e))
	}
	s.fragments.prune()
	return errors.Join(faults...)
}

// put takes an entry, which replaces an older one. Of the notes of removed ones the oldest goes.
func (s *Shared) put(e wire.SpaceDataEntry) error {
	if i := s.find(e.Key, e.Name); i >= 0 {
		s.drop(i)
	}
	e.Value = slices.Clone(e.Value)
	s.entries = append(s.entries, e)
	if e.Removed {
		if s.removed++; s.removed > wire.MaxRemovedData {
			s.drop(slices.IndexFunc(s.entries, func(x wire.SpaceDataEntry) bool { return x.Removed }))
		}
		return nil
	}
	switch e.Key {
	case spacekey.Service:
		return s.fragments.add(&e)
	case spacekey.Updated, spacekey.Setting:
		return nil // the manager's
	}
	v, rest, err := s.any.Read(e.Value)
	s.values[e.Name] = v
	if err == nil && len(rest) > 0 {
		err = wire.ErrMalformed
	}
	if err != nil {
		return fmt.Errorf("shared data %q: %w", e.Name, err)
	}
	return nil
}

func (s *Shared) drop(i int) {
	e := s.entries[i]
	s.entries = slices.Delete(s.entries, i, i+1)
	switch {
	case e.Removed:
		s.removed--
	case e.Key == spacekey.Service:
		s.fragments.drop(&e)
	case e.Key == spacekey.Shared:
		delete(s.values, e.Name)
	}
}

// Last is the number of the newest change.
func (s *Shared) Last() uint64 { return s.last }

// News yields the game's changes after a number, in their order.
func (s *Shared) News(after uint64) iter.Seq[shared.Change] {
	return func(yield func(shared.Change) bool) {
		first := len(s.entries) // each watcher asks in each tick that has any
		for first > 0 && s.entries[first-1].Number > after {
			first--
		}
		for _, e := range s.entries[first:] {
			if e.Key != spacekey.Shared {
				continue
			}
			c := shared.Change{Key: e.Name, Removed: e.Removed}
			if !e.Removed {
				c.Value = s.values[e.Name].Any()
			}
			if !yield(c) {
				return
			}
		}
	}
}

// Rejoin is what another manager is told; nil if there is nothing.
func (s *Shared) Rejoin() *wire.SharedData {
	if len(s.entries) == 0 {
		return nil
	}
	return &wire.SharedData{Last: s.last, Data: s.entries}
}
