package witness

import (
	"cmp"
	"encoding/binary"
	"iter"
	"slices"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/internal/fields"
	"github.com/cellscape/cellscape/property"
)

// MaxPairs bounds the entities of which a script has said how this one client is to see them: it adds
// them one by one, and each costs a look now and then.
const MaxPairs = 1024

// pair is what a script has said of one entity, for this client alone.
type pair struct {
	id     entity.ID
	added  bool                  // into the area of interest
	hidden bool                  // out of it, whatever else is said
	scheme property.UpdateScheme // zero: that of its type
	away   uint16                // sweeps since it was here last
}

// said reports whether anything is said in it.
func (p *pair) said() bool {
	return p.added || p.hidden || p.scheme != (property.UpdateScheme{})
}

func (w *Witness) findPair(id entity.ID) (int, bool) {
	return slices.BinarySearchFunc(w.pairs, id, func(p pair, id entity.ID) int { return cmp.Compare(p.id, id) })
}

// change lets f change what is said of an entity, and forgets a pair of which nothing is said. It
// reports false, and changes nothing, if there are too many.
func (w *Witness) change(id entity.ID, f func(p *pair)) bool {
	i, ok := w.findPair(id)
	p := pair{id: id}
	if ok {
		p = w.pairs[i]
	}
	f(&p)
	switch said := p.said(); {
	case ok && said:
		w.pairs[i] = p
	case ok:
		w.pairs = slices.Delete(w.pairs, i, i+1)
	case said && len(w.pairs) >= MaxPairs:
		return false
	case said:
		w.pairs = slices.Insert(w.pairs, i, p)
	}
	return true
}

// SetAdded notes whether a script has added an entity to the area of interest: the cell asks for it, and
// calls Enter and Leave. It reports false if there are MaxPairs. It travels with the witness.
func (w *Witness) SetAdded(id entity.ID, on bool) bool {
	return w.change(id, func(p *pair) { p.added, p.away = on, 0 })
}

// Added reports whether a script has added an entity.
func (w *Witness) Added(id entity.ID) bool {
	i, ok := w.findPair(id)
	return ok && w.pairs[i].added
}

// SetHidden notes whether a script has hidden an entity from this client: the cell asks for it, and calls
// Leave and Enter. It reports false if there are MaxPairs. It travels with the witness.
func (w *Witness) SetHidden(id entity.ID, on bool) bool {
	return w.change(id, func(p *pair) { p.hidden, p.away = on, 0 })
}

// Hidden reports whether a script has hidden an entity.
func (w *Witness) Hidden(id entity.ID) bool {
	if len(w.pairs) == 0 {
		return false
	}
	i, ok := w.findPair(id)
	return ok && w.pairs[i].hidden
}

// AllAdded yields the entities that a script has added, ascending. The set must not be changed during
// the iteration.
func (w *Witness) AllAdded() iter.Seq[entity.ID] {
	return func(yield func(entity.ID) bool) {
		for i := range w.pairs {
			if w.pairs[i].added && !yield(w.pairs[i].id) {
				return
			}
		}
	}
}

// SetScheme sets how often this client is told of an entity that does not fit its bandwidth; the zero
// scheme is that of its type again. It reports false if there are MaxPairs. The scheme must be valid. It
// travels with the witness.
func (w *Witness) SetScheme(id entity.ID, scheme property.UpdateScheme) bool {
	ok := w.change(id, func(p *pair) { p.scheme, p.away = scheme, 0 })
	if i, known := w.find(id); known && ok {
		w.entries[i].a.scheme = scheme
	}
	return ok
}

// schemeFor is what SetScheme has set.
func (w *Witness) schemeFor(id entity.ID) (scheme property.UpdateScheme) {
	if len(w.pairs) == 0 {
		return scheme
	}
	if i, ok := w.findPair(id); ok {
		scheme = w.pairs[i].scheme
	}
	return scheme
}

// HasPairs reports whether a script has said anything of one entity.
func (w *Witness) HasPairs() bool { return len(w.pairs) > 0 }

// SweepPairs forgets what was said of entities that have not been here in more than most sweeps in a
// row.
func (w *Witness) SweepPairs(here func(entity.ID) bool, most int) {
	kept := w.pairs[:0]
	for _, p := range w.pairs {
		if p.away++; here(p.id) {
			p.away = 0
		}
		if int(p.away) <= most {
			kept = append(kept, p)
		} else if i, known := w.find(p.id); known {
			w.entries[i].a.scheme = property.UpdateScheme{}
		}
	}
	w.pairs = kept
}

// appendPairs encodes them: uvarint count, then by ascending id
//
//	uvarint id, u8 1 if added + 2 if hidden, 3 f32 of the scheme
func (w *Witness) appendPairs(b []byte) []byte {
	b = binary.AppendUvarint(b, uint64(len(w.pairs)))
	for i := range w.pairs {
		p := &w.pairs[i]
		b = append(fields.AppendID(b, p.id), p.flags())
		b = codec.AppendF32(codec.AppendF32(codec.AppendF32(b, p.scheme.Min), p.scheme.Max), p.scheme.Distance)
	}
	return b
}

const (
	addedFlag = 1 << iota
	hiddenFlag
)

func (p *pair) flags() (f byte) {
	if p.added {
		f |= addedFlag
	}
	if p.hidden {
		f |= hiddenFlag
	}
	return f
}

// minPair is the fewest bytes that a pair has.
const minPair = 2 + 3*4

func readPairs(r *codec.Reader) []pair {
	n := r.Count(MaxPairs, minPair)
	if n == 0 {
		return nil
	}
	pairs := make([]pair, 0, n)
	for range n {
		p := pair{id: fields.ReadID(r)}
		flags := r.U8()
		p.added, p.hidden = flags&addedFlag != 0, flags&hiddenFlag != 0
		p.scheme = property.UpdateScheme{Min: r.F32(), Max: r.F32(), Distance: r.F32()}
		if k := len(pairs); !p.id.Valid() || !p.said() || flags > addedFlag|hiddenFlag || p.scheme.Validate() != nil || k > 0 && p.id <= pairs[k-1].id {
			r.Fail(errState)
		}
		pairs = append(pairs, p)
	}
	return pairs
}
