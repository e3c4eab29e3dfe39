package app

import (
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"
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
	said     *Said
	any      *property.DataType
	entries  []wire.SpaceDataEntry // in the order of their numbers, with notes of removed ones
	last     uint64
	removed  int                       // notes among the entries
	values   map[string]property.Value // the game's
	services map[string][]entity.ID    // the fragments of each, in the order in which they came
}

// NewShared returns an empty copy, whose changes are said by said.
func NewShared(said *Said) *Shared {
	return &Shared{said: said, any: property.Scalar(property.KindAny), values: make(map[string]property.Value), services: make(map[string][]entity.ID)}
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
	v, err := property.AnyValue(value)
	if err != nil {
		return fmt.Errorf("shared: %q: %w", key, err)
	}
	b := s.any.AppendTo(nil, v)
	if len(b) > shared.MaxValue {
		return fmt.Errorf("%w: %q: %d bytes", shared.ErrTooLong, key, len(b))
	}
	return s.change(wire.SetSpaceData{Key: spacekey.Shared, Name: key, Value: b})
}

// Remove is part of shared.Data.
func (s *Shared) Remove(key string) error {
	return s.change(wire.SetSpaceData{Key: spacekey.Shared, Name: key, Removed: true})
}

func (s *Shared) change(m wire.SetSpaceData) error {
	if m.Name == "" || len(m.Name) > shared.MaxKey {
		return shared.ErrKey
	}
	if i := s.find(m.Key, m.Name); i >= 0 {
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
	clear(s.services)
	s.last = max(s.last, m.Last)
	var faults []error
	for _, e := range slices.Concat(m.Data, gone) {
		faults = append(faults, s.put(e))
	}
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
	if e.Key == spacekey.Service {
		return s.addFragment(&e)
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
		service, id, _ := fragmentOf(&e)
		s.services[service] = slices.DeleteFunc(s.services[service], func(x entity.ID) bool { return x == id })
	default:
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

// Serve says that a base is the fragment of a service on the app with an allocator; with id 0 that there is
// none any more.
func (s *Shared) Serve(service string, allocator uint32, id entity.ID) error {
	m := wire.SetSpaceData{Key: spacekey.Service, Name: service + "/" + strconv.FormatUint(uint64(allocator), 10), Removed: id == 0}
	if id != 0 {
		m.Value = binary.AppendUvarint(nil, uint64(id))
	}
	return s.change(m)
}

// Fragments are the bases that run a service, in the order in which they came.
func (s *Shared) Fragments(service string) []entity.ID { return s.services[service] }

// Choose is the fragment that answers a caller: the same one as long as there are the same fragments, so
// that its calls are answered in their order, and as many callers for each. It is 0 if there is none.
func (s *Shared) Choose(service string, caller entity.ID) entity.ID {
	list := s.services[service]
	if len(list) == 0 {
		return 0
	}
	// Ids of neighbours differ in their last bits; the odd factor spreads them over all.
	return list[(uint64(caller)*0x9e3779b97f4a7c15>>33)%uint64(len(list))]
}

func (s *Shared) addFragment(e *wire.SpaceDataEntry) error {
	service, id, err := fragmentOf(e)
	if err == nil {
		s.services[service] = append(s.services[service], id)
	}
	return err
}

func fragmentOf(e *wire.SpaceDataEntry) (service string, id entity.ID, err error) {
	service, _, ok := strings.Cut(e.Name, "/")
	n, used := binary.Uvarint(e.Value)
	if id = entity.ID(n); !ok || used != len(e.Value) || !id.Valid() {
		return "", 0, fmt.Errorf("%w: %q is no fragment of a service", wire.ErrMalformed, e.Name)
	}
	return service, id, nil
}
