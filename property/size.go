package property

import "math/bits"

// Sizes of values as they travel. They are kept beside the values: a value that is too large to
// travel is refused when it is set.

// most returns the most bytes that a value takes as it travels.
func (t *DataType) most() int {
	if t.fixed {
		return t.minWire
	}
	return t.wire.most(t)
}

// variableSize returns how many bytes v takes as it travels, or 0 if every value of the type takes
// the same.
func (t *DataType) variableSize(v *Value) int {
	if t.fixed {
		return 0
	}
	return t.sizeOf(v)
}

// sizeOf returns how many bytes v takes as it travels.
func (t *DataType) sizeOf(v *Value) int {
	if t.fixed {
		return t.minWire
	}
	switch v.kind {
	case isString, isAny:
		return prefixed(int(v.lo))
	case isNone:
		return 1
	case isUser:
		return prefixed(len(v.user().wire))
	case isMailbox:
		return mailboxFixed + len(v.Mailbox().At.Addr().AsSlice())
	}
	list := v.list()
	sum := t.prefix(len(list))
	if t.kind == KindArray && t.elem.fixed {
		return sum + len(list)*t.elem.minWire
	}
	for i := range list {
		sum += t.child(i).sizeOf(&list[i])
	}
	return sum
}

// prefix returns how many bytes come before a list of n elements.
func (t *DataType) prefix(n int) int {
	switch {
	case t.kind == KindMap:
		return uvarintLen(uint64(n / 2))
	case t.kind == KindFixedDict && t.allowNone:
		return 1
	case t.kind == KindFixedDict || t.size > 0:
		return 0
	}
	return uvarintLen(uint64(n))
}

func prefixed(n int) int { return uvarintLen(uint64(n)) + n }

func uvarintLen(u uint64) int { return (bits.Len64(u|1) + 6) / 7 }
