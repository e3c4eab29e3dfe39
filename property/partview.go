package property

import "slices"

// partView is where handles of a part of a property find its value: a copy, which [Values] keeps up
// to date. A part has no place of its own that would last, since a change makes new lists; and a
// handle that had to walk to it on each read would cost several times what a field of a struct
// does.
type partView struct {
	v    Value // the part, or the default of its type while there is none
	t    *DataType
	path []int
	here bool // the path leads to a part
}

// views are those of one property, by the first step of their path: a change within one element of
// a long list concerns only the handles of that element, and the others are thousands.
type views [][]*partView

func (l views) follow(path []int, root *Value) {
	if len(path) > 0 {
		l = l[min(path[0], len(l)):min(path[0]+1, len(l))]
	}
	for _, of := range l {
		for _, c := range of {
			c.follow(path, root)
		}
	}
}

// viewAt returns the view of the part of property i that path, of a step at least, leads to; two
// handles of one part have two.
func (v *Values) viewAt(i int, path []int, t *DataType) *partView {
	slot := v.def.slot(v.side, i)
	x := v.vary()
	if x.nested == nil {
		x.nested = make([]views, len(v.vals))
	}
	c := &partView{t: t, path: path}
	for len(x.nested[slot]) <= path[0] {
		x.nested[slot] = append(x.nested[slot], nil)
	}
	x.nested[slot][path[0]] = append(x.nested[slot][path[0]], c)
	c.follow(nil, &v.vals[slot])
	return c
}

// follow looks up the part again if a change at path may have touched it.
func (c *partView) follow(path []int, root *Value) {
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
