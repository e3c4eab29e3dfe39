package property

import (
	"fmt"
	"slices"
)

// ChangeOp says what a [Change] did.
type ChangeOp uint8

// The operations.
const (
	SetValue ChangeOp = iota // the value at Path was replaced
	Splice                   // elements Start to End of the list at Path were replaced by others, perhaps none
)

// Change is one change of a property.
//
//	hp = 5                 Index hp,   Path –      SetValue, Old 7, New 5
//	bag[3].count = 2       Index bag,  Path 3 1    SetValue, Old 1, New 2       (count is field 1 of the FIXED_DICT)
//	bag[1:3] = [sword]     Index bag,  Path –      Splice 1 3, Old [axe bow], New [sword]
//	ranks["ann"] = 4       Index rank, Path –      Splice 2 2, Old [], New ["ann" 4]   (new in a MAP)
//	ranks["ann"] = 5       Index rank, Path 3      SetValue, Old 4, New 5
//
// Path counts elements of an ARRAY, fields of a FIXED_DICT, and keys and values of a MAP in turn,
// from the property inwards.
type Change struct {
	Index      int // of the property
	Op         ChangeOp
	Path       []int // do not change or keep it
	Start, End int   // of a Splice, in the list as it was before
	Old, New   Value // what was and what is at Path; of a Splice, the lists of elements that went and came
}

// Nested reports whether only a part of the property changed.
func (c *Change) Nested() bool { return len(c.Path) > 0 || c.Op == Splice }

// At returns the part of property i that path leads to. Errors are ErrIndex, ErrSide and ErrPath.
func (v *Values) At(i int, path ...int) (Value, error) {
	if err := v.held(i); err != nil {
		return Value{}, err
	}
	w, err := v.walk(i, path)
	if err != nil {
		return Value{}, err
	}
	return *w.at, nil
}

// SetAt changes the part of property i that path leads to, and tells the holder, unless it has that
// value already. An empty path is Set. Parts of a TUPLE and keys of a MAP cannot be changed by
// themselves. Errors are those of Set, and ErrPath.
//
// The lists on the path are copied, at 32 bytes an element, so that old values stay what they were.
func (v *Values) SetAt(i int, path []int, val Value) error {
	if len(path) == 0 {
		return v.Set(i, val)
	}
	if err := v.writable(i); err != nil {
		return err
	}
	c, changed, err := v.change1(i, path, val)
	if changed {
		v.notify(c)
	}
	return err
}

// change1 replaces one part of a property, unless it has that value already.
func (v *Values) change1(i int, path []int, val Value) (c Change, changed bool, err error) {
	w, err := v.walk(i, path)
	if err == nil {
		err = w.settable(path)
	}
	if err != nil {
		return c, false, err
	}
	if val, err = w.t.Fit(val); err != nil {
		return c, false, fmt.Errorf("property %s.%s: %w", v.def.Name, v.def.Properties[i].Name, err)
	}
	old := *w.at
	if Equal(old, val) {
		return c, false, nil
	}
	if err := v.replace(i, path, val, w.t.sizeOf(&val)-w.t.sizeOf(&old)); err != nil {
		return c, false, err
	}
	return Change{Index: i, Op: SetValue, Path: path, Old: old, New: val}, true, nil
}

// Splice replaces elements start to end of the list that path leads to, an ARRAY or a MAP, by
// others, and tells the holder, unless nothing changes by it. An empty path is the property itself.
// In a MAP positions count keys and values, and the keys must ascend afterwards. Errors are those
// of SetAt.
func (v *Values) Splice(i int, path []int, start, end int, elements ...Value) error {
	if err := v.writable(i); err != nil {
		return err
	}
	c, changed, err := v.splice(i, path, start, end, elements)
	if changed {
		v.notify(c)
	}
	return err
}

