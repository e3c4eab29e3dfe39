package property

import (
	"encoding/binary"
	"fmt"

	"github.com/cellscape/cellscape/property/internal/bits"
)

// AppendClientValue appends a property that clients see, with its index and whole value, as
// [Values.ApplyClientChange] reads it. It panics for one that no client sees: such a one would
// leave the server.
func (v *Values) AppendClientValue(b []byte, i int) []byte {
	return v.AppendValue(v.appendClientKey(b, i, 0), i)
}

func (v *Values) appendClientKey(b []byte, i int, nested uint64) []byte {
	p := v.def.Properties[i]
	if p.ClientIndex < 0 {
		panic(fmt.Sprintf("property: no client sees %s.%s (flags %v, client side %v), so it must not be sent to one",
			v.def.Name, p.Name, p.Flags, v.def.HasClient))
	}
	return binary.AppendUvarint(b, uint64(p.ClientIndex)<<1|nested)
}

// AppendClientChange appends a change that has just been made to v, as it travels to clients: as
// AppendClientValue does if the whole property changed, else
//
//	uvarint ClientIndex·2+1
//	bits    1 and position, for each step of the path; then 0, and 1 for a splice; of a splice, start and end
//	        (positions take as many bits as the list they are in needs, and the bounds of a splice one value more)
//	value, or uvarint count and elements
//
// So a nested change takes a byte or two more than its value. It panics as AppendClientValue does.
func (v *Values) AppendClientChange(b []byte, c *Change) []byte {
	if !c.Nested() {
		return v.AppendClientValue(b, c.Index)
	}
	w := bits.Writer{Bytes: v.appendClientKey(b, c.Index, 1)}
	at, t := &v.vals[v.def.slot(v.side, c.Index)], v.def.Properties[c.Index].Type
	for _, k := range c.Path {
		list := at.list()
		w.Put(1, 1)
		w.Put(uint64(k), bits.Of(len(list)))
		at, t = &list[k], t.child(k)
	}
	w.Put(0, 1)
	if c.Op == SetValue {
		w.Put(0, 1)
		return t.append(w.Close(), &c.New)
	}
	before := at.Len() - c.New.Len() + c.Old.Len()
	w.Put(1, 1)
	w.Put(uint64(c.Start), bits.Of(before+1))
	w.Put(uint64(c.End), bits.Of(before+1))
	return t.appendElements(w.Close(), c)
}

// ApplyClientChange takes a change or a whole value, as AppendClientChange and AppendClientValue
// wrote it, off the front of b and makes it in v, without telling the holder. Errors as of
// ApplyChange; nothing has changed then.
func (v *Values) ApplyClientChange(b []byte) (c Change, rest []byte, err error) {
	key, rest, err := readUvarint(b)
	if err != nil {
		return c, b, err
	}
	if key>>1 >= uint64(len(v.def.clientProps)) {
		return c, b, fmt.Errorf("%w: client index %d of %s", ErrIndex, key>>1, v.def.Name)
	}
	c.Index = v.def.clientProps[key>>1].Index
	if err := v.held(c.Index); err != nil {
		return c, b, err
	}
	if key&1 == 0 {
		c, rest, err = v.applySet(c, rest)
	} else {
		c, rest, err = v.applyBits(c, rest)
	}
	if err != nil {
		return c, b, v.inProperty(c.Index, err)
	}
	return c, rest, nil
}

func (v *Values) applyBits(c Change, b []byte) (Change, []byte, error) {
	r := bits.NewReader(b)
	at, t := &v.vals[v.def.slot(v.side, c.Index)], v.def.Properties[c.Index].Type
	for r.Get(1) == 1 {
		list := at.list()
		k := int(r.Get(bits.Of(len(list))))
		if k >= len(list) {
			return c, nil, fmt.Errorf("%w: position %d of %d", ErrPath, k, len(list))
		}
		c.Path = append(c.Path, k) // no longer than types are deep: what has no list ends it
		at, t = &list[k], t.child(k)
	}
	if r.Get(1) == 1 {
		c.Op = Splice
		n := bits.Of(at.Len() + 1)
		c.Start, c.End = int(r.Get(n)), int(r.Get(n))
	}
	rest, short, clean := r.Close()
	switch {
	case short:
		return c, nil, ErrTruncated
	case !clean: // one change has one form
		return c, nil, fmt.Errorf("%w: bits after a path", ErrValue)
	case c.Op == Splice:
		return v.applySplice(c, rest)
	case len(c.Path) == 0:
		return c, nil, fmt.Errorf("%w: an empty path", ErrLength)
	}
	return v.applySet(c, rest)
}
