package witness

import (
	"slices"

	"github.com/cellscape/cellscape/entity"
)

// Entries stand in the order of their aliases, as places do in a packet, and in a crowd several come
// and go in each tick. So who goes leaves a gap, which keeps the alias, and whoever is given that alias
// next, as a rule the next to come, fills it: nobody has to move. Entries without an alias, of a client that
// does not say what it has seen, stand behind all others, by id, and leave no gaps.

// insert puts an entry where its alias belongs.
func (w *Witness) insert(en entry) *entry {
	n := ref{en.a.id, en.alias}
	w.names.put(n)
	i, _ := w.locate(n)
	if i < len(w.entries) && w.entries[i].a == nil && w.entries[i].alias == en.alias {
		w.gaps--
		w.entries[i] = en
	} else {
		w.entries = slices.Insert(w.entries, i, en)
		w.standFrom(i)
	}
	return &w.entries[i]
}

// standFrom notes where the entries from an index on stand now. They lie in a row, and come in the
// time that searching for a few of them would take.
func (w *Witness) standFrom(first int) {
	for i := first; i < len(w.entries) && w.entries[i].alias != none; i++ {
		w.stand(w.entries[i].alias, i)
	}
}

// stand notes where the entry with an alias stands, or the gap.
func (w *Witness) stand(alias uint16, i int) {
	for int(alias) >= len(w.where) {
		w.where = append(w.where, 0)
	}
	w.where[alias] = uint16(i)
}

// remove forgets an entry that has no Subject.
func (w *Witness) remove(i int) {
	en := &w.entries[i]
	w.giveUp(en)
	w.names.remove(en.a.id)
	w.release(en.a)
	if en.alias == none {
		w.entries = slices.Delete(w.entries, i, i+1)
		return
	}
	*en = entry{alias: en.alias}
	w.gaps++
}

// minGaps keeps the entries of a few from being moved when one of them goes.
const minGaps = 16

// closeGaps moves entries together where a fifth of the room is not used: the crowd has become smaller.
func (w *Witness) closeGaps() {
	if w.gaps <= w.names.n/4+minGaps {
		return
	}
	w.gaps = 0
	w.entries = slices.DeleteFunc(w.entries, func(en entry) bool { return en.a == nil })
	w.standFrom(0)
}

// find is the index of an entity's entry.
func (w *Witness) find(id entity.ID) (int, bool) {
	n, known := w.names.get(id)
	if !known {
		return 0, false
	}
	return w.locate(n)
}

// locate is the index of an entry, or where it belongs.
func (w *Witness) locate(n ref) (int, bool) {
	if n.alias != none && len(w.entries) > 0 { // then slot knows where to look first
		i, taken := w.slot(n.alias)
		if w.entries[i].alias < n.alias {
			i++
		}
		return i, taken && w.entries[i].a.id == n.id
	}
	from, to := 0, len(w.entries) // a search of the library would copy an entry for each look
	for from < to {
		if k := (from + to) / 2; w.entries[k].before(n) {
			from = k + 1
		} else {
			to = k
		}
	}
	return from, from < len(w.entries) && w.entries[from].alias == n.alias && w.entries[from].a != nil && w.entries[from].a.id == n.id
}

// slot finds the entry with an alias, or where it would stand or the one before. Entries stay where
// they are as a rule, so it looks first where that was the last time.
func (w *Witness) slot(alias uint16) (int, bool) {
	if int(alias) < len(w.where) {
		if i := int(w.where[alias]); i < len(w.entries) && w.entries[i].alias == alias {
			return i, w.entries[i].a != nil
		}
	}
	i, found := w.search(alias)
	if i >= 0 && w.entries[i].alias == alias { // a gap is filled soon
		w.stand(alias, i)
	}
	return i, found
}

// search is slot without a memory. Few numbers below one in use are free as a rule, so that it goes
// down from there.
func (w *Witness) search(alias uint16) (int, bool) {
	high := min(int(alias), len(w.entries)-1)
	low, by := high, 1
	for low > 0 && w.entries[low].alias > alias {
		high = low
		low, by = max(low-by, 0), 2*by
	}
	for low < high {
		if mid := int(uint(low+high+1) / 2); w.entries[mid].alias <= alias {
			low = mid
		} else {
			high = mid - 1
		}
	}
	return low, low >= 0 && w.entries[low].alias == alias && w.entries[low].a != nil
}