func (v *Values) splice(i int, path []int, start, end int, elements []Value) (c Change, changed bool, err error) {
	w, err := v.walk(i, path)
	if err == nil {
		err = w.spliceable(start, end, len(elements))
	}
	if err != nil {
		return c, false, err
	}
	old := w.at.list()
	fresh := make([]Value, 0, len(old)-(end-start)+len(elements))
	fresh = append(fresh, old[:start]...)
	for n, e := range elements {
		e, err := w.t.child(start + n).Fit(e)
		if err != nil {
			return c, false, fmt.Errorf("property %s.%s: element %d: %w", v.def.Name, v.def.Properties[i].Name, n, err)
		}
		fresh = append(fresh, e)
	}
	came := fresh[start:len(fresh):len(fresh)]
	fresh = append(fresh, old[end:]...)
	if w.t.kind == KindMap && !sorted(fresh) {
		return c, false, fmt.Errorf("property %s.%s: %w: the keys of a MAP must ascend", v.def.Name, v.def.Properties[i].Name, ErrPath)
	}
	went := old[start:end:end]
	if slices.EqualFunc(went, came, Equal) {
		return c, false, nil
	}
	was, is := List(old...), List(fresh...)
	if err := v.replace(i, path, is, w.t.spliced(was, is, went, came)); err != nil {
		return c, false, err
	}
	return Change{Index: i, Op: Splice, Path: path, Start: start, End: end, Old: List(went...), New: List(came...)}, true, nil
}

// spliced returns by how many bytes a splice lengthens a list.
func (t *DataType) spliced(was, is Value, went, came []Value) int {
	d := t.prefix(is.Len()) - t.prefix(was.Len())
	for i := range came {
		d += t.child(i).sizeOf(&came[i])
	}
	for i := range went {
		d -= t.child(i).sizeOf(&went[i])
	}
	return d
}

// place is a part of a property's value.
type place struct {
	at    *Value
	t     *DataType
	owner Kind // of the container that it is in; 0 for the property itself
	tuple bool // some container on the way is a TUPLE
}

// walk goes from property i, which is here, to the part that path leads to.
func (v *Values) walk(i int, path []int) (place, error) {
	p := v.def.Properties[i]
	w := place{at: &v.vals[v.def.slot(v.side, i)], t: p.Type}
	for n, k := range path {
		list := w.at.list()
		if k < 0 || k >= len(list) {
			return w, fmt.Errorf("%w: property %s.%s, path %s at step %d", ErrPath, v.def.Name, p.Name, pathText(path), n)
		}
		w = place{&list[k], w.t.child(k), w.t.kind, w.tuple || w.t.kind == KindTuple}
	}
	return w, nil
}

// pathText writes a path for an error. It clones the path, which then does not escape when all is
// well.
func pathText(path []int) string { return fmt.Sprint(slices.Clone(path)) }

func (w *place) settable(path []int) error {
	switch {
	case w.tuple:
		return fmt.Errorf("%w: a TUPLE changes only whole", ErrPath)
	case w.owner == KindMap && path[len(path)-1]%2 == 0:
		return fmt.Errorf("%w: a key of a MAP cannot be set", ErrPath)
	}
	return nil
}

func (w *place) spliceable(start, end, count int) error {
	n := w.at.Len()
	switch {
	case w.t.kind != KindArray && w.t.kind != KindMap:
		return fmt.Errorf("%w: a %v has no slices", ErrPath, w.t.kind)
	case w.tuple:
		return fmt.Errorf("%w: a TUPLE changes only whole", ErrPath)
	case start < 0 || start > end || end > n:
		return fmt.Errorf("%w: slice %d to %d of %d elements", ErrPath, start, end, n)
	case w.t.kind == KindMap && (start%2 != 0 || end%2 != 0 || count%2 != 0):
		return fmt.Errorf("%w: a slice of a MAP is of whole pairs", ErrPath)
	case w.t.size > 0 && count != end-start:
		return fmt.Errorf("%w: the ARRAY has a fixed size of %d", ErrPath, w.t.size)
	}
	limit := MaxList
	if w.t.kind == KindMap {
		limit = 2 * MaxList
	}
	if n-(end-start)+count > limit {
		return fmt.Errorf("%w: %d elements, more than %d", ErrLength, n-(end-start)+count, limit)
	}
	return nil
}

// replace puts a part in its place, which makes a new root. larger is the number of bytes by which
// the value grows.
func (v *Values) replace(i int, path []int, part Value, larger int) error {
	p, slot := v.def.Properties[i], v.def.slot(v.side, i)
	size := v.size(slot, p.Type) + larger
	if err := v.checkSize(p, size); err != nil {
		return err
	}
	if p.Type.fixed {
		size = 0
	}
	v.store(slot, path, graft(v.vals[slot], path, part), size)
	return nil
}

// graft returns root with another value at path; all else is shared.
func graft(root Value, path []int, part Value) Value {
	if len(path) == 0 {
		return part
	}
	list := slices.Clone(root.list())
	list[path[0]] = graft(list[path[0]], path[1:], part)
	return List(list...)
}
