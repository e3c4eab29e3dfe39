package property

import "slices"

// cell is where handles of a part of a property find its value: a copy, which [Values] keeps up to date. A part has no
// place of its own that would last, since a change makes new lists; and a handle that had to walk to it on each read would
// cost several times what a field of a struct does.
type cell struct {
	v    Value // the part, or the default of its type while there is none
	t    *DataType
	path []int
	here bool // the path leads to a part
}

// cellAt returns the cell of the part of property i that path leads to; two handles of one part have two.
func (v *Values) cellAt(i int, path []int, t *DataType) *cell {
	slot := v.def.slot(v.side, i)
	if v.nested == nil {
		v.nested = make([][]*cell, len(v.vals))
	}
	c := &cell{t: t, path: path}
	v.nested[slot] = append(v.nested[slot], c)
	c.follow(nil, &v.vals[slot])
	return c
}

// follow takes the part anew if a change at path may have touched it.
func (c *cell) follow(path []int, root *Value) {
	if n := min(len(path), len(c.path)); !slices.Equal(path[:n], c.path[:n]) {
		return
	}
	at := root
	for _, k := range c.path {
		list := at.list()
		if k >= len(list) {
			c.v, c.here = c.t.def, false
			return
		}
		at = &list[k]
	}
	c.v, c.here = *at, true
}
