package property

import (
	"encoding/binary"
	"fmt"
)

// Flags of a change within the server.
const (
	changeNested = 1 << iota // a path follows
	changeSplice             // two bounds and a count follow
)

// AppendChange appends a change that has just been made to v, as it travels between servers:
//
//	byte flags [uvarint depth, uvarint position …] [uvarint start, uvarint end, uvarint count] value, or elements
//
// Which property changed is for the caller to say.
func (v *Values) AppendChange(b []byte, c *Change) []byte {
	p := v.def.Properties[c.Index]
	if !c.Nested() {
		return p.Type.append(append(b, 0), &c.New)
	}
	flags := byte(0)
	if len(c.Path) > 0 {
		flags |= changeNested
	}
	if c.Op == Splice {
		flags |= changeSplice
	}
	b = append(b, flags)
	t := p.Type
	if len(c.Path) > 0 {
		b = binary.AppendUvarint(b, uint64(len(c.Path)))
		for _, k := range c.Path {
			b = binary.AppendUvarint(b, uint64(k))
			t = t.child(k)
		}
	}
	if c.Op == SetValue {
		return t.append(b, &c.New)
	}
	b = binary.AppendUvarint(b, uint64(c.Start))
	b = binary.AppendUvarint(b, uint64(c.End))
	return t.appendElements(b, c)
}

// appendElements appends the elements that a splice of a list of type t brings.
func (t *DataType) appendElements(b []byte, c *Change) []byte {
	list := c.New.list()
	b = binary.AppendUvarint(b, uint64(len(list)))
	for i := range list {
		b = t.child(i).append(b, &list[i])
	}
	return b
}

// ApplyChange takes a change of property i, as AppendChange wrote it, off the front of b and makes
// it in v, without telling the holder. v must be as the writer's values were before the change. The
// Change has a Path of its own. Errors are ErrIndex, ErrSide, ErrPath, ErrOversize and those of
// [DataType.Read]; nothing has changed then.
func (v *Values) ApplyChange(b []byte, i int) (c Change, rest []byte, err error) {
	if err := v.held(i); err != nil {
		return c, b, err
	}
	if len(b) < 1 {
		return c, b, ErrTruncated
	}
	c.Index = i
	flags, rest := b[0], b[1:]
	if flags > changeNested|changeSplice {
		return c, b, fmt.Errorf("%w: flags %#x of a change", ErrValue, flags)
	}
	if flags&changeNested != 0 {
		if c.Path, rest, err = readPath(rest); err != nil {
			return c, b, err
		}
	}
	if flags&changeSplice == 0 {
		c, rest, err = v.applySet(c, rest)
	} else {
		c.Op = Splice
		if c.Start, rest, err = readPosition(rest); err == nil {
			c.End, rest, err = readPosition(rest)
		}
		if err == nil {
			c, rest, err = v.applySplice(c, rest)
		}
	}
	if err != nil {
		return c, b, v.inProperty(i, err)
	}
	return c, rest, nil
}

func (v *Values) inProperty(i int, err error) error {
	return fmt.Errorf("property %s.%s: %w", v.def.Name, v.def.Properties[i].Name, err)
}

func readPath(b []byte) (path []int, rest []byte, err error) {
	n, rest, err := readCount(b, MaxTypeDepth, 1)
	if err != nil {
		return nil, b, err
	}
	if n == 0 {
		return nil, b, fmt.Errorf("%w: an empty path", ErrLength)
	}
	path = make([]int, n)
	for k := range path {
		if path[k], rest, err = readPosition(rest); err != nil {
			return nil, b, err
		}
	}
	return path, rest, nil
}

func readPosition(b []byte) (int, []byte, error) {
	u, rest, err := readUvarint(b)
	if err == nil && u > 2*MaxList {
		err = fmt.Errorf("%w: position %d", ErrLength, u)
	}
	return int(u), rest, err
}

// applySet reads the value that belongs at c.Path and puts it there.
func (v *Values) applySet(c Change, b []byte) (Change, []byte, error) {
	w, err := v.walk(c.Index, c.Path)
	if err == nil && len(c.Path) > 0 {
		err = w.settable(c.Path)
	}
	if err != nil {
		return c, nil, err
	}
	rest, err := w.t.read(&c.New, b)
	if err != nil {
		return c, nil, err
	}
	c.Old = *w.at
	return c, rest, v.replace(c.Index, c.Path, c.New, w.t.sizeOf(&c.New)-w.t.sizeOf(&c.Old))
}

// applySplice reads the elements that come to the list at c.Path and makes the splice.
func (v *Values) applySplice(c Change, b []byte) (Change, []byte, error) {
	w, err := v.walk(c.Index, c.Path)
	if err == nil {
		err = w.spliceable(c.Start, c.End, c.End-c.Start) // the kind and the bounds, before anything is allocated by them
	}
	if err != nil {
		return c, nil, err
	}
	n, rest, err := readCount(b, 2*MaxList, 1)
	if err != nil {
		return c, nil, err
	}
	came := make([]Value, n)
	for k := range came {
		if rest, err = w.t.child(k).read(&came[k], rest); err != nil {
			return c, nil, err
		}
	}
	made, changed, err := v.splice(c.Index, c.Path, c.Start, c.End, came)
	if err != nil {
		return c, nil, err
	}
	if changed {
		return made, rest, nil
	}
	c.Old = List(w.at.list()[c.Start:c.End:c.End]...)
	c.New = List(came...)
	return c, rest, nil
}
